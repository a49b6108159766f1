"""The fusion: what meaning in context, words and the session say of a line becomes one number to rank by.

Pure functions over arrays of one value for each line; they know nothing of where the values come from.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from chatmem.embedding import Array

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f]")


class Evidence(NamedTuple):
    """What is known of L lines and one query."""

    turns: Array  # (L,) cosines of the sentences read in their context
    words: Array  # (L,) BM25, 0 where no word is shared
    sessions: Array  # (L,) cosine of the query with the vector of the line's session


class Weights(NamedTuple):
    """How much each part counts; found on validation data by `training/score_retrieval.py --grid`."""

    turns: float
    words: float
    sessions: float


DEFAULT = Weights(turns=1.0, words=0.1, sessions=0.1)
OTHER_SCRIPTS = Weights(turns=1.0, words=0.5, sessions=0.1)  # the encoder knows English best: words count for more


def weights_for(query: str) -> Weights:
    """Return the weights for a query: in another script than Latin words count for more."""
    letters = _LETTERS.findall(query)
    return DEFAULT if 2 * len(_LATIN.findall(query)) >= len(letters) else OTHER_SCRIPTS


def fuse(evidence: Evidence, weights: Weights = DEFAULT) -> Array:
    """Return one value (L,) for each line: a weighted sum, with BM25 as a share of the best line's."""
    best = float(evidence.words.max(initial=0.0))
    words = evidence.words / best if best > 0 else evidence.words
    total: Array = weights.turns * evidence.turns + weights.words * words + weights.sessions * evidence.sessions
    return total


def fit(cosines: Array, turns: Array, lift: float) -> Array:
    """Return how well each line (L,) fits, in [-1, 1]: the mean of its cosines alone and in its context, and a lift.

    It decides which lines stay away, and tells that better than either cosine: a line that is only near in its words,
    or only talked about nearby, has one of them low. Context alone is enough where it is strong, as for "Twice a
    week." after "Do you swim?". The lift makes the mean comparable with the threshold for cosines.
    """
    scores: Array = np.clip(np.maximum((cosines + turns) / 2 + lift, turns), -1.0, 1.0)
    return scores


def reciprocal_rank(*scores: Array, constant: int = 60) -> Array:
    """Return the sum (L,) of 1 / (constant + rank) over several scorings (Cormack et al., 2009); equal ones share."""
    total = np.zeros(len(scores[0]), dtype=np.float32)
    for values in scores:
        ordered = np.sort(-values)
        better = np.searchsorted(ordered, -values, side="left")
        total += (1.0 / (constant + 1 + better)).astype(np.float32)
    return total

"""The fusion: what meaning, context and words each say of a line becomes one number to rank by.

Pure functions over arrays of one value for each line; they know nothing of where the values come from.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chatmem.embedding import Array


class Evidence(NamedTuple):
    """What is known of L lines and one query."""

    cosines: Array  # (L,) of the sentence embeddings
    turns: Array  # (L,) cosines of the sentences read in their context
    words: Array  # (L,) BM25, 0 where no word is shared
    sessions: Array  # (L,) cosine of the query with the vector of the line's session


class Weights(NamedTuple):
    """How much each part counts; found on validation data (see training/score_retrieval.py)."""

    cosines: float
    turns: float
    words: float
    sessions: float


TURN_OFFSET = 0.0  # by so much turn cosines are higher for lines that do not answer
DEFAULT = Weights(cosines=0.5, turns=0.5, words=0.2, sessions=0.1)


def fuse(evidence: Evidence, weights: Weights = DEFAULT) -> Array:
    """Return one value (L,) for each line: a weighted sum, with BM25 as a share of the best line's."""
    best = float(evidence.words.max(initial=0.0))
    words = evidence.words / best if best > 0 else evidence.words
    parts = (evidence.cosines, evidence.turns, words, evidence.sessions)
    total: Array = np.sum([weight * part for weight, part in zip(weights, parts, strict=True) if weight], axis=0)
    return total


def meaning(evidence: Evidence) -> Array:
    """Return how well each line (L,) fits, on the scale of a sentence's cosine: alone, or in its context."""
    fit: Array = np.maximum(evidence.cosines, evidence.turns - TURN_OFFSET)
    return fit


def reciprocal_rank(*scores: Array, constant: int = 60) -> Array:
    """Return the sum (L,) of 1 / (constant + rank) over several scorings (Cormack et al., 2009); equal ones share."""
    total = np.zeros(len(scores[0]), dtype=np.float32)
    for values in scores:
        better = (values[None, :] > values[:, None]).sum(1)
        total += (1.0 / (constant + 1 + better)).astype(np.float32)
    return total

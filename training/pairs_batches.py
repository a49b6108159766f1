"""Batches of pairs from the token cache: pairs of similar length together, so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from chatmem.embedding import MAX_TOKENS
from chatmem.pair_network import Side
from training.pairs_sets import Pairs
from training.token_cache import TokenCache

Rows = npt.NDArray[np.int64]


class Sides:
    """Padded token embeddings of texts that are given by their numbers."""

    def __init__(self, tokens: TokenCache) -> None:
        self._starts = torch.from_numpy(tokens.starts)
        self._ids = torch.from_numpy(tokens.ids)
        self._middle = torch.from_numpy(tokens.middle)
        self._last = torch.from_numpy(tokens.last)
        self._vectors = torch.from_numpy(tokens.vectors)
        self.lengths: Rows = np.diff(tokens.starts)

    def __call__(self, numbers: Rows) -> Side:
        """Return B texts as one padded batch."""
        rows = torch.from_numpy(np.asarray(numbers))
        start = self._starts[rows]
        length = (self._starts[rows + 1] - start).clamp(max=MAX_TOKENS)
        places = torch.arange(int(length.max()))
        mask = places < length[:, None]
        at = torch.where(mask, start[:, None] + places, 0)
        real = mask[..., None]
        return Side(
            self._middle[at].float() * real,
            self._last[at].float() * real,
            self._ids[at] * mask,
            mask,
            self._vectors[rows],
        )


def answer_pairs(pairs: Pairs, rng: np.random.Generator | None = None) -> Rows:
    """Return (P, 3) rows of question, line and label, without what was left out.

    With `rng` the easier half of the lines that do not answer is left out: of the farther five three are drawn away.
    """
    groups = pairs.groups
    wanted = groups.labels >= 0
    if rng is not None:
        far = np.argsort(rng.random((len(wanted), 5)), axis=1)[:, :3] + 3
        easy = np.zeros_like(wanted)
        np.put_along_axis(easy, far, True, axis=1)
        wanted &= ~(easy & (groups.labels == 0))
    question, place = np.nonzero(wanted)
    rows = np.stack([groups.questions[question], groups.candidates[question, place], groups.labels[question, place]], 1)
    return np.concatenate([rows, pairs.answers])


def endless_batches(rows: Rows, lengths: Rows, size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """Yield batches of rows for ever, each round in another order; rows of one batch are of similar length."""
    while True:
        order = rng.permutation(len(rows))
        for start in range(0, len(order), size * 20):
            some = rows[order[start : start + size * 20]]
            longest = lengths[some[:, 0]] + lengths[some[:, 1]] + rng.integers(0, 3, len(some))
            some = some[np.argsort(longest)]
            parts = [some[at : at + size] for at in range(0, len(some), size)]
            for place in rng.permutation(len(parts)):
                yield parts[place]

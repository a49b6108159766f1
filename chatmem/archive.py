"""The archive: the vectors of every finished session as arrays, read from beside the journal's text.

Knows nothing of encoders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from chatmem.embedding import Array
from chatmem.interface import DamagedError
from chatmem.journal import Journal
from chatmem.rows import Line
from chatmem.session_reader import HalfArray


class Archive:
    """The vectors of every finished session, oldest first, as arrays for one matrix product."""

    def __init__(self, sessions: list[int], slots: Array, lines: list[Line], vectors: HalfArray) -> None:
        self.sessions = sessions  # S numbers
        self.slots = slots  # (S, H)
        self.lines = lines  # L sentences
        self._vectors = vectors  # (L, 2 D): of each sentence its embedding, then the same in its context
        self._session_of_line = np.array([line.session for line in lines], dtype=np.int64)  # (L,)
        self._session_of_key = {line.key: line.session for line in lines}
        self._kinds = np.array([line.kind for line in lines], dtype=np.str_)  # (L,)
        self._norms = np.linalg.norm(slots, axis=1).clip(min=1e-8)  # (S,)

    @classmethod
    def empty(cls, hidden_dim: int, input_dim: int) -> Archive:
        """Return an archive of no session."""
        return cls([], np.zeros((0, hidden_dim), np.float32), [], np.zeros((0, 2 * input_dim), np.float16))

    @classmethod
    def read(cls, journal: Journal, fingerprint: str, hidden_dim: int, input_dim: int) -> Archive:
        """Read the vectors that lie beside the journal.

        Raises:
            DamagedError: a session has another number of vectors than of sentences.
        """
        stored = journal.vectors(fingerprint)
        if not stored:
            return cls.empty(hidden_dim, input_dim)
        known = {row.session for row in stored}
        lines = [line for line in journal.lines() if line.session in known]
        sizes = {len(row.slot) for row in stored}
        if sizes != {4 * hidden_dim} or sum(len(row.lines) for row in stored) != 4 * input_dim * len(lines):
            raise DamagedError("the vectors in the journal do not belong to its sentences")
        slots = np.frombuffer(bytearray().join(row.slot for row in stored), np.float32).reshape(-1, hidden_dim)
        vectors = np.frombuffer(bytearray().join(row.lines for row in stored), np.float16)
        return cls([row.session for row in stored], slots, lines, vectors.reshape(-1, 2 * input_dim))

    def cosines(self, query: Array, count: int) -> Array:
        """Return the cosine (count,) of a query (H,) with the vectors of the oldest `count` sessions."""
        norms = self._norms[:count] * max(float(np.linalg.norm(query)), 1e-8)
        scores: Array = (self.slots[:count] @ query) / norms
        return scores

    def lines_of(self, sessions: Collection[int], kinds: Collection[str]) -> tuple[list[Line], HalfArray]:
        """Return the sentences of some sessions and kinds, and their vectors (L, 2 D)."""
        chosen = np.isin(self._session_of_line, np.array(list(sessions), dtype=np.int64))
        rows = np.flatnonzero(chosen & np.isin(self._kinds, list(kinds)))
        return [self.lines[row] for row in rows], self._vectors[rows]

    def sessions_of(self, keys: Iterable[int]) -> set[int]:
        """Return the sessions of the lines with some keys; keys that are not here are left out."""
        return {self._session_of_key[key] for key in keys if key in self._session_of_key}

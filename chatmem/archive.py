"""The archive: one coarse vector of every finished session in RAM; the lines inside are read by pages when asked for.

A page is one session: its lines and their vectors, which lie beside the journal's text. Knows nothing of encoders.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from chatmem.embedding import Array
from chatmem.interface import DamagedError
from chatmem.journal import Journal
from chatmem.rows import Line, Page
from chatmem.session_reader import HalfArray

_ROOM = 16  # sessions that there is room for at first


class Read(NamedTuple):
    """What was read of some pages."""

    lines: list[Line]  # L sentences
    vectors: HalfArray  # (L, 2 D): of each its embedding, then the same in its context
    damaged: list[int]  # sessions whose vectors do not belong to their sentences, which were left out


class Archive:
    """The vectors of every finished session, oldest first, for one matrix product, and the pages behind them."""

    def __init__(self, hidden_dim: int, input_dim: int) -> None:
        """Make an archive of no session."""
        self.sessions: list[int] = []  # S numbers
        self._width = 2 * input_dim
        self._slots = np.zeros((_ROOM, hidden_dim), np.float32)  # the first S rows are filled
        self._norms = np.ones(_ROOM, np.float32)

    @property
    def slots(self) -> Array:
        """The vectors (S, H) of the sessions."""
        return self._slots[: len(self.sessions)]

    def fill(self, stored: list[tuple[int, bytes]]) -> None:
        """Hold exactly these sessions, given with the bytes of their vectors.

        Raises:
            DamagedError: a vector has another size than the others, or is not finite.
        """
        hidden_dim = self._slots.shape[1]
        if any(len(slot) != 4 * hidden_dim for _, slot in stored):
            raise DamagedError("the vectors in the journal have the wrong size")
        slots = np.frombuffer(bytearray().join(slot for _, slot in stored), np.float32).reshape(-1, hidden_dim)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.linalg.norm(slots, axis=1).clip(min=1e-8)
        if not np.isfinite(norms).all():
            raise DamagedError("the vectors in the journal hold NaN or Inf")
        self.sessions = [number for number, _ in stored]
        self._slots = np.concatenate([slots, np.zeros((_ROOM, hidden_dim), np.float32)])
        self._norms = np.concatenate([norms, np.ones(_ROOM, np.float32)])

    def add(self, session: int, slot: Array) -> None:
        """Add one session (H,) that is newer than all others; room is doubled, so that this takes no longer with many.

        Raises:
            ValueError: it is not newer.
        """
        count = len(self.sessions)
        if self.sessions and session <= self.sessions[-1]:
            raise ValueError(f"session {session} is not newer than {self.sessions[-1]}")
        if count == len(self._slots):
            self._slots = np.concatenate([self._slots, np.zeros_like(self._slots)])
            self._norms = np.concatenate([self._norms, np.ones_like(self._norms)])
        self._slots[count] = slot
        self._norms[count] = max(float(np.linalg.norm(slot)), 1e-8)
        self.sessions.append(session)

    def cosines(self, query: Array, count: int) -> Array:
        """Return the cosine (count,) of a query (H,) with the vectors of the oldest `count` sessions."""
        norms = self._norms[:count] * max(float(np.linalg.norm(query)), 1e-8)
        scores: Array = (self._slots[:count] @ query) / norms
        return scores

    def read(self, journal: Journal, fingerprint: str, sessions: Collection[int], kinds: Collection[str]) -> Read:
        """Read the pages of some sessions from beside the journal: their sentences of some kinds, with vectors."""
        lines, vectors, damaged = list[Line](), [np.zeros((0, self._width), np.float16)], list[int]()
        for page in journal.pages(sessions, fingerprint, kinds):
            rows = self._rows(page)
            if rows is None:
                damaged.append(page.session)
            else:
                lines += page.lines
                vectors.append(rows)
        return Read(lines, np.concatenate(vectors), damaged)

    def _rows(self, page: Page) -> HalfArray | None:
        """Return the vectors of the lines of a page; None where they are too few, too many or not finite."""
        if len(page.vectors) != 2 * self._width * page.total:
            return None
        rows: HalfArray = np.frombuffer(page.vectors, np.float16).reshape(-1, self._width)[page.places]
        return rows if np.isfinite(rows).all() else None

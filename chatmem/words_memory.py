"""The arm `bm25` of the benchmark: lines are found by their words alone, without any vector."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from chatmem.indexed import IndexedMemory, Scored, kinds_for, select, usable
from chatmem.interface import Recollection
from chatmem.journal import Journal
from chatmem.words_index import WordIndex


class WordsMemory(IndexedMemory):
    """BM25 over the journal's lines. It cannot tell what has no bearing on a query: a shared word is enough."""

    def __init__(self, journal: Journal, folder: Path | None = None) -> None:
        """Index a journal."""
        super().__init__(journal, folder)
        self._words = WordIndex()

    def recall(self, query: str, k: int = 3, *, visible: Collection[int] = ()) -> list[Recollection]:
        """Return at most `k` lines that share words with the query, best first; the best one's score is 1."""
        if k < 1:
            return []
        kinds = kinds_for(query)
        lines = [line for line in self.journal.lines() if line.kind in ("fact", "reply")]
        self._words.sync({line.key: line.text for line in lines})
        found = self._words.scores(query)
        able = [line for line, fits in zip(lines, usable(lines, kinds, visible), strict=True) if fits]
        best = max((found.get(line.key, 0.0) for line in able), default=0.0) or 1.0
        scores = [(line, found.get(line.key, 0.0) / best) for line in able]
        return select([Scored(line, score, score) for line, score in scores], query, k, visible, threshold=1e-6)

"""The arm `bm25` of the benchmark: lines are found by their words alone, without any vector."""

from __future__ import annotations

from pathlib import Path

from chatmem.choosing import Scored, Wanted
from chatmem.indexed import IndexedMemory
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS
from chatmem.words_index import WordIndex


class WordsMemory(IndexedMemory):
    """BM25 over the journal's lines. It cannot tell what has no bearing on a query: a shared word is enough."""

    def __init__(self, journal: Journal, folder: Path | None = None) -> None:
        """Index a journal."""
        super().__init__(journal, folder, threshold=1e-6)
        self._words = WordIndex()

    def rank(self, query: str, wanted: Wanted) -> list[Scored]:
        """Return the lines that share words with a query; the best one's score is 1."""
        lines = [line for line in self.journal.lines() if line.kind in MEMORY_KINDS | {"reply"}]
        self._words.sync({line.key: line.text for line in lines})
        found = self._words.scores(query)
        able = [line for line in lines if wanted.takes(line)]
        best = max((found.get(line.key, 0.0) for line in able), default=0.0) or 1.0
        scores = [(line, found.get(line.key, 0.0) / best) for line in able]
        return [Scored(line, score, score) for line, score in scores]

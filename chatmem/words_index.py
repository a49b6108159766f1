"""The word index: BM25 over memory lines, by SQLite's FTS5, which adds and takes out a line without a rebuild.

The index lives in RAM and is made from the journal; it knows nothing of vectors. Words of any script are found:
scripts that are written without spaces are cut into pairs of characters.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping

from chatmem.sentences import words

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_COMMON_SHARE = 0.2  # a word in more lines than this says nothing about any of them ...
_FEW_LINES = 50  # ... once there are this many lines
_NUM_TOKENS = 64  # words of a query that are looked up


def tokens(text: str) -> list[str]:
    """Return what is looked up of a text: its words, and pairs of characters where words have no spaces."""
    found: list[str] = []
    for word in words(text):
        spaced, position = [], 0
        for run in _UNSPACED.finditer(word):
            spaced += [word[position : run.start()], *_pairs(run.group())]
            position = run.end()
        found += [part for part in (*spaced, word[position:]) if part.strip("_")]
    return found


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of a run, or its only character."""
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


class WordIndex:
    """BM25 (Robertson and Zaragoza, 2009) over texts with whole-number keys."""

    def __init__(self) -> None:
        """Make an empty index."""
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("CREATE VIRTUAL TABLE lines USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')")
        self._known: dict[int, str] = {}

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._known)

    def sync(self, texts: Mapping[int, str]) -> None:
        """Hold exactly these texts: add the new keys and take out those that are gone."""
        gone = [key for key, text in self._known.items() if texts.get(key) != text]  # keys come again
        with self._db:
            self._db.executemany("DELETE FROM lines WHERE rowid = ?", [(key,) for key in gone])
        for key in gone:
            del self._known[key]
        self.add(texts)

    def add(self, texts: Mapping[int, str]) -> None:
        """Add the texts whose keys are new; those of known keys are the same as before."""
        new = sorted(texts.keys() - self._known.keys())
        rows = [(key, " ".join(tokens(texts[key]))) for key in new]
        with self._db:
            self._db.executemany("INSERT INTO lines(rowid, text) VALUES (?, ?)", rows)
        self._known |= {key: texts[key] for key in new}

    def scores(self, query: str) -> dict[int, float]:
        """Return the BM25 score of every text that shares a word with the query; words that most texts have count not.

        A score is above 0 and has no upper bound; compare it only with those of the same query.
        """
        wanted = self._telling(dict.fromkeys(tokens(query)))
        if not wanted:
            return {}
        match = " OR ".join(f'"{word}"' for word in wanted)
        found = self._db.execute("SELECT rowid, -bm25(lines) FROM lines WHERE lines MATCH ?", (match,))
        return {int(key): float(score) for key, score in found}

    def _telling(self, query: Iterable[str]) -> list[str]:
        """Return the words of a query that tell lines apart, or all where none does."""
        wanted = list(query)[:_NUM_TOKENS]
        if len(self._known) < _FEW_LINES:
            return wanted
        limit = _COMMON_SHARE * len(self._known)
        return [word for word in wanted if self._num_lines(word) <= limit] or wanted

    def _num_lines(self, word: str) -> int:
        """Return the number of texts with a word."""
        return int(self._db.execute("SELECT count(*) FROM lines WHERE lines MATCH ?", (f'"{word}"',)).fetchone()[0])

"""The word index: BM25 over texts, by SQLite's FTS5, which adds and takes out a text without a rebuild.

`search` asks any such table; `WordIndex` is one in RAM, `chatmem/journal_words.py` one beside the journal's text. It
knows nothing of vectors. Words of any script are found: scripts without spaces are cut into pairs of characters.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chatmem.sentences import UNSPACED, words

_COMMON_SHARE = 0.2  # a word in more lines than this says nothing about any of them ...
_FEW_LINES = 50  # ... once there are this many lines
_MOST_LINES = 5000  # a word in more lines than this takes longer to look up than it helps
_NUM_TOKENS = 64  # words of a query that are looked up
TABLE = "CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')"
Execute = Callable[[str, tuple[Any, ...]], Iterable[Any]]  # runs SQL with its values and returns rows


def tokens(text: str) -> list[str]:
    """Return what is looked up of a text: its words, and pairs of characters where words have no spaces."""
    if text.isascii():
        return [word for word in words(text) if word.strip("_")]
    found: list[str] = []
    for word in words(text):
        spaced, position = [], 0
        for run in UNSPACED.finditer(word):
            spaced += [word[position : run.start()], *_pairs(run.group())]
            position = run.end()
        found += [part for part in (*spaced, word[position:]) if part.strip("_")]
    return found


def token_text(text: str) -> str:
    """Return a text as the table `words` holds it."""
    return " ".join(tokens(text))


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of characters of a run, or its only character."""
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def search(execute: Execute, query: str, total: int) -> dict[int, float]:
    """Return the BM25 score of every text that shares a word with the query; words that most texts have count not.

    A score is above 0 and has no upper bound; compare it only with those of the same query.

    Args:
        execute: runs SQL where the table `words` is.
        query: any text.
        total: number of texts in the table, about.
    """
    wanted = _telling(execute, dict.fromkeys(tokens(query)), total)
    if not wanted:
        return {}
    match = " OR ".join(f'"{word}"' for word in wanted)
    found = execute("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (match,))
    return {int(key): float(score) for key, score in found}


def _telling(execute: Execute, query: Iterable[str], total: int) -> list[str]:
    """Return the words of a query that tell texts apart, or all where none does."""
    wanted = list(query)[:_NUM_TOKENS]
    if total < _FEW_LINES:
        return wanted
    limit = min(int(_COMMON_SHARE * total), _MOST_LINES)
    rare = [word for word in wanted if _is_in_at_most(execute, word, limit)]
    return rare or ([] if total > _MOST_LINES else wanted)


def _is_in_at_most(execute: Execute, word: str, limit: int) -> bool:
    """Tell whether at most so many texts have a word."""
    counted = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    return all(count <= limit for (count,) in execute(counted, (f'"{word}"', limit + 1)))


class WordIndex:
    """BM25 (Robertson and Zaragoza, 2009) over texts with whole-number keys, in RAM."""

    def __init__(self) -> None:
        """Make an empty index."""
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute(TABLE)
        self._known: dict[int, str] = {}

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._known)

    def sync(self, texts: Mapping[int, str]) -> None:
        """Hold exactly these texts: add the new keys and take out those that are gone."""
        gone = [key for key, text in self._known.items() if texts.get(key) != text]  # keys come again
        with self._db:
            self._db.executemany("DELETE FROM words WHERE rowid = ?", [(key,) for key in gone])
        for key in gone:
            del self._known[key]
        self.add(texts)

    def add(self, texts: Mapping[int, str]) -> None:
        """Add the texts whose keys are new; those of known keys are the same as before."""
        new = sorted(texts.keys() - self._known.keys())
        rows = [(key, token_text(texts[key])) for key in new]
        with self._db:
            self._db.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", rows)
        self._known |= {key: texts[key] for key in new}

    def scores(self, query: str) -> dict[int, float]:
        """Return the score of every text that shares a word with the query, as `search` does."""
        return search(self._db.execute, query, len(self._known))

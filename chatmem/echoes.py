"""Echoes: what else holds the words of lines that are erased, so that no reply or question gives them away."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatmem.comparing import stem
from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import Line
from chatmem.sentences import has_any_part
from chatmem.values import kind_of
from chatmem.word_sets import PLAIN_WORDS
from chatmem.words_index import tokens

_CYRILLIC = re.compile(r"[а-яё]", re.I)


def echoes(doomed: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return what holds words of lines that are erased and is no memory of the user.

    These are questions and the like of the user, and replies of the same sessions, with a word that only the erased
    lines had, and other replies with a value of theirs. (Replies that an erased line was in the prompt of are known
    without looking at words.)

    Args:
        doomed: the lines that are erased.
        lines: all lines.
    """
    gone, sessions = {line.key for line in doomed}, {line.session for line in doomed}
    told = [line for line in doomed if line.kind in MEMORY_KINDS]
    said = {root(word) for line in told for word in tokens(line.text) if _says_something(word)}
    near_words = [line for line in lines if line.key not in gone and has_any_part(line.text, said)]
    kept = {root(word) for line in near_words if line.kind in MEMORY_KINDS for word in tokens(line.text)}
    rare = said - kept
    values = {root(word) for line in told for word in _values(line.text)} & rare
    found = []
    for line in near_words:
        near = line.speaker == "user" or line.session in sessions
        there = {root(word) for word in tokens(line.text)}
        if line.kind not in MEMORY_KINDS and there & (rare if near else values):
            found.append(line)
    return found


def root(word: str) -> str:
    """Return a word without its ending; of a Russian one its first letters are left."""
    return word[: max(4, len(word) - 2)] if _CYRILLIC.search(word) and len(word) > 4 else stem(word)


def _says_something(word: str) -> bool:
    return word not in PLAIN_WORDS and (len(word) > 2 or not word.isascii())


def _values(text: str) -> set[str]:
    """Return the words of a text that are a value of their own: numbers, and names inside the sentence."""
    tokens = re.findall(r"\w+", text)
    return {
        token.casefold()
        for place, token in enumerate(tokens)
        if any(char.isdigit() for char in token) or (place and token[0].isupper() and not kind_of(token))
    }

"""Echoes: what else holds the words of lines that are erased, so that no reply or question gives them away."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatmem.comparing import stem
from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import Line
from chatmem.sentences import words
from chatmem.values import kind_of
from chatmem.word_sets import PLAIN_WORDS


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
    left = [line for line in lines if line.key not in gone and line.kind in MEMORY_KINDS]
    kept = {stem(word) for line in left for word in words(line.text)}
    told = [line for line in doomed if line.kind in MEMORY_KINDS]
    rare = {stem(word) for line in told for word in words(line.text) if _says_something(word)} - kept
    values = {stem(word) for line in told for word in _values(line.text)} & rare
    found = []
    for line in lines:
        near = line.speaker == "user" or line.session in sessions
        there = {stem(word) for word in words(line.text)}
        if line.key not in gone and line.kind not in MEMORY_KINDS and there & (rare if near else values):
            found.append(line)
    return found


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

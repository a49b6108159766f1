"""Echoes: what else holds the words of lines that are erased, so that no reply or question gives them away."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import Line
from chatmem.sentences import words
from chatmem.values import kind_of
from chatmem.word_sets import PLAIN_WORDS


def echoes(doomed: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Return what holds words of lines that are erased and is no memory of the user.

    These are lines of both speakers with a value that only the erased lines had, and replies of the same sessions with
    any word that only they had. (Replies that an erased line was in the prompt of are known without looking at words.)

    Args:
        doomed: the lines that are erased.
        lines: all lines.
    """
    gone = {line.key for line in doomed}
    sessions = {line.session for line in doomed}
    left = [line for line in lines if line.key not in gone and line.kind in MEMORY_KINDS]
    kept = {word for line in left for word in words(line.text)} | PLAIN_WORDS
    rare = {word for line in doomed for word in words(line.text) if len(word) > 2 or not word.isascii()} - kept
    values = {word for line in doomed for word in _values(line.text)} & rare
    found = []
    for line in lines:
        if line.key in gone or line.kind in MEMORY_KINDS:
            continue
        here = line.speaker == "assistant" and line.session in sessions
        if set(words(line.text)) & (rare if here else values):
            found.append(line)
    return found


def _values(text: str) -> set[str]:
    """Return the words of a text that are a value of their own: numbers, and names inside the sentence."""
    tokens = re.findall(r"\w+", text)
    return {
        token.casefold()
        for place, token in enumerate(tokens)
        if any(char.isdigit() for char in token) or (place and token[0].isupper() and not kind_of(token))
    }

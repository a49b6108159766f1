"""Succession: a line that superseded another one is found by whatever the other one would have been found by.

"I moved to Faro." shares nothing with "Where do I live?", but it superseded "I live in Porto.", which does.
"""

from __future__ import annotations

from collections.abc import Iterable

from chatmem.rows import Line


def with_heirs(scored: Iterable[tuple[Line, float]]) -> list[tuple[Line, float]]:
    """Return scored lines; each has at least the score of every line that it superseded, directly or in turn."""
    pairs = list(scored)
    lines = {line.key: line for line, _ in pairs}
    best: dict[int, float] = {}
    for line, score in pairs:
        heir, seen = line, {line.key}
        while heir.status == "superseded" and (key := heir.superseded_by) in lines and key not in seen:
            heir = lines[key]
            seen.add(key)
        best[heir.key] = max(score, best.get(heir.key, score))
    return [(line, max(score, best.get(line.key, score))) for line, score in pairs]

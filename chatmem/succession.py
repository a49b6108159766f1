"""Succession: a line that superseded another one is found by whatever the other one would have been found by.

"I moved to Faro." shares nothing with "Where do I live?", but it superseded "I live in Porto.", which does.
"""

from __future__ import annotations

from collections.abc import Iterable

from chatmem.rows import Line


def predecessors(lines: Iterable[Line]) -> dict[int, list[Line]]:
    """Return, by the key of a line, the lines that it superseded, directly or in turn, among those given."""
    known = {line.key: line for line in lines}
    found: dict[int, list[Line]] = {}
    for line in known.values():
        heir, seen = line, {line.key}
        while heir.status == "superseded" and (key := heir.superseded_by) in known and key not in seen:
            heir = known[key]
            seen.add(key)
        if heir is not line:
            found.setdefault(heir.key, []).append(line)
    return found

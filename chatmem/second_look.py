"""The second look: what trained networks see in new lines that the rules of words took for facts.

The rules judge a line while it is written to the journal, before anything is loaded. Here, once the networks are
there, a line that only looks like a fact loses its kind, and what it replaces in other words than the rules know is
superseded. Both are written to the journal, so states that are derived again come out the same. The networks know
English; what is written in another script is left to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import compress, islice
from operator import and_, or_

from chatmem.endings import first_half
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS, asks_to_keep
from chatmem.pairs import NUM_CANDIDATES, Decision
from chatmem.rows import Line
from chatmem.versions import may_replace, topic

_OTHER_LETTER = re.compile(r"[^\W\d_A-Za-z\u00aa-\u024f]")
Nearest = Callable[[str], Iterable[Line]]  # the lines nearest to a text, best first


class SecondLook:
    """Looks once at every line; the memory that owns it says which lines are near."""

    def __init__(self, journal: Journal, nearest: Nearest, decision: Decision | None) -> None:
        """Change lines of a journal; without a decision nothing is changed."""
        self.decision = decision
        self._journal = journal
        self._nearest = nearest
        self._seen: set[int] = set()

    def __call__(self, lines: Sequence[Line]) -> list[Line]:
        """Look at new lines, and return those that turned out to be no facts."""
        new = [line for line in lines if line.key not in self._seen and is_current(line) and is_latin(line.text)]
        self._seen |= {line.key for line in lines}
        if self.decision is None:
            return []
        doubted = _doubted(new, self.decision)
        self._journal.rejudge(doubted)
        for line in new:
            if line.key not in doubted:
                self._renew(line, self.decision)
        return [line for line in new if line.key in doubted]

    def _renew(self, new: Line, decision: Decision) -> None:
        """Let a line take the place of older facts that it gives a newer value of, or denies."""
        older = nearest_older(new, self._nearest(new.text))
        flags = replaced(new.text, [line.text for line in older], decision)
        if any(flags):
            self._journal.supersede(new.key, [line.key for line in compress(older, flags)])


def replaced(new: str, older: Sequence[str], decision: Decision) -> list[bool]:
    """Tell which older statements a new one replaces, or its first half where that names what it ends."""
    flags = _replaced(new, older, decision)
    if half := first_half(new):
        named = [bool(topic(half) & topic(old)) for old in older]
        flags = list(map(or_, flags, map(and_, named, _replaced(half, older, decision))))
    return flags


def _replaced(new: str, older: Sequence[str], decision: Decision) -> list[bool]:
    found = zip(decision.replaces(new, older), older, strict=True)
    return [flag and may_replace(new, old) for flag, old in found]


def _doubted(lines: Sequence[Line], decision: Decision) -> dict[int, str]:
    """Return what lines are in place of facts, by their keys; what the user asked to keep is never doubted."""
    free = [line for line in lines if not line.explicit and not asks_to_keep(line.said)]
    kinds = decision.doubted([line.text for line in free])
    return {line.key: kind for line, kind in zip(free, kinds, strict=True) if kind}


def is_current(line: Line) -> bool:
    """Tell whether a line is a fact that the user told and that holds."""
    return line.kind in MEMORY_KINDS and line.status == "active" and line.speaker == "user"


def is_latin(text: str) -> bool:
    """Tell whether a text holds no letter of another script than Latin."""
    return _OTHER_LETTER.search(text) is None


def nearest_older(new: Line, ranked: Iterable[Line]) -> list[Line]:
    """Return the first current facts of the user, of lines in the order of their nearness, that are older than one."""
    able = (line for line in ranked if is_current(line) and (line.when, line.key) < (new.when, new.key))
    return list(islice((line for line in able if is_latin(line.text)), NUM_CANDIDATES))

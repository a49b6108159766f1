"""Tension: what is always so ("I'm vegetarian.") and what happened later and may not fit it ("Had a huge steak.").

Neither replaces the other: one steak is no new diet. A question with yes or no gets both, with their dates. Words tell
what is a claim and what an event; whether they are about one thing, only the nearness of their meanings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from chatmem.interface import Recollection
from chatmem.rows import Line
from chatmem.times import is_past
from chatmem.versions import is_of_other

NEAR = 0.2  # cosine of the question and the event; under 0.15 for most events that have nothing to do with it
_ONCE = re.compile(r"\b(?:did|was|were|had|could)(?:n't| not)\b", re.I)
_CLAIM = re.compile(
    r"^i\b.*(?:\b(?:never|not|no longer|vegetarian|vegan|pescatarian|teetotal(?:ler)?|kosher|halal|sober|celibate"
    r"|non-?smoker)\b|n't\b)|^i (?:only|always)\b",
    re.I,
)


class Ranked(Protocol):
    """A line with its nearness to a question."""

    @property
    def line(self) -> Line:
        """The line."""

    @property
    def score(self) -> float:
        """Its nearness."""


def is_claim(text: str) -> bool:
    """Tell whether a sentence says what the user always or never does or is."""
    text = text.replace("’", "'").strip()
    return bool(_CLAIM.match(text)) and not is_past(text) and not _ONCE.search(text)


def event_against(claim: Recollection, ranked: Iterable[Ranked]) -> Recollection | None:
    """Return the nearest event of a later time that may not fit a claim, of lines with their nearness to a question."""
    events = [
        one
        for one in ranked
        if one.line.when > claim.when and one.score >= NEAR and is_event(one.line.text) and one.line.speaker == "user"
    ]
    best = max(events, key=lambda one: one.score, default=None)
    return best.line.recollection(claim.score) if best else None


def is_event(text: str) -> bool:
    """Tell whether a sentence tells what the user did or what happened to the user."""
    return is_past(text) and not is_of_other(text)


def in_tension(lines: Sequence[Recollection]) -> bool:
    """Tell whether the first two lines are a claim and a later event."""
    if len(lines) < 2:
        return False
    claim, event = lines[:2]
    return claim.when < event.when and is_claim(claim.text) and is_event(event.text)

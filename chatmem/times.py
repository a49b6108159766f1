"""Times: on which days what a sentence says holds, resolved against the day on which it was said.

"I'm in Lisbon until Sunday." holds from the day it was said to that Sunday. What tells a time is marked by cheap
patterns (`chatmem/time_words.py`); only what is marked goes to dateparser, which is loaded with the first of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time

from chatmem.time_points import Span, lasting, point
from chatmem.time_words import ENGLISH, HINT, Language, language_of

__all__ = ["Mark", "Span", "end_of", "holds", "is_past", "marks", "said_days", "tells_event"]


@dataclass(frozen=True, slots=True)
class Mark:
    """Words of a sentence that tell a time: where they stand, their days, and how they join the sentence.

    `grain` is a key of `Language.points` ("lasting" for "for two weeks"), `joint` is "", "until", "since" or "from".
    """

    start: int
    end: int
    span: Span
    grain: str
    joint: str
    language: str


def marks(text: str, when: datetime) -> list[Mark]:
    """Return what tells a time in a sentence that was said at `when`, in order; nothing for what comes every week."""
    if not HINT.search(text):
        return []
    text = text.replace("’", "'")
    language = language_of(text)
    return [] if language.habit.search(text) else list(_marks(text, when.date(), language))


def holds(text: str, when: datetime) -> Span | None:
    """Return on which days what a sentence says holds; None where it tells no time.

    What starts on a day goes on: "I start at Orbix on Monday." is open at its end.
    """
    found = marks(text, when)
    if not found:
        return None
    said = when.date()
    first, last = found[0].span.first, found[-1].span.last
    if first is None and not is_past(text):
        first = said
    if language_of(text).stays.search(text) and found[0].joint in ("", "since") and not is_past(text):
        last = None
    return Span(first, last) if first is None or last is None or first <= last else Span(first, None)


def end_of(text: str, when: datetime, days: Span | None) -> datetime | None:
    """Return the moment from which what a sentence says is over, None for what is not about a time that ends.

    What was past already when it was said ("Yesterday I …") stays true.

    Args:
        text: the sentence.
        when: when it was said.
        days: the days on which it holds, as `holds` found them.
    """
    if days is None or days.last is None or days.last < when.date() or is_past(text):
        return None
    return datetime.combine(days.last, time(23, 59, 59), when.tzinfo)


def said_days(text: str, when: datetime, until: datetime | None, named: Span | None) -> Span:
    """Return on which days what a sentence says holds or held, as far as can be told.

    Args:
        text: the sentence.
        when: when it was said.
        until: when it ceased to be current.
        named: the days that it names, as `holds` found them.
    """
    if named is not None:
        return named
    language = language_of(text)
    if not is_past(text) or language.present.search(text):  # "I sold my boat, now I'm building a raft."
        return Span(when.date(), None if until is None else until.date())
    return Span(None, None if language.stays.search(text) else when.date())


_GOING_ON = re.compile(r"(?:'m|'re|'s|\bam|\bare|\bis) (?:\w+ )?\w{2,}ing\b", re.I)


def tells_event(text: str) -> bool:
    """Tell whether a sentence tells what happened or is going on, rather than what is always so."""
    return is_past(text) or bool(_GOING_ON.search(text))


_SET = re.compile(
    r"\b(?:postponed|moved|rescheduled|shifted|put off|pushed back|booked|scheduled) .*?(?:to|for)\b", re.I
)


def is_past(text: str) -> bool:
    """Tell whether the first verb that shows its tense is one of the past."""
    text = text.replace("’", "'")
    language = language_of(text)
    past, present = language.past.search(text), language.present.search(text)
    return past is not None and (present is None or past.start() < present.start())


def _marks(text: str, said: date, language: Language) -> Iterator[Mark]:
    """Yield the marks of a sentence in one language."""
    prefer = "past" if is_past(text) and not _SET.search(text) else "future"
    for found in _either(text, language):
        groups = found.groupdict()
        if "unit" in groups:
            span = lasting(found, said, language) if prefer == "future" else None
            grain, joint = "lasting", ""
        else:
            grain = _grain(found, "first", language)
            joint = next((name for name in ("until", "since", "from") if groups.get(name)), "")
            span = _joined(found, grain, joint, said, language, prefer)
            joint = "from" if found["last"] else joint
        if span is not None and not _may_recur(found.group(), grain, joint, text, language):
            yield Mark(found.start(), found.end(), span, grain, joint, language.code)


def _either(text: str, language: Language) -> list[re.Match[str]]:
    found = [*language.marks.finditer(text), *language.lasting.finditer(text)]
    return sorted(found, key=lambda match: match.start())


def _may_recur(words: str, grain: str, joint: str, text: str, language: Language) -> bool:
    """Tell whether "on Friday", "in June" may mean each: "I play chess on Friday.", not "I'm flying on Friday."."""
    if language is not ENGLISH or joint or language.order.search(words) or re.search(r"\bthis\b|\d", words, re.I):
        return False
    if grain == "month":
        return not re.search(rf"{language.past.pattern}|ing\b|'ll\b|\b(?:will|when|what|where|do|am)\b", text, re.I)
    if grain != "weekday":
        return False
    shows = r"\b(?:class|lesson|practice|training|shift|choir|club|yoga|day off)\b"
    once = r"ing\b|'(?:ll|re|m)\b|\b(?:will|is|are|have|has|what|who|where|when|do|need|leaves?|arrives?|due)\b"
    once = rf"{language.past.pattern}|{language.stays.pattern}|{once}"
    return bool(re.search(shows, text, re.I) or not re.search(once, text, re.I))


def _joined(found: re.Match[str], grain: str, joint: str, said: date, language: Language, prefer: str) -> Span | None:
    """Return the days of one point of time, or of two, as they are joined to the sentence."""
    first = point(found["first"], grain, said, language, "past" if joint == "since" else prefer)
    if first is None or first.first is None:
        return None
    if found["last"]:
        base = first.first if prefer == "future" else said
        last = point(found["last"], _grain(found, "last", language), base, language, prefer)
        return None if last is None else Span(first.first, last.last)
    if joint == "until":
        return Span(None, first.last)
    return Span(first.first, None) if joint in ("since", "from") else first


def _grain(found: re.Match[str], group: str, language: Language) -> str:
    """Return which of a language's points a part of a match is."""
    points = language.points.items()
    return next(grain for grain, pattern in points if pattern.fullmatch(found.string, *found.span(group)))

"""Questions about times that only have to be looked up or counted.

"When was my exam?", "How long did it take?", "Which came first?" are answered from dates; no model has a part in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from chatmem.asked_times import LEAD, asks_only_days, asks_when
from chatmem.dated import spoken
from chatmem.interface import Recollection
from chatmem.prompt import as_said_to_user
from chatmem.provenance import quoted
from chatmem.times import holds, marks
from chatmem.versions import topic

Near = Callable[[str], Sequence[Recollection]]


class Remembering(Protocol):
    """What is asked of a memory here."""

    def near(self, query: str) -> list[Recollection]:
        """Return the lines nearest to a text, best first, whether they answer it or not."""

    def recall(self, query: str, k: int = 3, *, now: datetime | None = None) -> list[Recollection]:
        """Return at most `k` lines that fit a query."""


_TOOK = re.compile(
    rf"{LEAD}how (?:long|many (?P<unit>days|weeks)) (?P<verb>did|was|were|had|have|has)\b(?!.*\bago\b).+$", re.I
)
_AGO = re.compile(rf"{LEAD}how (?:long|many (?P<unit>days|weeks)) ago\b.*$", re.I)
_BETWEEN = re.compile(
    rf"{LEAD}how (?:long|many (?P<unit>days|weeks))\b.*?\b(?:between|from) (?P<one>.+?) (?:and|to|until) "
    r"(?P<other>.+)$",
    re.I,
)
_FIRST = re.compile(
    rf"{LEAD}(?:which|what|who)\b.*?\b(?P<end>first|earlier|last|later)\b\W*(?P<one>.+?),? or (?P<other>.+)$", re.I
)
_ONE = re.compile(r"\b(?:where|who|wo|wer|где|куда|кто)\b|哪|谁", re.I)  # asks for one thing, not for a list
_BEGUN = re.compile(
    r"\b(?:start(?:ed|s)?|beg[au]n|begins|took up|set out|set off|moved in|arrived|opened|left for|since)\b", re.I
)
_ENDED = re.compile(
    r"\b(?:finish(?:ed|es)?|ended|ends|complet(?:ed|es)|done with|(?:was|is|are|were) (?:over|done|ready)|wrapped up"
    r"|came back|got back|returned|moved out|stopped|quit|closed)\b",
    re.I,
)
_OWNER = re.compile(r"\b(?!(?:it|that|he|she|there|what|when|who|how|here|today|tomorrow)'s)(\w+)'s\b", re.I)
_FEW = 2  # rarer words of a question that a line must have without exception
_ASIDE = frozenset({"first", "last", "long", "ago", "take", "took", "day", "date", "week", "exactly", "many"})


@dataclass(frozen=True, slots=True)
class Dated:
    """A reply that only has to be looked up or counted, and the lines that it follows from."""

    reply: str
    lines: tuple[Recollection, ...]


def asks_times(query: str, now: datetime) -> bool:
    """Tell whether a question is one that `looked_up` may answer."""
    text = query.strip().replace("’", "'")
    patterns = (_FIRST, _BETWEEN, _AGO, _TOOK)
    return asks_when(text) or any(pattern.match(text) for pattern in patterns) or asks_only_days(text, now)


def looked_up(query: str, memory: Remembering, k: int, now: datetime) -> Dated | None:
    """Return the reply to a question about when, how long or in which order, where the days are known.

    Args:
        query: the question.
        memory: where the lines come from.
        k: how many lines there are at most, where all of a day are asked for.
        now: when it is asked.
    """
    query, near = query.strip().replace("’", "'"), memory.near
    if asks_only_days(query, now):
        lines = memory.recall(query, 1 if _ONE.search(query) else k, now=now)
        lines.sort(key=_day)
        return Dated(_told(lines, query), tuple(lines)) if lines else None
    if found := _FIRST.match(query):
        return _compared(found, near)
    if found := _BETWEEN.match(query):
        days = _event(found["one"], near), _event(found["other"], near)
        return _between(days[0], days[1], found["unit"], "That is") if days[0] and days[1] else None
    if found := _AGO.match(query):
        event = _event(query, near) or next(iter(memory.recall(query, 1, now=now)), None)
        return _since(event, now, found["unit"]) if event else None
    if found := _TOOK.match(query):
        return _took(query, found, near, now)
    return _time_of(query, memory, now) if asks_when(query) else None


def _of_topic(query: str, lines: Iterable[Recollection]) -> list[Recollection]:
    """Return the user's lines with the rarer words of a query: all of them, or all but one of three and more.

    What is somebody else's is left out: "Petra's exam is on Friday." does not tell when the user's is.
    """
    wanted, owners = topic(query) - _ASIDE, _owners(query)
    told = [(len(wanted & topic(line.text)), line) for line in lines if line.speaker == "user"]
    enough = max(1, len(wanted) - (len(wanted) > _FEW))
    fit = [(count, line) for count, line in told if count >= enough and _owners(line.text) <= owners]
    best = max((count for count, _ in fit), default=0)
    return [line for count, line in fit if count == best]


def _owners(text: str) -> set[str]:
    """Return whose things a text speaks of, but for the user's own."""
    return {name.casefold() for name in _OWNER.findall(text.replace("’", "'"))}


def _event(text: str, near: Near) -> Recollection | None:
    """Return the line that tells of something, the newest where there are several."""
    return max(_of_topic(text, near(text)), key=_day, default=None)


def _day(line: Recollection) -> date:
    """Return the day that a line names, else the one on which it was said."""
    named = holds(line.text, line.when)
    return (named and (named.first or named.last)) or line.when.date()


def _spoken(line: Recollection) -> str:
    """Return the day of a line as it is said, or the month or the year where it names no more."""
    named, day = marks(line.text, line.when), _day(line)
    grain = named[0].grain if named else ""
    return f"{day:%B %Y}" if grain == "month" else f"{day:%Y}" if grain == "year" else spoken(day)


def _time_of(query: str, memory: Remembering, now: datetime) -> Dated | None:
    """Return the line that says when something is or was, with its date: by its words, else as the memory finds it."""
    lines = _of_topic(query, memory.near(query)) or memory.recall(query, 1, now=now)
    lines = [line for line in lines if line.speaker == "user" and holds(line.text, line.when)]
    if not lines:
        return None
    coming = [line for line in lines if _day(line) >= now.date()]
    line = min(coming, key=_day) if coming else max(lines, key=_day)
    return Dated(_told([line], query), (line,))


def _told(lines: Sequence[Recollection], query: str) -> str:
    """Return lines as they are told to the user; in other languages than English the user's own words."""
    if not re.search(r"[\u0400-\u04ff\u4e00-\u9fff]", query):
        return " ".join(as_said_to_user(line) for line in lines)
    return quoted(lines, query)


def _took(query: str, found: re.Match[str], near: Near, now: datetime) -> Dated | None:
    """Return how long something took, from one line with both days or from two, or how long it has gone on."""
    lines = _of_topic(re.sub(r"^.*?\b(?:how long|days|weeks)\b", "", query, flags=re.I), near(query))
    lines = lines or [line for line in near(query) if topic(query) & topic(line.text)]
    begun = next((line for line in lines if _BEGUN.search(line.text)), None)
    ended = next((line for line in lines if _ENDED.search(line.text) and line is not begun), None)
    if begun and ended and _day(begun) <= _day(ended):
        return _between(begun, ended, found["unit"])
    if begun and found["verb"].casefold() in ("have", "has"):
        days = (now.date() - _day(begun)).days
        return Dated(f"For {_length(days, found['unit'])}, since {_spoken(begun)}.", (begun,)) if days > 0 else None
    for line in lines:
        span = holds(line.text, line.when)
        if span and span.first and span.last and any(mark.joint == "from" for mark in marks(line.text, line.when)):
            length = _length((span.last - span.first).days + 1, found["unit"])
            return Dated(f"{length[0].upper()}{length[1:]}, from {spoken(span.first)} to {spoken(span.last)}.", (line,))
    return None


def _between(one: Recollection, other: Recollection, unit: str | None, begun: str = "It took") -> Dated:
    """Return the time from one event to another."""
    first, last = sorted((one, other), key=_day)
    length = _length((_day(last) - _day(first)).days, unit)
    return Dated(f"{begun} {length}, from {_spoken(first)} to {_spoken(last)}.", (one, other))


def _compared(found: re.Match[str], near: Near) -> Dated | None:
    """Return which of two events came first, or last."""
    one, other = _event(found["one"], near), _event(found["other"], near)
    if one is None or other is None or _day(one) == _day(other):
        return None
    early, late = sorted((one, other), key=_day)
    if found["end"].casefold() in ("last", "later"):
        return Dated(f"Last: {_on_its_day(late)} Before: {_on_its_day(early)}", (late, early))
    return Dated(f"First: {_on_its_day(early)} Then: {_on_its_day(late)}", (early, late))


def _on_its_day(line: Recollection) -> str:
    """Return a line with its date, be it that on which it was said."""
    text, day = as_said_to_user(line), spoken(_day(line))
    return text if day in text else f"{text.rstrip('.')} ({day})."


def _since(line: Recollection, now: datetime, unit: str | None) -> Dated | None:
    """Return how long ago was what a line tells."""
    days = (now.date() - _day(line)).days
    if days < 0:
        return None
    on = f", on {spoken(_day(line))}" if _spoken(line) == spoken(_day(line)) else f", in {_spoken(line)}"
    return Dated(f"That was {_length(days, unit)} ago{on}." if days else "That was today.", (line,))


def _length(days: int, unit: str | None) -> str:
    """Return a number of days as it is said: "10 days", "2 weeks (14 days)", "about 3 years"."""
    plain = _count(days, "day")
    weeks, rest = divmod(days, 7)
    if unit == "weeks" or (unit is None and weeks and not rest and days < _MONTHS):
        more = f" and {_count(rest, 'day')}" if rest else ""
        return f"{_count(weeks, 'week')}{more} ({plain})"
    if unit == "days" or days < _MONTHS:
        return plain
    if days < 2 * 365:
        return f"about {round(days / 30.44)} months ({plain})"
    return f"about {round(days / 365.25)} years"


_MONTHS = 90  # days from which a time is told in months


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"

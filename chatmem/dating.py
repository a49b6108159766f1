"""Questions about times: which lines fit "in January", and what only has to be counted: "How long did it take?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from chatmem.interface import Recollection
from chatmem.judgement import judge
from chatmem.times import Period, periods, spoken
from chatmem.versions import topic

_TOOK = re.compile(
    r"^\W*(?:(?:and|so|but|then|ok|okay)\W+)?how (?:long|many (?P<unit>days|weeks)) (?:did|was|were|had|have|has)\b"
    r"(?!.*\bago\b)(?P<what>.+?)\W*$",
    re.I,
)
_AGO = re.compile(r"^\W*(?:(?:and|so|but)\W+)?how (?:long|many days|many weeks) ago\b.*$", re.I)
_BEGUN = re.compile(
    r"\b(?:start(?:ed|s)?|beg[au]n|begins|took up|set out|set off|moved in|arrived|opened|left for)\b", re.I
)
_ENDED = re.compile(
    r"\b(?:finish(?:ed|es)?|ended|ends|complet(?:ed|es)|done with|(?:was|is|are|were) (?:over|done|ready)|wrapped up"
    r"|came back|got back|returned|moved out|stopped|quit|closed)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Dated:
    """A reply that only has to be counted, and the lines that it follows from."""

    reply: str
    lines: tuple[Recollection, ...]


def in_time(query: str, lines: Sequence[Recollection], now: datetime) -> list[Recollection]:
    """Return the lines that fit the days a question names, or all where it names none or none fits."""
    asked = periods(query, now) if judge(query) == "question" else []
    fit = [line for line in lines if any(_fits(line, period) for period in asked)]
    return fit or list(lines)


def _fits(line: Recollection, asked: Period) -> bool:
    """Tell whether the days that a line names, else those from when it was said until it ended, are asked for."""
    if named := periods(line.text, line.when):
        return any(period.overlaps(asked.first, asked.last) for period in named)
    return asked.overlaps(line.when.date(), line.until.date() if line.until else date.max)


def asks_how_long(query: str) -> bool:
    """Tell whether a question asks for the time between two days, or since one."""
    return bool(_TOOK.match(query) or _AGO.match(query))


def counted(query: str, lines: Sequence[Recollection], now: datetime) -> Dated | None:
    """Return the reply to "How long did the course take?" or "How long ago did I …?", where two days are known.

    Args:
        query: the question.
        lines: lines that may tell of a beginning and an end, best first.
        now: when it is asked.
    """
    wanted = topic(query)
    near = [line for line in lines if line.speaker == "user" and wanted & topic(line.text)]
    if _AGO.match(query):
        return _since(near[0], now) if near else None
    found = _TOOK.match(query)
    if found is None:
        return None
    begun = next((line for line in near if _BEGUN.search(line.text)), None)
    ended = next((line for line in near if _ENDED.search(line.text) and line is not begun), None)
    if begun is None or ended is None:
        return None
    first, last = _day(begun), _day(ended)
    if last < first:
        return None
    reply = f"It took {_length((last - first).days, found['unit'])}, from {spoken(first)} to {spoken(last)}."
    return Dated(reply, (begun, ended))


def _since(line: Recollection, now: datetime) -> Dated | None:
    """Return how long ago was what a line tells."""
    days = (now.date() - (day := _day(line))).days
    if days < 0:
        return None
    return Dated(f"That was {_length(days, '')} ago, on {spoken(day)}." if days else "That was today.", (line,))


def _day(line: Recollection) -> date:
    """Return the day that a line names, else the one on which it was said."""
    named = periods(line.text, line.when)
    return named[0].first if named else line.when.date()


def _length(days: int, unit: str | None) -> str:
    """Return a number of days as it is said."""
    weeks, rest = divmod(days, 7)
    plain = f"{days} day{'' if days == 1 else 's'}"
    if weeks and (unit == "weeks" or not rest):
        exact = f"{weeks} week{'' if weeks == 1 else 's'}" + (
            f" and {rest} day{'' if rest == 1 else 's'}" if rest else ""
        )
        return f"{exact} ({plain})"
    return plain

"""Dated sentences: words such as "yesterday" become the dates that they mean, for those who read them later."""

from __future__ import annotations

import re
from datetime import date, datetime

from chatmem.times import Mark, marks

_PREPOSITION = re.compile(r"\b(?:by|before|after|to|of|for|at|around) $", re.I)
_PART = re.compile(r"morning|afternoon|evening|night", re.I)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRESENT = (  # in the second person, with the past in place of the first that fits
    (r"\b([Yy])ou(?:'re| are)\b", r"\1ou were"),
    (r"\b([Yy])ou(?:'ll| will)\b", r"\1ou were going to"),
    (r"\b([Yy])ou(?:'ve got| have(?! been))\b", r"\1ou had"),
    (r"\bis\b", "was"),
    (r"\bare\b", "were"),
    (r"\bwill\b", "was going to"),
    (r"\bhas\b", "had"),
)


def spoken(day: date) -> str:
    """Return a day as it is said: "3 May 2025"."""
    return f"{day.day} {day:%B %Y}"


def _on(mark: Mark, day: date) -> str:
    """Return the day of a mark with its name where the sentence named it: "Sunday, 3 May 2025"."""
    return f"{day:%A}, {spoken(day)}" if mark.grain == "weekday" else spoken(day)


def dated(text: str, when: datetime) -> str:
    """Return a sentence that was said at `when` with dates in the place of words: "on 15 February 2025".

    In other languages than English the dates stand behind the words.
    """
    for mark in reversed(marks(text, when)):
        words, before = text[mark.start : mark.end], text[: mark.start]
        name = _name(mark, words, when.date()) if mark.language == "en" else _beside(mark, words)
        if not name:
            continue
        if _PREPOSITION.search(before):
            name = re.sub(r"^(?:on|in) ", "", name)
        name = name if before.strip() else name[0].upper() + name[1:]
        text = f"{before}{name}{text[mark.end :]}"
    return text


def as_past(text: str) -> str:
    """Return a sentence of the present, said to the user, as one of the past: "You're …" becomes "You were …"."""
    found = [(match.start(), pattern, new) for pattern, new in _PRESENT if (match := re.search(pattern, text))]
    if not found:
        return text
    _, pattern, new = min(found)
    return re.sub(pattern, new, text, count=1)


def _name(mark: Mark, words: str, said: date) -> str:
    """Return how an English sentence says the days; "" where its own words will do."""
    first, last = mark.span.first, mark.span.last
    if mark.grain == "lasting":
        return f"{words} (until {spoken(last)})" if last else ""
    if mark.grain == "year" or _YEAR.search(words):
        return ""
    if mark.joint == "from" and first and last:
        return f"from {_on(mark, first)} to {_on(mark, last)}"
    if mark.joint and (day := last if mark.joint == "until" else first):
        return f"{mark.joint} {f'{day:%B %Y}' if mark.grain == 'month' else _on(mark, day)}"
    if first is None or last is None:
        return ""
    if mark.grain == "date":  # without a year it may come every year
        return f"on {spoken(first)}" if first < said else ""
    if mark.grain == "month":
        part = re.search(r"early|mid|late", words, re.I)
        return f"in {f'{part[0].casefold()} ' if part else ''}{first:%B %Y}"
    return _one_day(mark, first, words) if first == last else _several(first, last, words)


def _one_day(mark: Mark, day: date, words: str) -> str:
    part = "night" if re.search("tonight", words, re.I) else (_PART.search(words) or [""])[0].casefold()
    return f"on {f'the {part} of ' if part else ''}{_on(mark, day)}"


def _several(first: date, last: date, words: str) -> str:
    if "weekend" in words.casefold():
        return f"on the weekend of {spoken(first)}"
    days = (last - first).days
    if days < 7:
        return f"in the week of {spoken(first)}"
    return f"in {first:%Y}" if days > 31 else f"in {first:%B %Y}"


def _beside(mark: Mark, words: str) -> str:
    """Return words of another language with their dates behind them."""
    if _YEAR.search(words):
        return ""
    days = [day.isoformat() for day in (mark.span.first, mark.span.last) if day]
    return f"{words} ({'–'.join(dict.fromkeys(days))})"

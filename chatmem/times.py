"""Times in sentences: the days that "yesterday", "next Friday", "in March" or "until Sunday" mean where they were said.

A cheap pattern finds the words, the library dateparser reads those that name a day. Days are those of the speaker's own
time zone.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
)
_MONTH_NAME = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})"
_UNIT = r"(?:day|week|month|year)s?"
_PART = r"(?: (?:morning|afternoon|evening|night))?"
_DAY = (  # what dateparser reads as one day
    rf"(?:the )?day (?:after tomorrow|before yesterday)|(?:tomorrow|yesterday){_PART}|last night|tonight|today"
    rf"|this (?:morning|afternoon|evening)|(?:next|last|this|coming) {_WEEKDAY}|{_WEEKDAY}"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} \d{{1,2}}(?:st|nd|rd"
    rf"|th)?\b(?:,? \d{{4}})?"
    rf"|\d{{4}}-\d\d-\d\d|{_COUNT} {_UNIT} (?:ago|from now)|in {_COUNT} {_UNIT}(?! a)"
    r"|послезавтра|позавчера|завтра|вчера|сегодня|heute|gestern|morgen|后天|前天|明天|昨天|今天"
)
_SPAN = r"(?:next|last|this) (?:weekend|week|month|year)"
_IN_MONTH = rf"(?P<part>early |mid-?|late )?(?P<month>{_MONTH_NAME})(?: (?P<year>\d{{4}}))?"
_MARKED = re.compile(
    rf"(?<![\w-])(?:(?P<span>{_SPAN})|(?P<day>(?:(?:on|am) )?(?:{_DAY}))(?!s\b)|(?P<in>(?:in|during"
    rf"|back in) {_IN_MONTH}(?! \d)"
    r"|in (?P<only>(?:19|20)\d\d)\b))",
    re.I,
)
_REPEATED = re.compile(r"\b(?:every|each|most|any|all|usually|always|often|normally|never)\b", re.I)
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|went|saw|met|got|took|came|ate|bought|sold|lost|found|won|read|left|began|broke|made"
    r"|gave|ran|spent|told|heard|felt|said|slept|wrote|flew|drove|\w{2,}ed)\b",
    re.I,
)
_PLANNED = re.compile(r"\b(?:will|won't|going to|gonna|(?:am|are|is|'m|'re|'s) \w+ing)\b|'ll\b", re.I)
_RUSSIAN_DAYS = ("понедельник", "вторник", "сред", "четверг", "пятниц", "суббот", "воскресень")  # from Monday on
_UNTIL = re.compile(
    rf"\b(?:until|till|through|до|bis) (?:the end of )?(?P<day>(?:{_DAY})(?!s\b)|{_SPAN}|{_MONTH_NAME}"
    rf"|(?:{'|'.join(_RUSSIAN_DAYS)})\w+)"
    rf"|\bfor (?:the next |another )?(?P<count>{_COUNT}) (?P<unit>day|week|month)s?\b",
    re.I,
)
_PREPOSITION = re.compile(r"\b(?:until|till|by|since|before|after|from|to|through|of|for) $", re.I)
_STATE = re.compile(  # what is so for a while: "I'm in Lisbon until Sunday", "I'm staying with Jo for two weeks"
    r"\b(?:i'm|i am|we're|we are|(?:he|she|[\w-]+)(?:'s| is)|(?:they|[\w-]+s)(?:'re| are)|я|мы|ich bin|wir sind)\b",
    re.I,
)
_NUMBERS = {
    name: count
    for count, name in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)
}


@dataclass(frozen=True, slots=True)
class Period:
    """The days that words of a sentence mean; `start` and `end` are where the words stand in it."""

    first: date
    last: date
    start: int
    end: int
    words: str

    def overlaps(self, first: date, last: date) -> bool:
        """Tell whether any day from first to last is among the days."""
        return self.first <= last and first <= self.last


def periods(text: str, said: datetime) -> list[Period]:
    """Return the days that a sentence names, in order, for somebody who says it at `said`."""
    if _REPEATED.search(text):
        return []
    is_past = bool(_PAST.search(text)) and not _PLANNED.search(text)
    found = []
    for match in _MARKED.finditer(text):
        days = _days(match, text, said.date(), is_past=is_past)
        if days is not None:
            found.append(Period(*days, match.start(), match.end(), match.group()))
    return found


def _days(match: re.Match[str], text: str, said: date, *, is_past: bool) -> tuple[date, date] | None:
    """Return first and last day of what was matched, or None where it means no certain day."""
    if match["span"]:
        return _span(match["span"].casefold(), said)
    if match["only"]:
        return date(int(match["only"]), 1, 1), date(int(match["only"]), 12, 31)
    once = is_past or _PLANNED.search(text) is not None
    if match["month"]:
        return _month(match, said, is_past=is_past) if once or match["year"] else None  # "The fair is in June"
    words = re.sub(r"^(?:on|am) ", "", match["day"], flags=re.I)
    bare = re.fullmatch(_WEEKDAY, words, re.I) is not None
    if bare and not once:
        return None  # "Yoga is on Tuesday" may be so every week
    named = (
        _weekday(words.casefold(), said, is_past=is_past) if re.match(rf"(?:\w+ )?{_WEEKDAY}", words, re.I) else None
    )
    day = named or _read(words, said, is_past=is_past)
    return None if day is None else (day, day)


def _weekday(words: str, said: date, *, is_past: bool) -> date | None:
    """Return the day of "last Friday", "next Friday", "this Friday" or "Friday"."""
    names = [*(name.casefold() for name in calendar.day_name), *_RUSSIAN_DAYS]
    number = next((number for number, name in enumerate(names) if name in words), None)
    if number is None:
        return None
    if words.startswith("next"):  # of the next week, whichever day it is said on
        return said + timedelta(days=7 + number % 7 - said.weekday())
    ahead = (number % 7 - said.weekday()) % 7
    if words.startswith("last") or (is_past and not words.startswith("coming")):
        return said - timedelta(days=7 - ahead)
    return said + timedelta(days=ahead or (0 if words.startswith("this") else 7))


def _span(words: str, said: date) -> tuple[date, date]:
    """Return first and last day of "next week", "last month", "this weekend", "this year"."""
    step = {"next": 1, "last": -1, "this": 0}[words.split()[0]]
    if "week" in words:
        monday = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
        return (monday + timedelta(days=5 if "weekend" in words else 0)), monday + timedelta(days=6)
    if "month" in words:
        year, month = divmod(said.year * 12 + said.month - 1 + step, 12)
        return _whole_month(year, month + 1)
    return date(said.year + step, 1, 1), date(said.year + step, 12, 31)


def _month(match: re.Match[str], said: date, *, is_past: bool) -> tuple[date, date]:
    """Return first and last day of "early March 2025"; without a year, the nearest March in the tense's direction."""
    month = [name.casefold() for name in calendar.month_name].index(match["month"].casefold())
    year = int(match["year"]) if match["year"] else said.year
    if not match["year"]:
        year += (month < said.month and not is_past) - (month > said.month and is_past)
    first, last = _whole_month(year, month)
    part = (match["part"] or "").strip(" -").casefold()
    if part:
        low = {"early": 1, "mid": 11, "late": 21}[part]
        first, last = first.replace(day=low), last if part == "late" else first.replace(day=low + 9)
    return first, last


def _whole_month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _read(words: str, said: date, *, is_past: bool) -> date | None:
    """Return the day that words name, read by dateparser."""
    import dateparser

    if re.fullmatch(rf"(?:{_COUNT}) {_UNIT} from now", words, re.I):
        words = f"in {words.removesuffix(' from now')}"
    found = dateparser.parse(
        words.replace("the ", ""),
        languages=["en", "ru", "de", "zh"],
        settings={
            "RELATIVE_BASE": datetime(said.year, said.month, said.day, 12),
            "PREFER_DATES_FROM": "past" if is_past else "future",
        },
    )
    return None if found is None else found.date()


def says_until(text: str) -> bool:
    """Tell whether a sentence says until when something is so."""
    return _until(text) is not None


def _until(text: str) -> re.Match[str] | None:
    found = _UNTIL.search(text)
    return found if found and _STATE.search(text) and not _REPEATED.search(text[: found.start()]) else None


def holds_until(text: str, said: datetime) -> date | None:
    """Return the last day of what a sentence says is so for a while: "I'm in Lisbon until Sunday"."""
    found = _until(text)
    if found is None:
        return None
    if found["count"]:
        name = found["count"].casefold()
        count = int(name) if name.isdigit() else _NUMBERS.get(name, 1)  # "a week", "an hour"
        return said.date() + timedelta(days=count * {"day": 1, "week": 7, "month": 30}[found["unit"].casefold()])
    words = found["day"].casefold()
    if re.fullmatch(_SPAN, words):
        return _span(words, said.date())[1]
    if (month := re.fullmatch(_IN_MONTH, found["day"], re.I)) is not None:
        first, last = _month(month, said.date(), is_past=False)
        return last if "end of" in found.group().casefold() else first
    return _weekday(words, said.date(), is_past=False) or _read(words, said.date(), is_past=False)


def dated(text: str, said: datetime) -> str:
    """Return a sentence with dates in the place of words that mean another day tomorrow: "on 15 February 2025"."""
    for period in reversed(periods(text, said)):
        if name := _name(period):
            before = text[: period.start]
            if _PREPOSITION.search(before):
                name = name.removeprefix("on ").removeprefix("in ")
            text = f"{before}{name if before else name[0].upper() + name[1:]}{text[period.end :]}"
    if (end := _until(text)) is not None and end["day"] and (last := holds_until(text, said)) is not None:
        text = f"{text[: end.start('day')]}{spoken(last)}{text[end.end('day') :]}"
    return text


def _name(period: Period) -> str:
    """Return how a sentence says the days; "" where its own words will do."""
    words = period.words.casefold()
    if re.search(r"\d{4}", words) or re.fullmatch(rf"(?:on )?(?:(?:the )?\d.*{_MONTH}|{_MONTH}.*\d\w*)", words):
        return ""  # a date already; without a year it may come every year
    if not words.isascii() or words in ("heute", "gestern", "morgen", "am morgen"):
        return f"{period.first}"
    if period.first == period.last:
        part = re.search(r"morning|afternoon|evening|night", words)
        return f"on {f'the {part[0]} of ' if part else ''}{spoken(period.first)}"
    if "week" in words:
        return f"{'on the weekend' if 'weekend' in words else 'in the week'} of {spoken(period.first)}"
    if "year" in words:
        return f"in {period.first:%Y}"
    return "" if re.search("early|mid|late", words) else f"in {period.first:%B %Y}"


def spoken(day: date) -> str:
    """Return a day as it is said: "3 May 2025"."""
    return f"{day.day} {day:%B %Y}"

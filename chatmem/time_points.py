"""Points of time: the days that words such as "next Friday", "in March" or "三天前" mean, seen from a day.

dateparser reads the names of days and months in four languages; weeks, months and years around a day are counted here.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from chatmem.time_words import CHINESE, ENGLISH, GERMAN, RUSSIAN, Language

FOREVER = date.max


@dataclass(frozen=True, slots=True)
class Span:
    """Days from the first to the last, both within; None where a side is open."""

    first: date | None
    last: date | None

    def meets(self, other: Span) -> bool:
        """Tell whether two spans share a day."""
        early, late = self.first or date.min, self.last or FOREVER
        return early <= (other.last or FOREVER) and (other.first or date.min) <= late

    def is_within(self, other: Span) -> bool:
        """Tell whether all days of a span are days of another one."""
        return (other.first or date.min) <= (self.first or date.min) and (self.last or FOREVER) <= (
            other.last or FOREVER
        )


def point(words: str, grain: str, said: date, language: Language, prefer: str) -> Span | None:
    """Return the days of one point of time; None where its words mean none, such as 31 June or the year 10000.

    Args:
        words: such as "next Friday" or "in March".
        grain: the key of `Language.points` that they fit.
        said: the day from which they are seen.
        language: whose words they are.
        prefer: "past" or "future", for what may be either.
    """
    try:
        return _point(words, grain, said, language, prefer)
    except (ValueError, OverflowError):
        return None


def _point(words: str, grain: str, said: date, language: Language, prefer: str) -> Span | None:
    order = language.order.search(words)
    if order:
        prefer = "past" if order["past"] else "future"
    if grain == "period":
        return _period(words, said, order)
    day = _parse(_core(words, grain, language), said, language.code, prefer)
    if day is None:
        return None
    if grain == "weekday" and order and order["future"] and not re.search(r"coming|kommend|ближайш", words, re.I):
        monday = said - timedelta(days=said.weekday())
        day = monday + timedelta(days=7 + day.weekday())  # of the next week, whichever day it is said on
    if grain in ("ago", "ahead"):
        return _around(day, words)
    if grain == "month":
        if day.month == said.month and not re.search(r"(?:19|20)\d\d", words) and order is None:
            day = day.replace(year=said.year)
        return _part_of_month(day, words)
    return Span(date(day.year, 1, 1), date(day.year, 12, 31)) if grain == "year" else Span(day, day)


_CANONICAL = {  # forms that dateparser does not know
    "понедельник": "понедельник", "вторник": "вторник", "сред": "среда", "четверг": "четверг", "пятниц": "пятница",
    "суббот": "суббота", "воскресень": "воскресенье", "январ": "январь", "феврал": "февраль", "март": "март",
    "апрел": "апрель", "июн": "июнь", "июл": "июль", "август": "август", "сентябр": "сентябрь",
    "октябр": "октябрь", "ноябр": "ноябрь", "декабр": "декабрь",
}  # fmt: skip
_LEADING = re.compile(
    r"^(?:(?:on|in|the|during|last|next|this|coming|past|early|mid|late|am|im|zum|bis|seit|letzte\w?|nächste\w?"
    r"|kommende\w?|diese\w?|vorige\w?|во?|до|с|прошл\w+|следующ\w+|эт\w+|ближайш\w+|начале|конце|середине)\b[ -]?)+"
    r"|^(?:上个?|下个?|这个?|本)(?=[周星礼])",
    re.I,
)
_PARTS = re.compile(r"(?<=\w) (?:morning|afternoon|evening|night)$|-го\b|(?<=\d) года?у?$", re.I)
_TODAY = re.compile(r"^(?:this (?:morning|afternoon|evening)|tonight|今晚)$", re.I)
_DIGITS = dict(zip("一二三四五六七八九", range(1, 10), strict=True)) | {"两": 2, "十": 10}


def _core(words: str, grain: str, language: Language) -> str:
    """Return the words that dateparser is asked about, in the forms that it knows."""
    if _TODAY.match(words):
        return "today" if language is ENGLISH else "今天"
    if words.casefold() == "last night" or words == "昨晚":
        return "yesterday" if language is ENGLISH else "昨天"
    if grain in ("ago", "ahead", "day"):
        words = words.casefold().replace("a couple of", "two").removesuffix(" time").removeprefix("the ")
        return _in_english(words) if language is CHINESE and grain != "day" else _PARTS.sub("", words)
    words = _PARTS.sub("", _LEADING.sub("", words)).replace(" the ", " ")
    if language is RUSSIAN and grain in ("weekday", "month"):
        for stem, known in _CANONICAL.items():
            words = re.sub(rf"\b{stem}\w*", known, words, flags=re.I)
        return re.sub(r"\bма[яе]\b", "май", words, flags=re.I)
    if language is CHINESE and (numbers := re.findall(r"\d+", words)):
        return "-".join(numbers) if len(numbers) == 3 else words
    return words.replace("份", "").replace("礼拜", "星期")


def _in_english(words: str) -> str:
    """Return "三天前" as dateparser knows it: "3 days ago"."""
    number = re.match(r"[\d一两二三四五六七八九十]+", words)
    count = number.group() if number else "1"
    count = count if count.isdigit() else str(_DIGITS.get(count, 1))
    unit = next(name for sign, name in (("天", "day"), ("月", "month"), ("年", "year"), ("", "week")) if sign in words)
    return f"{count} {unit}s ago" if words.endswith("前") else f"in {count} {unit}s"


@lru_cache(maxsize=1024)
def _parse(core: str, said: date, language: str, prefer: str) -> date | None:
    """Return the day that dateparser finds in words, seen from a day."""
    import dateparser

    settings = {
        "RELATIVE_BASE": datetime.combine(said, time(12)),
        "PREFER_DATES_FROM": prefer,
        "DATE_ORDER": "DMY",
        "PREFER_DAY_OF_MONTH": "first",
    }
    languages = ["en", "zh"] if language == "zh" else [language]
    found = dateparser.parse(core, languages=languages, settings=settings)
    return None if found is None else found.date()


def _period(words: str, said: date, order: re.Match[str] | None) -> Span:
    """Return the week, weekend, month or year before or after the one of a day, or its own."""
    step = 0 if order is None else -1 if order["past"] else 1
    if re.search(r"year|jahr|году|年", words, re.I):
        return Span(date(said.year + step, 1, 1), date(said.year + step, 12, 31))
    if re.search(r"month|monat|месяце|月", words, re.I):
        months = said.year * 12 + said.month - 1 + step
        return _month(date(months // 12, months % 12 + 1, 1))
    monday = said - timedelta(days=said.weekday()) + timedelta(weeks=step)
    is_weekend = re.search(r"weekend|wochenende|выходные|周末", words, re.I)
    return Span(monday + timedelta(days=5 if is_weekend else 0), monday + timedelta(days=6))


def _around(day: date, words: str) -> Span:
    """Return the days that "three weeks ago" means: the day, its week, its month or its year."""
    if re.search(r"year|jahr|год|лет|年", words, re.I):
        return Span(date(day.year, 1, 1), date(day.year, 12, 31))
    if re.search(r"month|monat|месяц|月", words, re.I):
        return _month(day)
    return Span(day, day)


def _month(day: date) -> Span:
    return Span(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))


def _part_of_month(day: date, words: str) -> Span:
    """Return a month, or the third of it that "early", "mid" or "late" means."""
    whole = _month(day)
    if re.search(r"\bearly\b|начале", words, re.I):
        return Span(whole.first, day.replace(day=10))
    if re.search(r"\bmid\b|середине", words, re.I):
        return Span(day.replace(day=11), day.replace(day=20))
    return Span(day.replace(day=21), whole.last) if re.search(r"\blate\b|конце", words, re.I) else whole


def lasting(found: re.Match[str], said: date, language: Language) -> Span | None:
    """Return the days of "for two weeks", from the day it was said."""
    ahead = {"en": "in", "de": "in", "ru": "через"}.get(language.code, "in")
    core = f"{ahead} {found['num']} {found['unit']}" if language is not GERMAN else found.group().replace("für", "in")
    day = _parse(" ".join(core.replace("a couple of", "two").split()), said, language.code, "future")
    return None if day is None else Span(None, day)

"""Times: on which days what a sentence says holds, resolved against the day on which it was said.

"I'm in Lisbon until Sunday." holds from the day it was said to that Sunday. What tells a time is marked by cheap
patterns (`chatmem/time_words.py`); only what is marked goes to dateparser, which is loaded with the first of it.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from chatmem.time_words import CHINESE, ENGLISH, GERMAN, RUSSIAN, Language, language_of

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
            span = _lasting(found, said, language) if prefer == "future" else None
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
    first = _point(found["first"], grain, said, language, "past" if joint == "since" else prefer)
    if first is None or first.first is None:
        return None
    if found["last"]:
        base = first.first if prefer == "future" else said
        last = _point(found["last"], _grain(found, "last", language), base, language, prefer)
        return None if last is None else Span(first.first, last.last)
    if joint == "until":
        return Span(None, first.last)
    return Span(first.first, None) if joint in ("since", "from") else first


def _grain(found: re.Match[str], group: str, language: Language) -> str:
    """Return which of a language's points a part of a match is."""
    points = language.points.items()
    return next(grain for grain, pattern in points if pattern.fullmatch(found.string, *found.span(group)))


def _point(words: str, grain: str, said: date, language: Language, prefer: str) -> Span | None:
    """Return the days of one point of time, such as "next Friday" or "in March"."""
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


def _lasting(found: re.Match[str], said: date, language: Language) -> Span | None:
    """Return the days of "for two weeks", from the day it was said."""
    ahead = {"en": "in", "de": "in", "ru": "через"}.get(language.code, "in")
    core = f"{ahead} {found['num']} {found['unit']}" if language is not GERMAN else found.group().replace("für", "in")
    day = _parse(" ".join(core.replace("a couple of", "two").split()), said, language.code, "future")
    return None if day is None else Span(None, day)

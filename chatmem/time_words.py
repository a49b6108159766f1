"""The words with which sentences tell time, for English, German, Russian and Chinese.

They only mark the spans that `chatmem/times.py` then resolves: looking for them costs microseconds, resolving one
milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUM = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of)"
_MONTH = (
    r"(?-i:January|February|March|April|May|June|July|August|September|October|November|December|Jan\.?|Feb\.?|Aug\.?"
    r"|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)"
)
_WEEKDAY = r"(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_PART = r"(?: (?:morning|afternoon|evening|night))?"
_MONAT = r"(?-i:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
_TAG = r"(?-i:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonnabend|Sonntag)"
_ZAHL = r"(?:\d{1,3}|eine[mnr]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)"
_МЕСЯЦ = (
    r"(?:январ[ьяе]|феврал[ьяе]|март[ае]?|апрел[ьяе]|ма[йяе]|июн[ьяе]|июл[ьяе]|август[ае]?|сентябр[ьяе]|октябр[ьяе]"
    r"|ноябр[ьяе]|декабр[ьяе])"
)
_ДЕНЬ = r"(?:понедельник[а]?|вторник[а]?|сред[уыа]|четверг[а]?|пятниц[уыа]|суббот[уыа]|воскресень[ея])"
_ЧИСЛО = r"(?:(?:\d{1,3}|один|одну|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять) )?"
_数 = r"[一两二三四五六七八九十\d]{1,3}"


@dataclass(frozen=True, slots=True)
class Language:
    """How one language tells time: patterns for points of time by their grain, and what joins or orders them.

    The groups of `joint` are "until", "since" and "from"; of `order` "past" and "future".
    """

    code: str
    points: dict[str, re.Pattern[str]]
    marks: re.Pattern[str]  # a point with what joins it to the sentence, and a second point after "to"
    lasting: re.Pattern[str]  # "for two weeks"
    order: re.Pattern[str]
    past: re.Pattern[str]  # a verb of the past
    present: re.Pattern[str]  # a verb of the present or the future
    stays: re.Pattern[str]  # what begins at its day and goes on, or tells by its day when something ends
    habit: re.Pattern[str]  # what comes again and again


def _language(
    code: str, points: dict[str, str], joint: str, to: str, others: dict[str, str], *, bounded: bool = True
) -> Language:
    edge = r"\b" if bounded else ""
    point = "|".join(points.values())
    marks = rf"(?:{edge}(?:{joint})\s*)?{edge}(?P<first>{point}){edge}(?:\s*(?:{to})\s*(?P<last>{point}){edge})?"
    return Language(
        code,
        {grain: re.compile(pattern, re.I) for grain, pattern in points.items()},
        re.compile(marks, re.I),
        **{name: re.compile(pattern, re.I) for name, pattern in others.items()},
    )


_YEAR = r"(?:19|20)\d\d"
_ISO = rf"{_YEAR}-\d\d-\d\d"
ENGLISH = _language(
    "en",
    {
        "day": rf"(?:the )?day (?:before yesterday|after tomorrow)|(?:yesterday|tomorrow){_PART}|today|tonight"
        r"|last night|this (?:morning|afternoon|evening)",
        "ago": rf"{_NUM} (?:day|week|month|year)s? ago",
        "ahead": rf"in (?!a day){_NUM} (?:day|week|month|year)s?(?: time)?",
        "weekday": rf"(?:(?:on )?(?:the )?(?:last|next|this(?: coming)?|coming|past) |on )?{_WEEKDAY}(?!s){_PART}",
        "period": r"(?:(?:in |during )?(?:the )?)(?:last|next|this) (?:week|weekend|month|year)(?!\w| of\b)",
        "date": rf"(?:on )?(?:the )?(?:{_ISO}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? {_YEAR})?"
        rf"|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? {_YEAR})?)",
        "month": rf"(?:(?:in|during) )?(?:early|mid|late|last|next|this|in|during)[ -]{_MONTH}(?: {_YEAR})?"
        rf"|{_MONTH} {_YEAR}|(?<=since ){_MONTH}|(?<=until ){_MONTH}|(?<=till ){_MONTH}|(?<=from ){_MONTH}"
        rf"|(?<=to ){_MONTH}",
        "year": rf"in {_YEAR}|(?<=since ){_YEAR}|(?<=until ){_YEAR}|(?<=from ){_YEAR}|(?<=to ){_YEAR}",
    },
    r"(?P<until>until|till|til|through|up to)|(?P<since>since|starting(?: from)?|as of)|(?P<from>from|between)",
    "to|until|till|til|through|and|[-–—]",
    {
        "lasting": rf"\bfor (?:the next |another )?(?P<num>{_NUM}) (?P<unit>day|week|month|year)s?\b(?! off)",
        "order": r"\b(?:(?P<past>last|past)|(?P<future>next|coming))\b",
        "past": r"\b(?:was|were|did|had|went|saw|came|left|took|got|bought|met|ate|drank|slept|ran|flew|drove|rode|made"
        r"|read a|broke|lost|found|won|sold|told|gave|began|wrote|sang|swam|spent|cut|put|hurt|built|taught|caught"
        r"|fell|felt|grew|knew|heard|kept|paid|sent|spoke|stood|thought|threw|wore|became|forgot|hid|led|lent|said|dreamt|learnt"
        r"|shot|stole|woke|dug|fed|hung|been|\w{2,}[^e\W]ed)\b",
        "present": r"\b(?:i am|is|are|i'm|we're|he's|she's|it's|they're|will|going to|have to|has to|need|do|does|must"
        r"|can)\b|'ll\b",
        "stays": r"\b(?:start\w*|beg[iu]n\w*|mov(?:e|es|ing) |marry\w*|married|join\w*|becom\w+|switch\w*|retir\w+"
        r"|graduat\w+|buy\w*|adopt\w*|get(?:ting)? (?:an? |my |our )|turn(?:s|ing)? \d|quit\w*|chang\w+|expir\w+"
        r"|runs out|valid|due|open(?:s|ing)|ends?|born)\b",
        "habit": rf"\b(?:every|each|usually|always|often|weekly|daily|birthday|anniversary|normally|{_WEEKDAY}s)\b",
    },
)
GERMAN = _language(
    "de",
    {
        "day": r"vorgestern|gestern|heute|übermorgen|(?<!guten )morgen(?=[ .,!?]|$)",
        "ago": rf"vor {_ZAHL} (?:Tag|Woche|Monat|Jahr)(?:en|n|e)?",
        "ahead": rf"in {_ZAHL} (?:Tag|Woche|Monat|Jahr)(?:en|n|e)?",
        "weekday": rf"(?:am )?(?:letzte|nächste|kommende|diese|vorige)[nmr]? {_TAG}|am {_TAG}|(?<=bis ){_TAG}"
        rf"|(?<=von ){_TAG}|(?<=seit ){_TAG}",
        "period": r"(?:in der |im )?(?:letzte|nächste|diese|vorige)[nmrs]? (?:Woche|Wochenende|Monat|Jahr)",
        "date": rf"(?:am |zum )?\d{{1,2}}\. {_MONAT}(?: {_YEAR})?|(?:am )?\d{{1,2}}\.\d{{1,2}}\.{_YEAR}",
        "month": rf"(?:im|seit|bis) {_MONAT}(?: {_YEAR})?",
    },
    r"(?P<until>bis(?: zum)?)|(?P<since>seit|ab)|(?P<from>von|vom|zwischen)",
    r"bis(?: zum)?|und|[-–—]",
    {
        "lasting": rf"\bfür (?P<num>{_ZAHL}) (?P<unit>Tag|Woche|Monat|Jahr)(?:en|n|e)?\b",
        "order": r"\b(?:(?P<past>letzte|vorige)|(?P<future>nächste|kommende))",
        "past": r"\b(?:war|waren|hatte|hatten|ging|kam|fuhr|wurde|ge\w+(?:t|en)|habe .*\w+(?:t|en)(?=[.!]|$))\b",
        "present": r"\b(?:bin|ist|sind|werde|wird|muss|kann)\b",
        "stays": r"\b(?:fange|anfang\w*|beginn\w*|zieh\w*|umzieh\w*|heirat\w*|läuft .* ab|gültig)\b",
        "habit": r"\b(?:jede[nrsm]?|immer|oft|meistens|täglich|Geburtstag|\w+tags)\b",
    },
)
RUSSIAN = _language(
    "ru",
    {
        "day": r"позавчера|вчера|сегодня|завтра|послезавтра",
        "ago": rf"{_ЧИСЛО}(?:день|дня|дней|недел[юиь]|месяц(?:а|ев)?|год(?:а)?|лет) назад",
        "ahead": rf"через {_ЧИСЛО}(?:день|дня|дней|недел[юиь]|месяц(?:а|ев)?|год(?:а)?|лет)",
        "weekday": rf"(?:(?:в|во|до|с) )?(?:(?:прошл|следующ|эт|ближайш)\w+ )?{_ДЕНЬ}",
        "period": r"(?:на|в|во) (?:прошл|следующ|эт)\w+ (?:неделе|месяце|году|выходные)",
        "date": rf"\d{{1,2}}(?:-го)? {_МЕСЯЦ}(?: {_YEAR}(?: года)?)?|\d{{1,2}}\.\d{{1,2}}\.{_YEAR}",
        "month": rf"(?:в|до|с) (?:(?:прошлом|начале|конце|середине) )?{_МЕСЯЦ}(?: {_YEAR}(?: года)?)?",
        "year": rf"в {_YEAR}(?: году)?",
    },
    r"(?P<until>до)|(?P<since>начиная с)|(?P<from>с|со)",
    r"по|до|[-–—]",
    {
        "lasting": rf"\bна (?P<num>{_ЧИСЛО})(?P<unit>день|дня|дней|недел[юиь]|месяц(?:а|ев)?|год(?:а)?|лет)\b",
        "order": r"\b(?:(?P<past>прошл\w+)|(?P<future>следующ\w+|ближайш\w+))",
        "past": r"\b(?!если|или|стол|недел|пол\b|дел|мал|тел)\w+[аеиоуыя]л(?:а|и|о)?(?:с[ья])?\b|\bш[её]л\b|\bшл[аи]\b",
        "present": r"\b(?:буду|будет|будем|еду|лечу|иду|живу|работаю)\b",
        "stays": r"\b(?:начина\w+|начн\w+|переезжа\w+|перее\w+|жен(?:юсь|ится)|замуж|стану|куплю|истека\w+|годен)\b",
        "habit": r"\b(?:кажд\w+|всегда|обычно|часто|день рождения|по \w+(?:ам|ям))\b",
    },
)
CHINESE = _language(
    "zh",
    {
        "day": r"前天|昨天|昨晚|今天|今晚|明天|后天",
        "ago": rf"{_数}(?:天|个?星期|周|个月|年)前",
        "ahead": rf"{_数}(?:天|个?星期|周|个月|年)后",
        "weekday": r"(?:上个?|下个?|这个?|本)?(?:周|星期|礼拜)[一二三四五六日天]",
        "period": r"(?:上个?|下个?|这个?|本)(?:星期|周末|周|月)|去年|明年|今年",
        "date": rf"(?:{_YEAR}年)?\d{{1,2}}月\d{{1,2}}[日号]",
        "month": rf"(?:{_YEAR}年)?(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月(?!\d)(?:份)?",
        "year": rf"{_YEAR}年",
    },
    r"(?P<until>到|直到)|(?P<since>自)|(?P<from>从)",
    r"到|至|[-–—]",
    {
        "lasting": rf"(?P<num>{_数})(?P<unit>天|个?星期|周|个月|年)(?=$|。)(?<=x)",  # how long it was, more often
        "order": r"(?P<past>上|去年)|(?P<future>下|明年)",
        "past": r"了|过|昨|前天|去年|上个?(?:周|星期|月)",
        "present": r"要|会|在|将|正在",
        "stays": r"开始|搬|结婚|到期|有效",
        "habit": r"每|总是|经常|生日",
    },
    bounded=False,
)


HINT = re.compile(  # what every sentence has that tells a time: most are told not to by this alone
    r"day|tomorrow|night|this (?:morning|afternoon|evening)|week|month|year|(?:19|20)\d\d|jan|feb|mar|apr|may|jun|jul"
    r"|aug|sep|oct|nov|dec|gestern|heute|morgen|tag|woche|monat|jahr|märz|mai|dez|okt|sonnabend|mittwoch"
    r"|[\u0400-\u04ff\u4e00-\u9fff]",
    re.I,
)
_GERMAN = re.compile(r"\b(?:ich|wir|mein\w*|uns\w*|nicht|und|ist|habe|für|der|das|wo|wann)\b", re.I)


def language_of(text: str) -> Language:
    """Return the language that a text tells time in, by its script and its commonest words."""
    if re.search(r"[\u4e00-\u9fff]", text):
        return CHINESE
    if re.search(r"[\u0400-\u04ff]", text):
        return RUSSIAN
    return GERMAN if _GERMAN.search(text) else ENGLISH

"""Values: what kind of thing a word stands for, so that a Thursday can take the place of a Tuesday."""

from __future__ import annotations

import re

_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday понедельник вторник среда среду четверг пятница пятницу"
    " суббота субботу воскресенье"
)
_MONTHS = (
    "january february march april may june july august september october november december января февраля марта апреля"
    " мая"
    " июня июля августа сентября октября ноября декабря"
)
_COLOURS = (
    "red orange yellow green blue purple violet pink brown black white grey gray beige turquoise teal silver gold navy"
    " copper amber cream maroon crimson scarlet indigo lilac"
)
_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred first second third fourth fifth"
    " sixth seventh eighth ninth tenth"
)
_KINDS = {
    word: kind
    for kind, known in (("number", _NUMBERS), ("day", _DAYS), ("month", _MONTHS), ("colour", _COLOURS))
    for word in known.split()
}
_TIME = re.compile(r"\d{1,2}[:.]\d\d(?:[ap]m)?|\d{1,2}[ap]m|noon|midnight")
_NUMBER = re.compile(r"[#№]?\d[\d.,/-]*(?:st|nd|rd|th|-я|-й)?")


def kind_of(word: str) -> str:
    """Return day, month, colour, time, number, or "" for what is none of these."""
    low = word.casefold().strip(".,")
    if kind := _KINDS.get(low) or _KINDS.get(low.removesuffix("s")):
        return kind
    if _TIME.fullmatch(low):
        return "time"
    return "number" if _NUMBER.fullmatch(low) else ""


def kind_or_name(word: str) -> str:
    """Return what `kind_of` does, or "name" for an unknown word with a capital letter."""
    return kind_of(word) or ("name" if word[:1].isupper() else "")

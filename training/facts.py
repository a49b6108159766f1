"""Facts for training and scoring: what a user tells, asks and corrects, and what is no fact at all.

The words are our own and lie in `facts.toml`; exact strings (codes, times, addresses) are drawn here from a fixed seed.
Everything whose name says UNSEEN or unseen is kept out of every training, so that scores are about what is new.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_EXACT = 60  # exact strings drawn for training; a third as many for evaluation
_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


@dataclass(frozen=True)
class Attribute:
    """One thing that can be known of a person. Texts have the place {v} for a value; third persons also {who}."""

    name: str
    values: tuple[str, ...]
    unseen_values: tuple[str, ...]  # values only for evaluation
    statements: tuple[str, ...]
    unseen_statements: tuple[str, ...]  # phrasings only for evaluation
    questions: tuple[str, ...]
    unseen_questions: tuple[str, ...]
    answers: tuple[str, ...]  # in the second person
    updates: tuple[str, ...]  # a newer value, understood alone
    denials: tuple[str, ...]  # the value no longer holds, or never did
    third_person: tuple[tuple[str, str, str], ...]  # statement, question, answer
    many: bool  # several values hold at once


def _parts(text: str) -> tuple[str, ...]:
    """Return the items of a list that is written as one string."""
    return tuple(part.strip() for part in text.split(" | ")) if text else ()


def _word(draw: random.Random) -> str:
    """Return a made-up word of two or three syllables."""
    return "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(draw.randint(2, 3)))


def _digits(draw: random.Random, count: int) -> str:
    """Return a number of digits."""
    return "".join(draw.choice("0123456789") for _ in range(count))


def _time(draw: random.Random) -> str:
    """Return a time of the day in one of the usual forms."""
    hour, minute = draw.randint(5, 23), draw.choice((0, 5, 10, 15, 20, 25, 30, 40, 45, 50, 55))
    twelve = f"{(hour - 1) % 12 + 1}:{minute:02d} {'am' if hour < 12 else 'pm'}"
    return draw.choice((f"{hour}:{minute:02d}", twelve))


def _date(draw: random.Random) -> str:
    """Return a day of a year."""
    return f"{draw.randint(1, 28)} {draw.choice(_MONTHS)} {draw.randint(2025, 2029)}"


def _letters(draw: random.Random, count: int) -> str:
    """Return capital letters."""
    return "".join(draw.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(count))


_EXACT_STRINGS: dict[str, Callable[[random.Random], str]] = {
    "time": _time,
    "date": _date,
    "monthyear": lambda draw: f"{draw.choice(_MONTHS)} {draw.randint(2026, 2035)}",
    "appointment": lambda draw: f"{draw.choice(_WEEKDAYS)} at {_time(draw)}",
    "digits4": lambda draw: _digits(draw, 4),
    "digits6": lambda draw: _digits(draw, 6),
    "digits8": lambda draw: _digits(draw, 8),
    "plate": lambda draw: f"{_letters(draw, 2)}-{_digits(draw, 3)}-{_letters(draw, 2)}",
    "password": lambda draw: f"{_word(draw)}{draw.choice('-_!.')}{_word(draw).capitalize()}{_digits(draw, 2)}",
    "phone": lambda draw: f"{draw.choice(('06', '0171', '555', '+44 20'))} {_digits(draw, 4)} {_digits(draw, 3)}",
    "email": lambda draw: f"{_word(draw)}.{_word(draw)}@{_word(draw)}.{draw.choice(('com', 'org', 'net', 'nl'))}",
    "flight": lambda draw: f"{_letters(draw, 2)}{_digits(draw, draw.choice((3, 4)))}",
    "passport": lambda draw: f"{_letters(draw, 1)}{_digits(draw, 8)}",
}


def _values(name: str, text: str, pools: dict[str, str], *, unseen: bool) -> tuple[str, ...]:
    """Return the values that a table names: a list, a pool (@) or drawn exact strings (#)."""
    if text.startswith("@"):
        pool = text[1:].capitalize() if unseen else text[1:]
        return _parts(pools[pool])
    if text.startswith("#"):
        draw = random.Random(f"{name} {'unseen' if unseen else 'seen'}")
        made = [_EXACT_STRINGS[text[1:]](draw) for _ in range(_EXACT // 3 if unseen else _EXACT)]
        seen = set(_values(name, text, pools, unseen=False)) if unseen else set()
        return tuple(value for value in dict.fromkeys(made) if value not in seen)
    return _parts(text)


def _attribute(name: str, table: dict[str, Any], pools: dict[str, str], *, unseen: bool) -> Attribute:
    """Read one table; an attribute that is unseen as a whole has its own words in both places."""
    drawn = table["v"].startswith(("@", "#"))
    later = {key: _parts(table.get(key.upper(), "")) for key in "vsq"}
    fresh = _values(name, table["v"], pools, unseen=True) if drawn else later["v"]
    values = _values(name, table["v"], pools, unseen=False)
    if unseen:
        values = fresh = fresh or values
    statements, questions = _parts(table["s"]), _parts(table["q"])
    return Attribute(
        name=name,
        values=values,
        unseen_values=fresh,
        statements=statements,
        unseen_statements=statements if unseen else later["s"],
        questions=questions,
        unseen_questions=questions if unseen else later["q"],
        answers=_parts(table["a"]),
        updates=_parts(table["u"]),
        denials=_parts(table["d"]),
        third_person=tuple(
            (s.strip(), q.strip(), a.strip()) for s, q, a in (t.split("//") for t in _parts(table["t"]))
        ),
        many=table.get("many", False),
    )


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_TEXTS = {name: _parts(text) for name, text in _TABLES["texts"].items()}

ATTRIBUTES = tuple(_attribute(name, t, _TABLES["pools"], unseen=False) for name, t in _TABLES["attributes"].items())
UNSEEN_ATTRIBUTES = tuple(_attribute(name, t, _TABLES["pools"], unseen=True) for name, t in _TABLES["unseen"].items())


def pool(name: str) -> tuple[str, ...]:
    """Return a pool of values; a capital is for evaluation."""
    return _parts(_TABLES["pools"][name])


PEOPLE, UNSEEN_PEOPLE = _TEXTS["people"], _TEXTS["People"]
CHATTER, UNSEEN_CHATTER = _TEXTS["chatter"], _TEXTS["Chatter"]
QUESTIONS_TO_THE_WORLD, UNSEEN_QUESTIONS_TO_THE_WORLD = _TEXTS["world"], _TEXTS["World"]
COMMANDS, UNSEEN_COMMANDS = _TEXTS["commands"], _TEXTS["Commands"]
WHAT_IFS, UNSEEN_WHAT_IFS = _TEXTS["what_ifs"], _TEXTS["What_ifs"]
FICTION, UNSEEN_FICTION = _TEXTS["fiction"], _TEXTS["Fiction"]
QUOTATIONS, UNSEEN_QUOTATIONS = _TEXTS["quotations"], _TEXTS["Quotations"]

"""Statements and questions of our own, for training the pair decision; the words lie in `pairs_frames.toml`.

They stand beside `training/facts.py`, which has the broader kinds of text and what is kept for evaluation: a thing
that `facts.py` keeps unseen as an attribute is not told of here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Frame:
    """One attribute of a person, or of a thing that a person has."""

    name: str
    pool: str  # name of a list in POOLS
    statements: tuple[str, ...]
    questions: tuple[str, ...]
    updates: tuple[str, ...] = ()
    yes_no: str = ""  # a question that names the value
    many: bool = False  # several values hold at once
    values: tuple[str, ...] = ()  # instead of a pool
    others: tuple[tuple[str, str], ...] = ()  # statements and questions about {who}, where they are not made by rule
    denials: tuple[str, ...] = ()


def _parts(text: str) -> tuple[str, ...]:
    """Return the items of a list that is written as one string."""
    return tuple(text.split(" | ")) if text else ()


def _frame(name: str, table: dict[str, Any]) -> Frame:
    """Read one table."""
    statements, questions, updates = (_parts(table.get(key, "")) for key in "squ")
    return Frame(name, table["pool"], statements, questions, updates, table.get("y", ""), table.get("many", False))


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

POOLS: dict[str, tuple[str, ...]] = {name: _parts(text) for name, text in _TABLES["pools"].items()}
PERSON_FRAMES = tuple(_frame(name, table) for name, table in _TABLES["person"].items())
NOUN_FRAMES = tuple((str(table["kind"]), _frame(name, table)) for name, table in _TABLES["thing"].items())
NOUNS: dict[str, tuple[str, ...]] = {kind: _parts(text) for kind, text in _TABLES["nouns"].items()}
WORDS_OF_NOUN: dict[str, str] = _TABLES["words_of_noun"]
PEOPLE: dict[str, str] = _TABLES["people"]  # who -> pronoun of the owner
UNSEEN_PEOPLE: dict[str, str] = _TABLES["unseen_people"]
UNCLEAR: dict[str, frozenset[str]] = {name: frozenset(text.split()) for name, text in _TABLES["unclear"].items()}
REQUESTS = tuple((_parts(table["q"]), frozenset(table["shaped_by"].split())) for table in _TABLES["requests"])
TALK = _parts(_TABLES["texts"]["talk"])
TODAY = _parts(_TABLES["texts"]["today"])
TAILS = _parts(_TABLES["texts"]["tails"])  # what people add to a statement

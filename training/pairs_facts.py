"""The attributes of `training/facts.py` as frames, each split with the values, words and people that belong to it."""

from __future__ import annotations

from training import facts
from training.pairs_frames import NOUN_FRAMES, PEOPLE, Frame
from training.pairs_people import Inventory
from training.pairs_text import Subject

_HIS = tuple(
    "father grandfather uncle brother son husband boyfriend nephew stepfather Tom Marek Kwame Bartek".split(" ")  # noqa: SIM905
)
_HER = tuple(
    "mother grandmother aunt sister daughter wife girlfriend niece landlady Ilse Priya Anna Sofia Odile godmother"  # noqa: SIM905
    " sister-in-law Ragnhild".split(" ")
)
_TAKEN = frozenset(  # things of our own of which an attribute of facts.py tells too
    "dog|cat|bike|car|passport|scooter|watch|colour|city|fruit|sport|subject|restaurant|song|singer|number|day|band|boss"  # noqa: SIM905
    "|doctor|dentist|daughter|son|flight|wedding|exam|spare key|team meeting|dentist appointment|wifi password"
    "|locker number|licence plate|flight number|blood test|board game".split("|")
)


def _frame(attribute: facts.Attribute, split: str) -> Frame:
    """Return an attribute with what a split may use of it."""
    seen = attribute.values
    values = {
        "train": tuple(value for place, value in enumerate(seen) if place % 5 != 3),
        "dev": tuple(value for place, value in enumerate(seen) if place % 5 == 3) or seen[:1],
        "test": attribute.unseen_values or seen,
    }[split]
    statements, questions = attribute.statements, attribute.questions
    if split == "test":
        statements = attribute.unseen_statements or statements
        questions = attribute.unseen_questions or questions
    return Frame(
        name=attribute.name,
        pool="",
        statements=statements,
        questions=questions,
        updates=attribute.updates,
        many=attribute.many,
        values=values,
        others=tuple((statement, question) for statement, question, _ in attribute.third_person),
        denials=attribute.denials,
    )


def _people(split: str) -> tuple[Subject, ...]:
    """Return the people of a split, with a pronoun each."""
    names = facts.UNSEEN_PEOPLE if split == "test" else facts.PEOPLE
    if split == "train":
        names = tuple(dict.fromkeys((*names, *PEOPLE)))
    ends = [(end, "his") for end in _HIS] + [(end, "her") for end in _HER]
    return tuple(Subject(who, next((p for end, p in ends if who.endswith(end)), "their")) for who in names)


def fact_inventory(split: str, *, unseen: bool = False, things: bool = False) -> Inventory:
    """Return the attributes of facts.py, with the unseen ones too, or with things of our own that fit beside them."""
    attributes = (*facts.ATTRIBUTES, *facts.UNSEEN_ATTRIBUTES) if unseen else facts.ATTRIBUTES
    return Inventory(
        split,
        tuple(_frame(attribute, split) for attribute in attributes),
        NOUN_FRAMES if things else (),
        _people(split),
        _TAKEN,
    )


UNSEEN_NAMES = frozenset(attribute.name for attribute in facts.UNSEEN_ATTRIBUTES)
TALK = {
    "train": (*facts.CHATTER, *facts.QUESTIONS_TO_THE_WORLD, *facts.COMMANDS),
    "test": (*facts.UNSEEN_CHATTER, *facts.UNSEEN_QUESTIONS_TO_THE_WORLD, *facts.UNSEEN_COMMANDS),
}

"""Versions of a fact: the newer of two stays, and facts about different things never retire each other.

pytest tests/test_versions.py        needs no weights and no network
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from conftest import NOON

from chatmem.interface import Recollection
from chatmem.versions import newest_only, superseded


def told(*texts: str, scores: tuple[float, ...] = ()) -> list[Recollection]:
    """Return lines told a day apart, oldest first."""
    return [
        Recollection(text, scores[day] if scores else 0.6, day + 1, 0, NOON + timedelta(days=day), "user", line=day + 1)
        for day, text in enumerate(texts)
    ]


CHANGED = [
    ("My kayak is white.", "I repainted my kayak, it is black now.", "What colour is my kayak?"),
    ("My name is Ruta.", "I changed my name to Ilze.", "What is my name?"),
    ("My train leaves at 7:15.", "My train leaves at 7:45.", "When does my train leave?"),
    ("The rehearsal is on Monday.", "The rehearsal was postponed to Friday.", "When is the rehearsal?"),
    ("I live in Kaunas.", "I moved to Turku in May.", "Where do I live?"),
    ("The gate key is in the shed.", "The gate key is not in the shed.", "Where is the gate key?"),
    ("My landlord is called Aldo.", "I have a new landlord, he is called Brix.", "Who is my landlord?"),
]

BOTH_HOLD = [
    ("My uncle lives in Lyon.", "My aunt moved to Nantes.", "Where does my uncle live?"),
    ("I live in Kaunas.", "My brother moved to Turku.", "Where do I live?"),
    ("I like figs.", "I like dates.", "What fruit do I like?"),
    ("I speak Latvian.", "I also speak Finnish.", "Which languages do I speak?"),
    ("My kayak is white.", "My tent is green.", "What colour is my kayak?"),
    ("My dentist is on Elm Street.", "My doctor is on Elm Street.", "Where is my dentist?"),
    ("I play the lute.", "My sister started to play the drums.", "What do I play?"),
]


@pytest.mark.parametrize(("old", "new", "query"), CHANGED)
def test_newer_version_stays_alone(old, new, query):
    lines = told(old, new)
    assert [line.text for line in newest_only(lines, query)] == [new]
    assert [line.text for line in newest_only(lines[::-1], query)] == [new]


@pytest.mark.parametrize(("old", "new", "query"), BOTH_HOLD)
def test_facts_about_other_things_stay(old, new, query):
    assert newest_only(told(old, new), query) == told(old, new)
    assert superseded(told(old, new)) == set()


def test_older_line_never_replaces_a_newer_one():
    lines = told("I repainted my kayak, it is black now.", "My kayak is white.")
    assert [line.text for line in newest_only(lines, "What colour is my kayak?")][-1] == "My kayak is white."


def test_line_that_hardly_fits_replaces_nothing():
    lines = told("My name is Ruta.", "I changed my mind about names.", scores=(0.8, 0.35))
    assert newest_only(lines, "What is my name?") == lines


def test_list_marks_what_was_replaced():
    lines = told("My kayak is white.", "I like figs.", "I repainted my kayak, it is black now.", "I like dates.")
    assert superseded(lines) == {1}


def test_long_list_is_fast():
    import time

    lines = told(*[f"On visit {n} the archive clerk showed me book {n * 7}." for n in range(1000)])
    started = time.perf_counter()
    assert superseded(lines) == set()
    assert time.perf_counter() - started < 5

"""Users who speak of themselves by name: the question is asked of that name, and a line reads as one about "you".

pytest tests/test_by_name.py        needs no weights and no network
"""

from __future__ import annotations

import pytest

from chatmem.by_name import as_told_to, in_own_name, own_name, tells_of


@pytest.mark.parametrize("text", ["My name is Oona.", "I'm Oona.", "I am called Oona, by the way.", "Call me Oona."])
def test_the_own_name_is_found(text: str) -> None:
    assert own_name(text) == "Oona"


QUESTIONS = [
    ("When is my birthday?", "When is Oona's birthday?"),
    ("Where am I flying to?", "Where is Oona flying to?"),
    ("What do I collect?", "What does Oona collect?"),
    ("How many goats have I got?", "How many goats has Oona got?"),
    ("Where was I born?", "Where was Oona born?"),
    ("Who taught me?", "Who taught Oona?"),
]


@pytest.mark.parametrize(("query", "renamed"), QUESTIONS)
def test_a_question_about_the_user_is_one_about_the_name(query: str, renamed: str) -> None:
    assert in_own_name(query, "Oona") == renamed


NOTES = [
    ("Oona is flying to Riga.", "You are flying to Riga."),
    ("Oona often watches herons.", "You often watch herons."),
    ("Oona carries a flute.", "You carry a flute."),
    ("Oona has two goats.", "You have two goats."),
    ("Oona's flute is silver.", "your flute is silver."),
    ("Oona will sing.", "You will sing."),
    ("You like Oona.", "You like Oona."),
]


@pytest.mark.parametrize(("note", "told"), NOTES)
def test_a_note_about_the_name_is_one_about_you(note: str, told: str) -> None:
    assert as_told_to(note, "Oona") == told


def test_a_namesake_is_somebody_else() -> None:
    assert tells_of("Oona is flying to Riga.", "Oona")
    assert tells_of("Oona's flute is silver.", "Oona")
    assert not tells_of("My cousin Oona lives in Riga.", "Oona")
    assert not tells_of("Oona is my cousin.", "Oona")
    assert not tells_of("I met Oona in Riga.", "Oona")

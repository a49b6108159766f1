"""Corrections: the corrected sentence, in the user's own words.

pytest tests/test_corrections.py        needs no weights and no network
"""

from __future__ import annotations

import re

import pytest

from chatmem.corrections import both, corrected, denied, exchanged, is_correction, names_a_value, without_opening

CORRECTED = [
    ("My office is on floor 5.", "Sorry, I mean floor 6.", "My office is on floor 6."),
    ("My office is on floor 5.", "Sorry, it's on the sixth floor.", "My office is on the sixth floor."),
    ("My dentist visit is on Tuesday at 3.", "Actually, make that Thursday.", "My dentist visit is on Thursday at 3."),
    ("My meeting is on Monday.", "It's Tuesday actually.", "My meeting is on Tuesday."),
    ("My sister is called Ana.", "No, Anna with two n's.", "My sister is called Anna with two n's."),
    ("My favourite fruit is mango.", "Sorry, I meant papaya.", "My favourite fruit is papaya."),
    ("I live in Oslo.", "No wait, Bergen.", "I live in Bergen."),
    ("I work as a cook.", "Oops, a baker.", "I work as a baker."),
    ("I have five cats.", "Six, not five.", "I have six cats."),
    ("My train leaves at 7:15.", "Not 7:15, 7:45.", "My train leaves at 7:45."),
    ("My birthday is May 3.", "Correction: June 3.", "My birthday is June 3."),
    ("My PIN is 4410.", "*4411", "My PIN is 4411."),
    ("I meet Ana at 5 on Friday.", "Make that 6.", "I meet Ana at 6 on Friday."),
    ("Мой офис на 5 этаже.", "Извини, на 6.", "Мой офис на 6 этаже."),
]


@pytest.mark.parametrize(("old", "correction", "result"), CORRECTED)
def test_words_take_the_place_of_what_they_correct(old, correction, result):
    assert is_correction(correction)
    assert corrected(old, correction) == result
    assert set(re.findall(r"\w+", result.lower())) <= set(re.findall(r"\w+", f"{old} {correction}".lower()))


def test_place_that_is_not_plain():
    old, correction = "I take the 7 bus at 8.", "Sorry, 9."
    assert corrected(old, correction) is None
    assert names_a_value(correction)
    assert both(old, correction) == f"{old} {correction}"


@pytest.mark.parametrize(
    "text",
    ["It's Thursday.", "I live in Bergen.", "Actually, I have a meeting.", "No.", "My sister moved.", "Floor 6."],
)
def test_other_lines_are_no_corrections(text):
    assert not is_correction(text)


def test_whole_sentence_loses_its_opening_only():
    assert without_opening("Sorry, I meant I live in Bergen.") == "I live in Bergen."
    assert without_opening("I live in Bergen.") == "I live in Bergen."


@pytest.mark.parametrize(
    ("old", "correction", "result"),
    [
        ("My uncle lives in Lyon.", "I was wrong, he lives in Metz, not Lyon.", "My uncle lives in Metz."),
        ("The concert is on Friday at 8.", "That was on Sunday, not Friday.", "The concert is on Sunday at 8."),
        ("My uncle lives in Lyon.", "She likes tea, not Lyon.", None),
    ],
)
def test_whole_sentence_that_denies_a_value_corrects_the_one_that_says_it(old, correction, result):
    assert denied(correction)
    assert exchanged(old, correction) == result


def test_sentence_with_a_subject_of_its_own_corrects_nothing():
    assert denied("My aunt lives in Metz, not Lyon.") == ""
    assert denied("She lives in Metz.") == ""

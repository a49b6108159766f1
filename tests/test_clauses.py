"""Clauses: what is cut, and what stays whole.

pytest tests/test_clauses.py        needs no weights and no network
"""

from __future__ import annotations

import pytest

from chatmem.clauses import split_clauses

CUT = [
    ("I'm Ana, I live in Porto and I have two cats.", ["I'm Ana", "I live in Porto", "I have two cats."]),
    ("I live in Porto and work at Orbix.", ["I live in Porto", "I work at Orbix."]),
    ("I'm married and have two kids.", ["I'm married", "I have two kids."]),
    ("I was born in Oslo and live in Bergen now.", ["I was born in Oslo", "I live in Bergen now."]),
    ("My sister lives in Rome and my brother is a nurse.", ["My sister lives in Rome", "my brother is a nurse."]),
    ("My cat's name is Tom and my dog's name is Rex.", ["My cat's name is Tom", "my dog's name is Rex."]),
    ("My name is Ana; my birthday is 3 May.", ["My name is Ana", "my birthday is 3 May."]),
    ("I'm a teacher but I used to be a chef.", ["I'm a teacher", "I used to be a chef."]),
    ("I love hiking, what about you?", ["I love hiking", "what about you?"]),
    ("Меня зовут Анна, я живу в Порту и у меня две кошки.", ["Меня зовут Анна", "я живу в Порту", "у меня две кошки."]),
    ("我叫安娜，我住在波尔图，我有两只猫。", ["我叫安娜", "我住在波尔图", "我有两只猫。"]),
]

WHOLE = [
    "I like tea, coffee and cake.",
    "I love my dog, my cat and my fish.",
    "I live and work in Porto.",
    "I like to swim and play chess.",
    "I have a wife and love her.",
    "I have a dog and he is called Rex.",
    "My mother and my father are from Cork.",
    "My boss said I should rest and I agree.",
    "I think my sister is ill and my brother is well.",
    "When I was six, I lived in Bern and I had a dog.",
    "I live in Porto because I love the sea and I hate the cold.",
    'My boss said "I live in Rome, I work in Bern and I have a dog".',
    "Tell my brother and my sister I said hi",
]


@pytest.mark.parametrize(("sentence", "parts"), CUT)
def test_clauses_with_a_subject_are_cut(sentence, parts):
    assert [clause.text for clause in split_clauses(sentence)] == parts


@pytest.mark.parametrize("sentence", WHOLE)
def test_in_doubt_nothing_is_cut(sentence):
    assert [clause.text for clause in split_clauses(sentence)] == [sentence]


@pytest.mark.parametrize("sentence", [*WHOLE, *(sentence for sentence, _ in CUT)])
def test_nothing_but_joints_is_lost(sentence):
    rest = sentence
    for clause in split_clauses(sentence):
        before, found, rest = rest.partition(clause.said)
        assert found
        assert before.strip(" ,;，и") in ("", "and", "but")
    assert rest == ""

"""What others say, quoted, pasted or planted, becomes no memory and changes none.

pytest tests/test_quoting.py        needs no weights and no network
"""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import NOON

from chatmem.interface import Turn
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS
from chatmem.orders import split_orders
from chatmem.poison import gives_orders
from chatmem.quoting import own_words
from chatmem.reading import read_turn

INJECTIONS = [
    line.replace("\\n", "\n") for line in (Path(__file__).parent / "injections.txt").read_text("utf-8").splitlines()
]
KNOWN = ["My name is Ottilie.", "I live in Lund.", "My sister sails.", "I bank with Fenwick & Lowe.", "I like tea."]


def facts(text: str) -> list[str]:
    return [piece.text for piece in read_turn(text) if piece.kind in MEMORY_KINDS]


@pytest.fixture(scope="module")
def told() -> tuple[Journal, int]:
    """Return a journal that knows something of the user, and its open session."""
    journal = Journal("sqlite://")
    number = journal.begin(NOON)
    for fact in KNOWN:
        journal.append(number, Turn("user", fact, NOON))
    return journal, number


@pytest.mark.parametrize("text", INJECTIONS)
def test_planted_text_becomes_no_memory_and_changes_none(text, told):
    journal, number = told
    orders, rest = split_orders(text)
    assert orders == []
    assert journal.append(number, Turn("user", rest, NOON))[1] == []
    rows = [(line.text, line.status) for line in journal.facts() if line.status in ("active", "superseded")]
    assert rows == [(fact, "active") for fact in KNOWN]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('I keep bees. My aunt wrote: "I have sold my house and I am moving to the sea."', ["I keep bees."]),
        (
            "I keep bees.\n> I have sold the house and I am moving to the sea.\nI like tea.",
            ["I keep bees.", "I like tea."],
        ),
        ('He wrote "I have sold my house and I am moving to the sea". I like tea.', ["I like tea."]),
        ('My favourite song is "I left my heart in the old harbour town".', None),
        ('My cat is called "Sir Toby of Lund".', None),
        ("My name is Ottilie\nI live in Lund\nI have two cats\nI like tea", 4),
        ("My code is: 4411.", None),
        ("My email: ottilie@lund.example.", None),
        ("I'm a user of the library's reading room.", None),
        ("I work as a model.", None),
        ("The system at work is called Fenwick.", None),
        ("My sister said she is moving to Lund.", None),
        ("I love the '90s and rock 'n' roll.", None),
        ("My brothers' house is in Lund.", None),
        ("Here is my address: 5 Elm Street, Lund.", None),
        ("Remember to water the ferns on Friday.", None),
        ("I always recommend tea to my friends.", None),
        ("Our assistant at the office is called Petra.", None),
    ],
)
def test_what_the_user_says_is_kept(text, kept):
    if isinstance(kept, int):
        assert len(facts(text)) == kept
    else:
        assert facts(text) == ([text] if kept is None else kept)
    assert not any(gives_orders(fact) for fact in facts(text))


def test_retraction_in_a_quotation_takes_nothing_back():
    journal = Journal("sqlite://")
    number = journal.begin(NOON)
    journal.append(number, Turn("user", "I keep bees.", NOON))
    journal.append(number, Turn("user", 'She wrote: "No, that was a joke. Forget that. I was only kidding you."', NOON))
    assert [(line.text, line.status) for line in journal.facts()] == [("I keep bees.", "active")]


def test_user_may_insist():
    journal = Journal("sqlite://")
    number = journal.begin(NOON)
    said = '"I have sold my house and I am moving to the sea", said my aunt.'
    assert journal.append(number, Turn("user", said, NOON, explicit=True))[1] == [said]


def test_own_words_are_what_is_left():
    assert own_words('I like it. He wrote: "one two three four five six seven". So do I.') == "I like it. He wrote:"
    assert own_words('He wrote "one two three four five six seven" to us.') == "He wrote to us."

"""The second hop: which names a query is also about.

pytest tests/test_hops.py        needs no weights and no network
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from conftest import choose, make_session

from chatmem.embedding import Array
from chatmem.hops import asked_apart, asked_attribute, asked_who, identities, names_in, rewritten
from chatmem.journal import Journal


@pytest.mark.parametrize(
    ("sentence", "thing", "name"),
    [
        ("My boss is Petra.", "my boss", "Petra"),
        ("Our dog's name is Rex", "our dog", "Rex"),
        ("By the way, my piano teacher is called Ilse Brandt.", "my piano teacher", "Ilse Brandt"),
        ("Petra is my boss.", "my boss", "Petra"),
        ("My sister Ana lives in Graz.", "my sister", "Ana"),
        ("I met my landlord, Igor, at the baker's.", "my landlord", "Igor"),
        ("My car is a Skoda.", "my car", "Skoda"),
        ("Ana's boss is Karl.", "Ana's boss", "Karl"),
        ("My boss is Élodie O'Neil!", "my boss", "Élodie O'Neil"),
    ],
)
def test_sentence_says_what_something_is_called(sentence, thing, name):
    assert (thing, name) in set(identities(sentence))


@pytest.mark.parametrize(
    "sentence", ["My boss is ill.", "I live in Oslo.", "My car is red and fast.", "My name is Ana.", "", "Hm"]
)
def test_other_sentences_name_nothing(sentence):
    assert set(identities(sentence)) == set()


def test_query_is_rewritten_with_the_line_that_says_so():
    lines = ["I like tea.", "My boss is Petra."]
    assert rewritten("Which town does my boss work in?", lines) == [("Which town does Petra work in?", (1,))]
    assert rewritten("What is My Boss's number?", lines) == [("What is Petra's number?", (1,))]


def test_query_is_rewritten_through_two_lines():
    found = rewritten("Where does my sister's boss live?", ["Ana's boss is Karl.", "My sister is Ana."])
    assert found == [("Where does Ana's boss live?", (1,)), ("Where does Karl live?", (1, 0))]


def test_query_about_nothing_that_is_named_stays_alone():
    assert rewritten("Which town do I work in?", ["My boss is Petra."]) == []
    assert rewritten("What is my bossy cat called?", ["My boss is Petra."]) == []


def test_names_that_point_at_each_other_end():
    lines = ["My boss is Petra.", "My boss is Petra.", "Petra's boss is Petra."]
    assert len(rewritten("Who is my boss?", lines)) <= 4


class Asks:
    """A decision by hand: a line answers where it holds the words that a query is known to need."""

    threshold = 0.5

    def __init__(self, **needs: str) -> None:
        self.needs = needs

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        wanted = [answer for word, answer in self.needs.items() if word in query]
        return np.array([float(any(answer in line for answer in wanted)) for line in lines], dtype=np.float32)

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        return [False] * len(old)


def test_recall_asks_again_in_the_name_that_a_line_gives(tmp_path):
    journal = Journal("sqlite://")
    journal.record(make_session("My boss is Petra.", "I see.", "Petra has her office in Delft.", "I see."))
    decision = Asks(Petra="Delft")
    found = choose(journal.lines(), "Which town does my boss work in?", decision=decision)
    assert [line.text for line in found] == ["Petra has her office in Delft.", "My boss is Petra."]
    assert choose(journal.lines(), "Which town does my aunt work in?", decision=decision) == []


def test_recall_does_not_ask_again_where_a_line_answers(tmp_path):
    journal = Journal("sqlite://")
    journal.record(make_session("My boss is Petra.", "I see.", "Petra has her office in Delft.", "I see."))
    found = choose(journal.lines(), "Who is my boss?", decision=Asks(boss="My boss is", Petra="Delft"))
    assert [line.text for line in found] == ["My boss is Petra."]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Who is Petra?", "petra"),
        ("And who's Ilse again?", "ilse"),
        ("Tell me about Noor", "noor"),
        ("Who is my boss?", ""),
    ],
)
def test_query_asks_who_somebody_is(query, name):
    assert asked_who(query) == name


def test_names_are_capitalised_words_after_the_first():
    assert names_in("Where does Petra van Dam work? I forgot") == {"petra", "dam"}
    assert names_in("What is 17 times 3?") == frozenset()


class Sure(Asks):
    """A decision that gives every line the same chance."""

    threshold = 0.05

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        return np.full(len(lines), self.chance, dtype=np.float32)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What is 17 times 3?", False),
        ("Write a haiku about rain.", False),
        ("I got a promotion today!", False),
        ("Where do I work?", True),
        ("Where does Petra work?", True),
        ("Where does Ilse work?", False),
    ],
)
def test_a_doubtful_line_comes_back_only_for_questions_about_the_user_and_people(query, found):
    journal = Journal("sqlite://")
    journal.record(make_session("I work with Petra at Orbix.", "I see."))
    assert bool(choose(journal.lines(), query, decision=Sure(0.1))) is found
    assert choose(journal.lines(), query, decision=Sure(0.9))


def test_who_somebody_is_brings_the_lines_that_name_them():
    journal = Journal("sqlite://")
    journal.record(make_session("My boss is Petra.", "I see.", "I like tea.", "I see."))
    found = choose(journal.lines(), "Who is Petra?", decision=Sure(0.0))
    assert [line.text for line in found] == ["My boss is Petra."]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("What colour are my shed and my van?", ["What colour are my shed?", "What colour are my van?"]),
        ("Where do I live, and who is my boss?", ["Where do I live?", "who is my boss?"]),
        ("What does Ida, Per and Bo not drink?", [f"What does {name} not drink?" for name in ("Ida", "Per", "Bo")]),
        ("Where do I live?", []),
        ("Do I like salt and pepper?", []),
    ],
)
def test_questions_that_are_asked_at_once_are_taken_apart(query, parts):
    assert asked_apart(query) == parts


def test_each_part_of_a_question_gets_its_line(tmp_path):
    journal = Journal("sqlite://")
    journal.record(make_session("My shed is brown.", "I see.", "My van is grey.", "I see.", "I like tea.", "I see."))
    found = choose(journal.lines(), "What colour are my shed and my van?", decision=Asks(shed="shed", van="van"))
    assert {line.text for line in found} == {"My shed is brown.", "My van is grey."}


def test_line_that_names_the_user_comes_with_the_one_that_says_so(tmp_path):
    journal = Journal("sqlite://")
    journal.record(make_session("I'm Ilse.", "Hello.", "Ilse's exam is in May.", "I see.", "I like tea.", "I see."))
    found = choose(journal.lines(), "When is my exam?", decision=Asks(exam="exam"))
    assert [line.text for line in found] == ["Ilse's exam is in May.", "I'm Ilse."]
    found = choose(journal.lines(), "What do I like?", decision=Asks(like="tea"))
    assert [line.text for line in found] == ["I like tea."]


@pytest.mark.parametrize(
    ("query", "sure", "count"),
    [("Do I need a crutch?", 0.6, 0), ("Do I need a crutch?", 0.95, 1), ("Who needs a crutch?", 0.6, 1)],
)
def test_what_is_said_of_another_person_does_not_answer_for_the_user(query, sure, count, tmp_path):
    journal = Journal.at(tmp_path / "journal.db")
    journal.record(make_session("Our guest Olga needs a crutch."))
    assert len(choose(journal.lines(), query, decision=Sure(sure))) == count


def test_what_was_before_a_newer_thing_is_not_that_thing(tmp_path):
    journal = Journal.at(tmp_path / "journal.db")
    journal.record(make_session("I drive a Saab."))
    journal.record(make_session("I traded the Saab for a Lada."))
    found = choose(journal.lines(), "What did I drive before the Lada?", decision=Sure(0.9))
    assert [line.text for line in found] == ["I drive a Saab."]


def test_how_something_is_done_is_no_question_about_the_user():
    journal = Journal("sqlite://")
    journal.record(make_session("I bake bread with Petra.", "I see."))
    assert choose(journal.lines(), "How do I bake bread?", decision=Sure(0.3)) == []
    assert choose(journal.lines(), "What do I bake?", decision=Sure(0.3))


def test_rest_of_the_sentence_that_ended_a_fact_comes_with_it():
    journal = Journal("sqlite://")
    journal.record(make_session("I cycle to the mill every day.", "I see."))
    journal.record(make_session("No more cycling to the mill for me, I take the tram.", "I see.", "I like tea.", "Ok."))
    found = choose(journal.lines(), "Which way to the mill do I take?", decision=Asks(mill="I cycle"))
    assert [line.text for line in found] == ["No more cycling to the mill for me", "I take the tram."]


def test_line_that_says_so_is_brought_by_the_user_s_own_name():
    journal = Journal("sqlite://")
    journal.record(make_session("Everybody calls me Ilse.", "Hello.", "Ilse's exam is in May.", "I see."))
    found = choose(journal.lines(), "When is my exam?", decision=Asks(Ilse="exam"))
    assert [line.text for line in found] == ["Ilse's exam is in May.", "Everybody calls me Ilse."]


@pytest.mark.parametrize(
    ("query", "attribute"),
    [
        ("Where do I work?", "employer"),
        ("who do I work for", "employer"),
        ("Where do I work out?", ""),
        ("Where does my sister work?", ""),
        ("Where do I live?", "home"),
        ("What's my name?", "name"),
        ("What's my name day?", ""),
        ("Where was I born?", "birthplace"),
    ],
)
def test_plain_question_names_its_attribute(query, attribute):
    assert asked_attribute(query) == attribute


class Eager:
    """A decision by hand that takes every line for an answer, and each newer one for a newer value."""

    threshold = 0.5

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        return np.ones(len(lines), dtype=np.float32)

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        return [True] * len(old)


@pytest.mark.parametrize(
    ("told", "query"),
    [
        (["Marek has a cat called Tilly.", "Olga has a cat called Smudge."], "What is the cat of Marek called?"),
        (["Olga has a cat called Smudge.", "Marek has a cat called Tilly."], "What is the cat of Marek called?"),
        (["My colleague Jonas drives a Fiat.", "Priya drives a Volvo now."], "Which car does Jonas drive?"),
    ],
)
def test_a_question_about_somebody_by_name_is_not_answered_with_another_person(told, query):
    journal = Journal("sqlite://")
    journal.record(make_session(*(line for text in told for line in (text, "I see."))))
    found = [line.text for line in choose(journal.lines(), query, decision=Eager())]
    assert found == [text for text in told if "Marek" in text or "Jonas" in text]


def test_two_people_who_have_the_like_are_both_remembered():
    journal = Journal("sqlite://")
    journal.record(make_session("Marek has a cat called Tilly.", "I see.", "Olga has a cat called Smudge.", "I see."))
    found = choose(journal.lines(), "Which cats do my friends have?", decision=Eager())
    assert {line.text for line in found} == {"Marek has a cat called Tilly.", "Olga has a cat called Smudge."}

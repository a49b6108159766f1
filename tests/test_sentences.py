"""Sentences: cutting text into them, and what a question asks for.

pytest tests/test_sentences.py        needs no weights and no network
"""

from __future__ import annotations

import pytest

from chatmem.sentences import (
    asks_about_assistant,
    asks_about_past,
    asks_for_everything,
    asks_for_own_fact,
    same_words,
    split_sentences,
)


def test_sentences_are_parts_of_the_text():
    text = "Dr. Mora paid 3.50 for it.  She lives in St. Ives!\r\n\nЯ живу здесь. Да?\n我住在北京。你呢？"
    sentences = split_sentences(text)
    assert len(sentences) == 6
    position = 0
    for sentence in sentences:
        position = text.index(sentence, position) + len(sentence)


def test_same_words_ignores_case_and_marks():
    assert same_words("My boat's BLUE!") == same_words("my boat’s blue")
    assert same_words("My boat is blue") != same_words("My boat is not blue")
    assert same_words("Room 15") != same_words("Room 16")


@pytest.mark.parametrize(
    "question",
    [
        "Where do I work?",
        "what's my name",
        "Do you remember my aunt?",
        "Am I allergic to nuts?",
        "What do you know of me?",
        "Would a ride in a lift be a problem for me?",
    ],
)
def test_questions_for_the_users_own_facts(question):
    assert asks_for_own_fact(question)


@pytest.mark.parametrize(
    "question",
    ["How do I boil an egg?", "What should I cook tonight?", "Can I eat this?", "What is 17 times 3?", "I like tea."],
)
def test_other_lines_ask_for_no_own_fact(question):
    assert not asks_for_own_fact(question)


def test_questions_about_what_was_said():
    assert asks_about_assistant("What did you recommend for the cough?")
    assert not asks_about_assistant("What did I say about the cough?")
    assert asks_for_everything("What do you remember about me?")
    assert not asks_for_everything("What do you know about kettles?")


@pytest.mark.parametrize(
    "question",
    [
        "Where did I live before?",
        "What was my old number?",
        "Did I ever own a boat?",
        "What did I use to drink?",
        "Who was my previous boss?",
        "Где я жил раньше?",
        "我以前住在哪里？",
    ],
)
def test_questions_about_the_past(question):
    assert asks_about_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "What is my last name?",
        "What did I say about my boss?",
        "What did I tell you?",
        "Где я живу?",
    ],
)
def test_other_questions_are_about_what_is(question):
    assert not asks_about_past(question)

"""Sentences: what becomes a memory line, and what a question asks for.

pytest tests/test_sentences.py        needs no weights and no network
"""

from __future__ import annotations

import pytest

from chatmem.sentences import (
    asks_about_assistant,
    asks_for_everything,
    asks_for_own_fact,
    judge,
    same_words,
    split_sentences,
)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("My kettle is copper.", "fact"),
        ("I do like rye bread", "fact"),
        ("When I was six we moved to Bern.", "fact"),
        ("What a day, I got the part!", "fact"),
        ("Remember that my gate code is 4410.", "fact"),
        ("Don't forget to water the ferns.", "fact"),
        ("Sorry, I meant the fourth floor.", "fact"),
        ("Меня зовут Ярослава.", "fact"),
        ("比起猫我更喜欢狗。", "fact"),
        ("what is my kettle made of", "question"),
        ("Do I like rye bread?", "question"),
        ("how many aunts do I have", "question"),
        ("Как меня зовут", "question"),
        ("我更喜欢什么动物？", "question"),
        ("And where's my kettle", "question"),
        ("Tell me about kettles.", "command"),
        ("Could you write a poem", "command"),
        ("Please list three rivers.", "command"),
        ("Imagine I lived on Mars.", "what-if"),
        ("If I were rich I would buy a lighthouse.", "what-if"),
        ("Hi there!", "small talk"),
        ("Thank you so much.", "small talk"),
        ("Привет!", "small talk"),
        ("…!?", "small talk"),
        ("🙂", "small talk"),
    ],
)
def test_sentences_are_judged(sentence, kind):
    assert judge(sentence) == kind


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

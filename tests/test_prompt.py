"""Prompts: within the window, the newest line always whole, nothing cut in silence.

pytest tests/test_prompt.py        needs no weights and no network
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from conftest import NOON, ScriptedModel
from hypothesis import given, settings
from hypothesis import strategies as st

from chatmem.interface import Recollection, Turn
from chatmem.prompt import (
    NOT_TOLD,
    as_said_to_user,
    build_prompt,
    fit_history,
    prompt_budget,
    reply_opening,
)


@pytest.mark.parametrize(("window", "reply", "budget"), [(1024, 128, 896), (8192, 128, 2048), (1024, 900, 512)])
def test_prompt_budget_leaves_room_for_the_reply_and_is_never_long(window, reply, budget):
    assert prompt_budget(ScriptedModel(window_tokens=window), reply) == budget


def line(text: str, score: float = 0.6, speaker: str = "user") -> Recollection:
    return Recollection(text, score, 1, 0, NOON, speaker)  # type: ignore[arg-type]


def turns(count: int, words: int = 10) -> list[Turn]:
    speakers = ["user", "assistant"]
    return [Turn(speakers[n % 2], f"turn{n} " * words, NOON) for n in range(count)]  # type: ignore[arg-type]


@pytest.mark.parametrize("has_chat_template", [True, False])
@pytest.mark.parametrize("form", ["auto", "specification"])
@given(
    history=st.integers(0, 60),
    memories=st.integers(0, 12),
    words=st.integers(1, 1500),
    window=st.integers(128, 1024),
)
@settings(max_examples=25, deadline=None)
def test_prompt_never_exceeds_the_window(has_chat_template, form, history, memories, words, window):
    model = ScriptedModel(window_tokens=window, has_chat_template=has_chat_template)
    budget = prompt_budget(model, reply_tokens=window // 4)
    said = "word " * words
    kept = turns(history)
    kept = kept[len(kept) - fit_history(model, kept, said, budget) :]
    lines = [line(f"My thing {n} is number {n}.") for n in range(memories)]
    prompt = build_prompt(model, said, lines, kept, budget=budget, form=form)
    assert model.count_tokens(prompt.text) <= budget <= window - window // 4
    assert prompt.text.count("word") >= min(words, budget // 4)  # the newest line stays


def test_oldest_history_leaves_first():
    model = ScriptedModel(window_tokens=400)
    kept = turns(40)
    count = fit_history(model, kept, "Hello", prompt_budget(model, 100))
    assert 0 < count < 40
    prompt = build_prompt(model, "Hello", [], kept[-count:], budget=prompt_budget(model, 100))
    assert "turn39" in prompt.text
    assert "turn0 " not in prompt.text


def test_long_line_is_shortened_with_a_notice():
    model = ScriptedModel(window_tokens=400)
    prompt = build_prompt(model, "first " + "x " * 5000 + "last", budget=300)
    assert "first" in prompt.text
    assert "last" in prompt.text
    assert "5002 tokens" in prompt.notice
    assert build_prompt(model, "short", budget=300).notice == ""


def test_worst_lines_leave_where_the_share_is_full():
    model = ScriptedModel(window_tokens=400)
    lines = [line(f"My thing {n} is " + "very " * 20 + "odd.") for n in range(10)]
    prompt = build_prompt(model, "What is my thing?", lines, budget=300)
    assert 0 < len(prompt.recollections) < 10
    assert list(prompt.recollections) == lines[: len(prompt.recollections)]
    for number in range(10):
        assert (f"Your thing {number} is" in prompt.text) == (number < len(prompt.recollections))


def test_without_lines_there_is_no_memory_part():
    model = ScriptedModel()
    assert "Notes" not in build_prompt(model, "How do I boil an egg?", budget=900).text
    assert "Notes" in build_prompt(model, "What is my name?", [line("My name is Ida.")], budget=900).text


def test_best_line_is_last_and_begins_the_reply():
    model = ScriptedModel()
    lines = [line("My goat is called Bramble."), line("I work in a quarry.", 0.4)]
    prompt = build_prompt(model, "What is my goat called?", lines, budget=900)
    assert prompt.text.index("You work in a quarry.") < prompt.text.index("Your goat is called Bramble.")
    assert prompt.opening == "Your goat"
    assert prompt.text.endswith("<assistant> Your goat")
    assert prompt.copied == "Your goat is called Bramble."
    assert build_prompt(model, "My goat is ill today.", lines, budget=900).copied == ""


def test_reader_gets_lines_in_the_order_of_their_times():
    model = ScriptedModel(has_reader=True)
    newer = Recollection("I live in Bergen now.", 0.9, 2, 0, NOON + timedelta(days=2), "user")
    prompt = build_prompt(model, "Where do I live?", [newer, line("I live in Ghent.")], budget=900)
    assert "Notes:\n- You live in Ghent.\n- You live in Bergen now.\n\nWhere do I live?" in prompt.text
    assert "Madrid" not in prompt.text  # no worked example
    assert (prompt.reader, prompt.opening) == (True, "")


@pytest.mark.parametrize(
    ("said", "score", "avoided"),
    [("Where do I live?", 0.9, NOT_TOLD), ("Where do I live?", 0.6, ""), ("Let's talk about Ghent.", 0.9, "")],
)
def test_reader_says_that_it_was_not_told_only_where_the_decision_has_doubts(said, score, avoided):
    prompt = build_prompt(ScriptedModel(has_reader=True), said, [line("I live in Ghent.", score)], budget=900)
    assert prompt.avoided == avoided
    assert build_prompt(ScriptedModel(), said, [line("I live in Ghent.", score)], budget=900).avoided == ""


def test_without_lines_the_reader_rests():
    for said in ("What is 17 times 3?", "Where do I live?"):
        prompt = build_prompt(ScriptedModel(has_reader=True), said, budget=900)
        assert prompt == build_prompt(ScriptedModel(), said, budget=900)
        assert not prompt.reader
    lines = [line("I live in Ghent.")]
    literal = build_prompt(ScriptedModel(has_reader=True), "Hi", lines, budget=900, form="specification")
    assert not literal.reader


def test_reply_to_a_fact_is_one_line_without_a_template():
    base, lines = ScriptedModel(has_chat_template=False), [line("I live in Ghent.")]
    assert "\n" in build_prompt(base, "I cut my finger.", lines, budget=900).stops
    assert "\n" not in build_prompt(base, "Tell me a story.", lines, budget=900).stops
    assert build_prompt(ScriptedModel(), "I cut my finger.", lines, budget=900).stops == ()


def test_openings():
    goat = [line("My goat is called Bramble.")]
    assert reply_opening("What is my goat called?", goat) == "Your goat"
    assert reply_opening("My goat is ill today.", goat) == ""  # no question, no copying
    assert reply_opening("How old do goats get?", [line("My goat is old.", 0.4)]) == ""
    assert reply_opening("What is my goat called?", []) == NOT_TOLD
    assert reply_opening("How do I boil an egg?", []) == ""
    assert reply_opening("", []) == ""


def test_specification_prompt_is_literal():
    model = ScriptedModel(has_chat_template=False)
    lines = [line("My name is Ida."), line("I like figs.")]
    prompt = build_prompt(model, "What is my name?", lines, budget=900, form="specification")
    literal = "You have the following memories: My name is Ida. I like figs.. User says: What is my name?"
    assert prompt.text == f"{literal}\nAssistant:"
    with_template = build_prompt(ScriptedModel(), "What is my name?", lines, budget=900, form="specification")
    assert f"<system> {literal}" in with_template.text
    assert with_template.opening == ""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I work at a mill.", "You work at a mill."),
        ("I'm left-handed", "You're left-handed."),
        ("My sister gave me her bike.", "Your sister gave you her bike."),
        ("I changed my name to Kit.", "You changed your name to Kit."),
        ("We moved, and our cat hates us.", "You moved, and your cat hates you."),
        ("Remember that I am vegan!", "You are vegan!"),
        ("btw im vegan and i love figs, i.e. fruit", "You're vegan and you love figs, i.e. fruit."),
        ("Well, I've a boat of mine.", "You've a boat of yours."),
        ("The spare key is under the pot.", "The spare key is under the pot."),
        ("Меня зовут Ярослава.", "Меня зовут Ярослава."),
        ("My birthday is 3 May.", "Your birthday is on 3 May."),
        ("Hello.", "Hello."),
    ],
)
def test_lines_are_said_to_the_user(said, told):
    assert as_said_to_user(line(said)) == told


def test_what_the_assistant_said_stays_its_own():
    assert as_said_to_user(line("I like pears.", speaker="assistant")) == "You were told: I like pears."


def test_superseded_line_says_until_when_it_held():
    line = Recollection("I live in Porto", 0.9, 1, 0, NOON, "user", until=datetime(2026, 5, 3, tzinfo=UTC))
    assert as_said_to_user(line) == "You live in Porto. (until 3 May 2026)"


@pytest.mark.parametrize(
    ("question", "said", "opening"),
    [
        ("Is the key under the mat?", "The key is not under the mat.", "No, the key is not"),
        ("Do I eat fish?", "I don't eat fish.", "No, you don't"),
        ("Is the key under the mat?", "The key is under the mat.", ""),
        ("Do I not eat fish?", "I don't eat fish.", ""),
        ("Where is the key?", "The key is not under the mat.", ""),
    ],
)
def test_reader_begins_with_no_where_the_line_denies_what_is_asked(question, said, opening):
    model = ScriptedModel()
    model.has_reader = True
    assert build_prompt(model, question, [line(said)], budget=500).opening == opening


@pytest.mark.parametrize(
    ("question", "told", "reply"),
    [
        ("What have I told you about the Heron?", ["The Heron leaks.", "The Heron has two masts."], None),
        ("Where do my gran and my nephew live?", ["My gran lives in Vaasa.", "My nephew lives in Turku."], None),
        ("Wo wohnt meine Oma?", ["Meine Oma wohnt in Vaasa."], "Du hast gesagt: Meine Oma wohnt in Vaasa."),
        ("Πού μένω;", ["Μένω στη Βάρνα."], "Μου είπες: Μένω στη Βάρνα."),
        ("Where does my gran live?", ["My gran lives in Vaasa."], ""),
    ],
)
def test_lines_are_the_reply_where_a_small_model_would_spoil_it(question, told, reply):
    lines = [line(text) for text in told]
    expected = " ".join(as_said_to_user(one) for one in lines) if reply is None else reply
    model = ScriptedModel()
    model.has_reader = True
    assert build_prompt(model, question, lines, budget=500).opening == expected


def test_what_is_told_of_the_user_by_name_is_said_to_the_user():
    model = ScriptedModel()
    model.has_reader = True
    text = build_prompt(model, "When is my exam?", [line("Ilse's exam is in May."), line("I'm Ilse.")], budget=500).text
    assert "Your exam is in May." in text
    assert "Ilse's" not in text

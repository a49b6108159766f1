"""Tension: a claim and a later event that may not fit it come back together, and are told together.

pytest tests/test_tension.py        needs no weights and no network
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from conftest import NOON, ScriptedModel, make_session

from chatmem.choosing import Choice, Scored
from chatmem.interface import Recollection
from chatmem.journal import Journal
from chatmem.prompt import build_prompt
from chatmem.tension import in_tension, is_claim


def asked(query: str, claim: str, event: str, nearness: float) -> list[Recollection]:
    """Return what comes back for a question after a claim and, a month later, an event of some nearness to it."""
    journal = Journal("sqlite://")
    journal.record(make_session(claim))
    journal.record(make_session(event, day=30))
    scores = {claim: 0.9, event: nearness}
    choose = Choice(lambda *_: [Scored(line, scores[line.text], scores[line.text]) for line in journal.lines()], 0.5)
    return choose(query, 3)


def test_later_event_comes_back_with_the_claim():
    lines = asked("Do I eat shellfish?", "I never eat shellfish.", "Shared a bucket of mussels with Ida.", 0.3)
    assert [line.text for line in lines] == ["I never eat shellfish.", "Shared a bucket of mussels with Ida."]
    assert in_tension(lines)


@pytest.mark.parametrize(
    ("query", "event", "nearness"),
    [
        ("Do I eat shellfish?", "Ordered a new sofa.", 0.1),  # about something else
        ("Do I eat shellfish?", "My sister had mussels.", 0.3),  # somebody else
        ("What do I never eat?", "Shared a bucket of mussels with Ida.", 0.3),  # not asked with yes or no
    ],
)
def test_other_lines_do_not(query, event, nearness):
    assert len(asked(query, "I never eat shellfish.", event, nearness)) == 1


def test_both_are_told_with_the_date():
    lines = [
        Recollection("I'm vegan.", 0.9, 1, 0, NOON, "user"),
        Recollection("Had cheese on toast.", 0.9, 2, 0, NOON + timedelta(days=30), "user"),
    ]
    model = ScriptedModel()
    model.has_reader = True
    opening = build_prompt(model, "Am I vegan?", lines, budget=500).opening
    assert opening.startswith("You're vegan. But on ")
    assert "Had cheese on toast." in opening


@pytest.mark.parametrize(
    ("text", "claims"),
    [("I don't ski.", True), ("I'm teetotal.", True), ("I didn't ski in May.", False), ("I ski.", False)],
)
def test_claims(text, claims):
    assert is_claim(text) is claims

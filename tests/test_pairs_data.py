"""What the pair decision learns from: labels, denials, and that what is kept for evaluation stays out of training.

pytest tests/test_pairs_data.py      needs no weights and no network
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from training import facts
from training.pairs_data import Groups, World, make_memory
from training.pairs_facts import fact_inventory
from training.pairs_frames import Frame
from training.pairs_people import Fact, Inventory, Query, label
from training.pairs_relations import UNRELATED, relations, tastes
from training.pairs_scoring import auc, best_scores, threshold_for
from training.pairs_text import Subject, negated

WORLD = World(["what is 2 plus 2"], ["what is my credit limit"], ["I love tacos.", "I am a boy.", "I sing."], [])
WORK = Frame("employer", "firm", ("{S} [work|works] at {v}",), ("Where [do|does] {s} work?",))
SISTER = Subject("sister", "her")


def memories(inventory: Inventory, count: int = 12):
    rng = random.Random(5)
    return [make_memory(inventory, WORLD, rng, 20) for _ in range(count)]


def test_the_same_seed_gives_the_same_people():
    first, again = (memories(Inventory("train"), 2) for _ in range(2))
    assert [memory.lines for memory in first] == [memory.lines for memory in again]
    assert [query.text for memory in first for query in memory.queries] == [
        query.text for memory in again for query in memory.queries
    ]


def test_another_person_does_not_answer():
    query = Query("Where does my sister work?", "other", ("sister", "employer", ""))
    own = Fact(("", "employer", ""), "Orbix", "I work at Orbix.", frame=WORK)
    hers = Fact(("sister", "employer", ""), "Tallow", "My sister works at Tallow.", SISTER, WORK)
    starts = Fact(("sister", "work_start", ""), "9", "My sister starts work at 9.", SISTER, WORK)
    assert [label(query, fact) for fact in (own, hers, starts)] == [0, 1, 0]


def test_unseen_values_and_attributes_stay_out_of_training():
    said = " ".join(
        line for memory in memories(fact_inventory("train", things=True), 40) for line in memory.lines
    ).lower()
    for attribute in facts.UNSEEN_ATTRIBUTES:
        name = attribute.name.replace("_", " ")
        assert name in ("insurance", "pension", "seat", "parking", "dance", "boat") or f"my {name}" not in said, name
    for value in ("Wexbourne", "Thessaloniki", "Marzipan", "bouillabaisse"):
        assert value.lower() not in said


@pytest.mark.parametrize(
    ("statement", "denial"),
    [
        ("{S} [work|works] at {v}", "{S} [do not work|does not work] at {v}"),
        ("{S} [am|is] allergic to {v}", "{S} [am not|is not] allergic to {v}"),
        ("{O} {n} is {v}", "{O} {n} is not {v}"),
    ],
)
def test_denials(statement, denial):
    assert negated(statement) == denial


def test_a_subject_says_it_in_its_person():
    assert Subject().fill("{S} [work|works] at {v}", "Orbix") == "I work at Orbix."
    assert SISTER.fill("{S} [work|works] at {v}", "Orbix") == "My sister works at Orbix."
    assert SISTER.fill("Where [do|does] {s} keep {p} {n}?", "", "bike") == "Where does my sister keep her bike?"


def test_two_likes_both_stay():
    pairs = tastes(Inventory("train"), 300, random.Random(1))
    assert any("like" in new and "like" in old and label == UNRELATED for new, old, label in pairs)


def test_relations_of_every_kind():
    memory = memories(Inventory("train"), 1)[0]
    assert {label for _, _, label in relations(Inventory("train"), memory.facts, 300, random.Random(2))} == {0, 1, 2, 3}


def test_scores_of_known_and_unknown():
    groups = Groups(
        questions=np.arange(3),
        candidates=np.zeros((3, 2), np.int64),
        labels=np.array([[0, 1], [0, 0], [-1, 1]]),
        kinds=np.array(["own", "own", "own"]),
        names=np.array(["a", "a", "a"]),
        has_answer=np.array([True, False, True]),
        well_spelt=np.array([True, True, True]),
        lines=[np.arange(2)] * 3,
    )
    scores = np.array([[2.0, 1.0], [0.5, 0.1], [9.0, 3.0]])
    known, unknown, talk = best_scores(groups, scores)
    assert known.tolist() == [-np.inf, 3.0]  # the first question's best line is wrong; an unclear line does not count
    assert unknown.tolist() == [0.5]
    assert len(talk) == 0
    assert best_scores(groups, scores, first=2)[0].tolist() == [1.0, 3.0]
    assert threshold_for(np.array([3.0, 1.0, -np.inf]), 0.6) == 1.0
    assert threshold_for(np.array([3.0, -np.inf]), 0.9) is None
    assert auc(np.array([2.0, 1.0]), np.array([1.0, 0.0])) == 0.875

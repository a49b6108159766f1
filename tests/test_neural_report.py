"""The report's section on the memory inside the model says what was measured, and no more."""

from __future__ import annotations

from chatmem.report_neural import render_neural
from chatmem.report_trained import TRAINED, render_trained
from training.neural_measures import share


def measured() -> dict:
    one = {"recall": share([True] * 9 + [False]), "token_accuracy": share([True]), "first_token": share([True] * 64)}
    return {
        "mapping": {"ours": one, "raw pointer (ablation)": one},
        "values": {"1 facts": one, "8 facts": one | {"recall": share([True, False])}},
        "general": {"dialogues": {"perplexity_ratio": 1.05, "tokens": 900}, "same_replies": share([True] * 50)},
        "seed": {"mapping": one, "values, 1 facts": one | {"recall": share([False] * 4)}},
        "fill": {"16 slots, 1 facts": one, "16 slots, 4 facts": one, "seconds": 3},
        "writes": {"writes": 1000, "finite": True, "norms": [{"writes": 1, "norm": 2.0}]},
        "restart": {"equal": True, "question": "Who?", "replies": ["Me."], "left_after_reset": 0.0},
        "scenarios": {"A: a name": share([True]), "wrong": []},
    }


def test_every_target_stands_with_what_was_measured_and_whether_it_was_reached():
    text = render_neural(measured())
    assert "| values of 2–8 tokens, one fact | 90.0% (60–98, n = 10) | 90% | yes | – |" in text
    assert "| values of 2–8 tokens, eight facts | 50.0% (9–91, n = 2) | 70% | no | – |" in text
    assert "| 1.05 | 1.02 | no |" in text.replace("1.050", "1.05")


def test_what_was_not_measured_is_a_dash_and_has_no_mark():
    text = render_neural(measured())
    assert "| native set: write decision | – | 100% |  | 100 |" in text
    assert "tokens/s" not in text


def test_the_seeds_design_stands_beside_ours():
    assert "| 2–8 tokens, one fact | 0.0% (0–49, n = 4) | 90.0% (60–98, n = 10) |" in render_neural(measured())


def test_what_is_left_after_restart_and_reset_is_said():
    text = render_neural(measured())
    assert "twice: the same reply (Who? → Me.). After the reset token the largest number in the state is 0." in text


def test_the_report_takes_the_section_in():
    assert "neural" in TRAINED
    assert "### Memory inside the model" in render_trained({"neural": measured()})
    assert "### Memory inside the model" not in render_trained({})

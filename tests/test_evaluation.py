"""The benchmark's numbers: metrics worked by hand, scenarios as the specification has them, the report redrawn.

pytest tests/test_evaluation.py        needs no weights and no network
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import FakeEncoder, ScriptedModel

import benchmark
from chatmem import embedding, evaluation
from chatmem.report import ARMS, read_results, readme_table, render_report
from chatmem.scenarios import FACTS, REFUSAL, SMALL_TALK, UNKNOWN, Question, scenarios
from chatmem.sentences import split_sentences

ROOT = Path(__file__).parent.parent


def test_metrics_worked_by_hand():
    assert evaluation.wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert evaluation.wilson(0, 0) == (0.0, 1.0)
    assert evaluation.wilson(5, 5)[1] == pytest.approx(1.0)
    assert evaluation.mean_and_deviation([1.0, 2.0, 3.0]) == (2.0, 1.0)
    assert evaluation.mean_and_deviation([4.0]) == (4.0, 0.0)
    assert evaluation.median_and_p95([3.0, 1.0, 2.0]) == pytest.approx((2.0, 2.9))
    assert evaluation.median_ratio([2.0, 9.0, 4.0], [1.0, 3.0, 4.0]) == 2.0


def test_scenarios_are_the_specifications_words():
    told = {s.name: [turn.text for session in s.sessions for turn in session.turns] for s in scenarios(0)}
    asked = {s.name: [question.text for question in s.questions] for s in scenarios(0)}
    for name, fact, question in (
        ("A", "My name is Alice.", "What is my name?"),
        ("B", "I work at Google.", "Where do I work?"),
        ("C", "I like pizza.", "What is my favorite food?"),
        ("E", "I changed my name to Bob.", "What is my name?"),
    ):
        assert fact in told[name]
        assert asked[name] == [question]
    sessions = {s.name: len(s.sessions) for s in scenarios(0)}
    assert sessions == {"A": 1, "B": 1, "C": 2, "D": 4, "E": 2, "F": 10, "G": 13, "H": 10}
    assert [len(asked[name]) for name in "DFGH"] == [3, 10, 10, 10]


@pytest.mark.parametrize("run", range(5))
def test_every_answer_was_told_once(run):
    for scenario in scenarios(run):
        told = [turn.text for session in scenario.sessions for turn in session.turns]
        for question in scenario.questions:
            if question.evidence:
                assert told.count(question.evidence) == 1
                assert question.is_right(question.evidence) or scenario.name == "E"
        times = [turn.when for session in scenario.sessions for turn in session.turns]
        assert times == sorted(times)


def test_runs_differ_and_repeat():
    def told(run: int) -> list[str]:
        return [turn.text for s in scenarios(run) for session in s.sessions for turn in session.turns]

    assert told(1) == told(1)
    assert len({tuple(told(run)) for run in range(5)}) == 5


def test_small_talk_holds_no_answer():
    for said, answer in SMALL_TALK:
        for _, _, expected in FACTS:
            assert not Question("", expected).is_right(f"{said} {answer}")
    assert len(SMALL_TALK) == len(set(SMALL_TALK)) == 40
    assert all(split_sentences(said) for said, _ in SMALL_TALK)


@pytest.mark.parametrize(
    "reply",
    ["I don't know, you haven't told me your shoe size", "I’m not sure.", "You have not mentioned a brother.",
     "Sorry, I cannot remember that.", "I have no information about that."],
)  # fmt: skip
def test_refusals_are_seen(reply):
    assert Question(UNKNOWN[0], REFUSAL).is_right(reply)


@pytest.mark.parametrize("reply", ["Your shoe size is 9.", "You know best, 44.", "Your brother is Tom."])
def test_made_up_answers_are_no_refusals(reply):
    assert not Question(UNKNOWN[0], REFUSAL).is_right(reply)


def test_forbidden_words_make_a_reply_wrong():
    question = Question("What is my name?", r"\bbob\b", forbidden=r"\balice\b")
    assert question.is_right("Your name is Bob.")
    assert not question.is_right("Your name is Alice, now Bob.")


# The benchmark itself, over fakes


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "open_model", lambda _: ScriptedModel())
    monkeypatch.setattr(embedding.SentenceEncoder, "load", classmethod(lambda *_: FakeEncoder()))


def test_interrupted_benchmark_goes_on_and_ends_the_same(tmp_path, monkeypatch, fakes):
    settings = benchmark.Settings(model="fake")
    monkeypatch.setattr(benchmark, "scenarios", lambda run: [case for case in scenarios(run) if case.name in "AE"])
    for name in ("whole", "parts"):
        (tmp_path / name).mkdir()
    whole = benchmark.measure_accuracy(settings, 1, tmp_path / "whole", fresh=False)
    asked, ask_all = [], benchmark.ask_all

    def interrupted(scenario, *given):
        asked.append(scenario.name)
        if scenario.name == "E" and asked.count("E") == 1:
            raise KeyboardInterrupt
        return ask_all(scenario, *given)

    monkeypatch.setattr(benchmark, "ask_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        benchmark.measure_accuracy(settings, 1, tmp_path / "parts", fresh=False)
    parts = benchmark.measure_accuracy(settings, 1, tmp_path / "parts", fresh=False)
    assert asked == [*"AE", "E"]  # what was done was not asked again
    assert parts == whole
    assert len(whole) == 2 * len(ARMS)


def test_questions_teach_the_memory_nothing(tmp_path, fakes):
    scenario = scenarios(0)[3]
    journal = benchmark.tell(scenario, tmp_path)
    before = journal.export()
    memories = benchmark.open_arms(journal, FakeEncoder(), tmp_path)
    answers = list(benchmark.ask_all(scenario, 0, memories, ScriptedModel(), benchmark.Settings(model="fake")))
    assert journal.export() == before
    assert not list(tmp_path.glob("open-*"))
    prompts = {answer["arm"]: answer["prompt"] for answer in answers if answer["question"] == 0}
    assert "Pretzel" in prompts["gru"]
    assert prompts["gru"] == prompts["rag"]  # the same model, prompt, k and budget
    assert "Pretzel" not in prompts["none"]


def test_report_is_a_rendering_of_its_own_numbers():
    report = (ROOT / "report.md").read_text("utf-8")
    assert render_report(read_results(report)) == report


@pytest.mark.parametrize("name", ["README.md", "README.ru.md"])
def test_readme_shows_the_reports_numbers(name):
    results = read_results((ROOT / "report.md").read_text("utf-8"))
    assert readme_table(results) in (ROOT / name).read_text("utf-8")


def test_report_shows_wrong_answers_and_missed_targets():
    results = read_results((ROOT / "report.md").read_text("utf-8"))
    for answer in results["answers"]:
        if answer["arm"] == "gru" and answer["scenario"] in "ABCDEF":
            answer["right"] = False
    report = render_report(json.loads(json.dumps(results)))
    assert "| 99% | 0.0% (0–" in report
    assert "**no**" in report
    assert "`rag` answers better than `gru`" in report

"""The specification's scenarios A to E, end to end: the real program, the bundled model, a restart between sessions.

pytest tests/test_scenarios.py -m slow        needs the weights of requirements-model.txt
"""

from __future__ import annotations

import pytest
from test_program import chat

from chatmem.scenarios import scenarios

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", list("ABCDE"))
def test_scenario(tmp_path, name):
    """Each session is a process of its own; the question comes in the last one."""
    scenario = next(one for one in scenarios(0) if one.name == name)
    for session in scenario.sessions:
        lines = [turn.text for turn in session.turns if turn.speaker == "user"]
        chat(tmp_path, *lines, "/quit", arguments=("--max-new-tokens", "8", "--now", session.turns[0].when.isoformat()))
    for question in scenario.questions:
        answer = chat(tmp_path, question.text)[0]
        assert question.evidence in [line["text"] for line in answer["memories"]]
        assert question.is_right(answer["reply"]), answer["reply"]


def test_ten_facts_of_ten_sessions(tmp_path):
    scenario = next(one for one in scenarios(1) if one.name == "F")
    lines = []
    for session in scenario.sessions:
        lines += [turn.text for turn in session.turns if turn.speaker == "user"] + ["/end"]
    chat(tmp_path, *lines, arguments=("--max-new-tokens", "1"))
    answers = [chat(tmp_path, question.text, arguments=("--memory", "gru"))[0] for question in scenario.questions[:2]]
    rest = chat(tmp_path, *(question.text for question in scenario.questions[2:]))[:-1]
    right = [
        question.is_right(answer["reply"]) for question, answer in zip(scenario.questions, answers + rest, strict=True)
    ]
    assert sum(right) >= 8, [answer["reply"] for answer in answers + rest]

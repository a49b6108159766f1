"""The trained memory inside the bundled model, with real weights and as a real program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chatmem import bundled
from chatmem.neural.generation import reply, tell
from chatmem.neural.language import NeuralLanguageModel

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def language() -> NeuralLanguageModel:
    return NeuralLanguageModel.load(bundled.NAME, "cpu")


def told(language, *lines):
    state = None
    for line in lines:
        state = tell(language.model, language.tokenizer, line, state, force=True).memory_state
    return state


def test_values_of_several_tokens_come_back_exactly(language):
    state = told(language, "My favourite fruit is red Fuji apples.", "My sister's locker code is Whale-47.")
    assert "red Fuji apples" in reply(language.model, language.tokenizer, "What is my favourite fruit?", state)
    assert "Whale-47" in reply(language.model, language.tokenizer, "What is my sister's locker code?", state)


def test_an_unknown_thing_is_refused(language):
    state = told(language, "My favourite fruit is red Fuji apples.")
    said = reply(language.model, language.tokenizer, "What is my blood type?", state)
    assert said.startswith("I don't know, you haven't told me")


def test_a_program_remembers_across_restarts_and_forgets_on_reset(tmp_path):
    def run(text: str) -> list[dict]:
        command = [sys.executable, "chat_memory.py", "--memory", "neural", "--memory-dir", str(tmp_path), "--json"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, timeout=300, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    assert run("My sister's locker code is Whale-47.\n")[0]["remembered"] == ["My sister's locker code is Whale-47."]
    answers = run("What is my sister's locker code?\n/why\n/reset\nWhat is my sister's locker code?\n")
    assert "Whale-47" in answers[0]["reply"] and answers[0]["memories"] == []
    assert "Whale-47" in answers[1]["message"]
    assert "Whale-47" not in answers[3]["reply"]

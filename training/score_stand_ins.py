"""Models without a reader: scenarios A to F with the best prompt, with and without the boost of a line's words.

    python -m training.score_stand_ins --model FOLDER

The bundled model stands in for GPT-2 in base mode, without its chat template and its adapter; `--model` adds a folder
or a hub name. Writes `.benchmark/stand_ins.json`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmark import REPLY_TOKENS, RecordingModel, new_chat, tell
from chat_memory import open_model
from chatmem import bundled
from chatmem.embedding import SentenceEncoder
from chatmem.language_model import Sampling
from chatmem.scenarios import scenarios
from chatmem.settings import Settings
from memory_module import GruMemory

ASKED = "ABCDEF"


class BaseModel(RecordingModel):
    """A model without chat template and reader, with a boost of its own for the words of the recalled line."""

    def __init__(self, model: Any, copy_bonus: float) -> None:
        """Stand before a model."""
        super().__init__(model)
        self.has_chat_template = self.has_reader = False
        self._copy_bonus = copy_bonus

    def stream(self, prompt: str, sampling: Sampling, stops: Sequence[str] = (), **options: Any) -> Iterator[str]:
        """Pass a prompt on with the boost."""
        return super().stream(prompt, replace(sampling, copy_bonus=self._copy_bonus), stops, **options)


def ask(name: str, runs: int, encoder: SentenceEncoder) -> Iterator[dict[str, Any]]:
    """Ask a model every question of every run, with and without the boost, and yield what came of it."""
    settings = Settings(model=name, max_new_tokens=REPLY_TOKENS)
    model = open_model(settings)
    told = [(run, scenario) for run in range(runs) for scenario in scenarios(run) if scenario.name in ASKED]
    for run, scenario in tqdm(told, desc=Path(name).name, unit="scenario"):
        with tempfile.TemporaryDirectory() as folder:
            memory = GruMemory(tell(scenario, Path(folder)), encoder, Path(folder))
            for bonus in (0.0, Sampling().copy_bonus):
                for question in scenario.questions:
                    chat = new_chat(memory, BaseModel(model, bonus), replace(settings, seed=run))
                    reply = "".join(chat.say(question.text)).strip()
                    chat.discard()
                    right = question.is_right(reply)
                    yield {"scenario": scenario.name, "run": run, "bonus": bonus, "reply": reply, "right": right}


def main() -> None:
    """Ask all models, and write and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", action="append", default=[], help="one more model: a folder or a hub name")
    parser.add_argument("--runs", type=int, default=5, help="default: 5")
    parser.add_argument("--output", type=Path, default=Path(".benchmark/stand_ins.json"))
    args = parser.parse_args()
    encoder = SentenceEncoder.load()
    found = {
        (f"{name}, base mode" if name == bundled.NAME else Path(name).name): list(ask(name, args.runs, encoder))
        for name in (bundled.NAME, *args.model)
    }
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(json.dumps(found, ensure_ascii=False, indent=1), "utf-8")
    for name, answers in found.items():
        for bonus in sorted({answer["bonus"] for answer in answers}):
            right = [answer["right"] for answer in answers if answer["bonus"] == bonus]
            print(f"{name}, boost {bonus:g}: {sum(right)} of {len(right)}")


if __name__ == "__main__":
    main()

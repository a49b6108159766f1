"""Measure the memory inside the bundled model: `.benchmark/neural.json`, which `benchmark.py` puts into report.md.

    python -m training.score_neural                       everything, seed's design and ours
    python -m training.score_neural --only ours --count 20

People, objects and values were never in training. Base model and memory are measured in one process.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmark import REPLY_TOKENS, ask_all
from benchmark import tell as told_to
from chatmem import bundled
from chatmem.neural.config import NeuralConfig
from chatmem.neural.generation import reply
from chatmem.neural.language import ADAPTER, NeuralLanguageModel
from chatmem.neural.memory import NeuralMemory
from chatmem.neural.model import NeuralMemoryModel
from chatmem.scenarios import scenarios
from chatmem.settings import Settings
from training import neural_measures as measures
from training.neural_everyday import SCORED_DIALOGUES, as_messages, dialogues
from training.neural_measures import Subject, share
from training.neural_sets import mapping_cases, native_cases, newest_cases, told_lines, value_cases
from training.reader_words import ordinary_prompts

RESET_TOKEN = "<file_sep>"  # one that no text of a user is made of
FILL = (1, 4, 8, 16, 32)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(".benchmark/neural.json"))
    parser.add_argument("--adapter", type=Path, default=ADAPTER)
    parser.add_argument("--seed-adapter", type=Path, default=Path(".benchmark/neural/seed"))
    parser.add_argument("--dialogues", type=Path, default=Path("../shared/data/persona_chat_dialogues.jsonl.gz"))
    parser.add_argument("--count", type=int, default=100, help="cases of the sets without a size of their own")
    parser.add_argument("--runs", type=int, default=2, help="of the report's scenarios")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="parts, with commas between: see PARTS")
    return parser.parse_args()


def in_template(tokenizer: Any, talk: Sequence[Sequence[str]]) -> list[str]:
    """Return dialogues in the model's template."""
    return [tokenizer.apply_chat_template(as_messages(turns), tokenize=False) for turns in talk]


def fifty_prompts() -> list[str]:
    """Return the fixed set of ordinary prompts, those that were kept from training first."""
    return list(dict.fromkeys([*ordinary_prompts(fresh=True), *ordinary_prompts()]))[:50]


class Scores:
    """The parts of the measurement, each a method that returns plain numbers."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Load the models."""
        source = str(bundled.prepare())
        self.options, self.tokenizer = options, AutoTokenizer.from_pretrained(source)
        self.base = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).eval()
        self.ours = Subject(NeuralMemoryModel.from_adapter(self.base, options.adapter), self.tokenizer)

    def mapping(self) -> dict[str, Any]:
        """The seed's smoke test, 64 held out: base, ours, the seed's design, and the raw pointer ablation."""
        cases = mapping_cases(64, fresh=True)
        found = {"base": measures.replies(Subject(self.ours.model, self.tokenizer, memory=False), cases),
                 "ours": measures.replies(self.ours, cases, force=True)}  # fmt: skip
        raw = NeuralConfig.for_bundled(num_tokens=0, raw_token_write=True, broadcast_write=True, token_offset=2)
        pointer = Subject(NeuralMemoryModel(self.base, raw).eval(), self.tokenizer)
        found["raw pointer (ablation)"] = measures.replies(pointer, cases, force=True)
        return found

    def native(self) -> dict[str, Any]:
        """The native set, 128 held out."""
        cases = native_cases(128, fresh=True)
        base = Subject(self.ours.model, self.tokenizer, memory=False)
        found = {"decisions": measures.decisions(self.ours, cases), "ours": measures.replies(self.ours, cases)}
        return found | {"base": measures.replies(base, cases[:32])}

    def values(self) -> dict[str, Any]:
        """Values of two to eight tokens, and the newest of two."""
        count = self.options.count
        found = {f"{n} facts": measures.replies(self.ours, value_cases(count, n, self._count_tokens)) for n in (1, 8)}
        return found | {"newest of two": measures.replies(self.ours, newest_cases(count))}

    def fill(self) -> dict[str, Any]:
        """Recall while memory fills, with 16 slots and with 64."""
        found: dict[str, Any] = {}
        for slots in (16, 64):
            model = NeuralMemoryModel.from_adapter(self.base, self.options.adapter, num_slots=slots)
            subject = Subject(model, self.tokenizer)
            for facts in FILL:
                cases = value_cases(self.options.count // 2, facts, self._count_tokens, seed=8)
                found[f"{slots} slots, {facts} facts"] = measures.replies(subject, cases, force=True)
        return found

    def seed(self) -> dict[str, Any]:
        """The seed's design, trained on the same texts, on the same sets."""
        if not self.options.seed_adapter.exists():
            return {}
        subject = Subject(NeuralMemoryModel.from_adapter(self.base, self.options.seed_adapter), self.tokenizer)
        found = {"mapping": measures.replies(subject, mapping_cases(64, fresh=True), force=True)}
        for facts in (1, 8):
            cases = value_cases(self.options.count // 2, facts, self._count_tokens)
            found[f"values, {facts} facts"] = measures.replies(subject, cases, force=True)
        return found

    def writes(self) -> dict[str, Any]:
        """A thousand writes."""
        return measures.many_writes(self.ours, told_lines(9, 1000))

    def general(self) -> dict[str, Any]:
        """What a memory of other things does to ordinary talk."""
        state = measures.remembered(self.ours, native_cases(5, fresh=True)[0], force=True)
        for case in native_cases(8, fresh=True, seed=77):
            for line in case.lines[:1]:
                out = measures.tell(self.ours.model, self.tokenizer, line.text, state, force=True)
                state = out.memory_state or state
        found: dict[str, Any] = {"facts": int(state.used.sum())}
        talk = {"prompts": [[prompt, "I see."] for prompt in ordinary_prompts(fresh=True)]}
        if self.options.dialogues.exists():
            talk["dialogues"] = dialogues(self.options.dialogues, SCORED_DIALOGUES, scored=True)
        for name, turns in talk.items():
            texts = in_template(self.tokenizer, turns)
            (base, count), (memory, _) = (measures.perplexity(self.ours, texts, one) for one in (None, state))
            ratio = float(torch.tensor(memory - base).exp())
            found[name] = {"tokens": count, "base_loss": base, "memory_loss": memory, "perplexity_ratio": ratio}
        rows = measures.same_replies(self.ours, fifty_prompts(), state)
        same = share([row["same"] for row in rows])
        return found | {"same_replies": same, "changed": [row for row in rows if not row["same"]]}

    def cost(self) -> dict[str, Any]:
        """Tokens per second and bytes."""
        cases = value_cases(8, 8, self._count_tokens)
        state = measures.remembered(self.ours, cases[0], force=True)
        before = measures.peak_bytes()
        found = measures.speed(self.ours, [case.fact.question for case in cases], state)
        modules = self.ours.model.memory
        return found | {"peak_bytes": before, "state_bytes": state.num_bytes, "parameters": modules.num_parameters}

    def scenarios(self) -> dict[str, Any]:
        """The report's scenarios through the chat, arm `neural`."""
        language = NeuralLanguageModel.load(bundled.NAME, "cpu")
        settings = Settings(memory="neural", max_new_tokens=REPLY_TOKENS)
        right: dict[str, list[bool]] = {}
        wrong: list[dict[str, Any]] = []
        for run in range(self.options.runs):
            for scenario in scenarios(run):
                with tempfile.TemporaryDirectory() as name:
                    memory = NeuralMemory(told_to(scenario, Path(name)), language, Path(name))
                    memory.drop_index()
                    for answer in ask_all(scenario, run, {"neural": memory}, language, settings):
                        right.setdefault(f"{scenario.name}: {scenario.title}", []).append(answer["right"])
                        if not answer["right"]:
                            wrong.append({key: answer[key] for key in ("scenario", "text", "expected", "reply")})
        return {name: share(found) for name, found in right.items()} | {"wrong": wrong[:20]}

    def restart(self) -> dict[str, Any]:
        """Write, save, destroy the model, load, answer from the state alone; twice; then the reset token."""
        case = value_cases(1, 4, self._count_tokens, seed=21)[0]
        state = measures.remembered(self.ours, case, force=True)
        said = [reply(self.ours.model, self.tokenizer, case.fact.question, state)]
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "user.safetensors"
            self.ours.model.save_runtime_memory(path, state)
            for _ in range(2):
                del self.ours, self.base
                self.__init__(self.options)  # type: ignore[misc]
                state = self.ours.model.load_runtime_memory(path)
                said.append(reply(self.ours.model, self.tokenizer, case.fact.question, state))
                self.ours.model.save_runtime_memory(path, state)
        token = self.tokenizer.convert_tokens_to_ids(RESET_TOKEN)
        model = NeuralMemoryModel.from_adapter(self.base, self.options.adapter, reset_token=token)
        left = model(torch.tensor([[token]]), memory_state=state, return_memory=True).memory_state
        largest = max(float(value.abs().max()) for value in left.tensors().values() if value.numel())
        found = {"question": case.fact.question, "replies": said, "equal": len(set(said)) == 1}
        return found | {"right": measures.recalled(said[0], case), "left_after_reset": largest}

    def _count_tokens(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False).input_ids)


PARTS = ("mapping", "values", "native", "general", "cost", "seed", "fill", "writes", "scenarios", "restart")


def main() -> None:
    """Measure, and write after each part: an interrupted run keeps what it has."""
    options = arguments()
    torch.set_num_threads(options.threads)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    scores = Scores(options)
    for part in [name for name in PARTS if not options.only or name in options.only.split(",")]:
        started = time.monotonic()
        measure: Callable[[], dict[str, Any]] = getattr(scores, part)
        found[part] = measure() | {"seconds": round(time.monotonic() - started)}
        options.out.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        print(
            part, json.dumps({key: _short(value) for key, value in found[part].items()}, ensure_ascii=False), flush=True
        )


def _short(value: Any) -> Any:
    """Return what is worth a line on the terminal."""
    if isinstance(value, dict) and "share" in value:
        return f"{value['share']:.3f} of {value['n']}"
    return {key: _short(one) for key, one in value.items() if key != "wrong"} if isinstance(value, dict) else value


if __name__ == "__main__":
    main()

"""The benchmark: scenarios A to H on all arms, five runs, and what the main ones cost; writes report.md.

    python benchmark.py            everything, resumed where it was interrupted
    python benchmark.py --quick    one run

Every question is asked through the chat itself. Accuracy and timing are separate phases (`--only`), so that timings
can be taken on a quiet machine. Results are plain values in files under `--work`; `report.md` is a rendering of them.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from chat_memory import open_model
from chatmem import bundled, harm, load, measuring, proofs, terminal
from chatmem.background import ready
from chatmem.chat import Chat
from chatmem.embedding import Encoder, SentenceEncoder
from chatmem.indexed import IndexedMemory, NullMemory
from chatmem.interface import ChatMemError
from chatmem.journal import Journal
from chatmem.language_model import LanguageModel, Sampling, TransformersModel
from chatmem.opening import Opened
from chatmem.report import ARMS, read_results, render_report
from chatmem.report_trained import TRAINED
from chatmem.scenarios import Scenario, scenarios
from chatmem.settings import Settings
from chatmem.storage import write_atomic
from chatmem.words_memory import WordsMemory
from memory_module import GruMemory, MeanMemory, RecurrentMemory
from rag_baseline import RagMemory

REPLY_TOKENS = 40


class RecordingModel:
    """A language model that notes the prompts it is given, and can be made to reply with an exact number of tokens."""

    def __init__(self, model: LanguageModel, exact_tokens: int | None = None) -> None:
        """Stand before a model."""
        self.name = model.name
        self.window_tokens = model.window_tokens
        self.has_chat_template = model.has_chat_template
        self.has_reader = model.has_reader
        self.has_memory = bool(getattr(model, "has_memory", False))
        self.render = model.render
        self.count_tokens = model.count_tokens
        self.prompt = ""
        self._model = model
        self._exact_tokens = exact_tokens
        self._replies: dict[tuple[object, ...], list[str]] = {}

    def stream(self, prompt: str, sampling: Sampling, stops: Sequence[str] = (), **options: Any) -> Iterator[str]:
        """Note the prompt and pass it on.

        Arms that recall the same lines have the same prompt, and with the same seed the same reply: it is made once,
        unless replies are timed, or a memory inside the model changes what a prompt means.
        """
        self.prompt = prompt
        if self._exact_tokens is not None:
            stops, count = (), self._exact_tokens
            sampling = replace(sampling, min_new_tokens=count, max_new_tokens=count)
            return self._model.stream(prompt, sampling, stops, **options)
        if self.has_memory:
            return self._model.stream(prompt, sampling, stops, **options)
        key = (prompt, sampling, tuple(stops), tuple(sorted(options.items())))
        if key not in self._replies:
            self._replies[key] = list(self._model.stream(prompt, sampling, stops, **options))
        return iter(self._replies[key])


def open_arms(journal: Journal, encoder: Encoder, folder: Path) -> dict[str, IndexedMemory]:
    """Return the memories of the arms that are timed, over one journal."""
    return {
        "none": NullMemory(journal, folder),
        "rag": RagMemory(journal, encoder, folder),
        "gru": GruMemory(journal, encoder, folder),
    }


def open_all_arms(journal: Journal, encoder: Encoder, folder: Path) -> dict[str, IndexedMemory]:
    """Return the memories of all arms; `mean` has a copy of the journal, which keeps vectors of one kind."""
    copy = Journal("sqlite://")
    copy.restore_all(journal.export())
    return {
        **open_arms(journal, encoder, folder),
        "bm25": WordsMemory(journal, folder),
        "mean": MeanMemory(copy, encoder),
    }


def tell(scenario: Scenario, folder: Path) -> Journal:
    """Return a journal in which the sessions of a scenario were told."""
    journal = Journal.at(folder / "journal.db")
    for session in scenario.sessions:
        journal.record(session)
    return journal


def ask_all(
    scenario: Scenario, run: int, memories: dict[str, IndexedMemory], model: LanguageModel, settings: Settings
) -> Iterator[dict[str, Any]]:
    """Ask every question on every arm, each in a session of its own that is dropped, and yield what came of it."""
    recorder = RecordingModel(model)
    for number, question in enumerate(scenario.questions):
        for arm, memory in memories.items():
            chat = new_chat(memory, recorder, replace(settings, seed=run))
            reply = "".join(chat.say(question.text)).strip()
            lines = [line.text for line in chat.used or []]
            chat.discard()
            yield {
                "scenario": scenario.name,
                "run": run,
                "question": number,
                "arm": arm,
                "text": question.text,
                "expected": question.expected,
                "forbidden": question.forbidden,
                "reply": reply,
                "right": question.is_right(reply),
                "lines": lines,
                "evidence": question.evidence,
                "recalled": question.evidence in lines if question.evidence else None,
                "prompt": recorder.prompt,
                "prompt_tokens": model.count_tokens(recorder.prompt),
            }


def new_chat(memory: IndexedMemory, model: LanguageModel, settings: Settings) -> Chat:
    """Return a conversation over a memory that is loaded already."""
    opened = Opened(memory.journal, memory.folder)
    return Chat(settings, opened, ready(memory), ready(model), terminal.notice)


def measure_accuracy(settings: Settings, runs: int, work: Path, *, fresh: bool) -> list[dict[str, Any]]:
    """Ask all questions of all runs; what was answered in an earlier, interrupted call is kept.

    Returns:
        one record for each question, arm and run.
    """
    path = work / f"answers-{bundled.safe_name(settings.model)}.jsonl"
    if fresh:
        path.unlink(missing_ok=True)
    answers = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    waiting = [(run, scenario) for run in range(runs) for scenario in scenarios(run)]
    done = {(answer["run"], answer["scenario"]) for answer in answers}
    waiting = [(run, scenario) for run, scenario in waiting if (run, scenario.name) not in done]
    if not waiting:
        return answers
    model, encoder = open_model(settings), SentenceEncoder.load()
    total = sum(len(scenario.questions) for _, scenario in waiting) * len(ARMS)
    with tqdm(total=total, desc="Accuracy", unit="reply") as bar:
        for run, scenario in waiting:
            bar.set_postfix_str(f"run {run}, scenario {scenario.name}")
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                memories = open_all_arms(tell(scenario, folder), encoder, folder)
                found = []
                for answer in ask_all(scenario, run, memories, model, settings):
                    found.append(answer)
                    bar.update()
            with path.open("a", encoding="utf-8") as file:  # a scenario at a time: what is in the file is whole
                file.writelines(json.dumps(answer, ensure_ascii=False) + "\n" for answer in found)
            answers += found
    return answers


def measure_forms(model: LanguageModel, encoder: Encoder, settings: Settings) -> dict[str, dict[str, list[bool]]]:
    """Return which of the ten facts of run 0 are answered right with each form of the prompt, with the same lines."""
    scenario = scenarios(0)[5]
    base = RecordingModel(model)
    base.has_chat_template = base.has_reader = False
    forms = {
        "default": (model, settings),
        "the specification's, literally": (model, replace(settings, prompt="specification")),
        "default without the chat template, as for GPT-2": (base, settings),
        "the specification's without the chat template": (base, replace(settings, prompt="specification")),
    }
    right: dict[str, dict[str, list[bool]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memory = GruMemory(tell(scenario, folder), encoder, folder)
        for form, (engine, chosen) in forms.items():
            right[form] = {}
            for temperature in (0.0, settings.temperature):
                found = right[form][f"{temperature:g}"] = []
                for question in scenario.questions:
                    chat = new_chat(memory, engine, replace(chosen, temperature=temperature))
                    found.append(question.is_right("".join(chat.say(question.text))))
                    chat.discard()
    return right


def measure_costs(settings: Settings) -> dict[str, Any]:
    """Return latencies, sizes and start-up times, taken in one go."""
    model, encoder = open_model(settings), SentenceEncoder.load()
    scenario = scenarios(0)[5]  # ten facts over ten sessions
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        memories = open_arms(tell(scenario, folder), encoder, folder)
        exact = RecordingModel(model, exact_tokens=32)
        chats = {arm: partial(new_chat, memory, exact, settings) for arm, memory in memories.items()}
        questions = [question.text for question in scenario.questions]
        costs = {"replies": measuring.time_replies(chats, questions), "reply_tokens": 32}
    with tempfile.TemporaryDirectory() as name:
        costs["steps"] = measuring.time_steps(open_arms, encoder, Path(name))
    costs["long recall"] = measuring.time_long_recall(GruMemory, encoder)
    with tempfile.TemporaryDirectory() as name:
        costs["sizes"] = measuring.sizes(open_arms, encoder, Path(name))
    costs["parameters"] = {
        "language model": int(getattr(model, "num_parameters", 0)),
        "sentence encoder": encoder.num_parameters,
        "GRU": measuring.num_parameters(memories["gru"]),
    }
    costs["start"] = measuring.time_start(settings.model)
    costs["gpt2"] = measuring.time_gpt2(model.tokenizer) if isinstance(model, TransformersModel) else {}
    costs["machine"] = measuring.machine()
    costs["forms"] = measure_forms(model, encoder, settings)
    return costs


def measure_reliability(path: Path, *, quick: bool) -> None:
    """Harm memories on purpose and load them, and write what came of it; a tenth of it where it must be quick.

    What is measured lies in a file beside `path` until all is: a run that is stopped goes on there.
    """
    share = 10 if quick else 1
    part = path.with_name(f"{path.stem}-1-of-{share}.part.json")
    found: dict[str, Any] = json.loads(part.read_text("utf-8")) if part.exists() else {}
    small, threads = partial(GruMemory, hidden_dim=32), torch.get_num_threads()
    measures: dict[str, Callable[[], Any]] = {
        "machine": measuring.machine,
        "kills": partial(harm.kills, small, 300 // share),
        "writers": partial(harm.writers, small),
        "full disks": partial(harm.full_disks, small, 30 // share),
        "read-only": partial(harm.read_only, small),
        "damages": partial(harm.damages, small, 500 // share),
        "proofs": partial(prove, small, 10 // share),
        **{f"load {count}": partial(measure_load, count) for count in (0, 10, 10_000 // share)},
        "coarse": load.coarse_seconds,
        "long run": measure_long_run,
    }
    for name, measure in measures.items():
        if name not in found:
            terminal.notice(f"Reliability: {name}")
            torch.set_num_threads(threads if name.startswith("load") else 1)  # the children of the others are forked
            found[name] = measure()
            write_atomic(part, json.dumps(found).encode())
    found["load"] = [found.pop(name) for name in list(found) if name.startswith("load ")]
    write_atomic(path, json.dumps(found).encode())
    part.unlink()


def measure_load(count: int) -> dict[str, Any]:
    """Return what a memory of so many sessions costs."""
    return load.measure(GruMemory, SentenceEncoder.load(), count)


def measure_long_run() -> dict[str, Any]:
    """Return what becomes of the trained network's pool after many updates."""
    encoder = SentenceEncoder.load()
    return load.long_run(partial(RecurrentMemory.pretrained, encoder.fingerprint, encoder.input_dim))


def prove(small: harm.OpenMemory, count: int) -> dict[str, Any]:
    """Try what is promised of deletion, users, encryption, planted text and copies; so many times where it is slow."""
    attempts = (Path(__file__).parent / "tests" / "injections.txt").read_text("utf-8").splitlines()
    tries: dict[str, Callable[[], Mapping[str, int]]] = {
        "forgotten": partial(proofs.forgotten, (small, RagMemory), count),
        "returned": partial(proofs.returned, small, count),
        "names": partial(proofs.names, 100 * count),
        "strangers": partial(proofs.strangers, small),
        "encrypted": partial(proofs.encrypted, small, count),
        "planted": partial(proofs.planted, [text.replace("\\n", "\n") for text in attempts]),
        "secrets": proofs.secrets,
        "copied": partial(proofs.copied, 10 * count),
    }
    found = {}
    for name, tried in tries.items():
        terminal.notice(f"Reliability: {name}")
        found[name] = tried()
    return found


def reliability_results(work: Path, report: Path) -> dict[str, Any]:
    """Return what `--only reliability` measured; where it was not run here, what the report had."""
    if (path := work / "reliability.json").exists():
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return found
    before = read_results(report.read_text("utf-8")) if report.exists() else {}
    return dict(before.get("reliability", {}))


def parse_args(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description="Measure all arms, and write report.md.")
    parser.add_argument("--quick", action="store_true", help="one run instead of five")
    parser.add_argument("--runs", type=int, default=5, help="number of runs (default: 5)")
    phases = ["accuracy", "timing", "reliability", "report"]
    parser.add_argument("--only", choices=phases, help="one phase")
    parser.add_argument("--fresh", action="store_true", help="measure again what was measured before")
    parser.add_argument("--model", default=bundled.NAME, help=f"model folder or hub name (default: {bundled.NAME})")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    parser.add_argument("--output", type=Path, default=Path("report.md"), help="default: report.md")
    parser.add_argument("--work", type=Path, default=Path(".benchmark"), help="where results lie (default: .benchmark)")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is missing, and write the report."""
    args = parse_args(argv)
    logging.getLogger("chatmem").handlers = [terminal.NoticeHandler()]
    runs = 1 if args.quick else args.runs
    settings = Settings(model=args.model, device=args.device, max_new_tokens=REPLY_TOKENS)
    try:
        args.work.mkdir(exist_ok=True)
        if args.only == "reliability":
            measure_reliability(args.work / "reliability.json", quick=args.quick)
            return 0
        answers: list[dict[str, Any]] = []
        if args.only != "timing":
            answers = measure_accuracy(settings, runs, args.work, fresh=args.fresh and args.only != "report")
        costs_path = args.work / f"costs-{bundled.safe_name(settings.model)}.json"
        if args.only == "timing" or (args.only is None and (args.fresh or not costs_path.exists())):
            write_atomic(costs_path, json.dumps(measure_costs(settings)).encode())
        if args.only in ("accuracy", "timing"):
            return 0
        results = collect(answers, json.loads(costs_path.read_text("utf-8")), settings, runs)
        results["trained"] = trained_results(args.work, args.output)
        results["reliability"] = reliability_results(args.work, args.output)
        draw(results, args.output.parent / "docs")
        write_atomic(args.output, render_report(results).encode())
        args.output.chmod(0o644)
    except (ChatMemError, OSError) as error:
        terminal.notice(f"benchmark.py: {error}")
        return 1
    except KeyboardInterrupt:
        terminal.notice("Stopped. The next call goes on from here.")
        return 130
    return 0


def collect(answers: list[dict[str, Any]], costs: dict[str, Any], settings: Settings, runs: int) -> dict[str, Any]:
    """Return all results as one plain dictionary, prompts once for each question (those of run 0)."""
    titles = {scenario.name: scenario.title for scenario in scenarios(0)}
    kept = [answer for answer in answers if answer["run"] < runs]
    for answer in kept:
        if answer["run"] > 0:
            answer.pop("prompt", None)
    chosen = {key: value for key, value in asdict(settings).items() if key in ("model", "k", "slots", "temperature")}
    return {"settings": {**chosen, "reply_tokens": REPLY_TOKENS, "runs": runs}, "scenarios": titles, "costs": costs} | {
        "pool": measuring.fill_pool(scenarios(0)[6], GruMemory, SentenceEncoder.load()),
        "answers": kept,
    }


def trained_results(work: Path, report: Path) -> dict[str, Any]:
    """Return what the scripts in `training/` measured; what they did not measure here is taken over from the report."""
    found: dict[str, Any] = read_results(report.read_text("utf-8")).get("trained", {}) if report.exists() else {}
    for name in TRAINED:
        if (path := work / f"{name}.json").exists():
            found[name] = json.loads(path.read_text("utf-8"))
    return found


def draw(results: dict[str, Any], folder: Path) -> None:
    """Draw the report's pictures."""
    from chatmem.pictures import draw_accuracy, draw_slots

    folder.mkdir(exist_ok=True)
    draw_accuracy(results, folder / "accuracy.png")
    draw_slots(results["pool"], folder / "slots.png")


if __name__ == "__main__":
    sys.exit(main())

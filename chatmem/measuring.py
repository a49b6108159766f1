"""What the benchmark measures besides answers: seconds, bytes and parameters.

Timings are taken in interleaved rounds on one machine, so that ratios within a run mean something on a noisy one.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
import torch

from chatmem.chat import Chat
from chatmem.embedding import Array, Encoder, Tokens
from chatmem.evaluation import median_and_p95
from chatmem.indexed import IndexedMemory
from chatmem.interface import Session, Turn
from chatmem.journal import Journal
from chatmem.language_model import Sampling, TransformersModel
from chatmem.pairs import TokenEncoder
from chatmem.scenarios import FACTS, FIRST_DAY, SMALL_TALK, Scenario

OpenArms = Callable[[Journal, Encoder, Path], dict[str, IndexedMemory]]


class _KnownSentences:
    """An encoder that reads every sentence once, so that recall is timed without embedding the query."""

    def __init__(self, encoder: Encoder) -> None:
        self.fingerprint = encoder.fingerprint
        self.input_dim = encoder.input_dim
        self._encoder = encoder
        self._known: dict[str, Array] = {}

    def encode(self, texts: Sequence[str]) -> Array:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.stack([self._known[text] for text in texts])

    def encode_tokens(self, texts: Sequence[str]) -> list[Tokens]:
        return cast("TokenEncoder", self._encoder).encode_tokens(texts)


def time_replies(chats: Mapping[str, Callable[[], Chat]], questions: Sequence[str]) -> dict[str, list[float]]:
    """Return the seconds of whole replies for each arm; one round asks one question on every arm, in turning order."""
    seconds: dict[str, list[float]] = {arm: [] for arm in chats}
    arms = list(chats)
    for number, question in enumerate([questions[0], *questions]):
        turn = number % len(arms)
        for arm in arms[turn:] + arms[:turn]:
            chat = chats[arm]()
            started = time.perf_counter()
            for _ in chat.say(question):
                pass
            if number > 0:  # the first round warms up
                seconds[arm].append(time.perf_counter() - started)
            chat.discard()
    return seconds


def long_session(number: int, lines: int = 20) -> Session:
    """Return a session of `lines` turns on its own day, with words of its own."""
    when, turns = FIRST_DAY + timedelta(days=number), []
    for position in range(lines // 2):
        said, answer = SMALL_TALK[(number * 7 + position) % len(SMALL_TALK)]
        fact = f"On visit {number} I saw house number {100 * number + position}."
        turns += [Turn("user", fact if position % 3 == 0 else said, when), Turn("assistant", answer, when)]
    return Session(tuple(turns))


def time_steps(open_arms: OpenArms, encoder: Encoder, folder: Path) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of recall over ten sessions without embedding, of embedding a line, of finishing a session."""
    known = _KnownSentences(encoder)
    journal = Journal.at(folder / "journal.db")
    for number in range(10):
        journal.record(long_session(number))
    memories = open_arms(journal, known, folder)
    recall = _time_recall(memories)
    finish: dict[str, list[float]] = {arm: [] for arm in memories}
    embed = [_seconds(partial(encoder.encode, [text])) for text, _, _ in FACTS * 3]
    for number in range(10, 19):
        arm = list(memories)[number % len(memories)]
        finish[arm].append(_seconds(partial(memories[arm].remember, long_session(number))))
        for memory in memories.values():
            memory.sync()
    return {"recall": recall, "embed": {"one line": embed}, "finish": finish}


def _time_recall(memories: Mapping[str, IndexedMemory]) -> dict[str, list[float]]:
    """Return the seconds of recall for each arm, in interleaved rounds; the query's words were read before."""
    seconds: dict[str, list[float]] = {arm: [] for arm in memories}
    for _, question, _ in FACTS * 2:
        for arm, memory in memories.items():
            memory.recall(question)
            seconds[arm].append(_seconds(partial(memory.recall, question)))
    return seconds


def time_long_recall(open_memory: Callable[[Journal, Encoder], IndexedMemory], encoder: Encoder) -> list[float]:
    """Return the seconds of recall over 1,000 sessions of six lines, the ten facts among them."""
    journal = Journal("sqlite://")
    for number in range(1000):
        journal.record(long_session(number, lines=6))
    for number, (fact, _, _) in enumerate(FACTS, start=1000):
        journal.record(Session((Turn("user", fact, FIRST_DAY + timedelta(days=number)),)))
    return _time_recall({"long": open_memory(journal, _KnownSentences(encoder))})["long"]


def _seconds(action: Callable[[], object]) -> float:
    """Return how long something takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def sizes(open_arms: OpenArms, encoder: Encoder, folder: Path) -> list[dict[str, Any]]:
    """Return the bytes on disk and in RAM of the indexes, and of the journal, for 10 and 100 sessions of 20 lines."""
    rows = []
    for count in (10, 100):
        place = folder / f"{count}"  # afresh, or the text would lie in pages that vectors have left
        place.mkdir()
        journal = Journal.at(place / "journal.db")
        for number in range(count):
            journal.record(long_session(number))
        text = (place / "journal.db").stat().st_size
        open_arms(journal, encoder, place)
        vectors = (place / "journal.db").stat().st_size - text
        rows.append(
            {
                "sessions": count,
                "journal": text,
                "gru": (place / "memory.pkl").stat().st_size + vectors,
                "rag": sum(path.stat().st_size for path in (place / "chroma").rglob("*") if path.is_file()),
                "gru in RAM": resident_growth("gru", place),
                "rag in RAM": resident_growth("rag", place),
            }
        )
    return rows


def resident_growth(arm: str, folder: Path) -> int:
    """Return by how many bytes a process grows when it opens a memory that lies in a folder and asks it once.

    The memory's own library counts (NumPy and torch are there before, as the sentence encoder needs them).
    """
    module, name = {"gru": ("memory_module", "GruMemory"), "rag": ("rag_baseline", "RagMemory")}[arm]
    program = f"""
import psutil
from pathlib import Path
from chatmem.embedding import SentenceEncoder
from chatmem.journal import Journal
folder = Path({str(folder)!r})
journal, encoder = Journal.at(folder / "journal.db"), SentenceEncoder.load()
encoder.encode(["Where do I live?"])
before = psutil.Process().memory_info().rss
from {module} import {name} as Memory
Memory(journal, encoder, folder).recall("Where do I live?")
print(psutil.Process().memory_info().rss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def time_gpt2(tokenizer: Any) -> dict[str, float]:
    """Return tokens in a second of a full-size GPT-2 with random weights, with a prompt of 100 tokens and of 154.

    Its weights cannot change how long a token takes; 54 tokens are what memory adds to a prompt.
    """
    from transformers import GPT2Config, GPT2LMHeadModel

    model = TransformersModel(GPT2LMHeadModel(GPT2Config()), tokenizer, "gpt2")
    sampling = Sampling(max_new_tokens=32, min_new_tokens=32, temperature=0.0)
    speeds: dict[str, list[float]] = {"100": [], "154": []}
    for _ in range(4):
        for size, found in speeds.items():
            pieces = model.stream("a" + " a" * (int(size) - 1), sampling)
            found.append(32 / _seconds(partial(list, pieces)))
    return {size: median(found[1:]) for size, found in speeds.items()}


def num_parameters(memory: object) -> int:
    """Return the parameters of a memory's network."""
    network = getattr(memory, "network", None)
    return sum(weight.numel() for weight in network.parameters()) if isinstance(network, torch.nn.Module) else 0


def time_start(model: str) -> dict[str, float]:
    """Return the seconds to the help, to the first prompt at a terminal, and to the first word of the first reply."""
    import tempfile

    import pexpect

    program = str(Path(__file__).parent.parent / "chat_memory.py")
    seconds = {"help": _seconds(lambda: subprocess.run([sys.executable, program, "--help"], capture_output=True))}
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        arguments = [program, "--memory-dir", folder, "--model", model]
        env = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1"}  # nothing here draws what it is told
        child = pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=60, env=env)
        child.expect(r">.*\x1b\[\?25h")  # the prompt is drawn and the cursor shown
        seconds["first prompt"] = time.perf_counter() - started
        child.sendline("What is the capital of France?")
        child.expect("Paris")
        seconds["first reply"] = time.perf_counter() - started
        child.sendline("/quit")
        child.expect(pexpect.EOF)
    return seconds


def fill_pool(scenario: Scenario, memory_class: Any, encoder: Encoder) -> dict[str, Any]:
    """Return the pool while a scenario's sessions fill it, and the cosines of its slots with the questions.

    Returns:
        `held`: for each session told, the 1-based sessions in the slots (0 is empty); `cosines`: a row for each
        question; `sessions`: the session of each question's evidence.
    """
    memory = memory_class(Journal("sqlite://"), encoder)
    held: list[list[int]] = []
    places: dict[str, int] = {}
    slots = memory.network.num_slots
    for number, session in enumerate(scenario.sessions, start=1):
        memory.remember(session)
        places |= {turn.text: number for turn in session.turns}
        newest = list(range(max(1, number - slots + 1), number + 1))
        held.append([0] * (slots - len(newest)) + newest)
    cosines = []
    for question in scenario.questions:
        vector = torch.from_numpy(np.array(encoder.encode([question.text])))
        with torch.no_grad():
            scores = memory.network.scores(memory.network.encode(vector[None]).last)
        cosines.append([round(float(score), 4) for score in scores])
    return {
        "held": held,
        "cosines": cosines,
        "questions": [question.text for question in scenario.questions],
        "sessions": [places.get(question.evidence, 0) for question in scenario.questions],
    }


def machine() -> dict[str, str]:
    """Return what the timings were taken on."""
    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    return {
        "processor": name,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def summary(values: Sequence[float]) -> str:
    """Return median and 95th percentile in milliseconds."""
    median, high = median_and_p95(values)
    return f"{1000 * median:.1f} / {1000 * high:.1f}"

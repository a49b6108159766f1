"""Load and long life: what a memory costs when it is large, and what becomes of the pool after many updates.

The subjects are memories of `chatmem/big_memory.py`. Start and RAM are those of a fresh process.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
import torch

from chatmem import storage
from chatmem.big_memory import Planted, build
from chatmem.embedding import Encoder
from chatmem.evaluation import median_and_p95
from chatmem.interface import Session, Turn
from chatmem.opening import POOL_FORMAT, POOL_VERSION, open_user
from chatmem.scenarios import FIRST_DAY

USER = "ana"
NUM_QUESTIONS = 200
_NUM_SCANNED = 40  # questions that are asked of a full scan, too
_NUM_FINISHED = 7  # sessions whose end is timed
_NEAREST = 8  # lines that the pair decision looks at

_START = """
import json, sys, time
from pathlib import Path
import psutil
from chatmem.embedding import SentenceEncoder
from chatmem.opening import open_user
from chatmem.pairs import load_pairs
from memory_module import GruMemory
encoder = SentenceEncoder.load()
encoder.encode(["Where do I live?"])
load_pairs(encoder)
before, started = psutil.Process().memory_info().rss, time.perf_counter()
opened = open_user(Path(sys.argv[1]), sys.argv[2])
memory = GruMemory(opened.journal, encoder, opened.folder)
seconds = time.perf_counter() - started
for question in ("Where do I live?", "What is my dog called?", "What did I do in May?", "What do you know of me?"):
    memory.recall(question)
print(json.dumps({"seconds": seconds, "bytes": psutil.Process().memory_info().rss - before}))
"""


def measure(open_memory: Callable[..., Any], encoder: Encoder, count: int) -> dict[str, Any]:
    """Return what a memory of so many sessions costs.

    Args:
        open_memory: opens a `GruMemory` over a journal, an encoder and a folder.
        encoder: makes the sentence embeddings.
        count: number of sessions.
    """
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        opened = open_user(root, USER)
        memory = open_memory(opened.journal, encoder, opened.folder)
        planted: list[Planted] = []
        path = sa.URL.create("sqlite", database=str(opened.folder and opened.folder / "journal.db"))
        if count:
            planted = build(path, encoder, memory.network, memory.fingerprint, count)
        memory.sync()
        asked = random.Random(1).sample(planted, min(NUM_QUESTIONS, count))
        found: dict[str, Any] = {"sessions": count, "start": _fresh_start(root)}
        if count:
            found["file"] = (opened.folder or root).joinpath("journal.db").stat().st_size
            found |= _recall(memory, asked) | {"scan": scan(memory, asked[:_NUM_SCANNED])}
        looks = list[float]()
        found["finish"] = [_finish(memory, number, looks) for number in range(_NUM_FINISHED)]
        found["look"] = looks
        found["forget"] = _seconds(partial(memory.forget, "zanzibar0x4"))
        return found


def _fresh_start(root: Path) -> dict[str, float]:
    """Return the seconds and the bytes of RAM that opening a memory takes, the median of three processes."""
    command = [sys.executable, "-c", _START, str(root), USER]
    folder = Path(__file__).parent.parent
    runs = [
        json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    return {key: statistics.median(run[key] for run in runs) for key in ("seconds", "bytes")}


def _recall(memory: Any, asked: list[Planted]) -> dict[str, Any]:
    """Return the seconds of recall, and how many questions got the line that answers them."""
    memory.recall(asked[0].question)
    seconds, parts, ranking, right = list[float](), list[float](), list[float](), 0
    for one in asked:
        started = time.perf_counter()
        lines = memory.recall(one.question)
        seconds.append(time.perf_counter() - started)
        right += one.line in [line.text for line in lines]
        ranking.append(_seconds(partial(memory.near, one.question)))  # its embedding is known
        parts.append(_seconds(partial(memory.encoder.encode, [one.question + " "])))
    return {"recall": seconds, "embed": parts, "rank": ranking, "right": right, "asked": len(asked)}


def scan(memory: Any, asked: list[Planted]) -> dict[str, float]:
    """Compare recall by pages with a full scan.

    Returns:
        `pages_read`, the share of sessions that is read; `same_best`, how often the best line is that of the full
        scan; `same_nearest`, the share of its nearest eight that is found; `found` and `found_by_scan`, how often the
        line that answers is among the nearest eight.
    """
    totals = dict.fromkeys(("pages_read", "same_best", "same_nearest", "found", "found_by_scan"), 0.0)
    count, usual = len(memory.sessions), memory.num_candidates
    for one in asked:
        near = memory.near(one.question)[:_NEAREST]
        totals["pages_read"] += memory.pages_read / count
        memory.num_candidates = count
        full = memory.near(one.question)[:_NEAREST]
        memory.num_candidates = usual
        texts, all_texts = [line.text for line in near], [line.text for line in full]
        totals["same_best"] += texts[:1] == all_texts[:1]
        totals["same_nearest"] += len({*texts} & {*all_texts}) / max(1, len({*all_texts}))
        totals["found"] += one.line in texts
        totals["found_by_scan"] += one.line in all_texts
    return {key: value / len(asked) for key, value in totals.items()}


def _finish(memory: Any, number: int, looks: list[float]) -> float:
    """Return the seconds that finishing a session of twenty lines takes; its words are new.

    Before each reply the memory looks again at the user's line and reads what is new, as in a chat; the seconds of
    the second look are put into `looks`.
    """
    when = FIRST_DAY.replace(year=2040)
    texts = [
        f"My box {number}-{place} holds {place * 7 + number} zanzibar{number}x{place} coins." for place in range(20)
    ]
    chat = memory.journal.begin(when)
    turns = [Turn("user" if place % 2 == 0 else "assistant", text, when) for place, text in enumerate(texts)]
    for turn in turns:
        key, _ = memory.journal.append(chat, turn)
        if turn.speaker == "user":
            looks.append(_seconds(partial(memory.consider, key)))
            memory.sync()
    return _seconds(partial(memory.remember, Session(tuple(turns), chat)))


def coarse_seconds(hidden_dim: int = 512) -> dict[str, float]:
    """Return the median seconds of comparing a query with all session vectors, by their number."""
    draw, found = np.random.default_rng(0), {}
    for count in (1_000, 10_000, 100_000, 300_000):
        slots = draw.standard_normal((count, hidden_dim), dtype=np.float32)
        query = draw.standard_normal(hidden_dim, dtype=np.float32)
        found[str(count)] = statistics.median(_seconds(partial(np.dot, slots, query)) for _ in range(9))
    return found


def long_run(make_network: Callable[[], Any], updates: int = 10_000) -> dict[str, Any]:
    """Return what becomes of a pool after many updates with random sessions: its norms, finiteness and file."""
    network, draw = make_network(), torch.Generator().manual_seed(0)
    norms, sizes = [], []
    with tempfile.TemporaryDirectory() as name:
        for number in range(updates):
            rows = torch.randn(1, 4, network.input_dim, generator=draw)
            network.update(torch.nn.functional.normalize(rows, dim=-1))
            norms.append(float(network.memory[-1].norm()))
            if number in (network.num_slots - 1, updates // 2, updates - 1):
                content = {"memory": network.memory.clone(), "num_filled": network.filled}
                storage.save_tensors(Path(name) / "memory.pkl", POOL_FORMAT, POOL_VERSION, content)
                sizes.append((Path(name) / "memory.pkl").stat().st_size)
    first, last = norms[: updates // 10], norms[-updates // 10 :]
    return {
        "updates": updates,
        "finite": bool(torch.isfinite(network.memory).all()) and all(np.isfinite(norms)),
        "norm_first": statistics.fmean(first),
        "norm_last": statistics.fmean(last),
        "bytes": sizes,
    }


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def milliseconds(seconds: list[float]) -> tuple[float, float]:
    """Return median and 95th percentile in milliseconds."""
    middle, high = median_and_p95(seconds)
    return 1000 * middle, 1000 * high

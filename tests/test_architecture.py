"""docs/architecture.md says what the code does: its numbers, its paths, its names.

pytest tests/test_architecture.py        needs no weights and no network
"""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import NOON, FakeEncoder, ScriptedModel, make_session
from torch.nn import functional as F

from chatmem import storage
from chatmem.archive import Archive
from chatmem.chat import Chat
from chatmem.embedding import Array
from chatmem.indexed import IndexedMemory
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS
from chatmem.opening import open_user, release, session_lock
from chatmem.prompt import MEMORY_SHARE, prompt_budget
from chatmem.settings import Settings
from memory_module import GruMemory, RecurrentMemory

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
SIZES = TEXT.partition("\n## Sizes\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| ([^|]+) \| [^|]+ \| (\d+) \|$", SIZES, re.M)
NUMBERS = {what: int(number) for what, number in ROWS}
CODE = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.S))
IN_MEMORY_DIR = [
    re.sub(r"<\w+>", "*", name.rstrip("/"))
    for name in re.findall(r"^\| `([^`]+)` \|", TEXT.partition("In `memory_dir` there is")[2], re.M)
]
FLAT = " ".join(TEXT.split())


def unit_rows(sessions: int, sentences: int, width: int, shared: float = 0.0) -> Array:
    """Return sessions of random unit vectors; the larger `shared`, the more alike they all are."""
    random = np.random.default_rng(1)
    rows = random.standard_normal((sessions, sentences, width)) + shared * random.standard_normal(width)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


class RandomEncoder:
    """Random unit vectors, whatever the text."""

    fingerprint = "random"
    input_dim = 384

    def encode(self, texts: list[str]) -> Array:
        return unit_rows(1, len(texts), self.input_dim)[0]


def parameters(network: torch.nn.Module) -> int:
    return sum(weight.numel() for weight in network.parameters())


def test_sizes(tmp_path: Path):
    memory = GruMemory(Journal.at(tmp_path / "journal.db"), RandomEncoder(), hidden_dim=512)
    memory.remember(make_session(*[f"This is sentence {n}." for n in range(20)]))
    [(_, slot)] = memory.journal.slots(memory.fingerprint)[1]
    [page] = memory.journal.pages([1], memory.fingerprint, MEMORY_KINDS)
    one = len(slot) + len(page.vectors)
    report = (ROOT / "report.md").read_text("utf-8")
    [measured] = re.findall(r"Memory adds (\d+) tokens", report)
    budget = prompt_budget(ScriptedModel(window_tokens=1024), Settings().max_new_tokens)
    network = RecurrentMemory(384, 512, 10)
    assert len(memory.journal.lines()) == 20
    assert len(ROWS) == SIZES.count("\n| ") - 1  # every row but the head was parsed
    expected = {
        "GRU parameters, D = 384": parameters(RecurrentMemory(384, 512, 10).encoder),
        "GRU parameters, D = 768": parameters(RecurrentMemory(768, 512, 10).encoder),
        "maps beside the GRU, D = 384": parameters(network) - parameters(network.encoder),
        "LSTM parameters instead, D = 384": parameters(torch.nn.LSTM(384, 512)),
        "pool, bytes": RecurrentMemory(384, 512, 10).memory.nbytes,
        "slot of 1 session, bytes": len(slot),
        "lines of 1 session, bytes": len(page.vectors),
        "archive of 1 session, bytes": one,
        "archive of 100 sessions, bytes": 100 * one,
        "archive of 10,000 sessions, bytes": 10_000 * one,
        "archive of 10,000 sessions in RAM, bytes": 10_000 * len(slot),
        "memory in a prompt, tokens": int(measured),
        "memory lines in a prompt of GPT-2, tokens at most": int(budget * MEMORY_SHARE),
    }
    assert expected == NUMBERS
    assert f"{round(100 * len(page.vectors) / one)}% of it" in FLAT
    assert f"the {measured} tokens are the notes alone" in FLAT


@pytest.mark.parametrize("input_dim", [384, 768])
def test_start_follows_the_formula(input_dim):
    network = RecurrentMemory(input_dim, 512, 10)
    told = torch.from_numpy(unit_rows(20, 20, input_dim, shared=0.6))
    projection = network.encoder.weight_ih_l0.detach()[2 * 512 :]  # 4 P
    weights = 0.1 * 0.9 ** torch.arange(19, -1, -1.0)
    expected = (torch.tanh(told @ projection.T) * weights[:, None]).sum(1)
    found = network.encode(told).last
    assert (found - expected).norm() < 0.05 * expected.norm()


@pytest.mark.parametrize("input_dim", [384, 768])
def test_error_of_a_cosine(input_dim):
    told = torch.from_numpy(unit_rows(200, 20, input_dim, shared=0.6))
    means = F.normalize((told * 0.9 ** torch.arange(19, -1, -1.0)[:, None]).sum(1), dim=-1)
    with torch.no_grad():
        slots = F.normalize(RecurrentMemory(input_dim, 512, 10).encode(told).last, dim=-1)
    limit = re.search(rf"at most (0\.\d+) for D = {input_dim}", FLAT)
    assert limit
    assert float((means @ means.T - slots @ slots.T).abs().max()) <= float(limit[1])


def test_every_path_that_is_named_exists():
    named = {name for name in CODE if re.fullmatch(r"[\w./<>-]+(?:\.(?:py|md|pkl|db|lock)|/)", name)}
    assert len(named) > 25
    for name in named:
        pattern = re.sub(r"<\w+>", "*", name.rstrip("/"))
        assert (ROOT / name).exists() or pattern in IN_MEMORY_DIR, name


def test_files_of_a_memory_are_named(tmp_path: Path):
    opened = open_user(tmp_path, "ana")
    assert opened.folder is not None
    memory = GruMemory(opened.journal, RandomEncoder(), opened.folder)
    memory.remember(make_session("I keep goats."))
    lock = session_lock(opened.journal, opened.folder, "a1b2")
    lock.acquire()
    opened.journal.begin(NOON, "a1b2")
    found = {path.name for path in opened.folder.iterdir()}
    assert found >= {"journal.db", "memory.pkl", "open-a1b2.lock"}
    opened.journal.close()
    (opened.folder / "journal.db").write_bytes(b"garbage" * 300)
    again = open_user(tmp_path, "ana")
    assert [line.text for line in again.journal.facts()] == ["I keep goats."]  # from memory.pkl
    found |= {path.name for path in opened.folder.iterdir()}
    release(lock)
    for name in found | set(storage.INDEX_NAMES):
        assert any(fnmatchcase(name, pattern) for pattern in IN_MEMORY_DIR), name


def test_every_name_of_a_class_is_there():
    classes = (RecurrentMemory, GruMemory, IndexedMemory, Journal, Archive, Chat)
    by_name = {cls.__name__: cls for cls in classes}
    dotted = {name for name in CODE if re.fullmatch(r"[A-Z]\w+\.\w+", name)}
    assert len(dotted) > 5
    for name in dotted:
        owner, _, attribute = name.partition(".")
        assert hasattr(by_name[owner], attribute), name


def test_number_of_candidates(tmp_path: Path):
    memory = GruMemory(Journal("sqlite://"), FakeEncoder())
    assert f"nearest {memory.num_candidates} sessions" in FLAT
    assert f"Up to {memory.num_candidates} sessions" in FLAT


def test_every_module_is_named():
    for path in [*ROOT.glob("*.py"), *(ROOT / "chatmem").glob("*.py")]:
        if path.name != "__init__.py":
            assert f"`{path.relative_to(ROOT).as_posix()}`" in TEXT, path


ALLOWED = {
    "chat_memory": {"memory_module", "rag_baseline"},
    "benchmark": {"memory_module", "rag_baseline", "chat_memory"},
}


@pytest.mark.parametrize("path", [*ROOT.glob("*.py"), *(ROOT / "chatmem").glob("*.py")], ids=lambda path: path.stem)
def test_imports_go_one_way(path: Path):
    top = {file.stem for file in ROOT.glob("*.py")}
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.partition(".")[0])
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
    allowed = ALLOWED.get(path.stem, set()) if path.parent == ROOT else set()
    assert imported & top <= allowed

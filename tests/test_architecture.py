"""docs/architecture.md says what the code does: its numbers and its paths.

pytest tests/test_architecture.py        needs no weights and no network
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from conftest import FakeEncoder, make_session

from chatmem.journal import Journal
from memory_module import GruMemory, RecurrentMemory

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "architecture.md").read_text("utf-8")
NUMBERS = {what.strip(): int(number) for what, number in re.findall(r"^\| ([^|]+)\|[^|]+\| (\d+) \|$", TEXT, re.M)}


@pytest.mark.parametrize("input_dim", [384, 768])
def test_parameters_of_the_gru(input_dim):
    counted = sum(weight.numel() for weight in RecurrentMemory(input_dim).parameters())
    assert NUMBERS[f"GRU parameters, D = {input_dim}"] == counted


def test_bytes_of_the_pool():
    assert NUMBERS["pool, bytes"] == RecurrentMemory(384).memory.nbytes


def test_bytes_of_the_archive(tmp_path: Path):
    memory = GruMemory(Journal.at(tmp_path / "journal.db"), FakeEncoder(input_dim=384))
    for number in range(3):
        memory.remember(make_session(*[f"Sentence {n} of {number}." for n in range(20)]))
    stored = memory.journal.vectors(memory.fingerprint)
    size = sum(len(row.slot) + len(row.lines) for row in stored) // 3
    for count in (1, 100, 10_000):
        plural = "session" if count == 1 else "sessions"
        assert NUMBERS[f"archive of {count:,} {plural}, bytes"] == count * size


def test_tokens_that_memory_adds():
    report = (ROOT / "report.md").read_text("utf-8")
    measured = re.search(r"Memory adds (\d+) tokens", report)
    stated = re.search(r"Memory adds (\d+) tokens", TEXT)
    assert measured and stated and measured[1] == stated[1]


def test_every_path_that_is_named_exists():
    made_at_run_time = {"journal.db", "memory.pkl", "chroma/", "index.lock", "open-<uid>.lock"}
    named = set(re.findall(r"`([\w/<>-]+\.(?:py|md|pkl|db|lock)|\w+/)`", TEXT)) - made_at_run_time
    assert len(named) > 25
    for name in named:
        assert (ROOT / name).exists(), name


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

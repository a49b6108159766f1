"""The report's section on reliability follows from its numbers; a large memory is what it says.

pytest tests/test_reliability_report.py        needs no weights and no network
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from conftest import FakeEncoder

import benchmark
from chatmem import big_memory, load, proofs
from chatmem.journal import Journal
from chatmem.report_reliability import render_reliability
from memory_module import GruMemory, RecurrentMemory
from rag_baseline import RagMemory

LOAD = {"sessions": 0, "start": {"seconds": 0.1, "bytes": 1e6}, "finish": [0.1], "forget": 0.5, "look": [0.02]}
FULL = {"recall": [0.05], "embed": [0.01], "rank": [0.01], "right": 9, "asked": 10, "file": 1e6}
SCAN = {"pages_read": 0.01, "same_best": 1.0, "same_nearest": 0.5, "found": 1.0, "found_by_scan": 1.0}
PROOFS = ("forgotten", "returned", "names", "strangers", "encrypted", "planted", "secrets", "copied")
FOUND = {
    "machine": {"processor": "a processor", "cores": "2"},
    **{key: {"trials": 3, "acknowledged": 9} for key in ("kills", "writers", "full disks", "read-only")},
    "damages": {"trials": 5, "lines": 60, "kept": 57, "notice": 5},
    "proofs": {key: {"trials": 7, "failed": 0} for key in PROOFS},
    "load": [LOAD, {**LOAD, **FULL, "sessions": 10}, {**LOAD, **FULL, "sessions": 10_000, "scan": SCAN}],
    "coarse": {"100000": 0.003},
    "long run": {"updates": 10, "finite": True, "norm_first": 1.0, "norm_last": 1.0, "bytes": [9, 9, 9]},
}


def test_section_says_what_was_met_and_what_was_missed():
    text = render_reliability(FOUND)
    assert "| recall, p95, ms | 50 | 60 | met |" in text
    assert "95.00% of the 60 lines" in text
    slow = {**FOUND["load"][2], "recall": [0.061]}
    text = render_reliability({**FOUND, "load": [*FOUND["load"][:2], slow]})
    assert "| recall, p95, ms | 61 | 60 | missed |" in text
    lossy = {**FOUND, "kills": {"trials": 3, "acknowledged": 9, "lost": 2, "traceback": 1}}
    assert "| 3 | 9 | 2 | 1 |" in render_reliability(lossy)


def test_large_memory_is_one_that_the_program_made(tmp_path: Path):
    journal = Journal.at(tmp_path / "journal.db")
    memory = GruMemory(journal, FakeEncoder(), tmp_path, hidden_dim=32)
    url = sa.URL.create("sqlite", database=str(tmp_path / "journal.db"))
    planted = big_memory.build(url, FakeEncoder(), memory.network, memory.fingerprint, 30)
    memory.sync()
    assert len(planted) == len(memory.sessions) == 30
    assert not any(finding.count for finding in journal.audit() if "vectors" in finding.what)
    assert len(journal.lines()) == 30 * big_memory.NUM_TURNS
    found = load.scan(memory, planted[:3])
    assert found["found"] <= 1
    assert 0 < found["pages_read"] <= 1


def test_pool_stays_finite_and_its_file_does_not_grow():
    found = load.long_run(lambda: RecurrentMemory(16, 16, 4), updates=60)
    assert found["finite"]
    assert len(set(found["bytes"])) == 1
    assert abs(found["norm_last"] / found["norm_first"] - 1) < 0.2


def test_stopped_run_goes_on_where_it_was_and_a_whole_one_begins_anew(tmp_path: Path, monkeypatch):
    done: list[str] = []

    def pretend(name: str) -> Callable[..., dict]:
        def measure(*_: object) -> dict:
            if name == "long run" and done.count(name) == 0:
                done.append(name)
                raise KeyboardInterrupt
            done.append(name)
            return {}

        return measure

    for where, name in [("harm", one) for one in ("kills", "writers", "full_disks", "read_only", "damages")]:
        monkeypatch.setattr(getattr(benchmark, where), name, pretend(name))
    monkeypatch.setattr(benchmark.load, "coarse_seconds", pretend("coarse"))
    for name, what in (("prove", "proofs"), ("measure_load", "load"), ("measure_long_run", "long run")):
        monkeypatch.setattr(benchmark, name, pretend(what))
    path = tmp_path / "reliability.json"
    with pytest.raises(KeyboardInterrupt):
        benchmark.measure_reliability(path, quick=True)
    assert not path.exists()
    benchmark.measure_reliability(path, quick=True)
    assert (done.count("kills"), done.count("load"), done.count("long run")) == (1, 3, 2)
    assert json.loads(path.read_text()).keys() >= FOUND.keys()
    benchmark.measure_reliability(path, quick=True)
    assert done.count("kills") == 2


@pytest.mark.slow
def test_promises_are_kept_and_a_broken_one_is_seen(monkeypatch):
    small = partial(GruMemory, hidden_dim=32)
    found = benchmark.prove(small, 1)
    assert found.keys() == {*PROOFS}
    assert [name for name, one in found.items() if one["failed"] or not one["trials"]] == []
    monkeypatch.setattr("chatmem.tombstones.buried", lambda *_: [])
    assert proofs.returned(small, 2) == {"trials": 2, "failed": 2}
    monkeypatch.setattr("chatmem.storage.delete_indexes", lambda _: None)
    assert proofs.forgotten([RagMemory], 1)["failed"] >= 1

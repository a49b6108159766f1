"""Nothing lost: kills, writers at once, full and read-only disks, damaged bytes, power, older formats, crafted input.

pytest tests/test_harm.py               a few of each
pytest tests/test_harm.py -m slow       more; `make reliability` does 300 kills and 500 damages
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FakeEncoder, make_session
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatmem import export_file, storage
from chatmem.commands import import_file
from chatmem.indexed import NullMemory
from chatmem.interface import CommandError, DamagedError, NewerError
from chatmem.journal import Journal
from chatmem.opening import POOL_FORMAT, POOL_VERSION, open_user
from memory_module import GruMemory

ROOT = Path(__file__).parent.parent
FIXTURES = Path(__file__).parent / "fixtures"
BOUNDED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def harmed(call: str) -> dict[str, int]:
    """Return the counts of a function of `chatmem.harm`, run in a process of one thread, which may fork."""
    program = f"""
import json, torch
torch.set_num_threads(1)
from chatmem import harm
from memory_module import GruMemory
def open_memory(journal, encoder, folder):
    return GruMemory(journal, encoder, folder, hidden_dim=16)
print(json.dumps(harm.{call}))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


def is_whole(found: dict[str, int]) -> bool:
    """Tell whether nothing was lost and nothing failed."""
    return not any(found.get(name) for name in ("lost", "unsound", "failed", "traceback", "refused"))


@pytest.mark.slow
@pytest.mark.parametrize("call", ["kills(open_memory, 12)", "writers(open_memory)", "full_disks(open_memory, 8)"])
def test_acknowledged_lines_are_there_afterwards(call):
    found = harmed(call)
    assert found["acknowledged"] >= 12
    assert is_whole(found), found


@pytest.mark.slow
@pytest.mark.skipif(
    os.geteuid() == 0 and any(not folder.stat().st_mode & 0o001 for folder in Path(__file__).resolve().parents),
    reason="tried as another user, who cannot come to where the program lies",
)
def test_read_only_memory_is_read_and_told():
    assert is_whole(harmed("read_only(open_memory)"))


@pytest.mark.slow
def test_damaged_bytes_never_end_in_a_traceback_and_leave_the_rest():
    found = harmed("damages(open_memory, 40)")
    assert is_whole(found), found
    assert found["kept"] > 0.95 * found["lines"]


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace here")
@pytest.mark.slow
def test_line_is_acknowledged_only_when_it_would_outlive_the_power(tmp_path: Path):
    program = f"""
from datetime import UTC, datetime
from pathlib import Path
from chatmem.interface import Turn
from chatmem.journal import Journal
journal = Journal.at(Path({str(tmp_path / "journal.db")!r}))
number = journal.begin(datetime.now(UTC))
journal.append(number, Turn("user", "My boat is blue.", datetime.now(UTC)))
print("acknowledged", flush=True)
"""
    calls = ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,unlink,write", sys.executable, "-c", program]
    seen = subprocess.run(calls, cwd=ROOT, capture_output=True, text=True, timeout=120)
    if "acknowledged" not in seen.stdout:
        pytest.skip("strace may not be used here")
    rows = seen.stderr.split('"acknowledged')[0].splitlines()
    last = max(n for n, row in enumerate(rows) if "unlink" in row and "journal.db-journal" in row)
    synced = [n for n, row in enumerate(rows) if "sync(" in row and "journal.db>" in row]
    assert synced[-1] < last  # the file is on the disk before the old pages are given up ...
    assert any("sync(" in row and f"{tmp_path}>" in row for row in rows[last:])  # ... and that before it is told


def test_files_are_flushed_before_and_after_they_are_renamed(tmp_path: Path, monkeypatch):
    done: list[str] = []
    sync, rename = storage.os.fsync, Path.replace

    def fsync(handle: int) -> None:
        done.append("folder" if Path(f"/proc/self/fd/{handle}").resolve().is_dir() else "file")
        sync(handle)

    def replace(self: Path, target: Path) -> Path:
        done.append("rename")
        return rename(self, target)

    monkeypatch.setattr(storage.os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    storage.write_atomic(tmp_path / "file", b"x")
    assert done == ["file", "rename", "folder"]
    done.clear()
    storage.user_folder(tmp_path / "memory", "ana")
    assert done == ["folder"]


def old_memory(tmp_path: Path, version: int) -> Path:
    """Return a folder with a memory as a released version left it."""
    folder = storage.user_folder(tmp_path, "ana")
    with sqlite3.connect(folder / "journal.db") as db:
        db.executescript((FIXTURES / f"journal-{version}.sql").read_text("utf-8"))
    db.close()
    shutil.copy(FIXTURES / f"memory-{version}.pkl", folder / "memory.pkl")
    return folder


@pytest.mark.parametrize("version", [1, 2, 3])
def test_memory_of_an_older_version_opens_with_all_it_held(tmp_path: Path, version):
    old_memory(tmp_path, version)
    opened = open_user(tmp_path, "ana")
    memory = GruMemory(opened.journal, FakeEncoder(), opened.folder, hidden_dim=64)
    assert memory.recall("What is my goat called?")[0].text == "My goat is called Bramble."
    assert "My locker is number 77." in [line.text for line in opened.journal.lines()]  # of a session that was cut off
    assert opened.journal.word_scores("bramble")
    memory.remember(make_session("My boat is blue.", day=9))
    assert memory.forget("boat")
    opened.journal.close()
    assert len(open_user(tmp_path, "ana").journal.export()) == 4


def test_newer_memory_is_refused_in_one_sentence(tmp_path: Path):
    folder = old_memory(tmp_path, 3)
    with sqlite3.connect(folder / "journal.db") as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    db.close()
    before = (folder / "journal.db").read_bytes()
    with pytest.raises(NewerError, match="update the program") as caught:
        open_user(tmp_path, "ana")
    assert "\n" not in str(caught.value)
    assert (folder / "journal.db").read_bytes() == before


def test_journal_that_failed_in_use_is_mended_at_the_next_start(tmp_path: Path, caplog):
    opened = open_user(tmp_path, "ana")
    opened.journal.record(make_session("My goat is called Bramble.", "I see."))
    opened.journal.close()
    path = tmp_path / next(tmp_path.iterdir()).name / "journal.db"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE turns SET \"when\" = 'never' WHERE position = 1")
    db.close()
    again = open_user(tmp_path, "ana")
    with pytest.raises(DamagedError):
        again.journal.turns(1)
    again.journal.close()
    last = open_user(tmp_path, "ana")
    assert [line.text for line in last.journal.lines()] == ["My goat is called Bramble."]
    assert "Recovered 1 sessions" in caplog.text


def test_damaged_word_index_is_made_again(tmp_path: Path, caplog):
    journal = Journal.at(tmp_path / "journal.db")
    journal.record(make_session("My goat is called Bramble.", "I see."))
    with sqlite3.connect(tmp_path / "journal.db") as db:
        db.execute("DELETE FROM words_data WHERE id = 10")  # where FTS5 keeps what belongs to it
    db.close()
    assert journal.word_scores("bramble")
    assert "made again" in caplog.text


KEYS = (
    "format",
    "version",
    "sessions",
    "uid",
    "turns",
    "speaker",
    "text",
    "when",
    "explicit",
    "lines",
    "kind",
    "state",
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner),
    max_leaves=12,
)


@BOUNDED
@given(sessions=values, version=st.just(export_file.VERSION) | values)
def test_any_json_is_imported_or_refused_whole(tmp_path: Path, sessions, version):
    memory = NullMemory(Journal("sqlite://"))
    memory.journal.record(make_session("I live in Porto."))
    before = memory.journal.export()
    content = {"format": export_file.FORMAT, "version": version, "sessions": sessions}
    (tmp_path / "in.json").write_text(json.dumps(content))
    try:
        import_file(memory, str(tmp_path / "in.json"))
    except CommandError as error:
        assert "\n" not in str(error)
        assert memory.journal.export() == before
    assert memory.journal.export()[:1] == before


@BOUNDED
@given(data=st.binary(max_size=300), head=st.sampled_from([b"", b"PK\3\4", b"SQLite format 3\0", b"\x80\2", b"{"]))
def test_any_bytes_are_read_or_refused(tmp_path: Path, data, head):
    for name in ("in.json", "memory.pkl", "journal.db"):
        (tmp_path / name).write_bytes(head + data)
    with pytest.raises(CommandError):
        import_file(NullMemory(Journal("sqlite://")), str(tmp_path / "in.json"))
    with pytest.raises(DamagedError):
        storage.load_tensors(tmp_path / "memory.pkl", POOL_FORMAT, POOL_VERSION)
    with contextlib.suppress(DamagedError):  # to SQLite, one byte is an empty file
        Journal.at(tmp_path / "journal.db")

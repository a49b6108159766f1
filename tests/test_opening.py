"""Opening a memory: crashes are finished, damage is repaired or set aside, and nothing is lost in silence.

pytest tests/test_opening.py        needs no weights and no network
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from conftest import NOON, FakeEncoder, make_session, tell
from filelock import FileLock

from chatmem import storage
from chatmem.interface import NewerError, StoreError, Turn
from chatmem.journal import Journal
from chatmem.opening import open_user, session_lock
from memory_module import GruMemory

FACTS = [f"My word number {count} is heron{count}." for count in range(30)]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory_dir with a user who told some facts, to be copied."""
    memory_dir = tmp_path_factory.mktemp("told")
    opened = open_user(memory_dir, "ana")
    memory = GruMemory(opened.journal, FakeEncoder(), opened.folder, hidden_dim=64)
    tell(memory, *FACTS)
    opened.journal.close()
    return memory_dir


@pytest.fixture
def folder(told: Path, tmp_path: Path) -> Path:
    """Return the folder of a user who told some facts."""
    shutil.copytree(told, tmp_path, dirs_exist_ok=True)
    return storage.user_folder(tmp_path, "ana")


@pytest.fixture(autouse=True)
def _warnings(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "chatmem")


def kept(tmp_path: Path) -> set[str]:
    return {line.text for line in open_user(tmp_path, "ana").journal.facts()}


def test_opening_twice_erases_nothing(folder, tmp_path, caplog):
    assert kept(tmp_path) == kept(tmp_path) == set(FACTS)
    assert caplog.text == ""


def test_abandoned_session_is_finished_with_a_notice(folder, tmp_path, caplog):
    journal = open_user(tmp_path, "ana").journal
    number = journal.begin(NOON, "gone")
    journal.append(number, Turn("user", "I keep goats.", NOON))
    journal.close()
    again = open_user(tmp_path, "ana").journal
    assert "Recovered a session of 1 lines" in caplog.text
    assert "goats" not in caplog.text  # no memory in a log
    assert again.open_sessions() == []
    assert again.waiting("any").finished[-1] == number


def test_session_of_a_living_program_is_left_alone(folder, tmp_path, caplog):
    journal = open_user(tmp_path, "ana").journal
    lock = session_lock(journal, folder, "alive")
    with lock:
        number = journal.begin(NOON, "alive")
        assert open_user(tmp_path, "ana").journal.open_sessions() == [(number, "alive")]
    assert caplog.text == ""


def test_journal_cut_short_keeps_what_can_be_read(folder, tmp_path, caplog):
    whole = (folder / "journal.db").read_bytes()
    (folder / "journal.db").write_bytes(whole[: len(whole) // 2])
    found = kept(tmp_path)
    assert set(FACTS[-10:]) <= found  # the pool alone holds as many
    assert "damaged file is kept as" in caplog.text
    assert any(".damaged-" in path.name for path in folder.iterdir())


def test_garbage_journal_is_restored_from_the_pool(folder, tmp_path, caplog):
    (folder / "journal.db").write_bytes(bytes(range(256)) * 40)
    assert kept(tmp_path) == set(FACTS[-10:])
    assert "Recovered 10 sessions" in caplog.text
    caplog.clear()
    assert kept(tmp_path) == set(FACTS[-10:])
    assert caplog.text == ""


def test_missing_journal_is_restored_from_the_pool(folder, tmp_path, caplog):
    (folder / "journal.db").unlink()
    assert kept(tmp_path) == set(FACTS[-10:])
    assert "The journal was missing" in caplog.text


@pytest.mark.parametrize("place", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_flipped_bits_never_end_in_a_traceback(folder, tmp_path, place):
    content = bytearray((folder / "journal.db").read_bytes())
    start = int(len(content) * place)
    content[start : start + 64] = bytes(byte ^ 0xFF for byte in content[start : start + 64])
    (folder / "journal.db").write_bytes(bytes(content))
    opened = open_user(tmp_path, "ana")
    memory = GruMemory(opened.journal, FakeEncoder(), opened.folder, hidden_dim=64)
    memory.remember(make_session("My word is crane.", day=40))
    assert "My word is crane." in {line.text for line in opened.journal.facts()}
    assert len(opened.journal.facts()) > 10


def test_foreign_database_is_set_aside_whole(folder, tmp_path, caplog):
    (folder / "journal.db").unlink()
    (folder / "memory.pkl").unlink()
    with sqlite3.connect(folder / "journal.db") as other:
        other.execute("CREATE TABLE recipes (name)")
    before = (folder / "journal.db").read_bytes()
    assert kept(tmp_path) == set()
    aside = next(path for path in folder.iterdir() if ".damaged-" in path.name)
    assert aside.read_bytes() == before


def test_newer_journal_is_refused_untouched(folder, tmp_path):
    with sqlite3.connect(folder / "journal.db") as other:
        other.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    with pytest.raises(NewerError):
        open_user(tmp_path, "ana")
    assert not any(".damaged-" in path.name for path in folder.iterdir())


def test_unwritable_journal_is_read_and_told(folder, tmp_path, monkeypatch, caplog):
    def refuse(path: Path, *_: object) -> Journal:
        raise StoreError(f"cannot write {path}: Read-only file system")

    monkeypatch.setattr(Journal, "at", refuse)
    before = (folder / "journal.db").read_bytes()
    opened = open_user(tmp_path, "ana")
    assert opened.folder is None
    assert {line.text for line in opened.journal.facts()} == set(FACTS)
    assert "will not be remembered" in caplog.text
    opened.journal.record(make_session("My word is crane."))
    assert (folder / "journal.db").read_bytes() == before


def test_read_only_folder_is_read_and_told(folder, tmp_path, monkeypatch, caplog):
    real = os.open

    def refuse(path: object, flags: int = 0, *more: int, **options: int) -> int:
        if flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
            raise OSError(30, "Read-only file system")
        return real(path, flags, *more, **options)  # type: ignore[arg-type]

    def refuse_times(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "utime", refuse_times)
    opened = open_user(tmp_path, "ana")  # a file for a lock cannot be made there either
    assert opened.folder is None
    assert {line.text for line in opened.journal.facts()} == set(FACTS)
    assert "will not be remembered" in caplog.text


def test_session_lock_that_is_refused_is_told(folder, tmp_path, monkeypatch, caplog):
    journal = open_user(tmp_path, "ana").journal
    journal.append(journal.begin(NOON, "gone"), Turn("user", "I keep goats.", NOON))
    journal.close()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("chatmem.opening.FileLock.acquire", refuse)
    opened = open_user(tmp_path, "ana")
    assert opened.folder is None
    assert "I keep goats." in {line.text for line in opened.journal.facts()}
    assert "will not be remembered" in caplog.text


def test_session_that_ends_while_we_look_is_not_taken_for_abandoned(tmp_path, monkeypatch, caplog):
    journal = open_user(tmp_path, "ana").journal
    number = journal.begin(NOON, "ending")
    journal.append(number, Turn("user", "I keep goats.", NOON))
    acquire = FileLock.acquire

    def ended_before(lock: FileLock, *options: object, **more: object) -> object:
        journal.finish(number, NOON)
        return acquire(lock, *options, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("chatmem.opening.FileLock.acquire", ended_before)
    open_user(tmp_path, "ana")
    assert caplog.text == ""


@pytest.mark.parametrize("content", [b"", b"garbage" * 300])
def test_unwritable_and_unreadable_journal_is_begun_in_ram(tmp_path, monkeypatch, content):
    (tmp_path / "journal.db").write_bytes(content)
    journal = Journal.copy_in_ram(tmp_path / "journal.db")
    journal.record(make_session("My word is crane."))
    assert [line.text for line in journal.facts()] == ["My word is crane."]
    assert (tmp_path / "journal.db").read_bytes() == content


def test_users_are_apart(folder, tmp_path):
    assert open_user(tmp_path, "ana2").journal.facts() == []
    assert open_user(tmp_path, "Ana").journal.facts() == []
    other = open_user(tmp_path, "ana2")
    GruMemory(other.journal, FakeEncoder(), other.folder, hidden_dim=64).reset()
    assert kept(tmp_path) == set(FACTS)

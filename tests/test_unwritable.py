"""A memory that cannot be written, or not now: what is said of it is true, and the chat goes on.

pytest tests/test_unwritable.py        needs no weights and no network
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from conftest import bytes_under
from test_chat import Run

import chat_memory
from chatmem import storage
from chatmem.interface import StoreError
from chatmem.journal import Journal


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every journal be one that cannot be written."""

    def refuse(path: Path, *_: object) -> Journal:
        raise StoreError(f"cannot write {path}: Read-only file system")

    monkeypatch.setattr(Journal, "at", refuse)


def test_nobody_is_told_that_a_memory_which_cannot_be_written_was_changed(tmp_path, monkeypatch):
    commands = ["/forget goats", "/undo", "/reset", "/remember My word is crane.", "Forget that I keep goats.",
                "Forget everything you know about me."]  # fmt: skip
    Run(tmp_path).say("I keep goats.", "/end")
    read_only(monkeypatch)
    answers = Run(tmp_path).say(*commands, "/memory", "What do I keep?")
    for answer in answers[: len(commands)]:
        assert answer.get("ok", False) is False
        assert "cannot be written: nothing was changed" in str(answer.get("message", answer.get("reply")))
    assert [row["text"] for row in answers[-2]["memory"]] == ["I keep goats."]
    assert [line["text"] for line in answers[-1]["memories"]] == ["I keep goats."]


def test_memory_that_cannot_be_written_takes_no_import_and_no_repair(tmp_path, monkeypatch, capsys):
    path = tmp_path / "copy.json"
    Run(tmp_path / "m").say("I keep goats.", f"/export {path}", "/reset")
    read_only(monkeypatch)
    assert not Run(tmp_path / "m").say(f"/import {path}")[0]["ok"]
    assert chat_memory.main(["--memory-dir", str(tmp_path / "m"), "--memory", "none", "--repair"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("cannot be written: nothing was changed")


@pytest.mark.parametrize("arm", ["gru", "rag"])
def test_full_disk_under_the_index_ends_no_chat(tmp_path, monkeypatch, capsys, arm):
    def refuse(*_: object, **__: object) -> None:
        raise StoreError("cannot write memory.pkl: No space left on device")

    run = Run(tmp_path)
    run.say("I keep goats.", "/end")
    if arm == "gru":
        monkeypatch.setattr("chatmem.storage.write_atomic", refuse)
    else:
        monkeypatch.setattr(run.chat.memory, "sync", refuse)
    answers = run.say("I keep bees.", "What do I keep?")
    assert all(answer["reply"].endswith("All right.") for answer in answers[2:])
    assert bool(answers[3]["memories"]) == (arm == "gru")


def test_what_is_erased_stays_erased_where_the_file_cannot_be_rewritten(tmp_path, caplog):
    run = Run(tmp_path)
    run.say("My boat is Zanzibar.", "I keep goats.")
    sa.event.listen(run.chat.journal._engine, "connect", _refuse_vacuum)
    run.chat.journal._engine.dispose()
    assert run.say("/forget zanzibar")[-1]["ok"]
    assert b"zanzibar" not in bytes_under(tmp_path).lower()
    assert "could not be made smaller" in caplog.text


def _refuse_vacuum(connection: sqlite3.Connection, _: object) -> None:
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else 0)


@pytest.mark.parametrize(
    ("name", "make"), [("journal.db", os.mkfifo), ("memory.pkl", Path.mkdir), ("memory.pkl", os.mkfifo)]
)
def test_what_is_no_file_is_neither_waited_for_nor_the_end(tmp_path, name, make):
    make(storage.user_folder(tmp_path, "default") / name)
    answers = Run(tmp_path).say("I keep goats.", "/end", "What do I keep?")
    assert [line["text"] for line in answers[2]["memories"]] == ["I keep goats."]

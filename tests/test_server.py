"""A memory on a PostgreSQL server: one for several programs, apart for each user, and erased when it is forgotten.

CHATMEM_TEST_STORE=postgresql+psycopg://… pytest tests/test_server.py        names a database that tests may fill
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from conftest import NOON, STORE, FakeEncoder, make_session, on_server, tell
from filelock import Timeout

import chat_memory
from chatmem import schema, server, state_rows
from chatmem.interface import StoreError, Turn
from chatmem.journal import Journal
from chatmem.opening import open_store
from chatmem.settings import parse_args
from memory_module import GruMemory

needs_server = pytest.mark.skipif(STORE is None, reason="CHATMEM_TEST_STORE names no PostgreSQL server")
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("postgres//ana:hush-hush@host/db", "must look like postgresql"),
        ("mysql://ana:hush-hush@host/db", "must look like postgresql"),
        ("postgresql+psycopg://ana:hush@hush-hush@host/db", "write %40"),
        ("postgresql+psycopg://ana:x@host:hush-hush/db", "cannot be read"),
    ],
)
def test_wrong_url_is_one_line_without_the_password(store, said, capsys):
    assert chat_memory.main(["--store", store, "-p", "Hello."]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and "hush-hush" not in err
    assert "hush" not in repr(parse_args(["--store", store]))


def test_missing_driver_is_one_line(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(StoreError, match=r"pip install -r requirements-store\.txt"):
        server.open_engine("postgresql://ana@host/db", "ana")


@pytest.mark.skipif(importlib.util.find_spec("psycopg") is None, reason="the driver psycopg is not installed")
def test_server_that_is_not_there_is_one_line_within_seconds(capsys):
    started = time.perf_counter()
    assert chat_memory.main(["--store", "postgresql://ana:hush-hush@127.0.0.1:9/db", "-p", "Hello."]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "hush" not in err
    assert time.perf_counter() - started < 15


@needs_server
def test_wrong_password_is_not_shown():
    assert STORE is not None
    with pytest.raises(StoreError) as caught:
        open_store(str(sa.make_url(STORE).set(password="hush-hush")), "ana")
    assert "hush" not in str(caught.value)


@needs_server
def test_two_machines_share_one_memory():
    with on_server("pat") as one:
        other = Journal(server.open_engine(str(STORE), "pat"))
        memories = [GruMemory(journal, FakeEncoder(), hidden_dim=64) for journal in (one, other)]
        memories[0].remember(make_session("I keep goats.", "I see."))
        assert [line.text for line in memories[1].recall("What do I keep?")] == ["I keep goats."]
        memories[1].forget("goats")
        assert memories[0].recall("What do I keep?") == []
        other.close()


@needs_server
def test_users_are_apart():
    with on_server("ana") as ana, on_server("ana2") as other:
        ana.record(make_session("I keep goats."))
        other.record(make_session("I keep bees."))
        assert [line.text for line in ana.facts()] == ["I keep goats."]
        other.clear()
        assert [line.text for line in ana.facts()] == ["I keep goats."]


@needs_server
def test_restart_finishes_what_a_killed_program_left_and_leaves_alone_what_goes_on(caplog):
    with on_server("rob") as journal:
        open_one = journal.begin(NOON, "going-on")
        journal.append(open_one, Turn("user", "I keep goats.", NOON))
        lock = journal.lock("going-on")
        assert lock is not None
        lock.acquire()
        left = journal.begin(NOON, "left")
        journal.append(left, Turn("user", "I keep bees.", NOON))
        open_store(str(STORE), "rob").journal.close()
        assert journal.open_sessions() == [(open_one, "going-on")]
        with pytest.raises(Timeout):
            server.SessionLock(journal._engine, "going-on").acquire(blocking=False)
        lock.release()
        open_store(str(STORE), "rob").journal.close()
        assert journal.open_sessions() == []
        assert [record.message[:31] for record in caplog.records] == ["Recovered a session of 1 lines "] * 2


@needs_server
def test_long_sentences_fit_the_indexes():
    long = "I keep goats named " + " and ".join(f"Zanzibar{number}" for number in range(2000))
    with on_server() as journal:
        tell(GruMemory(journal, FakeEncoder(), hidden_dim=64), long, long)
        (fact,) = journal.facts()
        assert fact.text.startswith("I keep goats named Zanzibar0")


@needs_server
def test_forgotten_words_leave_every_row_of_every_table():
    with on_server() as journal:
        memory = GruMemory(journal, FakeEncoder(), hidden_dim=64)
        tell(memory, "My badge is amber. I keep goats.", "My badge is green now.")
        file = sa.text("SELECT pg_relation_filepath('turns')")
        with journal._transaction() as db:
            before = db.scalar(file)
        memory.forget("amber")
        with journal._transaction() as db:
            for table in schema.metadata.tables.values():
                assert "amber" not in json.dumps(
                    [[str(value) for value in row] for row in db.execute(sa.select(table))]
                )
            assert db.scalar(file) != before  # rewritten: no old row is left in it


WRITER = """
import sys
from datetime import datetime, timedelta, timezone
from chatmem.interface import Turn
from chatmem.opening import open_store
journal = open_store(sys.argv[1], "crowd").journal
when = datetime(2025, 3, 3, tzinfo=timezone.utc)
number = journal.begin(when)
for count in range(20):
    journal.append(number, Turn("user", f"My number {sys.argv[2]} is {count}.", when + timedelta(minutes=count)))
    print(count, flush=True)
"""


@needs_server
@pytest.mark.slow
def test_processes_at_once_lose_nothing_and_survive_a_kill():
    with on_server("crowd") as journal:
        command = [sys.executable, "-c", WRITER, str(STORE)]
        writers = [
            subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True, cwd=ROOT) for name in ("7", "8", "9")
        ]
        killed = writers.pop()
        assert killed.stdout is not None
        acknowledged = [int(killed.stdout.readline()) for _ in range(5)][-1]
        killed.kill()
        assert [writer.wait(120) for writer in writers] == [0, 0]
        said = [turn["text"] for row in journal.export() for turn in row["turns"]]
        assert {f"My number {name} is {count}." for name in "78" for count in range(20)} <= set(said)
        assert {f"My number 9 is {count}." for count in range(acknowledged + 1)} <= set(said)
        before = journal.dump()
        with journal._transaction() as db:
            state_rows.derive_all(db)
        assert journal.dump() == before
        for one in (*writers, killed):
            assert one.stdout is not None
            one.stdout.close()
        killed.wait()

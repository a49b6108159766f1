"""The journal: nothing acknowledged is lost, nothing erased is left.

pytest tests/test_journal.py        needs no weights and no network
"""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from conftest import NOON, bytes_under, make_session

from chatmem.interface import DamagedError, NewerError, Session, StoreError, Turn
from chatmem.journal import Journal


def test_turn_is_on_disk_when_append_returns(journal, tmp_path: Path):
    journal.append(journal.begin(NOON), Turn("user", "My boat is blue.", NOON))
    with sqlite3.connect(tmp_path / "journal.db") as other:
        assert other.execute("SELECT text FROM turns").fetchall() == [("My boat is blue.",)]


def test_append_tells_what_is_new(journal):
    session = journal.begin(NOON)
    first = Turn("user", "Hello! My boat is blue. I have two oars. Is that enough?", NOON)
    assert journal.append(session, first)[1] == ["My boat is blue.", "I have two oars."]
    assert journal.append(session, Turn("user", "my boat is BLUE", NOON))[1] == []
    assert journal.append(session, Turn("assistant", "Your boat is red.", NOON))[1] == []
    assert journal.append(session, Turn("user", "What a boat?", NOON, explicit=True))[1] == ["What a boat?"]


def test_time_keeps_its_offset(journal):
    when = datetime(2025, 2, 14, 23, 30, tzinfo=timezone(timedelta(hours=13)))
    number = journal.record(Session((Turn("user", "My exam is tomorrow.", when),)))
    assert journal.facts()[0].when.isoformat() == "2025-02-14T23:30:00+13:00"
    assert journal.turns(number)[0][1].when.utcoffset() == timedelta(hours=13)


def test_finished_empty_session_leaves_no_trace(journal):
    number = journal.begin(NOON)
    journal.finish(number, NOON)
    assert journal.export() == []
    assert journal.open_sessions() == []


def test_fact_told_twice_is_one_row(journal):
    journal.record(make_session("My boat is blue.", "I see.", day=0))
    journal.record(make_session("my boat is blue!", "I see.", day=1))
    assert [(line.text, line.session) for line in journal.facts()] == [("my boat is blue!", 2)]


def test_forget_takes_replies_that_came_of_it(journal):
    session = journal.begin(NOON)
    key, _ = journal.append(session, Turn("user", "My badge is amber. My desk is oak.", NOON))
    journal.append(session, Turn("assistant", "Amber, how lovely.", NOON))
    journal.append(session, Turn("user", "And what now?", NOON))
    line = next(line.key for line in journal.lines() if "badge" in line.text)
    journal.append(session, Turn("assistant", "It is amber.", NOON), sources=[line])
    journal.append(session, Turn("user", "Fine.", NOON))
    journal.append(session, Turn("assistant", "Good.", NOON))
    assert [found.text for found in journal.forget("My Badge")] == ["My badge is amber."]
    assert [turn.text for _, turn in journal.turns(session)] == ["My desk is oak.", "And what now?", "Fine.", "Good."]
    assert key in [line.turn_key for line in journal.lines()]


@pytest.mark.parametrize(
    ("said", "forgotten", "left"),
    [
        ("My code is 44\nMy code is 4", "code 4", "My code is 44"),
        ("My code is 4\nMy code is 44", "code 44", "My code is 4"),
        ("I sing in Bern\nI sing in Bernau\nI sing", "bernau", "I sing in Bern\n\nI sing"),
        ("My oar is red. My boat is blue. My oar is red.", "oar", "My boat is blue."),
    ],
)
def test_forget_cuts_no_other_sentence(journal, said, forgotten, left):
    number = journal.record(make_session(said))
    lines = [line.text for line in journal.lines()]
    erased = [line.text for line in journal.forget(forgotten)]
    assert [turn.text for _, turn in journal.turns(number)] == [left]
    assert [line.text for line in journal.lines()] == [line for line in lines if line not in erased]


def test_forgotten_bytes_are_gone(journal, tmp_path: Path):
    for day in range(30):
        journal.record(make_session(f"Filler {day} " + "x" * 3000, "I see.", day=day))
    journal.record(make_session("My word is Zanzibar. " + "Zanzibar is long. " * 400, "Zanzibar!", day=31))
    assert b"zanzibar" in bytes_under(tmp_path).lower()
    journal.forget("zanzibar")
    assert b"zanzibar" not in bytes_under(tmp_path).lower()
    assert len(journal.facts()) == 30


def test_clear_leaves_no_bytes(journal, tmp_path: Path):
    journal.record(make_session("My word is Zanzibar."))
    journal.clear()
    assert b"Zanzibar" not in bytes_under(tmp_path)
    assert journal.export() == []


def test_discarded_session_leaves_no_bytes(journal, tmp_path: Path):
    number = journal.begin(NOON)
    journal.append(number, Turn("user", "My word is Zanzibar.", NOON))
    journal.discard(number)  # the file is not rewritten here: what is deleted must be overwritten
    assert b"Zanzibar" not in bytes_under(tmp_path)


def test_new_turn_makes_vectors_stale(journal):
    number = journal.begin(NOON)
    journal.append(number, Turn("user", "My boat is blue.", NOON))
    journal.store_vectors(number, "f", b"1234", b"12")
    journal.append(number, Turn("user", "My oar is red.", NOON))
    assert journal.slots("f")[1] == []


def test_export_and_restore_is_identity(journal):
    journal.record(make_session("My boat is blue.", "I see.", "Why?", "Who knows."))
    session = journal.begin(NOON)
    journal.append(session, Turn("user", "Is it?", NOON, explicit=True))
    other = Journal("sqlite://")
    assert other.restore_all(journal.export()).added == 2
    assert other.export() == journal.export()
    assert [line.text for line in other.facts()] == [line.text for line in journal.facts()]
    assert other.restore_all(journal.export()).added == 0  # a second time adds nothing


def test_restoring_is_all_or_nothing(journal):
    exported = Journal("sqlite://")
    exported.record(make_session("My boat is blue."))
    good = exported.export()[0]
    naive = {"speaker": "user", "text": "x", "when": "2025-01-01", "explicit": False}
    for bad in ({"uid": "x"}, {"uid": "x", "turns": [{"speaker": "nobody"}]}, {"uid": "x", "turns": [naive]}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            journal.restore_all([good, bad])
        assert journal.export() == []


def test_two_connections_lose_nothing(tmp_path: Path):
    one, two = Journal.at(tmp_path / "journal.db"), Journal.at(tmp_path / "journal.db")
    sessions = [(one, one.begin(NOON)), (two, two.begin(NOON))]
    for count in range(20):
        for journal, session in sessions:
            journal.append(session, Turn("user", f"Session {session} saw {count} herons.", NOON))
    assert len(one.facts()) == len(two.facts()) == 40


def test_two_writers_at_once_lose_nothing(tmp_path: Path):
    def write(name: str) -> None:
        journal = Journal.at(tmp_path / "journal.db")
        for day in range(25):
            journal.record(make_session(f"{name} saw {day} herons.", day=day))  # reads before it writes

    Journal.at(tmp_path / "journal.db")
    with ThreadPoolExecutor() as pool:
        list(pool.map(write, ["Ida", "Bram", "Sven"]))
    assert len(Journal.at(tmp_path / "journal.db").facts()) == 75


def test_newer_journal_is_refused_and_kept(journal, tmp_path: Path):
    with sqlite3.connect(tmp_path / "journal.db") as other:
        other.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
    before = (tmp_path / "journal.db").read_bytes()
    with pytest.raises(NewerError, match="update the program"):
        Journal.at(tmp_path / "journal.db")
    assert (tmp_path / "journal.db").read_bytes() == before


@pytest.mark.parametrize("content", [b"garbage" * 500, b"SQLite format 3\0" + b"\1" * 5000])
def test_damaged_journal_is_told_from_a_full_disk(tmp_path: Path, content):
    (tmp_path / "journal.db").write_bytes(content)
    with pytest.raises(DamagedError):
        Journal.at(tmp_path / "journal.db")
    with pytest.raises(StoreError, match="cannot write"):
        Journal.at(tmp_path / "nowhere" / "journal.db")


def test_foreign_database_is_refused(tmp_path: Path):
    with sqlite3.connect(tmp_path / "journal.db") as other:
        other.execute("CREATE TABLE recipes (name)")
    with pytest.raises(DamagedError, match="another program"):
        Journal.at(tmp_path / "journal.db")


def test_path_may_hold_any_character(tmp_path: Path):
    folder = tmp_path / "Память ? 100% #1 & = ' \" 记忆"
    folder.mkdir()
    Journal.at(folder / "journal.db").record(make_session("My boat is blue."))
    assert (folder / "journal.db").stat().st_size > 0
    assert len(Journal.copy_in_ram(folder / "journal.db").facts()) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["journal.db"]

"""--max-sessions: what leaves a memory that may hold only so many sessions, and what never does.

pytest tests/test_capacity.py        needs no weights and no network
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from conftest import NOON, FakeEncoder, bytes_under, make_session

from chatmem.indexed import NullMemory
from chatmem.interface import Session, Turn
from chatmem.journal import Journal
from memory_module import GruMemory


def told(journal: Journal) -> list[str]:
    return [turn["text"] for session in journal.export() for turn in session["turns"] if turn["speaker"] == "user"]


def test_oldest_sessions_leave_first_without_a_trace(tmp_path: Path):
    journal = Journal.at(tmp_path / "journal.db")
    memory = GruMemory(journal, FakeEncoder(), tmp_path, hidden_dim=32)
    for day, text in enumerate(["My word is Zanzibar.", "My boat is blue.", "My goat is called Bramble."]):
        memory.remember(make_session(text, "I see.", day=day))
    assert memory.keep_at_most(2, NOON + timedelta(days=9)) == 1
    assert told(journal) == ["My boat is blue.", "My goat is called Bramble."]
    assert memory.sessions == [2, 3]
    assert memory.recall("What is my word?") == [] or "Zanzibar" not in memory.recall("What is my word?")[0].text
    assert b"zanzibar" not in bytes_under(tmp_path).lower()
    assert memory.keep_at_most(2, NOON) == 0


def test_what_was_asked_to_be_remembered_never_leaves():
    memory = NullMemory(Journal("sqlite://"))
    memory.remember(Session((Turn("user", "My locker is number 77.", NOON, explicit=True),)))
    for day in range(1, 5):
        memory.remember(make_session(f"My box {day} is full.", day=day))
    memory.keep_at_most(1, NOON + timedelta(days=999))
    assert told(memory.journal) == ["My locker is number 77."]


def test_what_replies_were_made_of_stays_longer():
    journal = Journal("sqlite://")
    for day, text in enumerate(["My goat is called Bramble.", "My boat is blue."]):
        journal.record(make_session(text, day=day))
    used = journal.lines(1)[0].key
    number = journal.begin(NOON + timedelta(days=2))
    journal.append(number, Turn("assistant", "It is Bramble.", NOON + timedelta(days=2)), sources=[used])
    journal.finish(number, NOON + timedelta(days=2))
    journal.keep_at_most(2, NOON + timedelta(days=3))
    assert told(journal) == ["My goat is called Bramble."]


def test_an_old_fact_is_not_current_again_because_its_successor_left():
    journal = Journal("sqlite://")
    journal.record(make_session("I live in Porto."))
    journal.record(make_session("I moved to Faro.", day=1))
    porto = journal.lines(1)[0].key
    number = journal.begin(NOON)
    for _ in range(3):
        journal.append(number, Turn("assistant", "Porto is old.", NOON + timedelta(days=2)), sources=[porto])
    journal.finish(number, NOON + timedelta(days=2))
    journal.keep_at_most(1, NOON + timedelta(days=3))
    assert "I live in Porto." not in [line.text for line in journal.facts() if line.status == "active"]

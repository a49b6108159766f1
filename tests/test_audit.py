"""The audit finds what is wrong in a journal, and the repair mends it.

pytest tests/test_audit.py        needs no weights and no network
"""

from __future__ import annotations

import re

import pytest
from conftest import NOON, FakeEncoder, bytes_under, make_session, tell

from chatmem import audit
from chatmem.interface import Turn
from chatmem.journal import Journal
from memory_module import GruMemory


@pytest.fixture
def memory(tmp_path):
    memory = GruMemory(Journal.at(tmp_path / "journal.db"), FakeEncoder(), tmp_path, hidden_dim=64)
    tell(memory, "I keep goats.", "I live in Kaunas.", "I moved to Turku.", "I keep goats!")
    memory.remember(make_session("My password is hunter2.", day=5))
    return memory


def counts(memory):
    return {finding.what.split()[0]: finding.count for finding in memory.journal.audit()}


def test_audit_counts_what_is_wrong(memory):
    assert counts(memory) == {"facts": 1, "questions": 0, "lines": 1, "sessions": 0, "vectors": 0}
    with memory.journal._transaction() as db:
        db.exec_driver_sql("UPDATE lines SET said = 'Where is it?', text = 'Where is it?' WHERE text LIKE 'I live%'")
        db.exec_driver_sql("UPDATE lines SET status = 'active'")
        db.exec_driver_sql("UPDATE vectors SET lines = substr(lines, 3) WHERE session = 2")
        db.exec_driver_sql("DELETE FROM vectors WHERE session = 3")
    assert counts(memory) == {"facts": 1, "questions": 1, "lines": 1, "sessions": 1, "vectors": 1}


def test_repair_mends_it(memory, tmp_path):
    with memory.journal._transaction() as db:
        db.exec_driver_sql("UPDATE lines SET said = 'Where is it?', text = 'Where is it?' WHERE text LIKE 'I live%'")
        db.exec_driver_sql("UPDATE vectors SET lines = substr(lines, 3) WHERE session = 2")
    memory.journal.mend()
    memory.drop_index()
    memory.sync()
    assert counts(memory) == {"facts": 1, "questions": 0, "lines": 0, "sessions": 0, "vectors": 0}
    assert b"hunter2" not in bytes_under(tmp_path)
    assert [line.text for line in memory.recall("Did I move to Turku?")] == ["I moved to Turku."]


def test_superseded_lines_do_not_come_back(memory):
    assert audit.superseded_recalled(memory, 3).total == 1
    assert audit.superseded_recalled(memory, 3).count == 0


def test_what_the_user_insisted_on_is_right(memory):
    number = memory.journal.begin(NOON)
    memory.journal.append(number, Turn("user", "What is my password? It is hunter2.", NOON, explicit=True))
    assert (counts(memory)["questions"], counts(memory)["lines"]) == (0, 1)


def test_secrets_are_found_in_questions_and_replies_and_by_own_patterns(memory, tmp_path):
    told = ["Is 4111 1111 1111 1111 my card?", "Your password is swordfish7.", "My badge is ZZ-77.", "I see."]
    memory.remember(make_session(*told, day=6))
    own = [re.compile("ZZ-[0-9]+")]
    assert [finding.count for finding in memory.journal.audit(own) if "secret" in finding.what] == [4]
    memory.journal.mend(own)
    memory.drop_index()
    memory.sync()
    assert [finding.count for finding in memory.journal.audit(own) if "secret" in finding.what] == [0]
    left = bytes_under(tmp_path)
    assert not any(mark in left for mark in (b"4111", b"swordfish7", b"ZZ-77", b"hunter2"))


def test_reply_may_repeat_what_the_user_insisted_on(memory):
    number = memory.journal.begin(NOON)
    memory.journal.append(number, Turn("user", "My password is swordfish7.", NOON, explicit=True))
    memory.journal.append(number, Turn("assistant", "Your password is swordfish7.", NOON))
    assert counts(memory)["lines"] == 1

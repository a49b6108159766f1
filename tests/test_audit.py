"""The audit finds what is wrong in a journal, and the repair mends it.

pytest tests/test_audit.py        needs no weights and no network
"""

from __future__ import annotations

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

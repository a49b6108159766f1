"""One suite for every arm: what a chat may expect of any memory.

pytest tests/test_memory_contract.py        needs no weights and no network
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import NOON, FakeEncoder, bytes_under, make_session, tell

from chatmem.indexed import IndexedMemory, NullMemory
from chatmem.interface import Turn
from chatmem.journal import Journal
from memory_module import GruMemory
from rag_baseline import RagMemory

NAMES = ("Ada", "Bea", "Cid", "Dan", "Eva", "Fay", "Gus", "Hal", "Ida", "Jon")
FACTS = ["My name is Ottilie.", "I work in a quarry.", "My goat is called Bramble.", "I play the harp."]


def open_arm(arm: str, folder: Path | None, fingerprint: str = "fake") -> IndexedMemory:
    journal = Journal("sqlite://") if folder is None else Journal.at(folder / "journal.db")
    if arm == "none":
        return NullMemory(journal, folder)
    if arm == "rag":
        return RagMemory(journal, FakeEncoder(fingerprint), folder)
    return GruMemory(journal, FakeEncoder(fingerprint), folder, hidden_dim=64)


@pytest.fixture(params=["none", "rag", "gru"])
def arm(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["rag", "gru"])
def recalling(request: pytest.FixtureRequest) -> str:
    return request.param


def texts(memory: IndexedMemory, query: str, k: int = 3, **options: object) -> list[str]:
    return [line.text for line in memory.recall(query, k, **options)]  # type: ignore[arg-type]


def test_empty_memory_recalls_nothing(arm, tmp_path):
    assert open_arm(arm, tmp_path).recall("What is my name?") == []


def test_none_records_and_recalls_nothing(tmp_path):
    memory = open_arm("none", tmp_path)
    tell(memory, *FACTS)
    assert memory.recall("What is my name?") == []
    assert [line.text for line in memory.journal.facts()] == FACTS


def test_recalls_with_place_time_and_speaker(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    best = memory.recall("What is my goat called?")[0]
    assert (best.text, best.session, best.turn, best.speaker) == (FACTS[2], 3, 0, "user")
    assert best.when == make_session("", day=2).turns[0].when
    assert 0.3 < best.score <= 1.0


def test_k_bounds_what_comes_back(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    query = "What is my name and what is my goat called?"
    assert memory.recall(query, 0) == []
    assert len(memory.recall(query, 1)) == 1
    assert len(memory.recall(query, 50)) <= len(FACTS)


def test_best_line_comes_first(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    scores = [line.score for line in memory.recall("What is my name?", 4)]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


def test_unrelated_query_recalls_nothing(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    assert memory.recall("blorpt zint quaver?") == []


def test_fact_told_twice_comes_back_once(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, "My goat is called Bramble.", "my goat is called bramble", "My goat is called Bramble!")
    found = memory.recall("What is my goat called?")
    assert [line.session for line in found] == [3]  # the newest telling


def test_visible_turns_need_not_come_back(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    key = next(line.turn_key for line in memory.journal.lines() if line.text == FACTS[2])
    assert FACTS[2] not in texts(memory, "What is my goat called?", visible=(key,))


def test_open_session_supersedes_what_is_indexed(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, "My goat is called Bramble.")
    assert texts(memory, "What is my goat called?") == ["My goat is called Bramble."]
    number = memory.journal.begin(NOON)
    memory.journal.append(number, Turn("user", "My goat is called Thistle now.", NOON + timedelta(days=9)))
    assert texts(memory, "What is my goat called?") == ["My goat is called Thistle now."]
    before = {line.text: line.until for line in memory.recall("What was my goat called before?")}
    assert before["My goat is called Bramble."] == NOON + timedelta(days=9)


def test_replaced_fact_stays_away(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, "My goat is called Bramble.", "I renamed my goat, my goat is called Thistle now.")
    found = texts(memory, "What is my goat called?")
    assert found[0] == "my goat is called Thistle now."
    assert "My goat is called Bramble." not in found


def test_questions_and_greetings_are_no_memories(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    memory.remember(make_session("What is my goat called?", "I do not know.", "Hello there!", "Hello!"))
    assert memory.recall("What is my goat called?") == []
    assert memory.journal.facts() == []


def test_assistant_comes_back_only_when_asked(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    memory.remember(make_session("Which cheese goes with pears?", "Pears go well with gorgonzola."))
    assert memory.recall("Do my pears go well with gorgonzola?") == []
    said = memory.recall("Which cheese did you say goes well with pears?")
    assert [(line.text, line.speaker) for line in said] == [("Pears go well with gorgonzola.", "assistant")]


def test_everything_is_asked_for_newest_first(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    assert texts(memory, "What do you know about me?") == FACTS[:0:-1]


def test_forget_erases_words_everywhere(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS, "I like goats in general.")
    erased = memory.forget("GOAT bramble")
    assert [line.text for line in erased] == [FACTS[2]]
    assert b"bramble" not in bytes_under(tmp_path).lower()
    for again in (memory, open_arm(recalling, tmp_path)):
        assert FACTS[2] not in texts(again, "What is my goat called?")
        assert texts(again, "Do I like goats in general?")[0] == "I like goats in general."


def test_forget_killed_half_way_loses_no_trace_of_the_words(recalling, tmp_path, monkeypatch):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)

    def killed(text: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(memory.journal, "forget", killed)
    with pytest.raises(KeyboardInterrupt):
        memory.forget("bramble")
    (tmp_path / "journal.db").unlink()
    assert b"bramble" not in bytes_under(tmp_path).lower()


def test_reset_killed_half_way_loses_no_trace_of_the_words(recalling, tmp_path, monkeypatch):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    monkeypatch.setattr(memory.journal, "clear", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        memory.reset()
    (tmp_path / "journal.db").unlink()
    assert b"bramble" not in bytes_under(tmp_path).lower()


def test_forget_needs_whole_words(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    for text in ("Bram", "goat harp", "", "..."):
        assert memory.forget(text) == []
    assert texts(memory, "What is my goat called?")[0] == FACTS[2]


def test_reset_erases_everything(arm, tmp_path):
    memory = open_arm(arm, tmp_path)
    tell(memory, *FACTS)
    memory.reset()
    assert memory.recall("What is my goat called?") == []
    assert memory.journal.lines() == []
    assert b"bramble" not in bytes_under(tmp_path).lower()
    tell(memory, FACTS[0])
    assert [line.text for line in memory.journal.facts()] == [FACTS[0]]


def test_other_scripts_and_emoji_come_back_whole(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, "Меня зовут Ярослава.", "كلبي اسمه ركس", "My flag is 🏴‍☠️ and I say naïve.")
    assert texts(memory, "Как меня зовут?") == ["Меня зовут Ярослава."]
    assert texts(memory, "What is my flag?") == ["My flag is 🏴‍☠️ and I say naïve."]


def test_reopened_memory_recalls_the_same(recalling, tmp_path):
    memory = open_arm(recalling, tmp_path)
    tell(memory, *FACTS)
    assert open_arm(recalling, tmp_path).recall("What is my name?") == memory.recall("What is my name?") != []


def test_works_in_ram_alone(recalling):
    one, two = open_arm(recalling, None), open_arm(recalling, None)
    tell(one, FACTS[2])
    assert texts(one, "What is my goat called?") == [FACTS[2]]
    assert two.recall("What is my goat called?") == []


def test_arms_recall_the_same_lines(tmp_path):
    gru, rag = open_arm("gru", tmp_path), open_arm("rag", tmp_path)
    tell(gru, *FACTS, "My aunt is a pilot.", "My aunt lives in Graz.")
    for query in ("What is my name?", "Where does my aunt live?", "Where do I work?", "blorpt?"):
        found, other = gru.recall(query, 5), rag.recall(query, 5)
        assert [line.text for line in found[:1]] == [line.text for line in other[:1]]  # only `gru` ranks by words too
        scores = {line.text: line.score for line in found}
        assert {line.text: line.score for line in other} == pytest.approx(scores, abs=1e-3)


# What only Chroma can get wrong


def test_rag_sees_what_gru_forgot(tmp_path):
    rag, gru = open_arm("rag", tmp_path), open_arm("gru", tmp_path)
    tell(rag, *FACTS)
    gru.forget("Bramble")
    assert FACTS[2] not in texts(rag, "What is my goat called?")
    assert b"bramble" not in bytes_under(tmp_path).lower()


def in_another_program(folder: Path, *steps: str) -> None:
    """Do something with a RagMemory in a process of its own: two clients of one process share Chroma's files."""
    code = "import sys; from pathlib import Path; from test_memory_contract import *\n"
    code += "\n".join(("memory = open_arm('rag', Path(sys.argv[1]))", *steps))
    places = os.pathsep.join((str(Path(__file__).parent), str(Path(__file__).parents[1])))
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env=os.environ | {"PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_rag_knows_a_line_that_has_the_key_of_another_one_in_a_journal_made_again(tmp_path):
    rag = open_arm("rag", tmp_path)
    tell(rag, FACTS[0], FACTS[2])
    rag.journal = Journal("sqlite://")
    rag.journal.record(make_session("My cousin is called Bertil.", "I see."))
    assert {line.key for line in rag.journal.lines()} == {1, 2}
    found = rag.recall("My cousin is called Bertil.")
    assert [(line.text, line.score) for line in found] == [
        ("My cousin is called Bertil.", pytest.approx(1.0, abs=1e-3))
    ]


@pytest.mark.slow
def test_rag_that_another_program_made_again_is_read_without_a_warning(tmp_path, caplog):
    memory = open_arm("rag", tmp_path)
    tell(memory, *FACTS)
    in_another_program(tmp_path, "memory.forget('Bramble')", "tell(memory, 'My goat is called Thistle.')")
    assert texts(memory, "What is my goat called?")[0] == "My goat is called Thistle."
    tell(memory, "My hen is called Plum.")
    in_another_program(tmp_path, "assert texts(memory, 'What is my hen called?', 1) == ['My hen is called Plum.']")
    assert caplog.text == ""


def test_rag_finds_the_newer_version_behind_many_tellings_of_the_old_one(tmp_path):
    rag, gru = open_arm("rag", tmp_path), open_arm("gru", tmp_path)
    told = ["My goat is called Bramble."] * 12
    tell(rag, *told, "I renamed my goat, it is called Thistle now.")
    assert texts(rag, "What is my goat called?", 1) == texts(gru, "What is my goat called?", 1)


def test_rag_knows_everything_newest_first(tmp_path):
    rag, gru = open_arm("rag", tmp_path), open_arm("gru", tmp_path)
    tell(rag, *FACTS * 3, *(f"{name} plays chess." for name in NAMES))
    question = "What do you know about me?"
    assert texts(rag, question, 5) == texts(gru, question, 5)
    assert texts(rag, question, 2) == ["Jon plays chess.", "Ida plays chess."]


def test_damaged_chroma_folder_is_made_again(tmp_path, caplog):
    tell(open_arm("rag", tmp_path), *FACTS)
    for path in (tmp_path / "chroma").rglob("*"):
        if path.is_file():
            path.write_bytes(b"garbage")
    memory = open_arm("rag", tmp_path)
    assert texts(memory, "What is my goat called?")[0] == FACTS[2]
    assert "made again" in caplog.text


def test_rag_of_another_encoder_is_made_again(tmp_path):
    tell(open_arm("rag", tmp_path), *FACTS)
    other = open_arm("rag", tmp_path, fingerprint="other")
    assert other.encoder.num_encoded >= len(FACTS)  # type: ignore[attr-defined]
    assert texts(other, "What is my goat called?")[0] == FACTS[2]


def test_rag_finds_behind_many_duplicates(tmp_path):
    memory = open_arm("rag", tmp_path)
    tell(memory, *["My goat is called Bramble."] * 40, "My goat is called Bramble sometimes and Rascal often.")
    assert len(texts(memory, "What is my goat called?")) == 2

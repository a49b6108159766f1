"""Forgetting: what an order means, that nothing of it is left on disk, and that old copies do not bring it back.

pytest tests/test_forgetting.py                needs no weights and no network
pytest tests/test_forgetting.py -m slow        the bundled encoder and decision, and the program in processes
"""

from __future__ import annotations

import io
import json
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import FakeEncoder, bytes_under, make_session, tell
from test_chat import Run

from chatmem.embedding import Array, SentenceEncoder
from chatmem.forgetting import meant
from chatmem.indexed import IndexedMemory, NullMemory
from chatmem.journal import Journal
from chatmem.opening import open_user
from chatmem.orders import deletion
from memory_module import GruMemory
from rag_baseline import RagMemory, scrub

PROGRAM = [sys.executable, str(Path(__file__).parent.parent / "chat_memory.py")]


class Knows:
    """A decision that knows which line answers which question."""

    threshold = 0.15

    def __init__(self, **answers: str) -> None:
        self.answers = answers

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        wanted = [text for word, text in self.answers.items() if word in query]
        return np.array([0.9 if line in wanted else 0.01 for line in lines], dtype=np.float32)

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        return [False] * len(old)

    renews = replaces


def open_arm(arm: str, folder: Path) -> IndexedMemory:
    folder.mkdir(exist_ok=True)
    journal = Journal.at(folder / "journal.db")
    if arm == "rag":
        return RagMemory(journal, FakeEncoder(), folder)
    return GruMemory(journal, FakeEncoder(), folder, hidden_dim=64)


def means(memory: IndexedMemory, line: str) -> list[str]:
    order = deletion(line)
    assert order is not None
    return [found.text for found in meant(order, memory)]


@pytest.fixture
def memory() -> IndexedMemory:
    memory = GruMemory(Journal("sqlite://"), FakeEncoder(), hidden_dim=64)
    tell(
        memory,
        "My phone number is 555 2201.",
        "My office phone number is 555 9000.",
        "My cousin's phone number is 555 7777.",
        "My cousin Odile breeds rabbits.",
        "Odile lives in Lund.",
        "I'm paid 3400 crowns.",
        "I live in Kaunas.",
        "I moved to Turku.",
        "I like liver.",
    )
    return memory


@pytest.mark.parametrize(
    ("order", "gone"),
    [
        ("Can you forget my phone number?", ["My phone number is 555 2201."]),
        (
            "Erase everything about my cousin.",
            ["My cousin's phone number is 555 7777.", "My cousin Odile breeds rabbits.", "Odile lives in Lund."],
        ),
        ("Forget my salary.", ["I'm paid 3400 crowns."]),
        ("Forget where I live.", ["I live in Kaunas.", "I moved to Turku."]),
        ("Forget that I moved to Turku.", ["I live in Kaunas.", "I moved to Turku."]),
        ("Forget that I live in Kaunas.", ["I live in Kaunas."]),
        ("Forget that I don't like liver.", []),
        ("Forget the last thing I told you.", ["I like liver."]),
        ("Forget my blood type.", []),
    ],
)
def test_order_means_what_the_user_means(memory, order, gone):
    memory.decision = Knows(salary="I'm paid 3400 crowns.", **{"live?": "I moved to Turku."})
    assert means(memory, order) == gone


def test_words_decide_where_no_decision_is(journal):
    memory = NullMemory(journal)
    tell(memory, "My badge is amber.", "My brother's badge is green.", "Мой адрес: улица Мира.", "我的猫叫小黑。")
    assert means(memory, "Forget my badge.") == ["My badge is amber."]
    assert means(memory, "Забудь мой адрес.") == ["Мой адрес: улица Мира."]
    assert means(memory, "请忘掉我的猫") == ["我的猫叫小黑。"]


def test_chat_deletes_and_does_not_recite(tmp_path, capsys):
    run = Run(tmp_path, "Noted.", "You said 555 2201.", "Sorry, no idea.")
    told = "My phone number is 555 2201."
    answers = run.say(told, "Is it 555 2201?", "Can you forget my phone number?", "What is my phone number?", "/memory")
    assert answers[2]["reply"] == "Done, I have forgotten your phone number: 1 line."
    assert (answers[2]["memories"], answers[2]["remembered"]) == ([], [])
    assert answers[3]["memories"] == []
    assert answers[4] == {"memory": []}
    assert "2201" not in run.model.prompts[-1]
    assert b"2201" not in bytes_under(tmp_path)
    assert "forgotten your phone number" in capsys.readouterr().err  # nobody could be asked


def test_order_leaves_nothing_of_its_own(tmp_path):
    run = Run(tmp_path)
    answers = run.say("Please forget that my locker code is 90210.", "/memory")
    assert answers[0]["reply"] == "I found nothing like that in my memory, so nothing was deleted."
    assert answers[1] == {"memory": []}
    assert b"90210" not in bytes_under(tmp_path)


def test_rest_of_the_message_is_answered(tmp_path):
    run = Run(tmp_path, "Fine.", "Nice.")
    answers = run.say("My badge is amber.", "Forget my badge. I keep goats.", "/memory")
    assert answers[1]["reply"] == "Done, I have forgotten your badge: 1 line. Nice."
    assert answers[1]["remembered"] == ["I keep goats."]
    assert [row["text"] for row in answers[2]["memory"]] == ["I keep goats."]


def test_everything_is_forgotten_when_asked_for(tmp_path):
    run = Run(tmp_path)
    answers = run.say("My badge is amber.", "/end", "I keep goats.", "Forget everything you know about me.", "/memory")
    assert answers[-1] == {"memory": []}
    assert not any(word in bytes_under(tmp_path).lower() for word in (b"amber", b"goats"))


@pytest.mark.parametrize("order", ["Forget my badge.", "/forget badge", "Forget everything you know about me."])
def test_terminal_shows_and_asks_first(tmp_path, monkeypatch, capsys, order):
    run = Run(tmp_path, at_terminal=True)
    run.say("My badge is amber.", "/end")
    for answer, left in (("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        run.say(order)
        said = capsys.readouterr().err
        assert "[y/N]" in said
        assert ("- My badge is amber." in said) == ("everything" not in order)
        assert len(run.chat.journal.facts()) == left


def test_yes_skips_the_question(tmp_path, monkeypatch):
    run = Run(tmp_path, at_terminal=True, yes=True)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    run.say("My badge is amber.", "I keep goats.", "/forget badge", "Forget that I keep goats.")
    assert run.chat.journal.facts() == []


def test_undo_takes_back_the_last_memory_and_what_it_replaced_counts_again(tmp_path):
    run = Run(tmp_path)
    answers = run.say("I live in Kaunas.", "I moved to Turku.", "What now?", "/undo", "/memory", "/undo", "/undo")
    assert answers[3]["message"].splitlines() == [
        "Erased 1 line of yours:", "- I moved to Turku.", "This counts as current again:", "- I live in Kaunas.",
    ]  # fmt: skip
    assert [(row["text"], row["status"]) for row in answers[4]["memory"]] == [("I live in Kaunas.", "active")]
    assert [answer["ok"] for answer in answers[5:]] == [True, False]
    assert b"Turku" not in bytes_under(tmp_path)


def test_terminal_says_what_was_remembered_and_how_to_undo_it(tmp_path, capsys):
    Run(tmp_path, as_json=False, at_terminal=True).say("I keep goats.", "Hello!")
    assert capsys.readouterr().err.count("/undo") == 1
    Run(tmp_path, as_json=False).say("I keep bees.")
    assert "bees" not in capsys.readouterr().err


# Nothing is left, and nothing comes back


@pytest.mark.parametrize("arm", ["gru", "rag"])
@pytest.mark.parametrize("way", ["/forget", "order"])
def test_no_byte_of_a_forgotten_fact_is_left(arm, way, tmp_path):
    folder = tmp_path / arm
    memory = open_arm(arm, folder)
    memory.remember(
        make_session("My boat is called Zanzibar.", "Zanzibar, what a name.", "What is Zanzibar?", "A boat.")
    )
    memory.remember(make_session("My boat is now called Quagga.", "I see.", "I keep bees.", "Nice.", day=1))
    assert b"zanzibar" in bytes_under(folder).lower()
    if way == "order":
        order = deletion("Forget my boat.")
        assert order is not None
        memory.erase(meant(order, memory))
    else:
        memory.forget("zanzibar")
        memory.forget("quagga")
    left = bytes_under(folder).lower()
    assert b"zanzibar" not in left and b"quagga" not in left
    assert [line.text for line in memory.journal.facts()] == ["I keep bees."]
    again = open_arm(arm, folder)
    assert [line.text for line in again.recall("Which bees do I keep?")] == ["I keep bees."]


def test_room_in_chromas_index_file_is_overwritten(tmp_path):
    tell(open_arm("rag", tmp_path), "My boat is called Zanzibar.")
    (header,) = tmp_path.glob("chroma/*/header.bin")
    path, raw = header.with_name("data_level0.bin"), bytearray(header.read_bytes())
    assert struct.unpack_from("<iQQQQ", raw)[3] == 0  # a few lines are in Chroma's journal, none in the index yet
    struct.pack_into("<Q", raw, 20, 2)  # as if two were
    header.write_bytes(raw)
    size = struct.unpack_from("<iQQQQ", raw)[4]
    path.write_bytes(b"x" * path.stat().st_size)
    scrub(header)
    assert path.read_bytes().strip(b"\0") == b"x" * 2 * size


def test_old_copy_does_not_bring_back_what_was_forgotten(tmp_path):
    path = tmp_path / "old.json"
    run = Run(tmp_path / "m", "Amber, fine.", "Hm.", "Amber!")
    told = ("My badge is amber. I keep goats.", "What is my badge?")
    answers = run.say(*told, "/end", f"/export {path}", "/forget amber", f"/import {path}", "/memory")
    assert "Added 0 of 1" in answers[-2]["message"]
    assert [row["text"] for row in answers[-1]["memory"]] == ["I keep goats."]
    run = Run(tmp_path / "m")
    answers = run.say("/forget goats", f"/import {path}", "/memory", "/end")  # the session itself is gone by now
    assert answers[1]["message"].endswith(
        "left out 2 sentences that you had forgotten (/import FILE --all brings them back)"
    )
    assert answers[2] == {"memory": []}
    assert b"amber" not in bytes_under(tmp_path / "m").lower()
    answers = Run(tmp_path / "m").say(f"/import {path} --all", "/memory", "/forget goats", f"/import {path}", "/memory")
    assert [row["text"] for row in answers[1]["memory"]] == ["My badge is amber.", "I keep goats."]
    assert [row["text"] for row in answers[4]["memory"]] == ["My badge is amber."]


def test_fact_told_again_is_wanted_again(tmp_path):
    path = tmp_path / "old.json"
    run = Run(tmp_path / "m")
    answers = run.say("I keep goats.", "/forget goats", "I keep goats!", f"/export {path}", "/reset", f"/import {path}")
    assert answers[2]["remembered"] == ["I keep goats!"]
    assert "left out" not in answers[-1]["message"]
    assert [line.text for line in run.chat.journal.facts()] == ["I keep goats!"]


def test_recovery_of_a_damaged_journal_leaves_forgotten_facts_forgotten(tmp_path, caplog):
    run = Run(tmp_path)
    run.say("My badge is amber.", "/end", "I keep goats.", "/end")
    folder = run.chat._folder
    assert folder is not None
    pool = (folder / "memory.pkl").read_bytes()
    run.say("/forget amber")
    with run.chat.journal._transaction() as db:
        page, size = (db.exec_driver_sql(query).scalar() for query in (
            "SELECT rootpage FROM sqlite_master WHERE name = 'lines'", "PRAGMA page_size",
        ))  # fmt: skip
    run.chat.journal.close()
    raw = bytearray((folder / "journal.db").read_bytes())
    raw[(page - 1) * size : page * size] = b"\xff" * size
    (folder / "journal.db").write_bytes(raw)
    (folder / "memory.pkl").write_bytes(pool)  # an old copy
    assert [line.text for line in open_user(tmp_path, "default").journal.facts()] == ["I keep goats."]
    assert "Recovered" in caplog.text


def test_tombstones_hold_no_words(tmp_path):
    run = Run(tmp_path)
    run.say("My badge is amber.", "/forget amber")
    assert b"amber" not in bytes_under(tmp_path).lower()
    with run.chat.journal._transaction() as db:
        marks = [row[0] for row in db.exec_driver_sql("SELECT mark FROM tombstones")]
    assert marks and all(len(bytes.fromhex(mark)) == 16 for mark in marks)


# With the bundled encoder and decision


@pytest.mark.slow
@pytest.mark.parametrize("arm", ["gru", "rag"])
def test_program_leaves_no_byte_behind_even_when_it_is_killed(arm, tmp_path):
    marks = ("quokkastan", "fenwick", "77-3105", "odile")
    told = ["I was born in Quokkastan.", "I bank with Fenwick & Lowe.", "My card ends in 77-3105.", "My aunt is Odile."]
    orders = ["Forget where I was born.", "Would you mind forgetting which bank I use?", "/forget 77-3105",
              "Erase everything you know about my aunt."]  # fmt: skip
    arguments = ["--json", "--memory-dir", str(tmp_path), "--memory", arm, "--max-new-tokens", "12"]
    lines = "".join(f"{line}\n" for line in [*told, "/end", "Where was I born?", "Who is my aunt?", "/end"])
    subprocess.run([*PROGRAM, *arguments], input=lines.encode(), capture_output=True, check=True, timeout=240)
    assert all(mark.encode() in bytes_under(tmp_path).lower() for mark in marks)
    with subprocess.Popen([*PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None and child.stdout is not None
        for order in orders:
            child.stdin.write(f"{order}\n")
            child.stdin.flush()
            answer = json.loads(child.stdout.readline())
            said = str(answer.get("reply", answer.get("message"))).casefold()
            assert "forgotten" in said or "erased" in said, answer
        child.send_signal(signal.SIGKILL)
    left = bytes_under(tmp_path).lower()
    assert [mark for mark in marks if mark.encode() in left] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "gone"),
    [
        ("Could you please forget my date of birth?", "I was born on 3 May 1981."),
        ("Forget my salary.", "I earn 3400 euros a month."),
        ("Would you mind forgetting which bank I use?", "I bank with Fenwick & Lowe."),
        ("Please forget that I own a motorbike.", "I have a motorbike, a Triumph."),
        ("Forget what I told you about my job.", "I work as a baker at Korenhof."),
        ("Forget my passport number.", None),
        ("Forget that I have a dog.", None),
    ],
)
def test_decision_finds_what_is_asked_for_in_other_words(order, gone):
    memory = GruMemory(Journal("sqlite://"), SentenceEncoder.load())
    tell(
        memory, "I was born on 3 May 1981.", "I earn 3400 euros a month.", "I bank with Fenwick & Lowe.",
        "I have a motorbike, a Triumph.", "I work as a baker at Korenhof.", "My sister Noor plays the cello.",
        "I live in Delft.", "My cat is called Pixel.",
    )  # fmt: skip
    assert means(memory, order) == ([gone] if gone else [])

"""The chat and the terminal program, as transcripts: tell, leave, come back, be remembered.

pytest tests/test_chat.py        needs no weights and no network
"""

from __future__ import annotations

import io
import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from conftest import FakeEncoder, ScriptedModel, bytes_under

import chat_memory
from chatmem import terminal
from chatmem.background import Background, ready
from chatmem.chat import Chat
from chatmem.indexed import IndexedMemory, NullMemory
from chatmem.interface import StoreError
from chatmem.opening import open_user
from chatmem.settings import Settings
from chatmem.terminal import LineReader
from memory_module import GruMemory


class Run:
    """One run of the program over scripted lines, with a memory folder that stays."""

    def __init__(
        self, folder: Path, *replies: str, as_json: bool = True, at_terminal: bool = False, **settings: object
    ) -> None:
        self.settings = Settings(memory_dir=folder, **settings)  # type: ignore[arg-type]
        self.model = ScriptedModel(*replies)
        self.out = io.StringIO()
        opened = chat_memory.open_journal(self.settings)
        if self.settings.memory == "none":
            memory: IndexedMemory = NullMemory(opened.journal, opened.folder)
        else:
            memory = GruMemory(opened.journal, FakeEncoder(), opened.folder, hidden_dim=64)
        self.chat = Chat(self.settings, opened, ready(memory), ready(self.model), terminal.notice)
        self.program = chat_memory.Program(self.chat, self.out, as_json=as_json, at_terminal=at_terminal)

    def say(self, *lines: str) -> list[dict]:
        waiting = iter(lines)
        self.program.run(lambda _: next(waiting, None))
        return [json.loads(line) for line in self.out.getvalue().splitlines()] if self.program._as_json else []


def test_two_sessions_with_a_restart_between(tmp_path):
    first = Run(tmp_path, "Nice to meet you.").say("My name is Wilhelmina.", "/quit")
    assert first[0] == {
        "reply": "Nice to meet you.",
        "memories": [],
        "remembered": ["My name is Wilhelmina."],
        "seconds": first[0]["seconds"],
    }
    assert first[1] == {"command": "/quit", "ok": True, "message": "Session 1 is stored: 2 lines."}
    second = Run(tmp_path, " is Wilhelmina.")
    answer = second.say("What is my name?")[0]
    assert answer["reply"] == "Your name is Wilhelmina."
    assert [line["text"] for line in answer["memories"]] == ["My name is Wilhelmina."]
    assert answer["remembered"] == []
    assert "Your name is Wilhelmina." in second.model.prompts[0]


def test_plain_output_is_the_reply_and_nothing_else(tmp_path, capsys):
    run = Run(tmp_path, "All is well.", as_json=False)
    run.say("How are you doing?", "", "/end")
    assert run.out.getvalue() == "All is well.\n"
    assert capsys.readouterr() == ("", "Session 1 is stored: 2 lines.\n")


def test_line_is_saved_before_the_reply(tmp_path):
    run = Run(tmp_path)

    class Dies(ScriptedModel):
        def stream(self, prompt: str, sampling: object, stops: Sequence[str] = (), **_: object) -> Iterator[str]:
            raise SystemError("killed")

    run.chat._model = ready(Dies())
    with pytest.raises(SystemError):
        list(run.chat.say("I keep goats."))
    assert [line.text for line in run.chat.journal.facts()] == ["I keep goats."]


def test_interrupted_reply_is_kept_and_session_goes_on(tmp_path, capsys):
    run = Run(tmp_path)

    class Interrupted(ScriptedModel):
        def stream(self, prompt: str, sampling: object, stops: Sequence[str] = (), **_: object) -> Iterator[str]:
            yield "Once upon"
            raise KeyboardInterrupt

    run.chat._model = ready(Interrupted())
    answers = run.say("Tell me a story.", "/memory", "/end")
    assert answers[0]["reply"] == "Once upon"
    assert answers[2]["message"] == "Session 1 is stored: 2 lines."
    assert "Stopped." in capsys.readouterr().err
    assert [turn["text"] for turn in run.chat.journal.export()[0]["turns"]] == ["Tell me a story.", "Once upon"]


def test_every_way_out_finishes_the_session(tmp_path):
    for way in ("/end", "/quit", None):
        run = Run(tmp_path / str(way).strip("/"))
        run.say("I keep goats.", *([way] if way else []))
        assert run.chat.journal.open_sessions() == []
        assert run.chat.memory.network.filled == 1  # type: ignore[attr-defined]
        assert not list(run.chat._folder.glob("open-*"))  # type: ignore[union-attr]


def test_idle_session_is_finished_and_the_next_begins(tmp_path, capsys):
    run = Run(tmp_path, idle_timeout=5.0)
    events: list[object] = ["I keep goats.", terminal.IdleTimeout(), "I keep bees.", None]
    waited: list[float | None] = []

    def read(timeout: float | None) -> str | None:
        waited.append(timeout)
        event = events.pop(0)
        if isinstance(event, terminal.IdleTimeout):
            raise event
        return event  # type: ignore[return-value]

    run.program.run(read)
    assert waited == [None, 300.0, None, 300.0]  # nothing is waited for before a session begins
    assert "Nothing was said for 5 minutes. Session 1 is stored" in capsys.readouterr().err
    assert [line.session for line in run.chat.journal.facts()] == [1, 2]


def test_history_of_this_session_is_in_the_prompt(tmp_path):
    run = Run(tmp_path, "Ship ahoy.", "Indeed.")
    run.say("The sea is calm.", "And the wind?", "/end", "And now?")
    assert "<user> The sea is calm.\n<assistant> Ship ahoy.\n<user> And the wind?" in run.model.prompts[1]
    assert "The sea is calm" not in run.model.prompts[2]


def test_memory_lists_facts_once_without_questions(tmp_path):
    run = Run(tmp_path)
    rows = run.say("Hello!", "I keep goats.", "I keep goats!", "What do I keep?", "/remember Why not?", "/memory")[-1]
    assert [(row["text"], row["status"], row["speaker"]) for row in rows["memory"]] == [
        ("I keep goats!", "active", "user"),
        ("Why not?", "active", "user"),
    ]


def test_remember_is_kept_and_recalled_at_once(tmp_path):
    run = Run(tmp_path)
    answers = run.say("/remember My locker combination ends in 9.", "What does my locker combination end in?")
    assert answers[0]["ok"]
    assert answers[1]["memories"][0]["text"] == "My locker combination ends in 9."


def test_forget_shows_and_erases_also_from_this_session(tmp_path):
    run = Run(tmp_path, "Amber, fine.", "Who knows.")
    answers = run.say(
        "My badge is amber. I keep goats.", "/forget BADGE amber", "/forget badge amber", "What is my badge?"
    )
    assert answers[1] == {"command": "/forget", "ok": True, "message": "Erased 1 line of yours:\n- My badge is amber."}
    assert not answers[2]["ok"]
    assert answers[3]["memories"] == []
    assert "amber" not in run.model.prompts[-1].casefold()
    assert b"amber" not in bytes_under(tmp_path).lower()


def test_reset_erases_everything_without_asking_a_pipe(tmp_path):
    run = Run(tmp_path)
    answers = run.say("My badge is amber.", "/reset", "/memory", "What is my badge?")
    assert answers[1]["ok"]
    assert answers[2] == {"memory": []}
    assert answers[3]["memories"] == []
    assert b"amber" not in bytes_under(tmp_path).lower()


def test_reset_at_a_terminal_asks_first(tmp_path, monkeypatch):
    run = Run(tmp_path, at_terminal=True)
    for answer, left in (("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        run.say("I keep goats.", "/reset")
        assert len(run.chat.journal.facts()) == left


def test_why_shows_sentence_date_and_session(tmp_path):
    run = Run(tmp_path, now=None)
    answers = run.say("/why", "I keep goats.", "/end", "What do I keep?", "/why", "Hello!", "/why")
    assert answers[0]["message"] == "There was no reply yet."
    assert "session 1, you said (score 0." in answers[4]["message"]
    assert answers[4]["message"].endswith(": I keep goats.")
    assert answers[6]["message"] == "No memory was used for the last reply."


def test_export_and_import_carry_a_memory_over(tmp_path):
    path = tmp_path / "out.json"
    told = Run(tmp_path / "one").say("I'm left-handed.", "/remember Why not?", f"/export {path}", f"/export {path}")
    assert [answer.get("ok") for answer in told[1:]] == [True, True, False]  # a file that exists is not overwritten
    assert path.stat().st_mode & 0o077 == 0
    run = Run(tmp_path / "two")
    answers = run.say(f"/import {path}", f"/import {path}", "Am I left-handed?", "/memory")
    assert answers[0]["message"].startswith("Added 1 of 1 sessions")
    assert answers[1]["message"].startswith("Added 0 of 1 sessions")
    assert answers[2]["memories"][0]["text"] == "I'm left-handed."
    assert [row["text"] for row in answers[3]["memory"]] == ["I'm left-handed.", "Why not?"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"format": "other"}', b'{"format": "chatmem-export", "version": 1}',
     b'{"format": "chatmem-export", "version": 1, "sessions": [{"uid": "x", "turns": [{}]}]}',
     b'{"format": "chatmem-export", "version": 99, "sessions": []}', b"[" * 100_000],
)  # fmt: skip
def test_bad_import_changes_nothing(tmp_path, content):
    (tmp_path / "bad.json").write_bytes(content)
    run = Run(tmp_path / "memory")
    answers = run.say("I keep goats.", f"/import {tmp_path / 'bad.json'}", "/import", "/import /nowhere", "/memory")
    assert [answer["ok"] for answer in answers[1:4]] == [False, False, False]
    assert [row["text"] for row in answers[4]["memory"]] == ["I keep goats."]


def test_unknown_command_lists_the_known_ones(tmp_path):
    answers = Run(tmp_path).say("/frobnicate the widget", "/Memory", "/remember", "/forget", "/help", "/memory")
    assert [answer.get("ok") for answer in answers] == [False, False, False, False, True, None]
    assert "/forget" in answers[0]["message"]
    assert answers[-1] == {"memory": []}


def test_none_records_without_using(tmp_path):
    Run(tmp_path, memory="none").say("I keep goats.")
    run = Run(tmp_path, memory="none")
    assert run.say("What do I keep?")[0]["memories"] == []
    assert "goats" not in run.model.prompts[0]
    assert Run(tmp_path).say("What do I keep?")[0]["memories"][0]["text"] == "I keep goats."


def test_temporary_neither_reads_nor_writes(tmp_path):
    Run(tmp_path).say("I keep goats.")
    before = bytes_under(tmp_path)
    answers = Run(tmp_path, temporary=True).say("I keep bees.", "/end", "What do I keep?", "/memory")
    assert [line["text"] for line in answers[2]["memories"]] == ["I keep bees."]
    assert bytes_under(tmp_path) == before


@pytest.mark.parametrize(
    "line", ["x" * 100_000, "\x00\x07\x1b[31m", "🎉" * 500, "مرحبا بالعالم", "a\u202eb", "word " * 20_000, "…"]
)
def test_odd_lines_are_answered(tmp_path, line):
    answers = Run(tmp_path).say(terminal.clean(line) or "-", "/quit")
    assert answers[0]["reply"]
    assert answers[1]["ok"]


def test_bytes_of_a_pipe_become_lines():
    raw = "One\r\nTw\xffo\n\u001b[2JThree\nFour".encode("latin-1")
    reader = LineReader(io.TextIOWrapper(io.BytesIO(raw)))
    assert [reader.read(1) for _ in range(5)] == ["One", "Tw\ufffdo", "[2JThree", "Four", None]


def test_silent_pipe_times_out():
    class Silent(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _: object) -> int:
            import time

            time.sleep(5)
            return 0

    reader = LineReader(io.TextIOWrapper(io.BufferedReader(Silent())))
    with pytest.raises(terminal.IdleTimeout):
        reader.read(0.05)


def test_full_disk_is_told_and_the_chat_goes_on(tmp_path, monkeypatch, capsys):
    run = Run(tmp_path, "Still here.")

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("the journal cannot be used: database or disk is full")

    monkeypatch.setattr(run.chat.journal, "append", refuse)
    answer = run.say("I keep goats.")[0]
    assert answer["reply"] == "Still here."
    assert answer["remembered"] == []
    assert "Not saved: the journal cannot be used: database or disk is full" in capsys.readouterr().err


def test_k_bounds_the_lines_in_the_prompt(tmp_path):
    Run(tmp_path).say(*[f"My {thing} is here." for thing in ("goat", "bee", "cow", "hen", "ox")])
    for k in (0, 1, 4):
        assert len(Run(tmp_path, k=k).say("Which of my things is here?")[0]["memories"]) == k


def test_each_reply_has_a_seed_of_its_own(tmp_path):
    run = Run(tmp_path, seed=7)
    run.say("Hello!", "Hello!")
    assert [sampling.seed for sampling in run.model.samplings] == [7, 8]


def test_loading_is_told_where_it_takes_long(tmp_path, capsys):
    import time

    run = Run(tmp_path)
    run.chat._model = Background(lambda: time.sleep(1.3) or run.model)
    run.say("Hello!")
    assert "Loading SmolLM2" in capsys.readouterr().err


def test_background_raises_where_it_is_asked():
    def fail() -> None:
        raise StoreError("no")

    with pytest.raises(StoreError):
        Background(fail).get()


def test_two_programs_at_once_lose_nothing(tmp_path):
    one, two = Run(tmp_path), Run(tmp_path)
    list(one.chat.say("My tent is orange."))
    list(two.chat.say("My canoe is white."))
    two.chat.finish()
    one.chat.finish()
    assert {line.text for line in open_user(tmp_path, "default").journal.facts()} == {
        "My tent is orange.",
        "My canoe is white.",
    }
    assert one.chat.memory.network.filled == 2  # type: ignore[attr-defined]


def test_session_outlives_another_programs_reset(tmp_path):
    one, two = Run(tmp_path), Run(tmp_path)
    list(one.chat.say("My tent is orange."))
    two.chat.reset()
    list(one.chat.say("My canoe is white."))
    one.chat.finish()
    assert [line.text for line in one.chat.journal.facts()] == ["My canoe is white."]
    assert one.chat.journal.open_sessions() == []


def test_session_begun_after_another_programs_reset_is_our_own_and_in_progress(tmp_path, caplog):
    one, two = Run(tmp_path), Run(tmp_path)
    list(one.chat.say("My tent is orange."))
    two.chat.reset()
    list(two.chat.say("My kite is green."))  # takes the number that our session had
    list(one.chat.say("My canoe is white."))
    said = [[turn["text"] for turn in session["turns"][::2]] for session in one.chat.journal.export()]
    assert said == [["My kite is green."], ["My canoe is white."]]
    open_user(tmp_path, "default")  # a third program does not take either for abandoned
    assert caplog.text == ""
    assert len(one.chat.journal.open_sessions()) == 2


def test_session_whose_lines_are_all_forgotten_ends(tmp_path):
    run = Run(tmp_path, "Amber.")
    answers = run.say("My badge is amber.", "/forget badge amber", "/forget badge amber", "/end")
    assert [answer["ok"] for answer in answers[1:]] == [True, False, True]
    assert run.chat.journal.export() == []
    assert run.chat.journal.open_sessions() == []


def test_ctrl_c_while_something_loads_does_not_end_the_load(request):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a program started behind a shell ignores it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    loading = Background(lambda: time.sleep(0.3) or "ready")
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        loading.get()
    assert loading.get() == "ready"

"""The program as a process: arguments, exit status, and one line on stderr for what a user or a disk caused.

pytest tests/test_program.py                needs no weights and no network
pytest tests/test_program.py -m slow        the bundled model, in real processes and a real terminal
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parent.parent
PROGRAM = [sys.executable, str(ROOT / "chat_memory.py")]


def run(*arguments: str, lines: str | bytes = "", **options: object) -> subprocess.CompletedProcess[str]:
    """Run the program to its end."""
    given = lines.encode() if isinstance(lines, str) else lines
    done = subprocess.run([*PROGRAM, *arguments], input=given, capture_output=True, timeout=240, **options)  # type: ignore[call-overload]
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_help_is_instant():
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        done = run("--help")
        seconds.append(time.perf_counter() - started)
    assert done.returncode == 0
    assert "--memory-dir" in done.stdout
    assert min(seconds) < 0.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--k", "-1"], "--k"),
        (["--k", "many"], "--k"),
        (["--slots", "0"], "--slots"),
        (["--now", "yesterday"], "--now"),
        (["--temperature", "-1"], "--temperature"),
        (["--temperature", "nan"], "--temperature"),
        (["--idle-timeout", "0"], "--idle-timeout"),
        (["--max-new-tokens", "0"], "--max-new-tokens"),
        (["--memory", "magic"], "--memory"),
        (["--device", "abacus"], "--device"),
        (["--user", ""], "--user"),
        (["--user", "  "], "--user"),
        (["--frobnicate"], "--frobnicate"),
    ],
)
def test_wrong_arguments_are_one_line_and_status_2(tmp_path, arguments, said):
    done = run(*arguments, "--memory-dir", str(tmp_path / "m"), lines="Hello\n")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr


@pytest.mark.parametrize("model", ["/nowhere", "gpt2", "no such model!"])
def test_missing_model_is_one_line_and_status_1(tmp_path, model):
    started = time.perf_counter()
    done = run("--model", model, "--memory-dir", str(tmp_path / "m"), lines="Hello\n")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert time.perf_counter() - started < 20


def test_memory_dir_that_is_a_file_is_one_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    done = run("--memory-dir", str(tmp_path / "file"), lines="Hello\n")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert (tmp_path / "file").read_text() == "mine"


# With the bundled model

NO_NETWORK = """
import socket

def refuse(self, address):
    if self.family != socket.AF_UNIX:
        open(LOG, "a").write(repr(address))
    raise OSError("no network")

def lookup(*given, **_):
    open(LOG, "a").write(repr(given))
    raise OSError("no network")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lookup
"""


def chat(folder: Path, *lines: str, arguments: tuple[str, ...] = (), **options: object) -> list[dict]:
    """Return the answers of one run with --json."""
    text = "".join(f"{line}\n" for line in lines)
    done = run("--json", "--memory-dir", str(folder), "--temperature", "0", *arguments, lines=text, **options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()] + [{"stderr": done.stderr}]


def _heed_ctrl_c() -> None:
    """Undo what a shell does to programs that it starts behind itself."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """The program in a terminal of its own; every line waits for the prompt."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        env = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1"}  # nothing here draws what it is told
        given = [*PROGRAM[1:], "--memory-dir", str(folder), *arguments]
        self.child = pexpect.spawn(PROGRAM[0], given, encoding="utf-8", timeout=100, env=env, preexec_fn=_heed_ctrl_c)
        self.see("/quit leaves")

    def see(self, pattern: str) -> None:
        self.child.expect(pattern)

    def type(self, text: str, *, enter: bool = True) -> None:
        self.see(r">.*\x1b\[\?25h")  # the prompt is drawn and the cursor shown
        self.child.send(text)
        if enter:
            self.child.sendline("")

    def leave(self) -> None:
        self.type("/quit")
        self.see("is stored")
        self.see(pexpect.EOF)


@pytest.mark.slow
def test_killed_program_loses_no_acknowledged_line(tmp_path):
    with subprocess.Popen(
        [*PROGRAM, "--json", "--memory-dir", str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("I keep goats.\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["remembered"] == ["I keep goats."]
        child.send_signal(signal.SIGKILL)
    answers = chat(tmp_path, "What do I keep?")
    assert "goats" in answers[0]["reply"]
    assert "Recovered a session of 2 lines" in answers[-1]["stderr"]


@pytest.mark.slow
def test_full_disk_is_a_visible_notice(tmp_path):
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    answers = chat(tmp_path, "I keep goats.", "/memory", preexec_fn=no_room)
    assert answers[0]["reply"]
    assert "will not be remembered" in answers[-1]["stderr"]


@pytest.mark.slow
def test_odd_bytes_and_paths_are_answered(tmp_path):
    folder = tmp_path / "Моя память 记忆 with spaces"
    lines = b"caf\xe9 \xff\xfe\r\n\r\n\x00\x1b[31m red\r\nMy flag is \xf0\x9f\x8f\xb4\r\n"
    done = run("--json", "--memory-dir", str(folder), "--max-new-tokens", "5", lines=lines)
    assert done.returncode == 0
    assert [json.loads(line)["reply"] != "" for line in done.stdout.splitlines()] == [True, True, True]
    assert "My flag is 🏴" in chat(folder, "/memory")[0]["memory"][-1]["text"]


@pytest.mark.slow
def test_default_run_makes_no_connection(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK.replace("LOG", repr(str(tmp_path / "log"))))
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for memory in ("gru", "rag"):
        chat(
            tmp_path / "m",
            "My kayak is yellow.",
            "/end",
            "What colour is my kayak?",
            arguments=("--memory", memory),
            env=env,
        )
    assert not (tmp_path / "log").exists()


@pytest.mark.slow
def test_idle_terminal_finishes_the_session_and_keeps_what_is_typed(tmp_path):
    terminal = Terminal(tmp_path, "--idle-timeout", "0.05", "--max-new-tokens", "4")
    terminal.type("My boat is called Petrel.")
    terminal.see("Nothing was said for 0.05 minutes. Session 1 is stored")
    terminal.type("What is my boat ", enter=False)
    time.sleep(4)
    terminal.child.sendline("called?")
    terminal.see("Your boat is")
    terminal.leave()


def stops_a_reply(terminal: Terminal) -> bool:
    """Press Ctrl-C while a reply is being written; a reply that ended by itself before that is tried again."""
    for _ in range(4):
        terminal.type("Tell me a very long story about the sea and all its ships.")
        terminal.see(r"ships\.[^>]*\r\n[^\r]*\w+ \w+ \w+ ")
        terminal.child.sendintr()
        if terminal.child.expect(["Stopped", r"\x1b\[\?2004h"]) == 0:  # the second is the next prompt
            return True
    return False


@pytest.mark.slow
def test_terminal_edits_stops_and_remembers(tmp_path):
    terminal = Terminal(tmp_path, "--max-new-tokens", "300")
    terminal.type("/remember My nam is Wilhelmina." + "\x1b[D" * 15 + "e")  # back with the arrows, the missing letter
    terminal.see("Remembered: My name is Wilhelmina")
    terminal.type("\x1b[200~/remember My boat\nis called Petrel.\x1b[201~")  # a pasted block is one message
    terminal.see("Remembered: My boat")
    assert stops_a_reply(terminal)
    terminal.type("\x04", enter=False)
    terminal.see("is stored")
    terminal.see(pexpect.EOF)
    terminal = Terminal(tmp_path)
    terminal.type("What is my name?")
    terminal.see("Your name is Wilhelmina")
    terminal.leave()


@pytest.mark.slow
def test_gpt2_folder_chats_through_the_program(tmp_path, gpt2_folder):
    arguments = ("--model", str(gpt2_folder), "--max-new-tokens", "12")
    told = chat(tmp_path, "My boat is called Petrel.", "/quit", arguments=arguments)
    assert told[0]["remembered"] == ["My boat is called Petrel."]
    asked = chat(tmp_path, "What is my boat called?", arguments=arguments)[0]
    assert asked["memories"][0]["text"] == "My boat is called Petrel."
    assert asked["reply"].startswith("Your boat")
    literal = chat(tmp_path, "What is my boat called?", arguments=(*arguments, "--prompt", "specification"))[0]
    assert not literal["reply"].startswith("Your boat")

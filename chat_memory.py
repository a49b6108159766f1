"""The chat: a conversation in the terminal with a language model that remembers its user across sessions.

    python chat_memory.py --help

`chat_with_memory` is the specification's function for one reply; the rest is the terminal program around
`chatmem.chat.Chat`. Models load in the background while the user types; nothing heavy is imported at the start.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

if __name__ == "__main__":  # Ctrl-C while the rest is imported ends the program without a traceback
    sys.excepthook = lambda kind, *found: None if kind is KeyboardInterrupt else sys.__excepthook__(kind, *found)

from chatmem import commands, terminal
from chatmem.background import Background
from chatmem.interface import ChatMemError, CommandError, Memory, StoreError
from chatmem.settings import Settings, parse_args

if TYPE_CHECKING:
    from chatmem.chat import Chat
    from chatmem.embedding import Encoder
    from chatmem.indexed import IndexedMemory
    from chatmem.language_model import LanguageModel
    from chatmem.opening import Opened


def chat_with_memory(
    user_input: str, memory: Memory | None, model: Any, tokenizer: Any, *, k: int = 3, max_new_tokens: int = 128
) -> str:
    """Return a reply to the user, given what the memory brings back; the specification's function and prompt.

    Args:
        user_input: what the user says.
        memory: where the lines for `{memories}` come from; None, or an empty one, adds none.
        model: a loaded causal model of the library transformers, such as GPT2LMHeadModel.
        tokenizer: its tokenizer. With a chat template, the prompt is its system message.
        k: the largest number of memory lines.
        max_new_tokens: the largest number of tokens of the reply.
    """
    from chatmem.language_model import Sampling, TransformersModel
    from chatmem.prompt import build_prompt, prompt_budget

    engine = TransformersModel(model, tokenizer)
    lines = memory.recall(user_input, k) if memory is not None else []
    budget = prompt_budget(engine, max_new_tokens)
    prompt = build_prompt(engine, user_input, lines, budget=budget, form="specification")
    sampling = Sampling(max_new_tokens=max_new_tokens, temperature=0.0)
    return "".join(engine.stream(prompt.text, sampling, prompt.stops)).strip()


SHOWING = ("/memory", "/history", "/why", "/help")  # commands whose answer is what the user wants on stdout


class Program:
    """The terminal program: lines in, replies and the answers of commands out, as text or as JSON."""

    def __init__(self, chat: Chat, out: TextIO, *, as_json: bool, at_terminal: bool) -> None:
        """Run a chat over a stream for replies."""
        from chatmem import showing  # what it needs takes a while to import, and --help shall be instant

        self._chat = chat
        self._out = out
        self._as_json = as_json
        self._at_terminal = at_terminal
        if at_terminal and not chat.settings.yes:
            chat.confirm = _confirmed
        self._commands: dict[str, Callable[[str], str]] = {
            "/end": lambda _: chat.finish(),
            "/quit": lambda _: chat.finish(),
            "/memory": lambda text: showing.show_rows(showing.memory_rows(chat.journal, text), text),
            "/history": lambda text: showing.history(chat.memory, text),
            "/remember": chat.remember,
            "/forget": chat.forget,
            "/undo": lambda _: chat.undo(),
            "/why": lambda _: chat.why(),
            "/export": lambda name: commands.export(chat.journal, name),
            "/import": lambda name: commands.import_file(chat.memory, name),
            "/reset": self._reset,
            "/help": lambda _: commands.HELP,
        }

    def run(self, read: Callable[[float | None], str | None]) -> None:
        """Answer every line until /quit or the end of the input, then finish the session."""
        minutes = self._chat.settings.idle_timeout
        timeout = None if minutes is None else minutes * 60
        is_idle = True
        while True:
            try:
                line = read(None if is_idle else timeout)
            except terminal.IdleTimeout:
                is_idle = True
                terminal.notice(f"Nothing was said for {minutes:g} minutes. {self._finish()}")
                continue
            if line is None:
                break
            if line.startswith("/"):
                self._command(line)
                if line.split()[0] == "/quit":
                    return
            elif line:
                self._say(line)
            is_idle = False
        message = self._finish()
        if self._at_terminal:
            terminal.notice(message)

    def _finish(self) -> str:
        """Finish the session; what the disk refuses is told and made up for at the next start."""
        try:
            return self._chat.finish()
        except StoreError as error:
            return f"The session will be finished at the next start: {error}"

    def _say(self, line: str) -> None:
        """Say a line and show the reply as it comes; Ctrl-C stops the reply and keeps the session."""
        started = time.perf_counter()
        said = ""
        with contextlib.closing(self._chat.say(line)) as pieces:
            try:
                for piece in pieces:
                    said += piece
                    if not self._as_json:
                        self._write(piece)
            except KeyboardInterrupt:
                terminal.notice("Stopped.")
        if not self._as_json:
            self._write("\n")
            if self._at_terminal and self._chat.remembered:
                terminal.notice(f"Remembered: {' '.join(self._chat.remembered)} (/undo takes it back)")
            return
        memories = [
            {
                "text": line.text,
                "score": round(line.score, 4),
                "session": line.session,
                "when": line.when.isoformat(),
                "speaker": line.speaker,
            }
            for line in self._chat.used or []
        ]
        seconds = round(time.perf_counter() - started, 3)
        answer = {"reply": said.strip(), "memories": memories, "remembered": self._chat.remembered, "seconds": seconds}
        self._write_json(answer)

    def _command(self, line: str) -> None:
        """Carry out a command and answer it; nothing a command does ends the program but /quit."""
        name, _, argument = line.partition(" ")
        ok, message = True, ""
        action = self._commands.get(name)
        try:
            if action is None:
                raise CommandError(f"There is no command {name}. The commands are {', '.join(self._commands)}")
            message = action(argument.strip())
        except ChatMemError as error:
            ok, message = False, str(error)
        if not self._as_json:
            self._answer(message, wanted=ok and name in SHOWING)
        elif name == "/memory" and ok:
            from chatmem import showing

            self._write_json({"memory": showing.memory_rows(self._chat.journal, argument.strip())})
        else:
            self._write_json({"command": name, "ok": ok, "message": message})

    def _answer(self, message: str, *, wanted: bool) -> None:
        """Give the answer of a command: what the user wants to read on stdout, by pages at a terminal."""
        if not wanted:
            terminal.notice(message)
        elif not (self._at_terminal and terminal.page(message)):
            self._write(f"{message}\n")

    def _reset(self, _: str) -> str:
        """Erase everything; at a terminal only when the user says yes."""
        if self._chat.confirm is not None and not self._chat.confirm("Erase everything that is kept of you?"):
            raise CommandError("Nothing was erased.")
        return self._chat.reset()

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()

    def _write_json(self, answer: dict[str, Any]) -> None:
        self._write(json.dumps(answer, ensure_ascii=False) + "\n")


def _confirmed(question: str) -> bool:
    """Show at the terminal what would be deleted, and ask whether it may."""
    if "\n" not in question:
        return terminal.ask_yes(question)
    terminal.notice(question)
    return terminal.ask_yes("Delete this?")


def open_memory(settings: Settings, opened: Opened) -> IndexedMemory:
    """Return the memory that the settings ask for; imports and loads what it needs."""
    from chatmem.indexed import NullMemory

    if settings.memory == "none":
        return NullMemory(opened.journal, opened.folder)
    if settings.memory == "neural":
        from chatmem.neural.language import NeuralLanguageModel
        from chatmem.neural.memory import NeuralMemory

        return NeuralMemory(opened.journal, NeuralLanguageModel.load(settings.model, settings.device), opened.folder)
    encoder = open_encoder(settings)
    if settings.memory == "rag":
        from rag_baseline import RagMemory

        return RagMemory(opened.journal, encoder, opened.folder)
    from memory_module import GruMemory

    return GruMemory(opened.journal, encoder, opened.folder, num_slots=settings.slots)


def open_encoder(settings: Settings) -> Encoder:
    """Return the sentence encoder that the settings ask for."""
    from chatmem import embedder
    from chatmem.embedding import SentenceEncoder

    if settings.embedder is None:
        return SentenceEncoder.load()
    encoder = embedder.load(settings.embedder)
    terminal.notice(f"With {settings.embedder} the untrained GRU and a threshold take the place of what was trained.")
    return encoder


def open_model(settings: Settings, memory: IndexedMemory | None = None) -> LanguageModel:
    """Return the language model that the settings ask for; one whose memory is inside it comes with the memory."""
    from chatmem.language_model import TransformersModel

    inside: LanguageModel | None = getattr(memory, "language", None)
    if inside is not None:
        return inside
    return TransformersModel.load(settings.model, settings.device)


def open_journal(settings: Settings) -> Opened:
    """Return the user's journal; with --temporary an empty one in RAM."""
    from chatmem.journal import Journal
    from chatmem.opening import Opened, open_store, open_user
    from chatmem.passphrase import Passphrases

    if settings.temporary:
        return Opened(Journal("sqlite://"), None)
    if settings.store is not None:
        return open_store(settings.store, settings.user)
    return open_user(settings.memory_dir, settings.user, Passphrases(settings).current)


def audited(settings: Settings, opened: Opened) -> str:
    """Return the rows of --audit; with --repair what can be mended is mended first."""
    from chatmem.audit import superseded_recalled
    from chatmem.redaction import read_patterns

    patterns = read_patterns(settings.secret_patterns)
    if settings.repair:
        opened.journal.mend(patterns)
    rows = opened.journal.audit(patterns)  # before the memory opens, which makes missing vectors again
    memory = open_memory(settings, opened)
    if settings.repair:
        memory.drop_index()
        memory.sync()
        rows = opened.journal.audit(patterns)
    return "".join(f"{row}\n" for row in [*rows, superseded_recalled(memory, settings.k)])


def prepare(settings: Settings) -> None:
    """Do what must come before the first prompt: settle whether connections are made, and convert the model once."""
    from chatmem import bundled
    from chatmem.language_model import check_available

    names = (settings.model, settings.embedder or bundled.NAME)
    if all(name == bundled.NAME or os.path.exists(name) for name in names):  # noqa: PTH110 - strings, perhaps no paths
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if settings.embedder is not None and settings.memory != "none":
        from chatmem import embedder

        embedder.find(settings.embedder)
    check_available(settings.model, settings.device)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit status: 0; 1 for what a user or a disk caused; 2 for wrong arguments."""
    terminal.use_utf8()
    os.umask(0o077)  # what Chroma and other libraries write is for the user alone, too
    try:
        settings = parse_args(argv)
        logging.getLogger("chatmem").handlers = [terminal.NoticeHandler()]
        if settings.encryption is not None:
            from chatmem.conversion import convert

            terminal.notice(convert(settings))
            return 0
        opened = open_journal(settings)
        if settings.audit or settings.repair:
            sys.stdout.write(audited(settings, opened))
            return 0
        prepare(settings)
        from chatmem.chat import Chat

        at_terminal = sys.stdin.isatty() and settings.text is None
        read = _reader(settings, at_terminal=at_terminal)  # before anything loads, or the prompt would wait for it
        memory = Background(lambda: open_memory(settings, opened))
        model = Background(lambda: open_model(settings, memory.get()), after=memory)
        chat = Chat(settings, opened, memory, model, terminal.notice)
        Program(chat, sys.stdout, as_json=settings.json, at_terminal=at_terminal).run(read)
    except ChatMemError as error:
        terminal.notice("chat_memory.py: " + " ".join(str(error).split()))
        from chatmem.interface import UsageError

        return 2 if isinstance(error, UsageError) else 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    return 0


def _reader(settings: Settings, *, at_terminal: bool) -> Callable[[float | None], str | None]:
    """Return what reads the next line: from the arguments, the terminal, or a pipe."""
    if settings.text is not None:
        lines = iter([terminal.clean(settings.text)])
        return lambda _: next(lines, None)
    if not at_terminal:
        return terminal.LineReader(sys.stdin).read
    terminal.notice("You are remembered here across sessions. /help lists the commands, /quit leaves.")
    return terminal.TerminalReader().read


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # a model that is still loading in its thread need not be waited for

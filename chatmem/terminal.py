"""The terminal: reading the user's lines, and notices on stderr.

At a terminal prompt_toolkit gives line editing, history (in RAM only) and pasted blocks as one message. Elsewhere
lines are read as they come, as UTF-8 on every platform. Knows nothing of what the lines mean.
"""

from __future__ import annotations

import io
import logging
import pydoc
import queue
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO, TypeVar

Step = TypeVar("Step")


class IdleTimeout(Exception):  # noqa: N818 - an event, not an error
    """Nobody said anything for the time that was set."""


def use_utf8() -> None:
    """Make the standard streams UTF-8 whatever the system's encoding is."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def notice(text: str) -> None:
    """Tell the user something that is no reply: on stderr, dimmed at a terminal."""
    sys.stderr.write(f"\033[2m{text}\033[0m\n" if sys.stderr.isatty() else f"{text}\n")
    sys.stderr.flush()


class NoticeHandler(logging.Handler):
    """Shows what the package logs as notices."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record."""
        notice(record.getMessage())


class LineReader:
    """Reads from a stream that is no terminal, in a thread, so that waiting can end after a time."""

    def __init__(self, stream: TextIO) -> None:
        """Begin to read; bytes that are no UTF-8 become replacement characters."""
        self._raw = stream.buffer if hasattr(stream, "buffer") else None
        self._stream = stream
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._raw if self._raw is not None else self._stream:
            self._lines.put(line.decode("utf-8", "replace") if isinstance(line, bytes) else line)
        self._lines.put(None)

    def read(self, timeout_seconds: float | None) -> str | None:
        """Return the next line without its end, or None at the end of the input.

        Raises:
            IdleTimeout: there was none in time.
        """
        try:
            line = self._lines.get(timeout=timeout_seconds)
        except queue.Empty:
            raise IdleTimeout from None
        return None if line is None else clean(line)


class TerminalReader:
    """Reads at a terminal with line editing."""

    def __init__(self, prompt: str = "> ") -> None:
        """Prepare the line editor."""
        from prompt_toolkit import PromptSession
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.output import create_output

        # the editor draws on stderr: stdout carries the replies only
        self._typed = ""  # what stood in the line when its time ran out
        self._session: PromptSession[str] = PromptSession(
            prompt, history=InMemoryHistory(), output=create_output(stdout=sys.stderr)
        )

    def read(self, timeout_seconds: float | None) -> str | None:
        """Return the next message, or None for Ctrl-D; Ctrl-C empties the line.

        Raises:
            IdleTimeout: nothing was typed in time.
        """
        while True:
            try:
                typed, self._typed = self._typed, ""
                return clean(self._session.prompt(default=typed, pre_run=self._watch(timeout_seconds)))
            except EOFError:
                return None
            except KeyboardInterrupt:
                notice("Ctrl-D or /quit leaves.")

    def _watch(self, timeout_seconds: float | None) -> Callable[[], None] | None:
        """Return what makes the editor give up when its line does not change for a time."""
        if timeout_seconds is None:
            return None

        def start() -> None:
            import asyncio

            app = self._session.app

            async def wait() -> None:
                before = None
                while before != app.current_buffer.text:
                    before = app.current_buffer.text
                    await asyncio.sleep(timeout_seconds)
                self._typed = before
                app.exit(exception=IdleTimeout())

            app.create_background_task(wait())

        return start


def clean(line: str) -> str:
    """Return a line without its end and without control characters that are no white space."""
    return printable(line).strip()


def printable(text: str) -> str:
    """Return a text without the control characters that are no white space: a terminal would obey them."""
    return "".join(char for char in text if char in "\n\t" or (ord(char) >= 32 and not 0x7F <= ord(char) < 0xA0))


def progress(steps: Sequence[Step], what: str, *, scale: int = 1) -> Iterable[Step]:
    """Yield steps with a bar on stderr where they take longer than a second and somebody looks."""
    from tqdm import tqdm

    bar: Iterable[Step] = tqdm(steps, unit=what, unit_scale=scale, delay=1.0, leave=False, disable=None)
    return bar


def page(text: str) -> bool:
    """Show a text that is longer than the window page by page; tell whether it was."""
    if not sys.stdout.isatty() or text.count("\n") + 2 < shutil.get_terminal_size().lines:
        return False
    pydoc.pager(text)
    return True


def ask_yes(question: str) -> bool:
    """Ask a question at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    try:
        return sys.stdin.readline().strip().casefold() in ("y", "yes")
    except KeyboardInterrupt:
        return False

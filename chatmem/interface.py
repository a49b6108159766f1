"""The words every part of the program shares: turns, sessions, recollections, the memory protocol, the errors.

Knows nothing of models, files or terminals, and imports nothing heavy.

Errors that a user or a disk can cause form one tree, which the program turns into one line on stderr:

    ChatMemError          exit status 1
    ├── UsageError        exit status 2: arguments that cannot be used
    ├── StoreError        the memory on disk cannot be read or written
    │   ├── DamagedError  a file is damaged, or is none of ours
    │   ├── LockedError   the memory is encrypted and does not open: no passphrase, or the wrong one
    │   └── NewerError    a file was written by a newer version of the program
    ├── ModelError        a model cannot be had, or cannot run where it was asked to
    └── CommandError      a command cannot be carried out; the chat goes on
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Speaker = Literal["user", "assistant"]


class ChatMemError(Exception):
    """Base of what a user or a disk can cause; its text is one sentence for the user."""


class UsageError(ChatMemError):
    """Arguments that cannot be used."""


class StoreError(ChatMemError):
    """The memory on disk cannot be read or written."""


class DamagedError(StoreError):
    """A file is damaged, or is none of ours."""


class LockedError(StoreError):
    """The memory is encrypted and does not open: there is no passphrase, it is the wrong one, or a library lacks."""


class NewerError(StoreError):
    """A file was written by a newer version of the program."""


class CommandError(ChatMemError):
    """A command that cannot be carried out; the chat goes on."""


class ModelError(ChatMemError):
    """A model cannot be had, or cannot run where it was asked to."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance; `when` knows its time zone.

    `explicit` says that the user asked for the text to be remembered, so that all of it is.
    """

    speaker: Speaker
    text: str
    when: datetime
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, from its first turn to /end, /quit or the idle timeout.

    `number` is its number in the journal, or None for a session that the journal has not seen.
    """

    turns: tuple[Turn, ...]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """A memory line brought back for a query, in the user's or the assistant's words.

    `session` is the number of its session and `turn` its 0-based position there; `score` is the cosine similarity
    with the query, in [-1, 1]. `until` is when it ceased to be current, None for what is. `line` is the journal's own
    key of the line.
    """

    text: str
    score: float
    session: int
    turn: int
    when: datetime
    speaker: Speaker
    until: datetime | None = None
    line: int = field(default=0, compare=False)


class Memory(Protocol):
    """What a chat asks of a memory; the arms `none`, `rag` and `gru` all keep to it."""

    def remember(self, session: Session) -> None:
        """Store a finished session."""

    def recall(
        self, query: str, k: int = 3, *, visible: Collection[int] = (), now: datetime | None = None
    ) -> list[Recollection]:
        """Return at most `k` lines that fit the query, best first; none where nothing fits.

        Args:
            query: what the user just said.
            k: the largest number of lines; 0 recalls nothing.
            visible: keys of turns that the model sees anyway and that need not come back.
            now: when it was said, for questions about days; None is the present.
        """

    def forget(self, text: str) -> list[Recollection]:
        """Erase every memory in which all words of `text` occur, and return what was erased."""

    def reset(self) -> None:
        """Erase everything that is kept of this user."""

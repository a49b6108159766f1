"""A conversation: turns go to the journal before anything else, lines come from the memory, replies from the model.

Knows nothing of terminals and of which memory or model it is given; both may still be loading.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from chatmem import deleting, showing
from chatmem.background import Background
from chatmem.dating import asks_times, looked_up
from chatmem.indexed import IndexedMemory
from chatmem.interface import (
    CommandError,
    DamagedError,
    GoneError,
    LockedError,
    NewerError,
    Recollection,
    Session,
    StoreError,
    Turn,
)
from chatmem.language_model import LanguageModel, Sampling
from chatmem.opening import Opened, release, session_lock
from chatmem.orders import Order, split_orders
from chatmem.prompt import build_prompt, fit_history, prompt_budget
from chatmem.provenance import NOT_SAID, asked_source, quoted, sources
from chatmem.redaction import read_patterns, redact
from chatmem.settings import Settings

T = TypeVar("T")


class Chat:
    """A conversation of one user: turns go to the journal, sessions to the memory, replies to the caller."""

    def __init__(
        self,
        settings: Settings,
        opened: Opened,
        memory: Background[IndexedMemory],
        model: Background[LanguageModel],
        notice: Callable[[str], None],
    ) -> None:
        """Begin a conversation; its first session begins with its first line."""
        self.confirm: deleting.Confirm | None = None  # asks whether something may be deleted; None: nobody can be asked
        self.settings = settings
        self.journal = opened.journal
        self.used: list[Recollection] | None = None  # in the prompt of the last reply
        self.remembered: list[str] = []  # by the last line
        self._folder = opened.folder
        self._memory = memory
        self._model = model
        self._notice = notice
        self._session: int | None = None
        self._uid = ""
        self._lock: Any = None
        self._replies = 0
        self._patterns = read_patterns(settings.secret_patterns)

    @property
    def memory(self) -> IndexedMemory:
        """The memory, once it is loaded."""
        return self._memory.get(lambda: self._notice("Loading the memory …"))

    @property
    def model(self) -> LanguageModel:
        """The language model, once it is loaded."""
        return self._model.get(lambda: self._notice(f"Loading {self.settings.model} …"))

    def say(self, text: str) -> Generator[str]:
        """Say a line to the model and yield its reply piece by piece.

        What was said of the reply when the caller stops listening is kept. An order to delete something of the memory
        is carried out and not kept, nor is the reply to it.
        """
        before, self.used, self.remembered = self.used or [], [], []
        orders, text = split_orders(text)
        for order in orders:
            yield self._obey(order) + (" " if text else "")
        if not text and orders:
            return
        text = self._redacted(text)
        own, self.remembered = self._append(Turn("user", text, self.settings.clock()))
        if answer := self._asked(lambda: self._without_model(text, before), ""):
            yield answer
            return
        self._consider(own)
        model, budget = self.model, prompt_budget(self.model, self.settings.max_new_tokens)
        now = self.settings.clock()
        lines: list[Recollection] = self._asked(
            lambda: self.memory.recall(text, self.settings.k, visible=(own,), now=now), []
        )
        history = [turn for key, turn in self._turns() if key != own]
        history = history[len(history) - fit_history(model, history, text, budget) :]
        prompt = build_prompt(model, text, lines, history, budget=budget, form=self.settings.prompt)
        self.used = list(prompt.recollections)
        if prompt.notice:
            self._notice(prompt.notice)
        sampling = Sampling(self.settings.max_new_tokens, temperature=self.settings.temperature)
        sampling = replace(sampling, seed=self.settings.seed + self._replies)
        self._replies += 1
        said = ""
        try:
            pieces = model.stream(prompt.text, sampling, prompt.stops, **prompt.options())
            for piece in _trimmed(prompt.opening, pieces):
                said += piece
                yield piece
        finally:
            if said.strip():
                reply = Turn("assistant", said.strip(), self.settings.clock())
                self._append(reply, sources=[line.line for line in self.used])

    def _consider(self, turn: int) -> None:
        """Let the memory look again at what was said, now that it is loaded."""
        if self.remembered:
            try:
                gone = self.memory.consider(turn)
            except StoreError as error:
                self._notice(f"Not saved: {error}")
                return
            self.remembered = [text for text in self.remembered if text not in gone]

    def remember(self, text: str) -> str:
        """Remember a text because the user asks for it."""
        if not text:
            raise CommandError("/remember needs a text: /remember TEXT")
        self.journal.check_lasting()
        _, self.remembered = self._append(Turn("user", text, self.settings.clock(), explicit=True))
        return f"Remembered: {text}"

    def finish(self) -> str:
        """Finish the session: its sentences are embedded, encoded and stored."""
        if self._session is None:
            return "There is no session to finish."
        turns = [turn for _, turn in self._turns(explicit=True)]
        number = self._session
        try:
            self.memory.remember(Session(tuple(turns), number))
            if (most := self.settings.max_sessions) is not None:
                self.memory.keep_at_most(most, self.settings.clock())
        finally:
            self._close()
        return f"Session {number} is stored: {len(turns)} lines."

    def discard(self) -> None:
        """Drop the session as if it had never been."""
        if self._session is not None:
            self.journal.discard(self._session)
            self._close()

    def forget(self, text: str) -> str:
        """Erase every memory in which all words of a text occur."""
        self.used = None
        return deleting.forget(self.memory, text, self.confirm or _yes)

    def undo(self) -> str:
        """Take back what was remembered last; asked for only where that was in another session."""
        self.used = None
        confirm = self.confirm if self._session is None else None
        return deleting.undo(self.memory, confirm or _yes)

    def _redacted(self, text: str) -> str:
        """Return a line without its secrets, which neither the journal nor the model gets to see."""
        text, kinds = redact(text, self._patterns)
        if kinds:
            self._notice(f"Not kept: {', '.join(kinds)}. /remember TEXT keeps it all the same.")
        return text

    def _without_model(self, text: str, before: Sequence[Recollection]) -> str:
        """Answer where something is known from and how long something took; "" where the model is to answer."""
        reply, lines = "", list[Recollection]()
        if (source := asked_source(text)) is not None:
            lines = sources(source, self.memory, self.settings.k, before)
            reply = quoted(lines, text) if lines else NOT_SAID if source.is_statement else ""
        elif asks_times(text, now := self.settings.clock()):  # only then is the memory waited for
            found = looked_up(text, self.memory, self.settings.k, now)
            reply, lines = (found.reply, list(found.lines)) if found else ("", [])
        if reply:
            self.used = lines
            self._append(Turn("assistant", reply, self.settings.clock()), sources=[line.line for line in lines])
        return reply

    def _asked(self, ask: Callable[[], T], otherwise: T) -> T:
        """Ask the memory something; what a full disk refuses is told, and the reply is made without it."""
        try:
            return ask()
        except (DamagedError, LockedError, NewerError):
            raise  # the next start mends it, or says what to do
        except StoreError as error:
            self._notice(f"Answered without the memory: {error}")
            return otherwise

    def _obey(self, order: Order) -> str:
        """Carry out an order to delete; where nobody can be asked, what was done is told beside the reply, too."""
        try:
            if order.scope == "all":
                if self.confirm is not None and not self.confirm("Erase everything that is kept of you?"):
                    return deleting.KEPT
                return self.reset()
            reply = deleting.obey(self.memory, order, self.confirm or _yes)
        except StoreError as error:
            reply = f"{deleting.KEPT} The reason: {error}."
        if self.confirm is None:
            self._notice(reply)
        self.used = []
        return reply

    def why(self) -> str:
        """Say what of the memory is behind the last reply."""
        inside: Callable[[], str] | None = getattr(self.memory, "why", None)
        return showing.why(self.journal, self.used) if inside is None or self.used is None else inside()

    def reset(self) -> str:
        """Erase everything that is kept of the user, this session included."""
        self.used = None
        self.memory.reset()
        self._close()
        return "Everything that was kept of you is erased."

    def _turns(self, *, explicit: bool = False) -> list[tuple[int, Turn]]:
        """Return the turns of this session with their keys; those of /remember only where asked for."""
        if self._session is None:
            return []
        return [(key, turn) for key, turn in self.journal.turns(self._session) if explicit or not turn.explicit]

    def _append(self, turn: Turn, sources: Sequence[int] = ()) -> tuple[int, list[str]]:
        """Write a turn to the journal, beginning a session where there is none; a full disk is told, not hidden."""
        try:
            if self._session is None:
                self._session = self._begin(turn)
            return self.journal.append(self._session, turn, uid=self._uid, sources=sources)
        except GoneError:  # another program's /reset took the session away
            self._close()
            return self._append(turn, sources)
        except StoreError as error:
            self._notice(f"Not saved: {error}")
            return 0, []

    def _close(self) -> None:
        """Let go of the session."""
        self._session = None
        if self._lock is not None:
            release(self._lock)
            self._lock = None

    def _begin(self, turn: Turn) -> int:
        """Begin a session that other programs can see to be in progress."""
        self._uid = uuid.uuid4().hex
        self._lock = session_lock(self.journal, self._folder, self._uid)
        if self._lock is not None:
            try:
                self._lock.acquire()
            except OSError as error:
                raise StoreError(f"cannot write {self._folder}: {error.strerror}") from error
        return self.journal.begin(turn.when, self._uid)


def _yes(_: str) -> bool:
    return True


def _trimmed(opening: str, pieces: Iterator[str]) -> Iterator[str]:
    """Yield a reply without white space at its beginning; `opening` is what the prompt began it with."""
    begun = False
    if opening:
        begun = True
        yield opening
    for piece in pieces:
        rest = piece if begun else piece.lstrip()
        if rest:
            begun = True
            yield rest

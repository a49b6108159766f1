"""What every memory shares: the journal is the truth, and a memory is an index of it that can be made again.

Simplest first: `NullMemory` (the arm `none`) is an index of nothing. `rag_baseline` and `memory_module` build on
`IndexedMemory` and differ only in how they look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from chatmem import storage
from chatmem.interface import Recollection, Session
from chatmem.journal import Journal
from chatmem.rows import Line
from chatmem.sentences import asks_about_assistant, asks_for_everything, is_personal, judge, same_words, split_sentences
from chatmem.versions import newest_only

THRESHOLD = 0.3  # cosine under which a line has no bearing on a query; chosen on questions of our own
IMPERSONAL = 0.15  # and so much more for a query that does not speak of the user


class Scored(NamedTuple):
    """A line with what a memory thinks of it for one query."""

    line: Line
    score: float  # how well it fits, as a cosine: under the threshold it stays away
    rank: float  # what the lines are ordered by


class IndexedMemory:
    """Storing, forgetting and resetting over a journal; a subclass keeps the index and recalls from it."""

    def __init__(self, journal: Journal, folder: Path | None = None) -> None:
        """Use a journal, and a folder for index files; None keeps the index in RAM."""
        self.journal = journal
        self.folder = folder

    def sync(self) -> None:
        """Make the index agree with the journal, whoever changed it."""

    def drop_index(self) -> None:
        """Let go of the index, on disk and in RAM; `sync` makes it again."""
        if self.folder is not None:
            storage.delete_indexes(self.folder)

    def recall(self, query: str, k: int = 3, *, visible: Collection[int] = ()) -> list[Recollection]:
        """Return at most `k` lines that fit the query, best first."""
        raise NotImplementedError

    def remember(self, session: Session) -> None:
        """Store a finished session; one that the journal does not know yet is written there first."""
        if session.number is None:
            self.journal.record(session)
        else:
            when = session.turns[-1].when if session.turns else datetime.now().astimezone()
            self.journal.finish(session.number, when)
        self.sync()

    def forget(self, text: str) -> list[Recollection]:
        """Erase every sentence in which all words of `text` occur, with the replies and vectors that came of it."""
        with self.locked():
            erased = self.journal.forget(text)
            if erased:
                self.drop_index()
        self.sync()
        return erased

    def reset(self) -> None:
        """Erase everything that is kept of this user."""
        with self.locked():
            self.journal.clear()
            self.drop_index()
        self.sync()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other programs on the same memory from writing index files; they wait."""
        with FileLock(self.folder / "index.lock", mode=0o600) if self.folder is not None else nullcontext():
            yield


class NullMemory(IndexedMemory):
    """The arm `none`: records in the journal like the others, and brings nothing back."""

    def recall(self, query: str, k: int = 3, *, visible: Collection[int] = ()) -> list[Recollection]:  # noqa: ARG002
        """Return nothing."""
        return []


def kinds_for(query: str) -> tuple[str, ...]:
    """Return the kinds of lines that may come back: what the user told; where asked for, what the assistant said."""
    return ("fact", "reply") if asks_about_assistant(query) else ("fact",)


def usable(lines: Iterable[Line], kinds: Collection[str], visible: Collection[int]) -> list[bool]:
    """Tell which lines may come back: of some kinds, active, and not in a turn that is seen anyway."""
    return [line.kind in kinds and line.status == "active" and line.turn_key not in visible for line in lines]


def select(
    scored: Iterable[Scored], query: str, k: int, visible: Collection[int], threshold: float = THRESHOLD
) -> list[Recollection]:
    """Choose what comes back from scored lines, best first: facts of the user, never the same words twice.

    What the assistant said comes back only when the query asks for it. A line that a newer one among the best has
    replaced stays away. "What do you know about me?" fits every fact, the newest first.
    """
    if all(judge(sentence) == "small talk" for sentence in split_sentences(query)):
        return []
    scored = list(scored)
    able = list(compress(scored, usable((one.line for one in scored), kinds_for(query), visible)))
    if asks_for_everything(query):
        best = sorted(able, key=lambda one: one.line.key, reverse=True)
    else:
        personal = asks_about_assistant(query) or is_personal(query)
        floor = threshold if personal else threshold + IMPERSONAL
        fit = [one for one in able if one.score >= floor]
        best = sorted(fit, key=lambda one: (one.rank, one.line.key), reverse=True)
    chosen: dict[str, Recollection] = {}
    for line, score, _ in best:
        if len(chosen) == 3 * k:
            break
        chosen.setdefault(same_words(line.text), line.recollection(score))
    return newest_only(list(chosen.values()), query)[:k]

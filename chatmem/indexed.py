"""What every memory shares: the journal is the truth, and a memory is an index of it that can be made again.

Simplest first: `NullMemory` (the arm `none`) is an index of nothing. `rag_baseline` and `memory_module` build on
`IndexedMemory` and differ only in how they look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path

from filelock import FileLock

from chatmem import storage
from chatmem.interface import Recollection, Session
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS, judge
from chatmem.rows import Line
from chatmem.sentences import (
    asks_about_assistant,
    asks_about_past,
    asks_for_everything,
    is_personal,
    same_words,
    split_sentences,
)
from chatmem.succession import with_heirs
from chatmem.versions import newest_only

THRESHOLD = 0.3  # cosine under which a line has no bearing on a query; chosen on questions of our own
IMPERSONAL = 0.15  # and so much more for a query that does not speak of the user


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


def select(
    scored: Iterable[tuple[Line, float]], query: str, k: int, visible: Collection[int], threshold: float = THRESHOLD
) -> list[Recollection]:
    """Choose what comes back from scored lines, best first: facts of the user, never the same words twice.

    What the assistant said comes back only when the query asks for it, and what a newer line has superseded only when
    it asks about the past; else the newer line comes in its place. "What do you know about me?" fits every fact, the
    newest first.
    """
    if all(judge(sentence) == "small talk" for sentence in split_sentences(query)):
        return []
    of_assistant = asks_about_assistant(query)
    kinds = MEMORY_KINDS | {"reply"} if of_assistant else MEMORY_KINDS
    of_past = asks_about_past(query)
    states = {"active", "superseded"} if of_past else {"active"}
    usable = [
        (line, score)
        for line, score in with_heirs(scored)
        if line.kind in kinds and line.status in states and line.turn_key not in visible
    ]
    if asks_for_everything(query):
        best = sorted(usable, key=lambda pair: pair[0].key, reverse=True)
    else:
        floor = threshold if of_assistant or is_personal(query) else threshold + IMPERSONAL
        fit = [(line, score) for line, score in usable if score >= floor]
        best = sorted(fit, key=lambda pair: (pair[1], pair[0].key), reverse=True)
    chosen: dict[str, Recollection] = {}
    for line, score in best:
        if len(chosen) == 3 * k:
            break
        chosen.setdefault(same_words(line.text), line.recollection(score))
    lines = list(chosen.values())
    return (lines if of_past else newest_only(lines))[:k]

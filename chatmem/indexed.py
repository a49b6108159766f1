"""What every memory shares: the journal is the truth, and a memory is an index of it that can be made again.

Simplest first: `NullMemory` (the arm `none`) is an index of nothing. `rag_baseline` and `memory_module` build on
`IndexedMemory` and differ only in how they look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock

from chatmem import storage
from chatmem.interface import Recollection, Session
from chatmem.journal import Journal, Line
from chatmem.sentences import asks_about_assistant, same_words

THRESHOLD = 0.25  # cosine under which a line has no bearing on a query; chosen on questions of our own


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
        elif session.turns:
            self.journal.finish(session.number, session.turns[-1].when)
        self.sync()

    def forget(self, text: str) -> list[Recollection]:
        """Erase every sentence in which all words of `text` occur, with the replies and vectors that came of it."""
        with self.locked():
            erased = self.journal.forget(text)
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

    What the assistant said comes back only when the query asks for it. Of two lines with the same words the newer
    one stays.
    """
    kinds = {"fact", "reply"} if asks_about_assistant(query) else {"fact"}
    fit = [
        (line, score)
        for line, score in scored
        if score >= threshold and line.kind in kinds and line.status == "active" and line.turn_key not in visible
    ]
    fit.sort(key=lambda pair: (pair[1], pair[0].key), reverse=True)
    chosen: dict[str, Recollection] = {}
    for line, score in fit:
        if len(chosen) == k:
            break
        chosen.setdefault(same_words(line.text), line.recollection(score))
    return list(chosen.values())

"""What every memory shares: the journal is the truth, and a memory is an index of it that can be made again.

Simplest first: `NullMemory` (the arm `none`) is an index of nothing. `rag_baseline` and `memory_module` build on
`IndexedMemory` and differ only in how they look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import compress, islice
from pathlib import Path

from filelock import FileLock

from chatmem import storage
from chatmem.choosing import THRESHOLD, Choice, Scored, Wanted
from chatmem.interface import Recollection, Session, StoreError
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS
from chatmem.pairs import NUM_CANDIDATES, Decision
from chatmem.rows import Line
from chatmem.versions import same_owner, says_change


class IndexedMemory:
    """Storing, recalling, forgetting and resetting over a journal; a subclass keeps the index and ranks lines."""

    def __init__(
        self,
        journal: Journal,
        folder: Path | None = None,
        *,
        threshold: float = THRESHOLD,
        decision: Decision | None = None,
    ) -> None:
        """Use a journal, and a folder for index files; None keeps the index in RAM.

        Args:
            journal: the record that the memory is an index of.
            folder: where index files lie.
            threshold: score under which a line does not fit a query.
            decision: says in place of the threshold which lines answer.
        """
        self.journal = journal
        self.folder = folder
        self.decision = decision
        self._choose = Choice(self.rank, threshold, decision)

    def sync(self) -> None:
        """Make the index agree with the journal, whoever changed it."""

    def drop_index(self) -> None:
        """Let go of the index, on disk and in RAM; `sync` makes it again."""
        if self.folder is not None:
            storage.delete_indexes(self.folder)

    def recall(
        self, query: str, k: int = 3, *, visible: Collection[int] = (), now: datetime | None = None
    ) -> list[Recollection]:
        """Return at most `k` lines that fit the query, best first.

        Args:
            query: what the user just said.
            k: the largest number of lines.
            visible: keys of turns that are seen anyway.
            now: when it was said, for "What did I do yesterday?".
        """
        if k < 1:
            return []
        with self.reading():
            return self._choose(query, k, visible, now)

    def near(self, query: str, *, replaced: bool = False) -> list[Recollection]:
        """Return the lines that are nearest to a query, best first, whether they answer it or not.

        Lines whose time is over are among them; those that a newer one superseded only where `replaced` says so.
        """
        with self.reading():
            return self._choose.near(query, replaced=replaced)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep the index as it is while lines are ranked."""
        self.sync()
        yield

    def rank(self, query: str, wanted: Wanted) -> list[Scored]:
        """Return lines with their scores, in any order, among them those that fit the query best."""
        raise NotImplementedError

    def remember(self, session: Session) -> None:
        """Store a finished session; one that the journal does not know yet is written there first."""
        number = session.number
        if number is None:
            number = self.journal.record(session)
        else:
            when = session.turns[-1].when if session.turns else datetime.now().astimezone()
            self.journal.finish(number, when)
        self.sync()
        if number is not None and self.decision is not None:
            self._renew(number, self.decision)

    def _renew(self, number: int, decision: Decision) -> None:
        """Let what a session says has changed take the place of older facts that the rules of words did not find."""
        for new in self.journal.lines(number):
            if new.kind in MEMORY_KINDS and new.status == "active" and says_change(new.text):
                ranked = self.rank(new.text, Wanted.by(new.text, NUM_CANDIDATES, ()))
                older = nearest_older(new, (line for line, *_ in sorted(ranked, key=lambda one: -one.score)))
                flags = decision.renews(new.text, [line.text for line in older])
                flags = [flag and same_owner(new.text, line.text) for flag, line in zip(flags, older, strict=True)]
                if any(flags):
                    self.journal.supersede(new.key, [line.key for line in compress(older, flags)])
        self.sync()

    def forget(self, text: str) -> list[Recollection]:
        """Erase every sentence in which all words of `text` occur, with the replies and vectors that came of it.

        The index goes first: killed in between, the program finds the words in the journal, from which they can be
        erased, and not in files that nobody looks for them in.
        """
        with self.locked():
            if self.journal.matching(text):
                self.drop_index()
            erased = self.journal.forget(text)
        self.sync()
        return erased

    def erase(self, lines: Iterable[Line]) -> None:
        """Erase lines with all that came of them, the index first, as `forget` does."""
        with self.locked():
            self.drop_index()
            self.journal.erase(line.key for line in lines)
        self.sync()

    def keep_at_most(self, count: int, now: datetime) -> int:
        """Let the sessions that are worth least leave until `count` are left; return how many left."""
        with self.locked():
            gone = self.journal.keep_at_most(count, now)
        if gone:
            self.sync()
        return len(gone)

    def reset(self) -> None:
        """Erase everything that is kept of this user."""
        with self.locked():
            self.drop_index()
            self.journal.clear()
        self.sync()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other programs on the same memory from writing index files; they wait."""
        if self.folder is None:
            yield
            return
        lock = FileLock(self.folder / "index.lock", mode=0o600)
        try:
            lock.acquire()
        except OSError as error:
            raise StoreError(f"cannot write {self.folder}: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()


def nearest_older(new: Line, ranked: Iterable[Line]) -> list[Line]:
    """Return the first current facts of the user, of lines in the order of their nearness, that are older than one."""
    able = (line for line in ranked if line.status == "active" and line.speaker == "user" and line.key != new.key)
    return list(islice((line for line in able if (line.when, line.key) < (new.when, new.key)), NUM_CANDIDATES))


class NullMemory(IndexedMemory):
    """The arm `none`: records in the journal like the others, and brings nothing back."""

    def rank(self, query: str, wanted: Wanted) -> list[Scored]:  # noqa: ARG002
        """Return nothing."""
        return []

"""What every memory shares: the journal is the truth, and a memory is an index of it that can be made again.

Simplest first: `NullMemory` (the arm `none`) is an index of nothing. `rag_baseline` and `memory_module` build on
`IndexedMemory` and differ only in how they look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from filelock import FileLock

from chatmem import storage
from chatmem.interface import Recollection, Session
from chatmem.journal import Journal
from chatmem.pairs import NUM_CANDIDATES, Decision
from chatmem.rows import Line
from chatmem.sentences import asks_about_assistant, asks_for_everything, is_personal, judge, same_words, split_sentences
from chatmem.versions import newest_only

THRESHOLD = 0.3  # cosine under which a line has no bearing on a query; chosen on questions of our own
IMPERSONAL = 0.15  # and so much more for a query that does not speak of the user


class IndexedMemory:
    """Storing, forgetting and resetting over a journal; a subclass keeps the index and recalls from it."""

    decision: Decision | None = None  # says which lines answer; without one a cosine must do

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
    scored: Iterable[tuple[Line, float]],
    query: str,
    k: int,
    visible: Collection[int],
    threshold: float = THRESHOLD,
    decision: Decision | None = None,
) -> list[Recollection]:
    """Choose what comes back from scored lines, best first: facts of the user, never the same words twice.

    With a decision the nearest lines are judged together with the query, else their scores must reach the threshold.
    What the assistant said comes back only when the query asks for it. A line that a newer one among the best has
    replaced stays away. "What do you know about me?" fits every fact, the newest first.
    """
    if all(judge(sentence) == "small talk" for sentence in split_sentences(query)):
        return []
    of_assistant = asks_about_assistant(query)
    kinds = {"fact", "reply"} if of_assistant else {"fact"}
    usable = [
        (line, score)
        for line, score in scored
        if line.kind in kinds and line.status == "active" and line.turn_key not in visible
    ]
    if asks_for_everything(query):
        return newest_only(_different(sorted(usable, key=lambda pair: pair[0].key, reverse=True), 3 * k), query)[:k]
    best = sorted(usable, key=lambda pair: (pair[1], pair[0].key), reverse=True)
    if decision is not None and not of_assistant:
        return _judged(_different(best, NUM_CANDIDATES), query, decision)[:k]
    floor = threshold if of_assistant or is_personal(query) else threshold + IMPERSONAL
    return newest_only(_different([pair for pair in best if pair[1] >= floor], 3 * k), query)[:k]


def bar_for(query: str, threshold: float) -> float:
    """Return the probability from which a line is said to answer a query: even odds where nobody asks for the user."""
    is_asked = any(judge(sentence) in ("question", "command") for sentence in split_sentences(query))
    return threshold if is_asked and is_personal(query) else max(threshold, 0.5)


def _different(best: Iterable[tuple[Line, float]], count: int) -> list[Recollection]:
    """Return the first `count` lines that do not say the same words."""
    chosen: dict[str, Recollection] = {}
    for line, score in best:
        if len(chosen) == count:
            break
        chosen.setdefault(same_words(line.text), line.recollection(score))
    return list(chosen.values())


def _judged(nearest: list[Recollection], query: str, decision: Decision) -> list[Recollection]:
    """Return the lines that answer a query, surest first; the score of each is then the probability that it does."""
    chances = decision.answerable(query, [line.text for line in nearest])
    sure = {line.line: float(chance) for line, chance in zip(nearest, chances, strict=True)}
    answers = sorted(nearest, key=lambda line: (sure[line.line], line.line), reverse=True)
    bar = bar_for(query, decision.threshold)
    answers = newest_only([line for line in answers if sure[line.line] >= bar], query)
    return [replace(line, score=sure[line.line]) for line in answers]

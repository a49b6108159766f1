"""What recall asks of a journal: the vectors beside the text, by pages, and which sessions have some words or days.

Knows nothing of models: vectors are bytes with the fingerprint of the encoder that made them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa

from chatmem import journal_words, rows, schema
from chatmem.database import Database
from chatmem.times import Span


class Waiting(NamedTuple):
    """The sessions without vectors, oldest first, at one revision of the journal."""

    revision: int  # changes whenever vectors were stored or text was erased
    finished: list[int]
    open: list[int]


class SearchedDatabase(Database):
    """A journal's database as an index of it sees it."""

    def drop_vectors(self, sessions: Collection[int]) -> None:
        """Drop the vectors of some sessions; they can be made again."""
        with self._transaction() as db:
            db.execute(schema.vectors.delete().where(schema.vectors.c.session.in_(sessions)))
            rows.bump(db)

    def store_vectors(self, session: int, fingerprint: str, slot: bytes, lines: bytes) -> int:
        """Keep the vectors of a session beside its text, in place of older ones, and return the revision."""
        with self._transaction() as db:
            db.execute(schema.vectors.delete().where(schema.vectors.c.session == session))
            row = {"session": session, "fingerprint": fingerprint, "slot": slot, "lines": lines}
            db.execute(schema.vectors.insert(), [row])
            rows.bump(db)
            return rows.revision(db)

    def has_other_vectors(self, fingerprint: str) -> bool:
        """Tell whether vectors of another encoder are here; they are never read, and replaced one session at a time."""
        query = sa.select(schema.vectors.c.session).where(schema.vectors.c.fingerprint != fingerprint).limit(1)
        with self._transaction() as db:
            return db.scalar(query) is not None

    def waiting(self, fingerprint: str) -> Waiting:
        """Return which sessions have no vectors of this encoder yet, and the revision."""
        current = sa.select(schema.vectors.c.session).where(schema.vectors.c.fingerprint == fingerprint)
        columns = schema.sessions.c
        query = sa.select(columns.number, columns.finished).where(columns.number.not_in(current))
        with self._transaction() as db:
            found = db.execute(query.order_by(columns.number)).all()
            return Waiting(
                rows.revision(db),
                [number for number, finished in found if finished is not None],
                [number for number, finished in found if finished is None],
            )

    def slots(self, fingerprint: str) -> tuple[int, list[tuple[int, bytes]]]:
        """Return the revision, and the number and the slot of each session that this encoder read, oldest first."""
        columns = schema.vectors.c
        query = sa.select(columns.session, columns.slot).where(columns.fingerprint == fingerprint)
        with self._transaction() as db:
            found = db.execute(query.order_by(columns.session)).all()
            return rows.revision(db), [(number, slot) for number, slot in found]

    def pages(self, sessions: Collection[int], fingerprint: str, kinds: Collection[str]) -> list[rows.Page]:
        """Return sessions that this encoder read, with their lines of some kinds and all their vectors."""
        with self._transaction() as db:
            return rows.select_pages(db, sessions, fingerprint, kinds)

    def word_scores(self, query: str) -> dict[int, float]:
        """Return the BM25 score of the lines that share a word with a query, by their keys."""
        return self._with_words(lambda db: journal_words.scores(db, query))

    def sessions_of(self, keys: Collection[int]) -> set[int]:
        """Return the sessions of lines, by the keys of these."""
        query = sa.select(schema.turns.c.session).join(schema.lines, schema.lines.c.turn == schema.turns.c.key)
        with self._transaction() as db:
            return set(db.scalars(query.where(schema.lines.c.key.in_(keys))))

    def newest_sessions(self, kinds: Collection[str], count: int) -> set[int]:
        """Return the newest sessions that together hold so many different current lines of some kinds."""
        with self._transaction() as db:
            return rows.select_newest_sessions(db, kinds, count)

    def sessions_on(self, days: Span) -> set[int]:
        """Return the sessions with a line that was said on some days or speaks of one of them."""
        with self._transaction() as db:
            return rows.select_sessions_on(db, days)

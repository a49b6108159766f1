"""The journal: the record of everything said, and the truth that every index is made from.

One SQLite file (or another database that SQLAlchemy speaks) holds one user's sessions, turns and sentences, and
beside each finished session the vectors made from it, so that text and vectors come and go in one transaction.
A turn is on disk when `append` returns. Deleted content is overwritten with zeros (`secure_delete`), and there is
no write-ahead log that could keep old pages.

`database` opens and checks what it lies in; `searched` is what recall asks of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from chatmem import audit, capacity, erasing, export_rows, journal_words, rows, schema, state_rows, telling, tombstones
from chatmem.echoes import echoes
from chatmem.frames import normal
from chatmem.interface import GoneError, Recollection, Session, Turn
from chatmem.judgement import MEMORY_KINDS
from chatmem.redaction import Patterns
from chatmem.searched import SearchedDatabase
from chatmem.sentences import has_words, same_words, words


class Restored(NamedTuple):
    """What came of sessions that were brought in: how many are new, and how many sentences stayed forgotten."""

    added: int
    forgotten: int


class Journal(SearchedDatabase):
    """The record of one user. Every public method is one transaction; all raise `StoreError` for a disk's refusal."""

    # Writing

    def begin(self, when: datetime, uid: str | None = None) -> int:
        """Open a session and return its number."""
        with self._transaction() as db:
            return rows.insert_session(db, uid or uuid.uuid4().hex, when)

    def append(
        self, session: int, turn: Turn, *, uid: str | None = None, sources: Sequence[int] = ()
    ) -> tuple[int, list[str]]:
        """Add a turn to a session; it is on disk when this returns.

        Args:
            session: number of the session.
            turn: what was said.
            uid: what the session was begun with; another program's /reset may have given its number away.
            sources: keys of the lines that were in the prompt of this reply.

        Returns:
            the key of the turn, and the memory lines that are new with it.

        Raises:
            GoneError: the session is not there any more.
        """

        def write(db: sa.Connection) -> tuple[int, list[str]]:
            if not rows.has_session(db, session, uid):
                raise GoneError(f"there is no session {session}")
            db.execute(schema.vectors.delete().where(schema.vectors.c.session == session))  # they lack this turn
            key, new = telling.insert_turn(db, session, turn, sources)
            if turn.speaker == "user" and tombstones.are_there(db):
                tombstones.lift(db, rows.select_lines(db, where=schema.turns.c.key == key))
            return key, new

        return self._with_words(write)

    def finish(self, session: int, when: datetime) -> None:
        """Close a session; one without a turn leaves no trace."""
        with self._transaction() as db:
            empty = not db.scalar(sa.select(sa.func.count()).where(schema.turns.c.session == session))
            if empty:
                db.execute(schema.sessions.delete().where(schema.sessions.c.number == session))
            else:
                at = schema.sessions.c.number == session
                db.execute(schema.sessions.update().where(at).values(finished=when.isoformat()))

    def supersede(self, line: int, older: Sequence[int]) -> None:
        """Let a line take the place of older ones, by their keys."""
        with self._transaction() as db:
            state_rows.supersede(db, line, older)

    def rejudge(self, kinds: Mapping[int, str]) -> None:
        """Give lines other kinds, by their keys; what these had done to older lines is undone."""
        if kinds:
            with self._transaction() as db:
                state_rows.rejudge(db, kinds)

    def record(self, session: Session, *, uid: str | None = None) -> int | None:
        """Write a whole finished session, and return its number; None when it is empty or its uid is known already."""
        with self._transaction() as db:
            return telling.insert_whole(db, session, uid or uuid.uuid4().hex)

    def restore_all(self, exported: Sequence[Mapping[str, Any]], *, forgotten: bool = False) -> Restored:
        """Write the sessions that `dump` or `export` returned and that are not here yet, all or none.

        Into an empty journal states come as they were dumped; else they are derived from all that is there then.

        Args:
            exported: the sessions.
            forgotten: whether sentences that were forgotten since come back, too.

        Raises:
            KeyError, TypeError, ValueError: they are something else; nothing was written.
        """
        self.check_lasting()
        sessions = export_rows.sessions(exported)
        with self._transaction() as db:
            is_empty = db.scalar(sa.select(schema.sessions.c.number).limit(1)) is None
            if forgotten:
                telling.drop_shorter(db, sessions)
            numbers = export_rows.load(db, exported)
            new = rows.select_lines(db, where=schema.turns.c.session.in_(numbers))
            buried = [] if forgotten else tombstones.buried(db, new)
            if forgotten:
                tombstones.lift(db, new)
            if buried:
                erasing.erase(db, buried)
            if buried or forgotten:
                journal_words.scrub(db)
            if buried or (numbers and not (is_empty and export_rows.have_states(exported))):
                state_rows.derive_all(db)  # what is imported may be older than what is here
            rows.bump(db)
        return Restored(len(numbers), sum(line.kind in MEMORY_KINDS for line in buried))

    def take_tombstones(self, key: str, marks: Iterable[str]) -> None:
        """Know as forgotten what another journal of this user knew."""
        with self._transaction() as db:
            tombstones.paste(db, key, marks)

    def discard(self, session: int) -> None:
        """Erase a session as if it had never been."""
        with self._transaction() as db:
            db.execute(schema.sessions.delete().where(schema.sessions.c.number == session))
            state_rows.derive_all(db)
            journal_words.scrub(db)
            rows.bump(db)

    def forget(self, text: str) -> list[Recollection]:
        """Erase every line in which all words of `text` occur, as `erase` does, and return these lines."""
        self.check_lasting()
        with self._transaction() as db:
            doomed = _with_words(rows.select_lines(db), text)
            self._erase(db, doomed)
        if doomed:
            self._vacuum()
        return [line.recollection(1.0) for line in doomed]

    def erase(self, keys: Iterable[int]) -> None:
        """Erase lines by their keys, and what came of them.

        A reply goes when it followed an erased sentence of the user, when an erased line was in its prompt, or when it
        has a word that only erased lines had; a question goes with a value of theirs. The sessions touched lose their
        vectors, which are made again from what is left, and so are the states: what an erased line had superseded is
        current again. Keyed hashes of the sentences stay, so that an old copy does not bring them back.
        """
        self.check_lasting()
        wanted = set(keys)
        with self._transaction() as db:
            doomed = [line for line in rows.select_lines(db) if line.key in wanted]
            self._erase(db, doomed)
        if doomed:
            self._vacuum()

    def _erase(self, db: sa.Connection, doomed: Sequence[rows.Line]) -> None:
        if doomed:
            gone = [*doomed, *echoes(doomed, rows.select_lines(db))]
            tombstones.lay(db, gone)
            erasing.erase(db, gone)
            state_rows.derive_all(db)
            journal_words.scrub(db)

    def leaving(self, count: int, now: datetime) -> list[int]:
        """Return the numbers of the sessions that `keep_at_most` would erase."""
        with self._transaction() as db:
            return capacity.leaving(db, count, now)

    def keep_at_most(self, count: int, now: datetime) -> list[int]:
        """Erase the finished sessions that are worth least until `count` are left, and return their numbers."""
        with self._transaction() as db:
            gone = capacity.leaving(db, count, now)
            if gone:
                db.execute(schema.sessions.delete().where(schema.sessions.c.number.in_(gone)))
                journal_words.scrub(db)
                rows.bump(db)
        return gone

    def clear(self) -> None:
        """Erase everything."""
        self.check_lasting()
        with self._transaction() as db:
            db.execute(schema.sessions.delete())
            tombstones.clear(db)
            journal_words.scrub(db)
            rows.bump(db)
        self._vacuum()

    def audit(self, patterns: Patterns = ()) -> list[audit.Finding]:
        """Return what is not as it should be; `patterns` are the user's own, of secrets."""
        with self._transaction() as db:
            return audit.inspect(db, patterns)

    def mend(self, patterns: Patterns = ()) -> None:
        """Mend of it what can be mended; vectors are made again by the memory."""
        self.check_lasting()
        with self._transaction() as db:
            audit.mend(db, patterns)
            journal_words.scrub(db)
        self._vacuum()

    # Reading

    def open_sessions(self) -> list[tuple[int, str]]:
        """Return number and uid of the sessions that nobody has finished."""
        query = sa.select(schema.sessions.c.number, schema.sessions.c.uid)
        with self._transaction() as db:
            return list(db.execute(query.where(schema.sessions.c.finished.is_(None))))

    def turns(self, session: int) -> list[tuple[int, Turn]]:
        """Return the turns of a session with their keys, in order."""
        query = sa.select(schema.turns).where(schema.turns.c.session == session).order_by(schema.turns.c.position)
        with self._transaction() as db:
            return [(row["key"], rows.turn(row)) for row in db.execute(query).mappings()]

    def export(self, numbers: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """Return sessions as plain values, oldest first: what `record` takes back, with its uid and its times."""
        query = (
            sa.select(schema.sessions.c.uid, schema.turns)
            .join(schema.turns, schema.turns.c.session == schema.sessions.c.number)
            .order_by(schema.turns.c.session, schema.turns.c.position)
        )
        if numbers is not None:
            query = query.where(schema.sessions.c.number.in_(numbers))
        found: dict[int, dict[str, Any]] = {}
        with self._transaction() as db:
            for row in db.execute(query).mappings():
                session = found.setdefault(row["session"], {"uid": row["uid"], "number": row["session"], "turns": []})
                turn = {name: row[name] for name in ("speaker", "text", "when", "explicit")}
                session["turns"].append(turn)
        return list(found.values())

    def dump(self) -> list[dict[str, Any]]:
        """Return all that is kept but the vectors as plain values, oldest session first: what /export writes."""
        with self._transaction() as db:
            return export_rows.dump(db)

    def lines(self, session: int | None = None, *, turn: int | None = None) -> list[rows.Line]:
        """Return the sentences of one session, of one turn, or of all, in the order in which they were said."""
        with self._transaction() as db:
            return rows.select_lines(db, session, where=None if turn is None else schema.lines.c.turn == turn)

    def matching(self, text: str) -> list[rows.Line]:
        """Return the sentences that `forget` would erase."""
        return _with_words(self.lines(), text)

    def facts(self) -> list[rows.Line]:
        """Return what the user told, in any state, one line for what was told twice: the newest, oldest fact first."""
        newest: dict[str, rows.Line] = {}
        for line in self.lines():
            if line.kind in MEMORY_KINDS:
                key = same_words(normal(line.text))
                newest.pop(key, None)
                newest[key] = line
        return list(newest.values())


def _with_words(lines: Iterable[rows.Line], text: str) -> list[rows.Line]:
    """Return the lines in which all words of a text occur; none where it has no words."""
    wanted = set(words(text))
    return [line for line in lines if wanted and (has_words(line.text, wanted) or has_words(line.said, wanted))]

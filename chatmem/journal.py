"""The journal: the record of everything said, and the truth that every index is made from.

One SQLite file (or another database that SQLAlchemy speaks) holds one user's sessions, turns and sentences, and
beside each finished session the vectors made from it, so that text and vectors come and go in one transaction.
A turn is on disk when `append` returns. Deleted content is overwritten with zeros (`secure_delete`), and there is
no write-ahead log that could keep old pages.

Knows nothing of models: vectors are bytes with the fingerprint of the encoder that made them.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from chatmem import audit, migration, rows, schema, state_rows, telling, tombstones
from chatmem.echoes import echoes
from chatmem.frames import normal
from chatmem.interface import DamagedError, NewerError, Recollection, Session, StoreError, Turn
from chatmem.judgement import MEMORY_KINDS
from chatmem.sentences import same_words, words
from chatmem.vault import Vault, key_of


class Restored(NamedTuple):
    """What came of sessions that were brought in: how many are new, and how many sentences stayed forgotten."""

    added: int
    forgotten: int


class Journal:
    """The record of one user. Every public method is one transaction; all raise `StoreError` for a disk's refusal."""

    def __init__(self, url: str | sa.URL, vault: Vault | None = None) -> None:
        """Open or make the journal at a database URL; "sqlite://" is one in RAM.

        Args:
            url: where it is.
            vault: the keys of an encrypted memory, for the journal and for the files of its indexes.

        Raises:
            DamagedError: it is damaged or foreign.
            NewerError: a newer version of the program wrote it.
            StoreError: it cannot be opened.
        """
        self.vault = vault
        self._engine = schema.open_engine(url, key_of(vault))
        self._file = _identity(self._engine.url)
        with self._transaction() as db:
            self._check(db)

    @classmethod
    def copy_in_ram(cls, path: Path, vault: Vault | None = None) -> Journal:
        """Return a journal in RAM that begins with what can be read at a path where nothing can be written."""
        copy, uri = cls("sqlite://", vault), f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            with contextlib.closing(schema.connect(uri, key_of(vault))) as file:
                connection = copy._engine.raw_connection()
                file.backup(connection.driver_connection)
            with copy._transaction() as db:
                copy._check(db)  # makes the tables where the file was empty
        except (copy._engine.dialect.loaded_dbapi.Error, StoreError):
            return cls("sqlite://")  # nothing there, or nothing readable
        return copy

    @classmethod
    def at(cls, path: Path, vault: Vault | None = None) -> Journal:
        """Open or make the SQLite journal at a path, readable by the user only."""
        try:
            path.touch(mode=0o600, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from error
        return cls(sa.URL.create("sqlite", database=str(path)), vault)

    def _check(self, db: sa.Connection) -> None:
        """Make the tables of a new journal; refuse a damaged, foreign or newer one."""
        if db.dialect.name == "sqlite":
            answer = db.exec_driver_sql("PRAGMA quick_check(1)").scalar()
            if answer != "ok":
                raise DamagedError(f"the journal is damaged: {answer}")
        names = sa.inspect(db).get_table_names()
        if names and "meta" not in names:
            raise DamagedError("the journal is a database of another program")
        if not names:
            schema.metadata.create_all(db)
            db.execute(
                schema.meta.insert(),
                [{"key": "format", "value": schema.FORMAT}, {"key": "version", "value": str(schema.VERSION)}],
            )
            db.execute(schema.meta.insert(), [{"key": "revision", "value": "0"}])
        found = {key: value for key, value in db.execute(sa.select(schema.meta.c.key, schema.meta.c.value))}
        if found.get("format") != schema.FORMAT:
            raise DamagedError("the journal is a database of another program")
        if int(found.get("version", "0")) > schema.VERSION:
            raise NewerError(f"the journal has version {found['version']}, newer than this program: update the program")
        schema.tombstones.create(db, checkfirst=True)
        migration.upgrade(db, int(found.get("version", "0")))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        """Yield a connection whose work is kept as a whole or not at all."""
        try:
            with self._engine.begin() as db:
                self._check_in_place()
                yield db
        except sa.exc.DBAPIError as error:
            self._check_in_place()
            damaged = "malformed" in str(error.orig) or "not a database" in str(error.orig)
            kind = DamagedError if damaged else StoreError
            raise kind(f"the journal cannot be used: {error.orig}") from error
        except (ValueError, OverflowError) as error:  # a value in the file that no version of us wrote
            raise DamagedError(f"the journal is damaged: {error}") from error
        except MemoryError as error:
            if self.vault is None:
                raise
            raise StoreError("the journal cannot be read any more: it is damaged") from error  # so says SQLCipher

    def _check_in_place(self) -> None:
        """Refuse to go on with a file that another one was put in the place of: nobody reads it again."""
        if self._file not in (None, _identity(self._engine.url)):
            raise StoreError("the journal was replaced by another program: start this one again")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

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
            LookupError: the session is not there any more.
        """
        with self._transaction() as db:
            if not rows.has_session(db, session, uid):
                raise LookupError(f"there is no session {session}")
            db.execute(schema.vectors.delete().where(schema.vectors.c.session == session))  # they lack this turn
            key, new = telling.insert_turn(db, session, turn, sources)
            if turn.speaker == "user" and tombstones.are_there(db):
                tombstones.lift(db, rows.select_lines(db, where=schema.turns.c.key == key))
            return key, new

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
            rows.bump(db)

    def record(self, session: Session, *, uid: str | None = None) -> int | None:
        """Write a whole finished session, and return its number; None when it is empty or its uid is known already."""
        with self._transaction() as db:
            return telling.insert_whole(db, session, uid or uuid.uuid4().hex)

    def restore_all(self, exported: Sequence[Mapping[str, Any]], *, forgotten: bool = False) -> Restored:
        """Write the sessions that `export` returned and that are not here yet, all or none.

        Args:
            exported: the sessions.
            forgotten: whether sentences that were forgotten since come back, too.

        Raises:
            KeyError, TypeError, ValueError: they are not what `export` returns; nothing was written.
        """
        sessions = [(str(row["uid"]), Session(tuple(rows.turn(turn) for turn in row["turns"]))) for row in exported]
        with self._transaction() as db:
            if forgotten:
                telling.drop_shorter(db, sessions)
            added = [telling.insert_whole(db, session, uid, derived=False) for uid, session in sessions]
            numbers = [number for number in added if number is not None]
            new = rows.select_lines(db, where=schema.turns.c.session.in_(numbers))
            buried = [] if forgotten else tombstones.buried(db, new)
            if forgotten:
                tombstones.lift(db, new)
            if buried:
                rows.erase(db, buried)
            state_rows.derive_all(db)  # what is imported may be older than what is here
            rows.bump(db)
        return Restored(len(numbers), sum(line.kind in MEMORY_KINDS for line in buried))

    def take_tombstones(self, key: str, marks: Iterable[str]) -> None:
        """Know as forgotten what another journal of this user knew."""
        with self._transaction() as db:
            tombstones.paste(db, key, marks)

    def drop_vectors(self) -> None:
        """Drop the vectors of every session; they can be made again."""
        with self._transaction() as db:
            db.execute(schema.vectors.delete())
            rows.bump(db)

    def store_vectors(self, session: int, fingerprint: str, slot: bytes, lines: bytes) -> None:
        """Keep the vectors of a session beside its text, in place of older ones."""
        with self._transaction() as db:
            db.execute(schema.vectors.delete().where(schema.vectors.c.session == session))
            row = {"session": session, "fingerprint": fingerprint, "slot": slot, "lines": lines}
            db.execute(schema.vectors.insert(), [row])
            rows.bump(db)

    def discard(self, session: int) -> None:
        """Erase a session as if it had never been."""
        with self._transaction() as db:
            db.execute(schema.sessions.delete().where(schema.sessions.c.number == session))
            state_rows.derive_all(db)
            rows.bump(db)

    def forget(self, text: str) -> list[Recollection]:
        """Erase every line in which all words of `text` occur, as `erase` does, and return these lines."""
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
            rows.erase(db, gone)
            state_rows.derive_all(db)

    def clear(self) -> None:
        """Erase everything."""
        with self._transaction() as db:
            db.execute(schema.sessions.delete())
            tombstones.clear(db)
            rows.bump(db)
        self._vacuum()

    def audit(self) -> list[audit.Finding]:
        """Return what is not as it should be."""
        with self._transaction() as db:
            return audit.inspect(db)

    def mend(self) -> None:
        """Mend of it what can be mended; vectors are made again by the memory."""
        with self._transaction() as db:
            audit.mend(db)
        self._vacuum()

    def _vacuum(self) -> None:
        """Rewrite the file without the pages that are free now."""
        if self._engine.dialect.name != "sqlite":
            return
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("VACUUM")
        except self._engine.dialect.loaded_dbapi.Error as error:
            raise StoreError(f"the journal cannot be used: {error}") from error
        finally:
            connection.close()

    # Reading

    def revision(self) -> int:
        """Return a number that changes whenever vectors were stored or text was erased."""
        with self._transaction() as db:
            return int(db.scalar(sa.select(schema.meta.c.value).where(schema.meta.c.key == "revision")) or 0)

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

    def unindexed(self, fingerprint: str) -> list[int]:
        """Return the finished sessions that have no vectors of this encoder, oldest first."""
        current = sa.select(schema.vectors.c.session).where(schema.vectors.c.fingerprint == fingerprint)
        query = (
            sa.select(schema.sessions.c.number)
            .where(schema.sessions.c.finished.is_not(None), schema.sessions.c.number.not_in(current))
            .order_by(schema.sessions.c.number)
        )
        with self._transaction() as db:
            return list(db.scalars(query))

    def lines(self, session: int | None = None) -> list[rows.Line]:
        """Return the sentences of one session, or of all, in the order in which they were said."""
        with self._transaction() as db:
            return rows.select_lines(db, session)

    def pending(self, fingerprint: str) -> list[rows.Line]:
        """Return the sentences of sessions that have no vectors of this encoder yet: open ones, and new ones."""
        current = sa.select(schema.vectors.c.session).where(schema.vectors.c.fingerprint == fingerprint)
        waiting = sa.select(schema.sessions.c.number).where(schema.sessions.c.number.not_in(current))
        with self._transaction() as db:
            numbers = list(db.scalars(waiting))  # a query of its own, so that the next one finds turns by their index
            return rows.select_lines(db, where=schema.turns.c.session.in_(numbers)) if numbers else []

    def vectors(self, fingerprint: str) -> list[rows.SessionVectors]:
        """Return the vectors that this encoder made, oldest session first."""
        query = (
            sa.select(schema.vectors.c.session, schema.vectors.c.slot, schema.vectors.c.lines)
            .where(schema.vectors.c.fingerprint == fingerprint)
            .order_by(schema.vectors.c.session)
        )
        with self._transaction() as db:
            return [rows.SessionVectors(*row) for row in db.execute(query)]

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


def _identity(url: sa.URL) -> tuple[int, int] | None:
    """Tell which file lies where a journal is; None where it is in no file."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    try:
        found = Path(url.database).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _with_words(lines: Iterable[rows.Line], text: str) -> list[rows.Line]:
    """Return the lines in which all words of a text occur; none where it has no words."""
    wanted = set(words(text))
    return [line for line in lines if wanted and any(wanted <= set(words(part)) for part in (line.text, line.said))]

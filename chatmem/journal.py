"""The journal: the record of everything said, and the truth that every index is made from.

One SQLite file (or another database that SQLAlchemy speaks) holds one user's sessions, turns and sentences, and
beside each finished session the vectors made from it, so that text and vectors come and go in one transaction.
A turn is on disk when `append` returns. Deleted content is overwritten with zeros (`secure_delete`), and there is
no write-ahead log that could keep old pages.

Knows nothing of models: vectors are bytes with the fingerprint of the encoder that made them.
"""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa

from chatmem import (
    audit,
    capacity,
    export_rows,
    journal_words,
    migration,
    rows,
    schema,
    server,
    state_rows,
    telling,
    tombstones,
)
from chatmem.echoes import echoes
from chatmem.frames import normal
from chatmem.interface import DamagedError, NewerError, Recollection, Session, StoreError, Turn
from chatmem.judgement import MEMORY_KINDS
from chatmem.sentences import same_words, words
from chatmem.times import Span
from chatmem.vault import Vault, key_of

log = logging.getLogger("chatmem")
T = TypeVar("T")
_DAMAGED = ("malformed", "not a database", "decode to UTF-8", "tokenize", "vtable constructor", "no such")  # in errors


class Restored(NamedTuple):
    """What came of sessions that were brought in: how many are new, and how many sentences stayed forgotten."""

    added: int
    forgotten: int


class Waiting(NamedTuple):
    """The sessions without vectors, oldest first, at one revision of the journal."""

    revision: int  # changes whenever vectors were stored or text was erased
    finished: list[int]
    open: list[int]


class Journal:
    """The record of one user. Every public method is one transaction; all raise `StoreError` for a disk's refusal."""

    def __init__(self, url: str | sa.URL | sa.Engine, vault: Vault | None = None) -> None:
        """Open or make the journal at a database URL, or one of `server.open_engine`; "sqlite://" is one in RAM.

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
        self._suspected(failed=False)

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
            self._check_pages(db)
        else:
            server.make_schema(db)
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
            journal_words.create(db)
        found = {key: value for key, value in db.execute(sa.select(schema.meta.c.key, schema.meta.c.value))}
        if found.get("format") != schema.FORMAT:
            raise DamagedError("the journal is a database of another program")
        if int(found.get("version", "0")) > schema.VERSION:
            raise NewerError(f"the journal has version {found['version']}, newer than this program: update the program")
        schema.tombstones.create(db, checkfirst=True)
        migration.upgrade(db, int(found.get("version", "0")))
        if self._is_suspect():
            rows.check_values(db)
            journal_words.check(db)

    def _check_pages(self, db: sa.Connection) -> None:
        """Refuse a damaged SQLite file; one that failed in use is checked in full, and its indexes are made again."""
        suspect = self._is_suspect()
        check = "PRAGMA integrity_check(1)" if suspect else "PRAGMA quick_check(1)"
        answer = db.exec_driver_sql(check).scalar()
        if suspect and answer != "ok":
            db.exec_driver_sql("REINDEX")
            journal_words.create(db)
            answer = db.exec_driver_sql(check).scalar()
            log.warning("The indexes of the journal were damaged and are made again.")
        if answer != "ok":
            raise DamagedError(f"the journal is damaged: {answer}")

    def _is_suspect(self) -> bool:
        return self._suspect is not None and self._suspect.exists()

    @property
    def _suspect(self) -> Path | None:
        """The file that says that the journal failed in use; None where it is in no file."""
        url = self._engine.url
        if url.get_backend_name() != "sqlite" or not url.database:
            return None
        return Path(f"{url.database}.suspect")

    def _suspected(self, *, failed: bool) -> None:
        """Note for the next start that the journal failed in use, or that it is sound again."""
        if (mark := self._suspect) is not None:
            with contextlib.suppress(OSError):
                if failed:
                    mark.touch(mode=0o600)
                else:
                    mark.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        """Yield a connection whose work is kept as a whole or not at all."""
        try:
            with self._engine.begin() as db:
                self._check_in_place()
                yield db
        except sa.exc.DBAPIError as error:
            self._check_in_place()
            damaged = any(sign in str(error.orig) for sign in _DAMAGED)
            kind = DamagedError if damaged else StoreError
            if damaged:
                self._suspected(failed=True)
            raise kind(f"the journal cannot be used: {server.reason(self._engine, error)}") from error
        except (ValueError, OverflowError) as error:  # a value in the file that no version of us wrote
            self._suspected(failed=True)
            raise DamagedError(f"the journal is damaged: {error}") from error
        except MemoryError as error:
            if self.vault is None:
                raise
            raise StoreError("the journal cannot be read any more: it is damaged") from error  # so says SQLCipher

    def _check_in_place(self) -> None:
        """Refuse to go on with a file that another one was put in the place of: nobody reads it again."""
        if self._file not in (None, _identity(self._engine.url)):
            raise StoreError("the journal was replaced by another program: start this one again")

    def lock(self, uid: str) -> server.SessionLock | None:
        """Return the lock of a session in progress where the journal is on a server; None where files do that."""
        return None if self._engine.dialect.name == "sqlite" else server.SessionLock(self._engine, uid)

    def _with_words(self, work: Callable[[sa.Connection], T]) -> T:
        """Do something that needs the word index in a transaction; once more with a new one where that is damaged."""
        try:
            with self._transaction() as db:
                return work(db)
        except DamagedError:
            with self._transaction() as db:
                journal_words.create(db)
            log.warning("The word index beside the journal was damaged and is made again.")
        with self._transaction() as db:
            return work(db)

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

        def write(db: sa.Connection) -> tuple[int, list[str]]:
            if not rows.has_session(db, session, uid):
                raise LookupError(f"there is no session {session}")
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
                rows.erase(db, buried)
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

    def discard(self, session: int) -> None:
        """Erase a session as if it had never been."""
        with self._transaction() as db:
            db.execute(schema.sessions.delete().where(schema.sessions.c.number == session))
            state_rows.derive_all(db)
            journal_words.scrub(db)
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
            journal_words.scrub(db)

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
        with self._transaction() as db:
            db.execute(schema.sessions.delete())
            tombstones.clear(db)
            journal_words.scrub(db)
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
            journal_words.scrub(db)
        self._vacuum()

    def _vacuum(self) -> None:
        """Rewrite the file without the pages that are free now."""
        if self._engine.dialect.name != "sqlite":
            return server.vacuum(self._engine, list(schema.metadata.tables))
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("VACUUM")
        except self._engine.dialect.loaded_dbapi.Error as error:
            raise StoreError(f"the journal cannot be used: {error}") from error
        finally:
            connection.close()

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

    def has_other_vectors(self, fingerprint: str) -> bool:
        """Tell whether vectors of another encoder are here; they are never read, and replaced one session at a time."""
        query = sa.select(schema.vectors.c.session).where(schema.vectors.c.fingerprint != fingerprint).limit(1)
        with self._transaction() as db:
            return db.scalar(query) is not None

    def lines(self, session: int | None = None) -> list[rows.Line]:
        """Return the sentences of one session, or of all, in the order in which they were said."""
        with self._transaction() as db:
            return rows.select_lines(db, session)

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

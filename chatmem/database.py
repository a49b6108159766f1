"""The database of a journal: opening, checking, transactions, and what to do when the file fails.

Knows nothing of what is said; see `journal` for that.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self, TypeVar

import sqlalchemy as sa

from chatmem import journal_words, migration, rows, schema, server
from chatmem.interface import DamagedError, NewerError, StoreError
from chatmem.vault import Vault, key_of

log = logging.getLogger("chatmem")
T = TypeVar("T")
_DAMAGED = ("malformed", "not a database", "decode to UTF-8", "tokenize", "vtable constructor", "no such")  # in errors


class Database:
    """The database of one user's journal, in a file, on a server or in RAM."""

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
        self.is_copy = False  # in RAM, of what lies where nothing can be written
        self._engine = schema.open_engine(url, key_of(vault))
        self._file = _identity(self._engine.url)
        with self._transaction() as db:
            self._check(db)
        self._suspected(failed=False)

    @classmethod
    def copy_in_ram(cls, path: Path, vault: Vault | None = None) -> Self:
        """Return a journal in RAM that begins with what can be read at a path where nothing can be written."""
        if not path.is_file():  # a pipe would be waited for
            copy = cls("sqlite://")
            copy.is_copy = True
            return copy
        copy, uri = cls("sqlite://", vault), f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            with contextlib.closing(schema.connect(uri, key_of(vault))) as file:
                connection = copy._engine.raw_connection()
                file.backup(connection.driver_connection)
            with copy._transaction() as db:
                copy._check(db)  # makes the tables where the file was empty
        except (copy._engine.dialect.loaded_dbapi.Error, StoreError):
            copy = cls("sqlite://")  # nothing there, or nothing readable
        copy.is_copy = True
        return copy

    @classmethod
    def at(cls, path: Path, vault: Vault | None = None) -> Self:
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

    def check_lasting(self) -> None:
        """Raise `StoreError` where a change would not reach the disk: nobody may believe that something is erased."""
        if self.is_copy:
            raise StoreError("the memory on the disk cannot be written: nothing was changed")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _vacuum(self) -> None:
        """Rewrite the file without the pages that are free now; what was erased in them is overwritten already."""
        if self._engine.dialect.name != "sqlite":
            return server.vacuum(self._engine, list(schema.metadata.tables))
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("VACUUM")
        except self._engine.dialect.loaded_dbapi.Error as error:
            log.warning("What was erased is overwritten, but journal.db could not be made smaller: %s.", error)
        finally:
            connection.close()


def _identity(url: sa.URL) -> tuple[int, int] | None:
    """Tell which file lies where a journal is; None where it is in no file."""
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    try:
        found = Path(url.database).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino

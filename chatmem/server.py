"""A journal on a PostgreSQL server: several machines share one memory.

Each user has a schema of their own in the database, named by a hash of the exact name; a connection sees no other one.
What SQLite gives by its file is done here with locks of the server: transactions on one user wait for each other, and a
session in progress holds a lock that ends with its program. Passwords are in no message.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import sqlalchemy as sa
from filelock import Timeout

from chatmem.interface import StoreError, UsageError
from chatmem.storage import user_digest

FORM = "postgresql+psycopg://USER@HOST/DATABASE"
_WAIT_SECONDS = 10  # for a connection; a URL may say "?connect_timeout=…"
_SETTINGS = {  # of a connection
    "lock_timeout": "30s",
    "tcp_keepalives_idle": "60",  # a machine that lost its power holds its locks for two minutes and not for hours
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "6",
}


def open_engine(store: str, user: str) -> sa.Engine:
    """Return an engine for the memory of one user.

    Args:
        store: a URL such as `FORM`.
        user: the exact name.

    Raises:
        UsageError: the URL or the name cannot be used.
        StoreError: the driver is missing.
    """
    url, schema = _parsed(store), f"chatmem_{user_digest(user)}"
    if importlib.util.find_spec("psycopg") is None:
        raise StoreError("--store needs the driver psycopg: pip install -r requirements-store.txt")
    try:
        engine = sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
    except ImportError as error:  # the driver without its C library
        raise StoreError("--store needs the driver psycopg: pip install -r requirements-store.txt") from error
    settings, key = {**_SETTINGS, "search_path": schema}, _number(schema)

    def prepare(connection: Any, _record: Any) -> None:
        before, connection.autocommit = connection.autocommit, True
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        connection.autocommit = before

    def wait_for_others(db: sa.Connection) -> None:
        db.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (key,))

    sa.event.listen(engine, "connect", prepare, insert=True)  # before SQLAlchemy asks which schema it is in
    sa.event.listen(engine, "begin", wait_for_others)
    return engine


def _parsed(store: str) -> sa.URL:
    """Return a URL in which every part is where it belongs; no error says what stands in it."""
    try:
        url = sa.make_url(store)
    except (sa.exc.ArgumentError, ValueError):
        raise UsageError(f"--store cannot be read: it must look like {FORM}") from None
    if url.drivername not in ("postgresql", "postgresql+psycopg"):
        raise UsageError(f"--store must look like {FORM}: other databases are not known")
    if store.partition("://")[2].partition("?")[0].count("@") > 1:
        raise UsageError("--store has more than one @: write %40 for one in a name or password")
    query = {"connect_timeout": str(_WAIT_SECONDS)} | dict(url.query)
    return url.set(drivername="postgresql+psycopg", query=query)


def _number(name: str) -> int:
    """Return the number by which the server knows a lock."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def make_schema(db: sa.Connection) -> None:
    """Make the user's schema where there is none."""
    if db.scalar(sa.text("SELECT current_schema()")) is None:
        db.execute(sa.schema.CreateSchema(db.scalar(sa.text("SHOW search_path"))))


def reason(engine: sa.Engine, error: BaseException) -> str:
    """Return the first line of what the driver says: the ones after it may quote a row; a password is left out."""
    said = (str(getattr(error, "orig", None) or error).splitlines() or [type(error).__name__])[0]
    for secret in (engine.url.password, engine.url.query.get("password")):
        if secret:
            said = said.replace(str(secret), "***")
    return said


@contextmanager
def _aside(engine: sa.Engine) -> Iterator[Any]:
    """Yield a connection of the driver that is in no transaction, and close it."""
    try:
        pooled = engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()
        try:
            connection.autocommit = True
            yield connection
        finally:
            connection.close()
    except (sa.exc.DBAPIError, engine.dialect.loaded_dbapi.Error) as error:
        raise StoreError(f"the store cannot be used: {reason(engine, error)}") from error


def vacuum(engine: sa.Engine, tables: list[str]) -> None:
    """Write tables anew without the rows that were deleted; the server's log and backups are the server's."""
    with _aside(engine) as connection:
        connection.execute(f"VACUUM (FULL) {', '.join(tables)}")


class SessionLock:
    """Says to other machines that a session is in progress, as long as this program lives."""

    def __init__(self, engine: sa.Engine, uid: str) -> None:
        """Name the lock of a session; it is not held yet."""
        self._engine, self._key = engine, _number(f"session {uid}")
        self._holding: ExitStack | None = None

    def acquire(self, *, blocking: bool = True) -> None:
        """Take the lock; filelock's Timeout where it is held and `blocking` is off, StoreError without the server."""
        take = "pg_advisory_lock" if blocking else "pg_try_advisory_lock"
        with ExitStack() as stack:
            connection = stack.enter_context(_aside(self._engine))
            if connection.execute(f"SELECT {take}(%s)", (self._key,)).fetchone()[0] is False:
                raise Timeout("session")
            self._holding = stack.pop_all()

    def release(self) -> None:
        """Let go of the lock."""
        if self._holding is not None:
            self._holding.close()
            self._holding = None

"""The tables of the journal and how SQLite is set up for them.

Knows nothing of what is done with the rows.
"""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.pool import QueuePool, StaticPool

from chatmem.words_index import token_text

FORMAT = "chatmem-journal"
VERSION = 4
LONGEST_HANDLE = 500  # characters
_QUIET = "PRAGMA cipher_log_level = NONE"  # SQLCipher writes to stderr what it also raises; plain SQLite ignores it


class Handle(sa.types.TypeDecorator[str]):
    """A handle as it is, but for PostgreSQL, whose indexes take no long values: there a long one is hashed."""

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """Return what is stored and compared."""
        if value is None or len(value) <= LONGEST_HANDLE or dialect.name != "postgresql":
            return value
        return f"#{hashlib.sha256(value.encode()).hexdigest()}"


metadata = sa.MetaData()
meta = sa.Table(
    "meta", metadata, sa.Column("key", sa.String, primary_key=True), sa.Column("value", sa.String, nullable=False)
)
sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("uid", sa.String, nullable=False, unique=True),  # the same session in an export and after its import
    sa.Column("started", sa.String, nullable=False),
    sa.Column("finished", sa.String),  # null while the session is open
)
turns = sa.Table(
    "turns",
    metadata,
    sa.Column("key", sa.Integer, primary_key=True),
    sa.Column("session", sa.ForeignKey("sessions.number", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("speaker", sa.String, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("when", sa.String, nullable=False),
    sa.Column("explicit", sa.Boolean, nullable=False),
    sa.Column("sources", sa.String, nullable=False),  # keys of the lines that were in the prompt of this reply
    sa.Index("ix_turns_place", "session", "position"),
)
lines = sa.Table(
    "lines",
    metadata,
    sa.Column("key", sa.Integer, primary_key=True),
    sa.Column("turn", sa.ForeignKey("turns.key", ondelete="CASCADE"), nullable=False),
    sa.Column("sentence", sa.Integer, nullable=False),  # of the turn, counted from 0; clauses of one share it
    sa.Column("said", sa.Text, nullable=False),  # as it stands in the turn
    sa.Column(
        "text", sa.Text, nullable=False
    ),  # as it reads alone: a shared subject repeated, a correction put in place
    sa.Column("words", sa.Text, nullable=False),  # what two ways to write the same share
    sa.Column("kind", sa.String, nullable=False),  # judgement.Kind, or "reply" for what the assistant said
    sa.Column("at", sa.Float, nullable=False, index=True),  # seconds since 1970: the order that states are derived in
    sa.Column("refers", sa.String, nullable=False),  # keys of the lines that it corrects or takes back, as JSON
    sa.Column("status", sa.String, nullable=False, index=True),  # states.Status
    sa.Column("until", sa.String),  # when it ceased to be current
    sa.Column("superseded_by", sa.Integer),  # key of the line that ended it; null where time did
    sa.Column("holds_from", sa.String),  # the first day on which it holds, where it says so; null where that is open
    sa.Column("holds_until", sa.String, index=True),  # the last one
    sa.Index("ix_lines_place", "turn", "kind"),  # with ix_turns_place it tells what is where without reading any text
    sa.Index("ix_lines_kind_status", "kind", "status"),
    sqlite_autoincrement=True,  # a key is never used again: an index of erased lines cannot mean new ones
)
sa.Index("ix_lines_words", lines.c.words, postgresql_using="hash")  # its other kind takes no long texts
handles = sa.Table(  # under which words a memory line is found by a new one that may change its state
    "handles",
    metadata,
    sa.Column("line", sa.ForeignKey("lines.key", ondelete="CASCADE"), primary_key=True),
    sa.Column("handle", Handle, primary_key=True),
    sa.Index("ix_handles_newest", "handle", "line"),
)
tombstones = sa.Table(  # keyed hashes of forgotten sentences; a journal without this table has none
    "tombstones", metadata, sa.Column("mark", sa.String, primary_key=True)
)
vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("session", sa.ForeignKey("sessions.number", ondelete="CASCADE"), primary_key=True),
    sa.Column("fingerprint", sa.String, nullable=False, index=True),
    sa.Column("slot", sa.LargeBinary, nullable=False),
    sa.Column(
        "lines", sa.LargeBinary, nullable=False
    ),  # one row for each line of the session, in order: alone and in its context
)


def open_engine(place: str | sa.URL | sa.Engine, key: str | None = None) -> sa.Engine:
    """Return an engine for a database URL; "sqlite://" is a database in RAM.

    Args:
        place: the URL, or an engine, which is returned.
        key: with which SQLCipher reads and writes the file; None is plain SQLite.
    """
    if isinstance(place, sa.Engine):
        return place
    url = sa.make_url(place)
    options: dict[str, Any] = {"poolclass": QueuePool if url.database else StaticPool}
    if key is not None:
        url = url.set(drivername="sqlite+pysqlcipher", password=key)
    engine = sa.create_engine(url, connect_args={"timeout": 30.0, "check_same_thread": False}, **options)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_immediate)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    """Set up a new SQLite connection: we begin transactions ourselves, and deleted bytes are overwritten."""
    connection.isolation_level = None
    connection.create_function("chatmem_tokens", 1, token_text, deterministic=True)  # for `journal_words`
    connection.execute(_QUIET)
    for pragma in ("foreign_keys=ON", "secure_delete=ON", "journal_mode=DELETE", "synchronous=EXTRA"):
        connection.execute(f"PRAGMA {pragma}")


def connect(place: Path | str, key: str | None) -> Any:
    """Return a bare connection to the file of a journal, for what goes round SQLAlchemy.

    Args:
        place: its path or URI.
        key: as in `open_engine`; "" opens a plain file with SQLCipher, which can copy it into an encrypted one.
    """
    is_uri = str(place).startswith("file:")
    if key is None:
        return sqlite3.connect(place, uri=is_uri)
    import sqlcipher3

    db = sqlcipher3.connect(str(place), uri=is_uri)
    db.execute(_QUIET)
    if key:
        db.execute(f'PRAGMA key = "{key}"')
    return db


def _begin_immediate(db: sa.Connection) -> None:
    """Take the write lock at the start: two programs then wait for each other instead of failing half-way."""
    db.exec_driver_sql("BEGIN IMMEDIATE")

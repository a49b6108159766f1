"""The word index beside the journal's text: what is said is found by its words from the moment it is written.

In SQLite it is a table of the journal itself. Triggers keep it to the table of lines, so that it is never made again
at a start, and a line takes its words along when it goes. Another database has it made in RAM. Works inside somebody's
transaction.
"""

from __future__ import annotations

import sqlalchemy as sa

from chatmem import schema
from chatmem.judgement import MEMORY_KINDS
from chatmem.words_index import TABLE, WordIndex, search

KINDS = MEMORY_KINDS | {"reply"}  # of the lines that are found by their words
_IN_KINDS = ", ".join(f"'{kind}'" for kind in sorted(KINDS))
_PUT = f"INSERT INTO words(rowid, text) SELECT new.key, chatmem_tokens(new.text) WHERE new.kind IN ({_IN_KINDS})"
_TAKE = "DELETE FROM words WHERE rowid = old.key"
_TRIGGERS = {
    "words_put": f"AFTER INSERT ON lines BEGIN {_PUT}; END",
    "words_change": f"AFTER UPDATE OF text, kind ON lines BEGIN {_TAKE}; {_PUT}; END",
    "words_take": f"AFTER DELETE ON lines BEGIN {_TAKE}; END",
}


def create(db: sa.Connection) -> None:
    """Make the index from the lines that there are."""
    if not _is_kept(db):
        return
    db.exec_driver_sql("DROP TABLE IF EXISTS words")
    db.exec_driver_sql(TABLE)
    for name, body in _TRIGGERS.items():
        db.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}")
        db.exec_driver_sql(f"CREATE TRIGGER {name} {body}")
    fill = f"INSERT INTO words(rowid, text) SELECT key, chatmem_tokens(text) FROM lines WHERE kind IN ({_IN_KINDS})"
    db.exec_driver_sql(fill)


def check(db: sa.Connection) -> None:
    """Compare the index with its own texts, and make it again where they differ.

    Raises:
        sqlalchemy.exc.DBAPIError: it can neither be read nor made again.
    """
    if not _is_kept(db):
        return
    try:
        db.exec_driver_sql("INSERT INTO words(words) VALUES ('integrity-check')")
    except sa.exc.DBAPIError:
        create(db)


def scrub(db: sa.Connection) -> None:
    """Make the index anew from its own texts: FTS5 keeps the words of what was taken out until it merges."""
    if _is_kept(db):
        db.exec_driver_sql("INSERT INTO words(words) VALUES ('rebuild')")


def scores(db: sa.Connection, query: str) -> dict[int, float]:
    """Return the BM25 score of the lines that share a word with a query, by their keys."""
    if _is_kept(db):
        total = db.exec_driver_sql("SELECT count(*) FROM words_docsize").scalar() or 0
        return search(db.exec_driver_sql, query, total)
    lines, index = schema.lines.c, WordIndex()
    found = db.execute(sa.select(lines.key, lines.text).where(lines.kind.in_(KINDS)))
    index.add({key: text for key, text in found})
    return index.scores(query)


def _is_kept(db: sa.Connection) -> bool:
    """Tell whether the database has an index of its own."""
    return db.dialect.name == "sqlite"

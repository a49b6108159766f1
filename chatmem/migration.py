"""Bringing a journal that an older version of the program wrote up to date, inside the transaction that opens it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from chatmem import journal_words, rows, schema, state_rows, telling
from chatmem.judgement import MEMORY_KINDS
from chatmem.times import holds

_KNOWS_STATES = 2  # the first version whose lines have states
_KNOWS_DAYS = 3  # ... and the days of which they speak


def upgrade(db: sa.Connection, version: int) -> None:
    """Bring a journal of an older version up to date; the turns stay as they are, what follows from them is new."""
    if version == schema.VERSION:
        return
    if version < _KNOWS_STATES:
        read_again(db)
    elif version < _KNOWS_DAYS:
        add_days(db)
    for table in schema.metadata.sorted_tables:
        for index in table.indexes:
            index.create(db, checkfirst=True)
    journal_words.create(db)
    at = schema.meta.c.key == "version"
    db.execute(schema.meta.update().where(at).values(value=str(schema.VERSION)))


def add_days(db: sa.Connection) -> None:
    """Put beside each line the days of which it speaks, and let what has run out be over."""
    for column in (schema.lines.c.holds_from, schema.lines.c.holds_until):
        db.execute(sa.text(f"ALTER TABLE lines ADD COLUMN {column.name} VARCHAR"))
    for line in rows.select_lines(db, where=schema.lines.c.kind.in_(MEMORY_KINDS)):
        if days := holds(line.text, line.when):
            db.execute(schema.lines.update().where(schema.lines.c.key == line.key).values(rows.span_values(days)))
    state_rows.derive_all(db)
    rows.bump(db)


def read_again(db: sa.Connection) -> None:
    """Make all lines and their states again from the turns; vectors, which belong to the old lines, are dropped.

    What a reply was made of is still known afterwards: the keys of its lines are replaced by those of the new ones.
    """
    old = [tuple(row) for row in db.execute(sa.text("SELECT key, turn, text FROM lines ORDER BY key"))]
    schema.vectors.drop(db)
    schema.handles.drop(db, checkfirst=True)
    schema.lines.drop(db)
    schema.metadata.create_all(db)
    if db.dialect.name == "sqlite" and old:  # an index that still has the old keys must not take new lines for old ones
        db.execute(sa.text("INSERT INTO sqlite_sequence VALUES ('lines', :key)"), {"key": old[-1][0]})
    columns = schema.turns.c
    for row in db.execute(sa.select(schema.turns).order_by(columns.session, columns.position)).mappings().all():
        telling.insert_lines(db, row["key"], row["session"], rows.turn(row), derived=False)
    state_rows.derive_all(db)
    _rename_sources(db, old)
    rows.bump(db)


def _rename_sources(db: sa.Connection, old: list[tuple[Any, ...]]) -> None:
    """Replace the keys of old lines by those of the new lines that are parts of them."""
    parts: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for key, turn, said in db.execute(sa.select(schema.lines.c.key, schema.lines.c.turn, schema.lines.c.said)):
        parts[turn].append((key, said))
    names = {key: [new for new, said in parts[turn] if said in text or text in said] for key, turn, text in old}
    columns = schema.turns.c
    for key, sources in db.execute(sa.select(columns.key, columns.sources).where(columns.sources != "[]")).all():
        renamed = sorted({new for name in json.loads(sources) for new in names.get(name, ())})
        db.execute(schema.turns.update().where(columns.key == key).values(sources=json.dumps(renamed)))

"""States in the journal: what a new line changes is written beside it; all can be derived again.

Works inside somebody's transaction. What the states are is in `chatmem/states.py`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from chatmem import schema
from chatmem.frames import normal
from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import as_span
from chatmem.states import NUM_RIVALS, Ledger, Statement, derive, handles_for
from chatmem.times import end_of

_LINES = schema.lines.c
_STATED = (*sorted(MEMORY_KINDS), "retraction")


def advance(db: sa.Connection, new: Statement) -> bool:
    """Let a new line change the states of older ones; tell whether it did. Its own state is set in `new` too."""
    index(db, [new])
    newest = db.scalar(sa.select(_LINES.at).where(_LINES.key != new.key).order_by(_LINES.at.desc()).limit(1))
    if newest is not None and newest > new.when.timestamp():
        derive_all(db)  # something older came later: an import, or a clock that was set back
        new.status = _statements(db, _LINES.key == new.key)[0].status
        return True
    ledger = Ledger()
    ledger.load(_related(db, new))
    ledger.add(new)
    _write(db, ledger)
    return bool(ledger.changed - {new.key})


def expire(db: sa.Connection, now: datetime) -> bool:
    """Let temporary lines be over whose time has passed; tell whether any is."""
    ledger = Ledger()
    said, today = sa.func.substr(schema.turns.c.when, 1, 10), now.date() + timedelta(days=1)  # in any time zone
    has_run_out = (_LINES.holds_until >= said) & (_LINES.holds_until <= today.isoformat())
    ledger.load(_statements(db, ((_LINES.kind == "temporary") | has_run_out) & (_LINES.status == "active")))
    ledger.expire(now)
    _write(db, ledger)
    return bool(ledger.changed)


def derive_all(db: sa.Connection) -> None:
    """Derive the states of all lines from scratch."""
    statements = _statements(db, sa.true())
    newest = db.scalar(sa.select(sa.func.max(_LINES.at)).where(_LINES.kind != "reply"))
    before = {statement.key: (statement.status, statement.until, statement.by) for statement in statements}
    now = None if newest is None else datetime.fromtimestamp(newest).astimezone()
    ledger = derive(statements, now)
    ledger.changed = {
        key
        for key, statement in ledger.statements.items()
        if before[key] != (statement.status, statement.until, statement.by)
    }
    _write(db, ledger)


def index(db: sa.Connection, statements: Iterable[Statement]) -> None:
    """Let new lines be found by what may change their states."""
    values = [
        {"line": statement.key, "handle": handle}
        for statement in statements
        if statement.kind in MEMORY_KINDS
        for handle in sorted(handles_for(statement))
    ]
    if values:
        db.execute(schema.handles.insert(), values)


def supersede(db: sa.Connection, key: int, older: Sequence[int]) -> None:
    """Let a line take the place of older ones, now and whenever states are derived again."""
    new = _statements(db, _LINES.key == key)[0]
    refers = json.dumps(sorted({*new.refers, *older}))
    db.execute(schema.lines.update().where(_LINES.key == key).values(refers=refers))
    ledger = Ledger()
    ledger.load(_statements(db, _LINES.key.in_(older)))
    ledger.replace(older, new)
    _write(db, ledger)


def keep(db: sa.Connection, keys: Sequence[int]) -> None:
    """Make lines facts that were something else, because the user asks for it."""
    chosen = _LINES.key.in_(keys)
    db.execute(schema.handles.delete().where(schema.handles.c.line.in_(keys)))
    db.execute(schema.lines.update().where(chosen).values(kind="fact"))
    index(db, _statements(db, chosen))


def _related(db: sa.Connection, new: Statement) -> list[Statement]:
    """Return the older lines that a new one may change, oldest first."""
    found = _statements(db, _LINES.key.in_(new.refers) | _LINES.key.in_(_sharing(handles_for(new))))
    if new.kind == "retraction" and found:  # what was told in the same words, and what these had superseded
        keys = [old.key for old in found]
        same = {f"={normal(old.text)}" for old in found}
        found = _statements(db, _LINES.key.in_(keys) | _LINES.key.in_(_sharing(same)) | _LINES.superseded_by.in_(keys))
    return [old for old in found if old.key != new.key]


def _sharing(handles: Collection[str]) -> sa.Select[tuple[int]]:
    """Return the query for the keys of the newest lines with each of some handles."""
    table = schema.handles.c
    rank = sa.func.row_number().over(partition_by=table.handle, order_by=(_LINES.at.desc(), _LINES.key.desc()))
    ranked = (
        sa.select(table.line, rank.label("rank"))
        .join(schema.lines, _LINES.key == table.line)
        .where(table.handle.in_(sorted(handles)))
        .subquery()
    )
    return sa.select(ranked.c.line).where(ranked.c.rank <= NUM_RIVALS + 1)  # the new line itself is among them


def _statements(db: sa.Connection, where: sa.ColumnElement[bool]) -> list[Statement]:
    """Return lines that have a state or change one, oldest first."""
    columns = (_LINES.key, schema.turns.c.when, schema.turns.c.session, _LINES.text, _LINES.kind, _LINES.refers)
    states = (_LINES.status, _LINES.until, _LINES.superseded_by, _LINES.holds_from, _LINES.holds_until)
    query = (
        sa.select(*columns, schema.turns.c.explicit, *states)
        .join(schema.turns, schema.turns.c.key == _LINES.turn)
        .where(where, _LINES.kind.in_(_STATED))
        .order_by(_LINES.at, _LINES.key)
    )
    return [
        Statement(
            key,
            datetime.fromisoformat(when),
            session,
            text,
            kind,
            tuple(json.loads(refers)),
            explicit,
            status,
            None if until is None else datetime.fromisoformat(until),
            by,
            end_of(text, datetime.fromisoformat(when), as_span(first, last)),
        )
        for key, when, session, text, kind, refers, explicit, status, until, by, first, last in db.execute(query)
    ]


def _write(db: sa.Connection, ledger: Ledger) -> None:
    """Write the states that changed."""
    changed = [
        {
            "line": key,
            "status": ledger.statements[key].status,
            "until": until.isoformat() if (until := ledger.statements[key].until) else None,
            "superseded_by": ledger.statements[key].by,
        }
        for key in sorted(ledger.changed)
    ]
    if changed:
        columns = ("status", "until", "superseded_by")
        update = schema.lines.update().where(_LINES.key == sa.bindparam("line"))
        db.execute(update.values({name: sa.bindparam(name) for name in columns}), changed)

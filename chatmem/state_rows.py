"""States in the journal: what a new line changes is written beside it; all can be derived again.

Works inside somebody's transaction. What the states are is in `chatmem/states.py`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import sqlalchemy as sa

from chatmem import schema
from chatmem.frames import normal
from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import as_span
from chatmem.states import NUM_RIVALS, Ledger, Statement, derive, handles_for
from chatmem.times import end_of

_LINES = schema.lines.c
_DAY = timedelta(days=1)
_AT_ONCE = 100  # handles or lines in one query
T = TypeVar("T")
_LATELY = 10 * NUM_RIVALS  # lines with a handle that were written last; an import writes older ones, too
_STATED = (*sorted(MEMORY_KINDS), "retraction")


def advance(db: sa.Connection, new: Statement) -> None:
    """Let a new line change the states of older ones. Its own state is set in `new` too."""
    index(db, [new])
    related = _related(db, new)
    if any(old.when > new.when for old in related):
        derive_all(db)  # something older came later: an import, or a clock that was set back
        new.status = _statements(db, _LINES.key == new.key)[0].status
        return
    ledger = Ledger()
    ledger.load(related)
    ledger.add(new)
    ledger.expire(_newest(db) or new.when)
    _write(db, ledger)


def expire(db: sa.Connection, now: datetime) -> None:
    """Let lines be over whose time has passed since the newest line was said."""
    since = _newest(db)
    if since is None:
        return
    ledger = Ledger()
    first, last = (str(day) for day in (since.date() - _DAY, now.date() + _DAY))  # in any time zone
    of_a_time = (_LINES.kind == "temporary") & (_LINES.status == "active")
    run_out = (_LINES.status == "active") & _LINES.holds_until.between(first, last)
    of_future = (_LINES.kind == "temporary") | (_LINES.holds_until >= sa.func.substr(schema.turns.c.when, 1, 10))
    ledger.load(_statements(db, (of_a_time | run_out) & of_future))
    ledger.expire(now)
    _write(db, ledger)


def _newest(db: sa.Connection) -> datetime | None:
    """Return when the newest line was said."""
    newest = db.scalar(sa.select(_LINES.at).order_by(_LINES.at.desc()).limit(1))
    return None if newest is None else datetime.fromtimestamp(newest, UTC)


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


def index_of(db: sa.Connection, keys: Sequence[int]) -> None:
    """Let lines that were written by themselves be found by what may change their states."""
    for start in range(0, len(keys), _AT_ONCE):
        index(db, _statements(db, _LINES.key.in_(keys[start : start + _AT_ONCE])))


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
    found = {old.key: old for old in _statements(db, _LINES.key.in_(new.refers))} | _sharing(db, handles_for(new))
    if new.kind == "retraction" and found:  # what was told in the same words, and what these had superseded
        same = {f"={normal(old.text)}" for old in found.values()}
        before = [
            old
            for keys in _chunks(sorted(found))
            for old in _statements(db, _LINES.superseded_by.in_(keys) | _LINES.key.in_(keys))
        ]
        found |= _sharing(db, same) | {old.key: old for old in before}
    found.pop(new.key, None)
    return sorted(found.values(), key=lambda old: old.order)


def _sharing(db: sa.Connection, handles: Collection[str]) -> dict[int, Statement]:
    """Return the newest lines with each of some handles, by their keys.

    Each handle is looked up by itself in its index: a window over all lines with it would grow with them.
    """
    table = schema.handles.c
    found: dict[int, Statement] = {}
    for chunk in _chunks(sorted(handles)):
        newest = []
        for handle in chunk:
            written = sa.select(table.line).where(table.handle == handle).order_by(table.line.desc()).limit(_LATELY)
            said = sa.select(_LINES.key).where(_LINES.key.in_(written)).order_by(_LINES.at.desc(), _LINES.key.desc())
            newest.append(sa.select(said.limit(NUM_RIVALS + 1).subquery().c.key))  # the new line itself is among them
        found |= {old.key: old for old in _statements(db, _LINES.key.in_(sa.union_all(*newest)))}
    return found


def _chunks(values: Sequence[T]) -> Iterable[Sequence[T]]:
    """Yield values in groups of so many as every database takes in one query."""
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


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

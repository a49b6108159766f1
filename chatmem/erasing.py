"""Erasing: sentences are cut out of their turns, with the replies that came of them and their sessions' vectors.

Works inside somebody's transaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable

import sqlalchemy as sa

from chatmem import schema
from chatmem.rows import Line, bump, select_lines

_JOINT = re.compile(r"[\w,;，；—–-]")  # between two clauses stands more than white space


def erase(db: sa.Connection, doomed: Iterable[Line]) -> None:
    """Take sentences out of their turns, with the replies that came of them and their sessions' vectors."""
    lines = list(doomed)
    keys = {line.key for line in lines}
    for turn_key in {line.turn_key for line in lines}:
        text = db.scalar(sa.select(schema.turns.c.text).where(schema.turns.c.key == turn_key)) or ""
        left = _without(text, select_lines(db, where=schema.turns.c.key == turn_key), keys)
        db.execute(schema.turns.update().where(schema.turns.c.key == turn_key).values(text=left))
    for line in lines:
        db.execute(schema.lines.delete().where(schema.lines.c.key == line.key))
    touched = {line.session for line in lines}
    for key, session in _replies_from(db, keys, [line for line in lines if line.speaker == "user"]):
        touched.add(session)
        db.execute(schema.turns.delete().where(schema.turns.c.key == key))
    db.execute(
        schema.turns.delete().where(
            schema.turns.c.key.in_({line.turn_key for line in lines}), schema.turns.c.text == ""
        )
    )
    db.execute(schema.vectors.delete().where(schema.vectors.c.session.in_(touched)))
    empty = schema.sessions.c.number.not_in(sa.select(schema.turns.c.session)) & schema.sessions.c.finished.is_not(None)
    db.execute(schema.sessions.delete().where(empty))
    bump(db)


def _without(text: str, pieces: Iterable[Line], doomed: Collection[int]) -> str:
    """Return the text of a turn without some of its pieces, each cut where it stands, not inside another one.

    The joint of two clauses ("…, and …") goes with the one that is cut.
    """
    left, position = "", 0
    waiting: str | None = None  # what stood before a piece that is cut, until it is known what follows
    for piece in pieces:
        start = text.find(piece.said, position)
        if start < 0:
            continue
        between = text[position:start]
        position = start + len(piece.said)
        if piece.key in doomed:
            waiting = between if waiting is None else waiting
        else:
            left += (between if waiting is None else _joined(waiting, between)) + piece.said
            waiting = None
    return (left + text[position:]).strip()


def _joined(before: str, after: str) -> str:
    """Return what stands between two pieces once the one between them is cut: one joint of clauses at most."""
    if _JOINT.search(after):
        return before
    return after if _JOINT.search(before) else before + after


def _replies_from(db: sa.Connection, keys: set[int], lines: Iterable[Line]) -> list[tuple[int, int]]:
    """Return key and session of the replies that followed one of `lines` or had one of `keys` in their prompt."""
    after = {(line.session, line.turn + 1) for line in lines}
    columns = schema.turns.c
    query = sa.select(columns.key, columns.session, columns.position, columns.sources)
    found = db.execute(query.where(columns.speaker == "assistant"))
    return [
        (key, session)
        for key, session, position, sources in found
        if (session, position) in after or keys & set(json.loads(sources))
    ]

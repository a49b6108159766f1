"""Capacity: which sessions leave a memory that may hold only so many. Works inside somebody's transaction.

A session is worth the more the younger it is and the more replies were made of its lines. What the user asked to be
remembered never leaves, nor does what ended an older fact that stays: that fact would be current again.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime

import sqlalchemy as sa

from chatmem import schema

HALF_LIFE_DAYS = 180.0  # in which a session that is not used loses half its worth


def leaving(db: sa.Connection, count: int, now: datetime) -> list[int]:
    """Return the sessions that leave so that `count` finished ones stay, the least worth first."""
    columns = schema.sessions.c
    finished = db.execute(sa.select(columns.number, columns.finished).where(columns.finished.is_not(None))).all()
    surplus = len(finished) - count
    if surplus <= 0:
        return []
    uses, stays = _uses(db), _pinned(db)
    worth = {
        number: (1 + uses[number]) * 0.5 ** (_days(ended, now) / HALF_LIFE_DAYS)
        for number, ended in finished
        if number not in stays
    }
    needed_by = _ended_facts(db)
    gone: list[int] = []
    waiting = sorted(worth, key=lambda number: (worth[number], number))
    while len(gone) < surplus:
        able = (number for number in waiting if needed_by.get(number, set()) <= {number, *gone})
        if (least := next(able, None)) is None:
            break
        gone.append(least)
        waiting.remove(least)
    return gone


def _days(ended: str, now: datetime) -> float:
    """Return the age of a session in days."""
    return max(0.0, (now - datetime.fromisoformat(ended)).total_seconds() / 86400)


def _pinned(db: sa.Connection) -> set[int]:
    """Return the sessions in which the user asked for something to be remembered."""
    return set(db.scalars(sa.select(schema.turns.c.session).where(schema.turns.c.explicit.is_(True))))


def _uses(db: sa.Connection) -> Counter[int]:
    """Return by session in how many prompts of replies its lines were."""
    session_of = _sessions_of_lines(db)
    used = db.scalars(sa.select(schema.turns.c.sources).where(schema.turns.c.sources != "[]"))
    return Counter(session_of[key] for sources in used for key in json.loads(sources) if key in session_of)


def _ended_facts(db: sa.Connection) -> dict[int, set[int]]:
    """Return by session the sessions of the facts that its lines ended."""
    session_of, ended = _sessions_of_lines(db), dict[int, set[int]]()
    lines = schema.lines.c
    for key, by in db.execute(sa.select(lines.key, lines.superseded_by).where(lines.superseded_by.is_not(None))):
        if by in session_of:
            ended.setdefault(session_of[by], set()).add(session_of[key])
    return ended


def _sessions_of_lines(db: sa.Connection) -> dict[int, int]:
    """Return the session of each line, by the line's key."""
    query = sa.select(schema.lines.c.key, schema.turns.c.session)
    found = db.execute(query.join(schema.turns, schema.turns.c.key == schema.lines.c.turn))
    return {key: session for key, session in found}

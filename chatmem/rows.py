"""Rows of the journal: how turns and their sentences go in, come out and are erased, inside somebody's transaction.

Knows nothing of when a transaction begins and ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from chatmem import schema
from chatmem.interface import Recollection, Speaker, Turn
from chatmem.times import Span, said_days

_JOINT = re.compile(r"[\w,;，；—–-]")  # between two clauses stands more than white space


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of the journal, or a part of one: a memory line where its kind is in `MEMORY_KINDS` or "reply".

    `text` is what it reads alone, `said` what stands in the turn; `until` is when it ceased to be current, and
    `superseded_by` the key of the line that ended it. `holds` are the days of which it speaks, where it names any.
    """

    key: int
    turn_key: int
    text: str
    kind: str
    status: str
    session: int
    turn: int
    when: datetime
    speaker: Speaker
    said: str = ""
    sentence: int = 0
    until: datetime | None = None
    superseded_by: int | None = None
    holds: Span | None = None

    def recollection(self, score: float) -> Recollection:
        """Return the line as what a memory brings back."""
        until = self.until if self.status == "superseded" else None
        return Recollection(
            self.text, score, self.session, self.turn, self.when, self.speaker, until=until, line=self.key
        )

    @property
    def days(self) -> Span:
        """The days on which it holds or held, as far as can be told."""
        return said_days(self.text, self.when, self.until, self.holds)


_OWN_COLUMNS = ("key", "text", "kind", "status", "said", "sentence", "until", "superseded_by")
_HOLDS = (schema.lines.c.holds_from, schema.lines.c.holds_until)
_COLUMNS: dict[str, sa.Column[Any]] = {  # by the names of Line's fields
    **{name: schema.lines.c[name] for name in _OWN_COLUMNS},
    **{name: schema.turns.c[name] for name in ("session", "when", "speaker")},
    "turn_key": schema.lines.c.turn,
    "turn": schema.turns.c.position,
}


@dataclass(frozen=True, slots=True)
class SessionVectors:
    """What the archive keeps of one session: raw bytes of the slot and of its lines' vectors."""

    session: int
    slot: bytes
    lines: bytes


def bump(db: sa.Connection) -> None:
    """Change the revision."""
    value = sa.cast(sa.cast(schema.meta.c.value, sa.Integer) + 1, sa.String)
    db.execute(schema.meta.update().where(schema.meta.c.key == "revision").values(value=value))


def turn(row: Mapping[Any, Any]) -> Turn:
    """Return the turn of a row, or of what `export` made of one; KeyError, TypeError, ValueError if it is none."""
    speaker, text, when = row["speaker"], row["text"], datetime.fromisoformat(row["when"])
    if speaker not in ("user", "assistant") or not isinstance(text, str) or when.tzinfo is None:
        raise ValueError("a turn needs a speaker, a text and a time with its zone")
    return Turn(speaker, text, when, bool(row["explicit"]))


def insert_session(db: sa.Connection, uid: str, when: datetime) -> int:
    """Add an open session and return its number."""
    row = db.execute(schema.sessions.insert().values(uid=uid, started=when.isoformat()))
    return int(row.inserted_primary_key[0])  # type: ignore[index]


def has_session(db: sa.Connection, number: int, uid: str | None) -> bool:
    """Tell whether a session is there; `uid` tells it from one that took its number after a /reset."""
    found = db.scalar(sa.select(schema.sessions.c.uid).where(schema.sessions.c.number == number))
    return found is not None and uid in (None, found)


def select_lines(
    db: sa.Connection, session: int | None = None, *, where: sa.ColumnElement[bool] | None = None
) -> list[Line]:
    """Return lines in the order in which they were said."""
    query = (
        sa.select(*(column.label(name) for name, column in _COLUMNS.items()), *_HOLDS)
        .join(schema.turns, schema.turns.c.key == schema.lines.c.turn)
        .order_by(schema.turns.c.session, schema.turns.c.position, schema.lines.c.key)
    )
    if session is not None:
        query = query.where(schema.turns.c.session == session)
    if where is not None:
        query = query.where(where)
    return [_line(row) for row in db.execute(query).mappings()]


def _line(row: Mapping[Any, Any]) -> Line:
    """Return the line of a row of `select_lines`."""
    until = None if row["until"] is None else datetime.fromisoformat(row["until"])
    own = {name: row[name] for name in _COLUMNS}
    holds = as_span(row["holds_from"], row["holds_until"])
    return Line(**{**own, "when": datetime.fromisoformat(row["when"]), "until": until, "holds": holds})


def as_span(first: str | None, last: str | None) -> Span | None:
    """Return days as they stand in the columns `holds_from` and `holds_until`; None where both are null."""
    if first is None and last is None:
        return None
    return Span(*(None if day is None else date.fromisoformat(day) for day in (first, last)))


def span_values(span: Span | None) -> dict[str, str | None]:
    """Return days as values of the columns `holds_from` and `holds_until`."""
    days = (None, None) if span is None else (span.first, span.last)
    return dict(
        zip((column.name for column in _HOLDS), (None if day is None else str(day) for day in days), strict=True)
    )


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

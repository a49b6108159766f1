"""Rows of the journal: how turns and their sentences go in, come out and are erased, inside somebody's transaction.

Knows nothing of when a transaction begins and ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
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


_HOLDS = (schema.lines.c.holds_from, schema.lines.c.holds_until)
_COLUMNS: dict[str, sa.Column[Any]] = {  # by the names of Line's fields, and in their order
    "key": schema.lines.c.key,
    "turn_key": schema.lines.c.turn,
    **{name: schema.lines.c[name] for name in ("text", "kind", "status")},
    "session": schema.turns.c.session,
    "turn": schema.turns.c.position,
    **{name: schema.turns.c[name] for name in ("when", "speaker")},
    **{name: schema.lines.c[name] for name in ("said", "sentence", "until", "superseded_by")},
}


@dataclass(frozen=True, slots=True)
class Page:
    """One session as recall reads it: some of its lines, and the raw bytes of the vectors of all of them."""

    session: int
    lines: list[Line]
    places: list[int]  # of these lines among all `total`
    total: int
    vectors: bytes


def bump(db: sa.Connection) -> None:
    """Change the revision."""
    value = sa.cast(sa.cast(schema.meta.c.value, sa.Integer) + 1, sa.String)
    db.execute(schema.meta.update().where(schema.meta.c.key == "revision").values(value=value))


def revision(db: sa.Connection) -> int:
    """Return a number that changes whenever vectors were stored or text was erased."""
    return int(db.scalar(sa.select(schema.meta.c.value).where(schema.meta.c.key == "revision")) or 0)


def turn(row: Mapping[Any, Any]) -> Turn:
    """Return the turn of a row, or of what `export` made of one; KeyError, TypeError, ValueError if it is none."""
    speaker, text, when = row["speaker"], row["text"], datetime.fromisoformat(row["when"])
    if speaker not in ("user", "assistant") or not isinstance(text, str) or when.tzinfo is None:
        raise ValueError("a turn needs a speaker, a text and a time with its zone")
    return Turn(speaker, text, when, bool(row["explicit"]))


def check_values(db: sa.Connection) -> None:
    """Read everything; ValueError, or the database's own error, where a value is none that a version of us wrote."""
    select_lines(db)
    db.execute(sa.select(schema.sessions)).all()
    for row in db.execute(sa.select(schema.turns)).mappings():
        turn(row)
        json.loads(row["sources"])
    for refers in db.scalars(sa.select(schema.lines.c.refers)):
        json.loads(refers)


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
    query = _lines_query()
    if session is not None:
        query = query.where(schema.turns.c.session == session)
    if where is not None:
        query = query.where(where)
    return [_line(row) for row in db.execute(query)]


def select_pages(db: sa.Connection, sessions: Collection[int], fingerprint: str, kinds: Collection[str]) -> list[Page]:
    """Return the sessions of some numbers that have vectors of an encoder, with their lines of some kinds."""
    columns = schema.vectors.c
    having = sa.select(columns.session, columns.lines).where(
        columns.session.in_(sessions), columns.fingerprint == fingerprint
    )
    pages = {session: Page(session, [], [], 0, vectors) for session, vectors in db.execute(having)}
    turn, line = schema.turns.c, schema.lines.c
    there = sa.select(turn.session, line.key, line.kind).join(schema.lines, line.turn == turn.key)
    there = there.where(turn.session.in_(pages)).order_by(turn.session, turn.position, line.key)
    totals, places = dict.fromkeys(pages, 0), dict[int, int]()
    for session, key, kind in db.execute(there):
        if kind in kinds:
            places[key] = totals[session]
        totals[session] += 1
    for found in select_lines(db, where=line.key.in_(places)):
        pages[found.session].lines.append(found)
        pages[found.session].places.append(places[found.key])
    return [replace(page, total=totals[page.session]) for page in pages.values()]


def select_sessions_on(db: sa.Connection, days: Span) -> set[int]:
    """Return the sessions with a line that was said on some days, in any time zone, or speaks of one of them."""
    columns, day = schema.lines.c, timedelta(days=1)
    said: sa.ColumnElement[bool] = sa.true()
    speaks: sa.ColumnElement[bool] = sa.true()
    if days.first is not None:
        said &= columns.at >= _seconds(days.first - day)
        speaks &= columns.holds_until.is_(None) | (columns.holds_until >= str(days.first))
    if days.last is not None:
        said &= columns.at <= _seconds(days.last + 2 * day)
        speaks &= columns.holds_from.is_(None) | (columns.holds_from <= str(days.last))
    dated = columns.holds_from.is_not(None) | columns.holds_until.is_not(None)
    query = sa.select(schema.turns.c.session).join(schema.lines, columns.turn == schema.turns.c.key)
    return {*db.scalars(query.where(said)), *db.scalars(query.where(dated, speaks))}


def select_newest_sessions(db: sa.Connection, kinds: Collection[str], count: int) -> set[int]:
    """Return the newest sessions that together hold so many different current lines of some kinds."""
    columns = schema.lines.c
    query = (
        sa.select(schema.turns.c.session, columns.words)
        .join(schema.turns, columns.turn == schema.turns.c.key)
        .where(columns.kind.in_(kinds), columns.status == "active")
        .order_by(columns.key.desc())
        .execution_options(yield_per=256)
    )
    told, found = set[str](), set[int]()
    for session, words in db.execute(query):
        told.add(words)
        found.add(session)
        if len(told) > count:
            break
    return found


def _seconds(day: date) -> float:
    """Return the beginning of a day in seconds since 1970."""
    return datetime.combine(day, time(), UTC).timestamp()


def _lines_query() -> sa.Select[Any]:
    """Return the query for all lines in the order in which they were said."""
    return (
        sa.select(*(column.label(name) for name, column in _COLUMNS.items()), *_HOLDS)
        .join(schema.turns, schema.turns.c.key == schema.lines.c.turn)
        .order_by(schema.turns.c.session, schema.turns.c.position, schema.lines.c.key)
    )


def _line(row: Sequence[Any]) -> Line:
    """Return the line of a row of `_lines_query`; its columns are in the order of the fields."""
    key, turn_key, text, kind, status, session, place, when, speaker, said, sentence, until, by, first, last = row
    return Line(
        key,
        turn_key,
        text,
        kind,
        status,
        session,
        place,
        datetime.fromisoformat(when),
        speaker,
        said,
        sentence,
        None if until is None else datetime.fromisoformat(until),
        by,
        as_span(first, last),
    )


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

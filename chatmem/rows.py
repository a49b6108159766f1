"""Rows of the journal: how turns and their sentences go in, come out and are erased, inside somebody's transaction.

Knows nothing of when a transaction begins and ends.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from chatmem import schema
from chatmem.interface import Recollection, Session, Speaker, Turn
from chatmem.sentences import judge, same_words, split_sentences


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of the journal: a memory line where its kind is "fact" or "reply"."""

    key: int
    turn_key: int
    text: str
    kind: str
    status: str
    session: int
    turn: int
    when: datetime
    speaker: Speaker

    def recollection(self, score: float) -> Recollection:
        """Return the line as what a memory brings back."""
        return Recollection(self.text, score, self.session, self.turn, self.when, self.speaker, line=self.key)


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


def insert_whole(db: sa.Connection, session: Session, uid: str) -> int | None:
    """Add a finished session and return its number; None when it is empty or its uid is known already."""
    known = sa.select(schema.sessions.c.number).where(schema.sessions.c.uid == uid)
    if not session.turns or db.scalar(known) is not None:
        return None
    number = insert_session(db, uid, session.turns[0].when)
    for turn in session.turns:
        insert_turn(db, number, turn)
    ended = session.turns[-1].when.isoformat()
    db.execute(schema.sessions.update().where(schema.sessions.c.number == number).values(finished=ended))
    return number


def insert_turn(db: sa.Connection, session: int, turn: Turn, sources: Sequence[int] = ()) -> tuple[int, list[str]]:
    """Add a turn with its sentences; return its key and the facts of the user that are new with it."""
    last = db.scalar(sa.select(sa.func.max(schema.turns.c.position)).where(schema.turns.c.session == session))
    values = {"session": session, "position": 0 if last is None else last + 1, "speaker": turn.speaker}
    values |= {"text": turn.text, "when": turn.when.isoformat(), "explicit": turn.explicit}
    values["sources"] = json.dumps(list(sources))
    key = int(db.execute(schema.turns.insert().values(values)).inserted_primary_key[0])  # type: ignore[index]
    new = []
    for sentence in split_sentences(turn.text):
        kind = "reply" if turn.speaker == "assistant" else "fact" if turn.explicit else judge(sentence)
        row = {"turn": key, "text": sentence, "words": same_words(sentence), "kind": kind, "status": "active"}
        told = (schema.lines.c.words == row["words"]) & (schema.lines.c.kind == "fact")
        if kind == "fact" and db.scalar(sa.select(schema.lines.c.key).where(told).limit(1)) is None:
            new.append(sentence)
        db.execute(schema.lines.insert().values(row))
    return key, new


def select_lines(
    db: sa.Connection, session: int | None = None, *, where: sa.ColumnElement[bool] | None = None
) -> list[Line]:
    """Return sentences in the order in which they were said."""
    query = (
        sa.select(
            schema.lines.c.key,
            schema.lines.c.turn,
            schema.lines.c.text,
            schema.lines.c.kind,
            schema.lines.c.status,
            schema.turns.c.session,
            schema.turns.c.position,
            schema.turns.c.when,
            schema.turns.c.speaker,
        )
        .join(schema.turns, schema.turns.c.key == schema.lines.c.turn)
        .order_by(schema.turns.c.session, schema.turns.c.position, schema.lines.c.key)
    )
    if session is not None:
        query = query.where(schema.turns.c.session == session)
    if where is not None:
        query = query.where(where)
    return [Line(*row[:7], datetime.fromisoformat(row[7]), row[8]) for row in db.execute(query)]


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


def _without(text: str, sentences: Iterable[Line], doomed: Collection[int]) -> str:
    """Return the text of a turn without some of its sentences, each cut where it stands, not inside another one."""
    left, position = "", 0
    for line in sentences:
        start = text.find(line.text, position)
        if start < 0:
            continue
        end = start + len(line.text)
        left += text[position : start if line.key in doomed else end]
        position = end
    return (left + text[position:]).strip()


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

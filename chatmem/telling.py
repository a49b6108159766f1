"""Telling: how a turn becomes lines of the journal, each with what it refers to and the state that follows.

Works inside somebody's transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from chatmem import corrections, rows, schema, state_rows
from chatmem.frames import normal, parse
from chatmem.interface import Session, Turn
from chatmem.judgement import MEMORY_KINDS, retracts_topic
from chatmem.reading import Piece, read_turn
from chatmem.rows import Line
from chatmem.sentences import same_words, split_sentences
from chatmem.states import Statement
from chatmem.times import end_of, holds
from chatmem.versions import topic

_REACH = 4  # turns before a line, of both speakers, in which it finds what it refers to
_OF_USER = schema.turns.c.speaker == "user"
_KEEPABLE = MEMORY_KINDS | {"fiction", "what-if", "command"}


def insert_whole(db: sa.Connection, session: Session, uid: str, *, derived: bool = True) -> int | None:
    """Add a finished session and return its number; None when it is empty or its uid is known already.

    Args:
        db: the transaction.
        session: what was said.
        uid: the session's own name.
        derived: whether states follow at once; False where the caller derives all afterwards.
    """
    known = sa.select(schema.sessions.c.number).where(schema.sessions.c.uid == uid)
    if not session.turns or db.scalar(known) is not None:
        return None
    number = rows.insert_session(db, uid, session.turns[0].when)
    for turn in session.turns:
        insert_turn(db, number, turn, derived=derived)
    ended = session.turns[-1].when.isoformat()
    db.execute(schema.sessions.update().where(schema.sessions.c.number == number).values(finished=ended))
    return number


def drop_shorter(db: sa.Connection, sessions: Iterable[tuple[str, Session]]) -> None:
    """Erase finished sessions of which a fuller copy is brought in: all that is left of them is in the copy."""
    columns = schema.sessions.c
    for uid, session in sessions:
        number = db.scalar(sa.select(columns.number).where(columns.uid == uid, columns.finished.is_not(None)))
        if number is None:
            continue
        there = {(line.speaker, line.said) for line in rows.select_lines(db, number)}
        copied = {(turn.speaker, turn.text) for turn in session.turns}
        if all(any(who == speaker and said in text for who, text in copied) for speaker, said in there):
            db.execute(schema.sessions.delete().where(columns.number == number))


def insert_turn(
    db: sa.Connection, session: int, turn: Turn, sources: Sequence[int] = (), *, derived: bool = True
) -> tuple[int, list[str]]:
    """Add a turn with its lines; return its key and the facts of the user that are new with it."""
    last = db.scalar(sa.select(sa.func.max(schema.turns.c.position)).where(schema.turns.c.session == session))
    values = {"session": session, "position": 0 if last is None else last + 1, "speaker": turn.speaker}
    values |= {"text": turn.text, "when": turn.when.isoformat(), "explicit": turn.explicit}
    values["sources"] = json.dumps(list(sources))
    key = int(db.execute(schema.turns.insert().values(values)).inserted_primary_key[0])  # type: ignore[index]
    return key, insert_lines(db, key, session, turn, derived=derived)


def insert_lines(db: sa.Connection, key: int, session: int, turn: Turn, *, derived: bool = True) -> list[str]:
    """Add the lines of a turn that is in the journal, and return the facts of the user that are new with it."""
    if turn.speaker == "assistant":
        for number, sentence in enumerate(split_sentences(turn.text)):
            _insert(db, key, turn, Piece(sentence, sentence, "reply", number))
        return []
    new = []
    if derived:
        state_rows.expire(db, turn.when)
    for piece in read_turn(turn.text, explicit=turn.explicit):
        before = [] if turn.explicit else _referred(db, key, piece)
        if piece.kind == "keep" and (kept := _kept(before)):
            state_rows.keep(db, [line.key for line in kept])
            if derived:
                state_rows.derive_all(db)
            new += [line.text for line in kept]
        piece, refers = _resolved(piece, before, key)
        told = _is_told(db, piece)
        line = _insert(db, key, turn, piece, refers)
        if piece.kind not in MEMORY_KINDS and piece.kind != "retraction":
            continue
        statement = Statement(line, turn.when, session, piece.text, piece.kind, tuple(refers), turn.explicit)
        statement.ends = end_of(piece.text, turn.when, holds(piece.text, turn.when))
        if not derived:
            state_rows.index(db, [statement])
            continue
        state_rows.advance(db, statement)
        if piece.kind in MEMORY_KINDS and not told and statement.status == "active":
            new.append(piece.text)
    return new


def _insert(db: sa.Connection, turn_key: int, turn: Turn, piece: Piece, refers: Sequence[int] = ()) -> int:
    values = {"turn": turn_key, "sentence": piece.sentence, "said": piece.said, "text": piece.text, "kind": piece.kind}
    values |= {"words": same_words(normal(piece.text)), "at": turn.when.timestamp(), "refers": json.dumps(list(refers))}
    if piece.kind in MEMORY_KINDS:
        values |= rows.span_values(holds(piece.text, turn.when))
    row = db.execute(schema.lines.insert().values({**values, "status": "active"}))
    return int(row.inserted_primary_key[0])  # type: ignore[index]


def _referred(db: sa.Connection, turn_key: int, piece: Piece) -> list[Line]:
    """Return the lines that a piece may refer to, newest first."""
    if gone := corrections.denied(piece.said):
        return _saying(db, gone)
    return _before(db, turn_key) if _looks_back(piece) else []


def _looks_back(piece: Piece) -> bool:
    """Tell whether a piece may refer to what was said before it."""
    return (
        piece.kind in ("keep", "retraction")
        or corrections.is_correction(piece.said)
        or corrections.is_whole_correction(piece.said)
    )


def _is_told(db: sa.Connection, piece: Piece) -> bool:
    """Tell whether the same is known already."""
    columns = schema.lines.c
    same = (columns.words == same_words(normal(piece.text))) & columns.kind.in_(MEMORY_KINDS)
    return db.scalar(sa.select(columns.key).where(same, columns.status == "active").limit(1)) is not None


def _before(db: sa.Connection, turn_key: int) -> list[Line]:
    """Return the user's lines in the turns shortly before one and in itself, newest first."""
    columns = schema.turns.c
    session, position = db.execute(sa.select(columns.session, columns.position).where(columns.key == turn_key)).one()
    near = (columns.session == session) & columns.position.between(position - _REACH, position)
    return rows.select_lines(db, where=near & (columns.speaker == "user"))[::-1]


def _saying(db: sa.Connection, text: str) -> list[Line]:
    """Return the current facts that hold words which are now said to be wrong, newest first."""
    says = schema.lines.c.words.contains(same_words(normal(text)), autoescape=True)
    return rows.select_lines(db, where=says & (schema.lines.c.status == "active") & _OF_USER)[::-1]


def _kept(before: Sequence[Line]) -> list[Line]:
    """Return the lines that "Save that." means and that would not be kept otherwise: those of the last sentence."""
    if not before or before[0].kind not in _KEEPABLE:
        return []
    return [line for line in _of_one_sentence(before) if line.kind in _KEEPABLE and line.kind != "fact"]


def _of_one_sentence(before: Sequence[Line]) -> list[Line]:
    first = before[0]
    return [line for line in before if (line.turn_key, line.sentence) == (first.turn_key, first.sentence)]


def _is_other_value(new: str, old: str) -> bool:
    """Tell whether two statements on one thing hold values of one kind: two days, two numbers."""
    return bool(topic(new) & topic(old)) and bool(parse(new).kinds & parse(old).kinds)


def _exchanged(piece: Piece, told: Sequence[Line]) -> tuple[Piece, list[int]]:
    """Return the older statement with the value that a piece puts in the place of the one it denies, and its key."""
    for old in told:
        if (text := corrections.exchanged(old.text, piece.said)) is not None:
            return Piece(piece.said, text, "fact", piece.sentence), [old.key]
    return piece, []


def _resolved(piece: Piece, before: Sequence[Line], turn_key: int) -> tuple[Piece, list[int]]:
    """Return a piece with what it refers to: a correction reads as what it makes of the line that it corrects."""
    told = [line for line in before if line.kind in MEMORY_KINDS and line.status != "retracted"]
    if not told:
        return piece, []
    if piece.kind in MEMORY_KINDS and corrections.denied(piece.said):
        return _exchanged(piece, told)
    if piece.kind in ("fact", "temporary", "retraction") and corrections.is_correction(piece.said):
        for old in told:
            text = corrections.corrected(old.text, piece.said) if old.turn_key == told[0].turn_key else None
            if text is not None:
                return Piece(piece.said, text, "fact", piece.sentence), [old.key]
        if corrections.names_a_value(piece.said):
            text = corrections.both(told[0].text, piece.said)
            return Piece(piece.said, text, "fact", piece.sentence), [told[0].key]
    if piece.kind in MEMORY_KINDS and corrections.is_whole_correction(piece.said):
        return piece, [line.key for line in told if _is_other_value(piece.text, line.text)][:1]
    near = {turn_key, max((line.turn_key for line in before if line.turn_key != turn_key), default=turn_key)}
    if piece.kind == "retraction" and not retracts_topic(piece.text) and told[0].turn_key in near:
        return piece, [line.key for line in _of_one_sentence(told)]
    return piece, []

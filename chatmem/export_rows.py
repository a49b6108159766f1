"""A memory as plain values and back: all that the journal knows but the vectors, inside somebody's transaction.

Lines are named by numbers counted from 0 in the order of the export: keys of the journal differ from one to another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from chatmem import rows, schema, state_rows, telling
from chatmem.frames import normal
from chatmem.interface import Session
from chatmem.sentences import same_words

_TURN = ("speaker", "text", "when", "explicit")
_LINE = ("sentence", "said", "text", "kind", "status", "until", "superseded_by", "refers", "holds_from", "holds_until")


def dump(db: sa.Connection) -> list[dict[str, Any]]:
    """Return every session that has a turn, oldest first; one in progress ends with its last turn."""
    turns, lines = schema.turns.c, schema.lines.c
    in_order = (turns.session, turns.position, lines.key)
    found = db.execute(sa.select(schema.lines).join(schema.turns, turns.key == lines.turn).order_by(*in_order))
    by_turn: dict[int, list[dict[str, Any]]] = {}
    numbers: dict[int, int] = {}  # of the export, by the key of the journal
    for row in found.mappings():
        numbers[row["key"]] = len(numbers)
        line = {"line": numbers[row["key"]]} | {name: row[name] for name in _LINE}
        by_turn.setdefault(row["turn"], []).append(line)
    for line in (line for own in by_turn.values() for line in own):
        line["superseded_by"] = numbers.get(line["superseded_by"])
        line["refers"] = _renamed(line["refers"], numbers)
    query = sa.select(schema.turns).order_by(turns.session, turns.position)
    by_session: dict[int, list[dict[str, Any]]] = {}
    for row in db.execute(query).mappings():
        turn = {name: row[name] for name in _TURN}
        turn |= {"sources": _renamed(row["sources"], numbers), "lines": by_turn.get(row["key"], [])}
        by_session.setdefault(row["session"], []).append(turn)
    return [
        {"uid": uid, "started": started, "finished": finished or by_session[number][-1]["when"]}
        | {"turns": by_session[number]}
        for number, uid, started, finished in db.execute(
            sa.select(*(schema.sessions.c[name] for name in ("number", "uid", "started", "finished"))).order_by(
                schema.sessions.c.number
            )
        )
        if number in by_session
    ]


def load(db: sa.Connection, exported: Sequence[Mapping[str, Any]]) -> list[int]:
    """Write the sessions that are not here yet and return their numbers; their states are derived by the caller.

    Args:
        db: the transaction.
        exported: what `dump` returned, or sessions whose turns lack lines: these are read again from the texts.

    Raises:
        KeyError, TypeError, ValueError: it is something else.
    """
    keys: dict[int, int] = {}  # of the journal, by the number in the export
    added = []
    for row in exported:
        number = None
        if not row["turns"]:
            continue
        if any("lines" not in turn for turn in row["turns"]):
            number = telling.insert_whole(db, _session(row), str(row["uid"]), derived=False)
        elif (known := _known(db, row["uid"])) is not None:
            keys |= _same_lines(db, known, row)
        else:
            number = _insert(db, row, keys)
        if number is not None:
            added.append(number)
    _connect(db, exported, keys, set(added))
    return added


def sessions(exported: Iterable[Mapping[str, Any]]) -> list[tuple[str, Session]]:
    """Return what was said in exported sessions, with their uids."""
    return [(str(row["uid"]), _session(row)) for row in exported]


def have_states(exported: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether every turn comes with its lines and their states."""
    return all("lines" in turn for row in exported for turn in row["turns"])


def _session(row: Mapping[str, Any]) -> Session:
    return Session(tuple(rows.turn(turn) for turn in row["turns"]))


def _known(db: sa.Connection, uid: str) -> int | None:
    number: int | None = db.scalar(sa.select(schema.sessions.c.number).where(schema.sessions.c.uid == uid))
    return number


def _renamed(keys: str, names: Mapping[int, int]) -> list[int]:
    """Return the names of keys that stand in the journal as JSON; what is not there any more has none."""
    return [names[key] for key in json.loads(keys) if key in names]


def _same_lines(db: sa.Connection, session: int, row: Mapping[str, Any]) -> dict[int, int]:
    """Return the keys of the lines of a session that is here already, by their numbers in the export."""
    here = {(line.turn, line.text): line.key for line in rows.select_lines(db, session)}
    there = [(place, line) for place, turn in enumerate(row["turns"]) for line in turn["lines"]]
    return {line["line"]: here[place, line["text"]] for place, line in there if (place, line["text"]) in here}


def _insert(db: sa.Connection, row: Mapping[str, Any], keys: dict[int, int]) -> int:
    """Add a session as it stands in the export but for what names other lines, and put its lines among `keys`."""
    number = rows.insert_session(db, row["uid"], datetime.fromisoformat(row["started"]))
    at = schema.sessions.c.number == number
    db.execute(schema.sessions.update().where(at).values(started=row["started"], finished=row["finished"]))
    for place, turn in enumerate(row["turns"]):
        values = {name: turn[name] for name in _TURN} | {"session": number, "position": place, "sources": "[]"}
        turn_key = db.execute(schema.turns.insert().values(values)).inserted_primary_key[0]  # type: ignore[index]
        when = datetime.fromisoformat(turn["when"]).timestamp()
        for line in turn["lines"]:
            own = {name: line[name] for name in _LINE} | {"superseded_by": None, "refers": "[]"}
            own |= {"turn": turn_key, "at": when, "words": same_words(normal(line["text"]))}
            key = db.execute(schema.lines.insert().values(own)).inserted_primary_key[0]  # type: ignore[index]
            keys[line["line"]] = int(key)
    return number


def _connect(
    db: sa.Connection, exported: Sequence[Mapping[str, Any]], keys: Mapping[int, int], added: set[int]
) -> None:
    """Let the lines of new sessions name each other, and be found by what may change their states."""
    columns, by_uid = schema.turns.c, {row["uid"]: row for row in exported}
    query = sa.select(schema.sessions.c.uid, columns.key, columns.position).join(
        schema.sessions, schema.sessions.c.number == columns.session
    )
    lines: list[dict[str, Any]] = []
    sources: list[dict[str, Any]] = []
    for uid, turn_key, place in db.execute(query.where(columns.session.in_(added))):
        turn = by_uid[uid]["turns"][place]
        if named := [keys[number] for number in turn.get("sources", ()) if number in keys]:
            sources.append({"turn": turn_key, "names": json.dumps(named)})
        for line in turn.get("lines", ()):
            by, refers = keys.get(line["superseded_by"]), [keys[one] for one in line["refers"] if one in keys]
            lines.append({"line": keys[line["line"]], "by": by, "names": json.dumps(refers)})
    if sources:
        update = schema.turns.update().where(columns.key == sa.bindparam("turn"))
        db.execute(update.values(sources=sa.bindparam("names")), sources)
    if lines:
        update = schema.lines.update().where(schema.lines.c.key == sa.bindparam("line"))
        db.execute(update.values(superseded_by=sa.bindparam("by"), refers=sa.bindparam("names")), lines)
        state_rows.index_of(db, [line["line"] for line in lines])

"""Tombstones: what was forgotten is known again when an old copy brings it back, although no word of it is kept.

A tombstone is a keyed hash of a sentence's words; the key is random and lies in the user's own journal. Whoever has the
journal can test a guess against it, and nothing more. Works inside somebody's transaction.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from hashlib import blake2b

import sqlalchemy as sa

from chatmem import schema
from chatmem.frames import normal
from chatmem.rows import Line
from chatmem.sentences import same_words

_KEY = "tombstone-key"
_KEY_BYTES = 32
_STONES = schema.tombstones.c


def lay(db: sa.Connection, lines: Iterable[Line]) -> None:
    """Know lines as forgotten from now on."""
    known = _hashes(db)
    new = {mark for line in lines for mark in _marks(_key(db), line)} - known
    if new:
        db.execute(schema.tombstones.insert(), [{"mark": mark} for mark in sorted(new)])


def lift(db: sa.Connection, lines: Iterable[Line]) -> None:
    """Let lines be told again: the user said them anew, or asked for them back."""
    known = _hashes(db)
    if known and (found := {mark for line in lines for mark in _marks(_key(db), line)} & known):
        db.execute(schema.tombstones.delete().where(_STONES.mark.in_(sorted(found))))


def buried(db: sa.Connection, lines: Iterable[Line]) -> list[Line]:
    """Return those of some lines that were forgotten."""
    known = _hashes(db)
    return [line for line in lines if known and not known.isdisjoint(_marks(_key(db), line))]


def are_there(db: sa.Connection) -> bool:
    """Tell whether anything was ever forgotten."""
    return db.scalar(sa.select(_STONES.mark).limit(1)) is not None


def clear(db: sa.Connection) -> None:
    """Forget what was forgotten, with the key."""
    db.execute(schema.tombstones.delete())
    db.execute(schema.meta.delete().where(schema.meta.c.key == _KEY))


def paste(db: sa.Connection, key: str, marks: Iterable[str]) -> None:
    """Put in the key and the hashes of another journal, into one that has none; without a whole key, nothing."""
    if not re.fullmatch(rf"[0-9a-f]{{{2 * _KEY_BYTES}}}", key):
        return
    clear(db)
    db.execute(schema.meta.insert().values(key=_KEY, value=key))
    if rows := [{"mark": mark} for mark in sorted(set(marks))]:
        db.execute(schema.tombstones.insert(), rows)


def _key(db: sa.Connection) -> bytes:
    """Return the key of this user, made when it is first needed."""
    found = db.scalar(sa.select(schema.meta.c.value).where(schema.meta.c.key == _KEY))
    if found is None:
        found = secrets.token_hex(_KEY_BYTES)
        db.execute(schema.meta.insert().values(key=_KEY, value=found))
    return bytes.fromhex(found)


def _marks(key: bytes, line: Line) -> set[str]:
    """Return the hashes of a line: as it reads alone, and as it was said."""
    texts = {same_words(normal(text)) for text in (line.text, line.said) if text}
    return {blake2b(text.encode(), key=key, digest_size=16).hexdigest() for text in texts if text}


def _hashes(db: sa.Connection) -> set[str]:
    return set(db.scalars(sa.select(_STONES.mark)))

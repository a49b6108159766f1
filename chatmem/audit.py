"""The audit: what in a journal is not as it should be, as rates, and the mending of what can be mended.

Works inside somebody's transaction; `superseded_recalled` asks a memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from chatmem import rows, schema, state_rows
from chatmem.frames import normal
from chatmem.judgement import MEMORY_KINDS, judge
from chatmem.redaction import redact
from chatmem.rows import Line
from chatmem.sentences import same_words

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory

_NO_FACTS = ("question", "command", "small talk")
_ASKED = 100  # newest superseded lines that are asked for


@dataclass(frozen=True, slots=True)
class Finding:
    """So many of so many are not as they should be."""

    what: str
    count: int
    total: int

    def __str__(self) -> str:
        """Return a row for reading."""
        share = 100 * self.count / self.total if self.total else 0.0
        return f"{self.what:<40} {self.count:>6} of {self.total:<6} {share:5.1f}%"


def inspect(db: sa.Connection) -> list[Finding]:
    """Return what the journal itself shows."""
    told = [line for line in rows.select_lines(db) if line.kind in MEMORY_KINDS]
    active = [line for line in told if line.status == "active"]
    distinct = {same_words(normal(line.text)) for line in active}
    finished = schema.sessions.c.finished.is_not(None)
    num_sessions = db.scalar(sa.select(sa.func.count()).where(finished)) or 0
    with_vectors = sa.select(schema.vectors.c.session)
    without = sa.select(sa.func.count()).where(finished, schema.sessions.c.number.not_in(with_vectors))
    misfits, num_vectors = _misfits(db)
    return [
        Finding("facts told more than once", len(active) - len(distinct), len(active)),
        Finding("questions and commands kept as facts", len(_no_facts(db, active)), len(active)),
        Finding("lines with a secret that was not asked for", len(_with_secrets(db, told)), len(told)),
        Finding("sessions without vectors", db.scalar(without) or 0, num_sessions),
        Finding("vectors without a line, or too few", len(misfits), num_vectors),
    ]


def superseded_recalled(memory: IndexedMemory, k: int) -> Finding:
    """Return how many superseded lines still come back when their own words are asked for."""
    old = [line for line in memory.journal.lines() if line.status == "superseded"][-_ASKED:]
    back = [line for line in old if any(found.line == line.key for found in memory.recall(line.text, k))]
    return Finding("superseded lines that are still recalled", len(back), len(old))


def mend(db: sa.Connection) -> None:
    """Let questions be questions, take secrets out, and drop vectors that do not fit, which are made again."""
    told = [line for line in rows.select_lines(db) if line.kind in MEMORY_KINDS]
    for line in _no_facts(db, told):
        db.execute(schema.handles.delete().where(schema.handles.c.line == line.key))
        db.execute(schema.lines.update().where(schema.lines.c.key == line.key).values(kind=judge(line.text)))
    secret = _with_secrets(db, told)
    for line in secret:
        text, said = redact(line.text)[0], redact(line.said)[0]
        changed = {"text": text, "said": said, "words": same_words(normal(text))}
        db.execute(schema.handles.delete().where(schema.handles.c.line == line.key))
        db.execute(schema.lines.update().where(schema.lines.c.key == line.key).values(**changed))
        at = schema.turns.c.key == line.turn_key
        whole = db.scalar(sa.select(schema.turns.c.text).where(at)) or ""
        db.execute(schema.turns.update().where(at).values(text=redact(whole)[0]))
    dropped = {*_misfits(db)[0], *(line.session for line in secret)}
    db.execute(schema.vectors.delete().where(schema.vectors.c.session.in_(dropped)))
    state_rows.derive_all(db)
    rows.bump(db)


def _explicit(db: sa.Connection) -> set[int]:
    return set(db.scalars(sa.select(schema.turns.c.key).where(schema.turns.c.explicit.is_(True))))


def _no_facts(db: sa.Connection, told: list[Line]) -> list[Line]:
    asked_for = _explicit(db)
    return [
        line for line in told if line.turn_key not in asked_for and judge(line.said) == judge(line.text) in _NO_FACTS
    ]


def _with_secrets(db: sa.Connection, told: list[Line]) -> list[Line]:
    asked_for = _explicit(db)
    return [line for line in told if line.turn_key not in asked_for and redact(line.text)[1]]


def _misfits(db: sa.Connection) -> tuple[list[int], int]:
    """Return the sessions whose vectors are not as many as their lines, and how many sessions have vectors."""
    counts = Counter(line.session for line in rows.select_lines(db))
    columns = schema.vectors.c
    found = db.execute(sa.select(columns.session, columns.fingerprint, sa.func.length(columns.lines))).all()
    sizes = Counter((print_, size // counts[session]) for session, print_, size in found if counts[session])
    usual: dict[str, int] = {}
    for (print_, width), _ in sizes.most_common():
        usual.setdefault(print_, width)
    wrong = [session for session, print_, size in found if size != counts[session] * usual.get(print_, 0)]
    return wrong, len(found)

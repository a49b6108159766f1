"""States of what is remembered: active, superseded, retracted, quarantined.

They are a function of the statements in their order, so they can be derived again from the journal at any time; what
a new statement changes is found by looking only at older ones that share a handle with it (a rarer word or a frame).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from chatmem.frames import normal
from chatmem.judgement import MEMORY_KINDS, retracts_topic
from chatmem.poison import gives_orders
from chatmem.versions import Relate, handles, is_fixed, relate, says_change, topic

Status = Literal["active", "superseded", "retracted", "quarantined"]

NUM_RIVALS = 20  # newest statements with one handle that a new one is compared with
_OVER = re.compile(
    r"\b(?:any ?more|no longer|used to be|not now|stopped|doesn't hold|no longer holds)\b|уже не|больше не|不再"
    r"|已经不",
    re.I,
)
_TOPIC = re.compile(
    r"^.*?\b(?:about|of|that|что|о|об|про|关于)\b|\b(?:was|were|is|isn't|wasn't|are|a|not|true|just|only|joke|jokes"
    r"|lie|wrong|false|nonsense|kidding|please|any ?more|any longer|all|thing)\b",
    re.I,
)


@dataclass(slots=True)
class Statement:
    """One line of the user, and its state. `refers` are the lines that it corrects or takes back."""

    key: int
    when: datetime
    session: int
    text: str
    kind: str
    refers: tuple[int, ...] = ()
    explicit: bool = False
    status: Status = "active"
    until: datetime | None = None
    by: int | None = None  # what superseded or retracted it
    ends: datetime | None = None  # when the time of which it speaks is over

    @property
    def order(self) -> tuple[datetime, int]:
        """What states are derived in the order of."""
        return self.when, self.key


@dataclass(slots=True)
class Ledger:
    """Statements, oldest first, with the states that follow; `add` is the only step."""

    relate: Relate = relate
    statements: dict[int, Statement] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)
    _by_handle: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _temporary: dict[int, datetime] = field(default_factory=dict)  # when they are over

    def load(self, statements: Iterable[Statement]) -> None:
        """Put in older statements with the states that they have already, oldest first."""
        for statement in statements:
            self._keep(statement)

    def add(self, new: Statement) -> None:
        """Put in the newest statement and let it change the states of older ones."""
        self.expire(new.when)
        if new.kind == "retraction":
            self._retract(new)
        elif new.kind in MEMORY_KINDS:
            self._compare(new)
        if new.status != "active":
            self.changed.add(new.key)
        self._keep(new)
        self.expire(new.when)

    def expire(self, now: datetime) -> None:
        """Let what was true for a time only be over."""
        for key in [key for key, end in self._temporary.items() if end <= now]:
            end, statement = self._temporary.pop(key), self.statements[key]
            if statement.status == "active":
                self._set(statement, "superseded", end, None)

    def _keep(self, statement: Statement) -> None:
        self.statements[statement.key] = statement
        if statement.kind in MEMORY_KINDS:
            for handle in handles(statement.text):
                self._by_handle[handle].append(statement.key)
            if statement.status == "active":
                self._await_end(statement)

    def _await_end(self, statement: Statement) -> None:
        """Know when a statement will be over, where it is one that will be."""
        if statement.ends is not None:
            self._temporary[statement.key] = statement.ends
        elif statement.kind == "temporary" and not statement.explicit:
            self._temporary[statement.key] = expiry(statement.text, statement.when)

    def _set(self, statement: Statement, status: Status, until: datetime | None, by: int | None) -> None:
        statement.status, statement.until, statement.by = status, until, by
        self.changed.add(statement.key)

    def rivals(self, new: Statement) -> list[Statement]:
        """Return the older statements that may be related to a new one, newest first."""
        return self._under(handles_for(new))

    def _under(self, names: Iterable[str]) -> list[Statement]:
        keys = {key for name in names for key in self._by_handle.get(name, ())[-NUM_RIVALS:]}
        return sorted((self.statements[key] for key in keys), key=lambda statement: statement.order, reverse=True)

    def _same(self, text: str) -> list[Statement]:
        """Return the older statements of the same words."""
        return self._under([f"={normal(text)}"])

    def _compare(self, new: Statement) -> None:
        """Let a new statement replace older ones, or be doubtful itself."""
        if new.kind == "quotation" or (gives_orders(new.text) and not new.explicit):
            new.status = "quarantined"
            return
        corrected = set(new.refers)
        rivals = [old for old in self.rivals(new) if old.status == "active" and old.kind in MEMORY_KINDS]
        replaced = [old for old in rivals if old.key in corrected or self.relate(new.text, old.text) == "replaces"]
        if not corrected and self._is_doubtful(new, replaced):
            new.status = "quarantined"
            return
        self.replace({*corrected, *(old.key for old in replaced)}, new)

    def replace(self, keys: Iterable[int], new: Statement) -> None:
        """Let a statement take the place of older ones that are current."""
        for old in self._active(keys):
            self._set(old, "superseded", new.when, new.key)

    def _active(self, keys: Iterable[int]) -> list[Statement]:
        found = [self.statements[key] for key in keys if key in self.statements]
        return [statement for statement in found if statement.status == "active"]

    def _is_doubtful(self, new: Statement, replaced: Sequence[Statement]) -> bool:
        """Tell whether a statement contradicts one of the same session that does not change, without a word of change.

        Said a second time it is believed.
        """
        if new.explicit or says_change(new.text) or not is_fixed(new.text):
            return False
        again = any(old.status == "quarantined" for old in self._same(new.text))
        return not again and any(old.session == new.session and is_fixed(old.text) for old in replaced)

    def _retract(self, new: Statement) -> None:
        """Take back what a retraction means, and let what that had replaced be current again."""
        over = bool(_OVER.search(new.text))
        for old in self._meant(new):
            if over:
                self._set(old, "superseded", new.when, new.key)
                continue
            for same in [old, *self._same(old.text)]:
                if same.status in ("active", "quarantined"):
                    self._set(same, "retracted", new.when, new.key)
            for other in self.statements.values():
                if other.by == old.key and other.status == "superseded":
                    self._set(other, "active", None, None)
                    self._await_end(other)

    def _meant(self, new: Statement) -> list[Statement]:
        """Return the statements that a retraction takes back."""
        if not retracts_topic(new.text):
            found = [self.statements[key] for key in new.refers if key in self.statements]
            return [old for old in found if old.status in ("active", "quarantined")]
        wanted = retracted_topic(new.text)
        return [
            old
            for old in self.rivals(new)
            if wanted and old.status in ("active", "quarantined") and wanted <= topic(old.text)
        ]


def retracted_topic(text: str) -> frozenset[str]:
    """Return the words of what "Forget what I said about the dog" takes back."""
    return topic(_TOPIC.sub(" ", text.replace("’", "'")))


def handles_for(statement: Statement) -> frozenset[str]:
    """Return under which words older statements are looked for."""
    if statement.kind == "retraction" and retracts_topic(statement.text):
        return retracted_topic(statement.text)
    return handles(statement.text)


def expiry(text: str, when: datetime) -> datetime:
    """Return until when a temporary statement holds: the end of its day or six hours, its week, or its month."""
    if re.search(r"\bthis week\b|на этой неделе|这周|本周", text, re.I):
        return when + timedelta(days=7)
    if re.search(r"\b(?:this month|these days)\b|в этом месяце|这个月", text, re.I):
        return when + timedelta(days=31)
    midnight = when.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return max(midnight, when + timedelta(hours=6))


def derive(statements: Iterable[Statement], now: datetime | None = None, rule: Relate = relate) -> Ledger:
    """Derive all states from scratch, in the order of time."""
    ledger = Ledger(rule)
    for statement in sorted(statements, key=lambda statement: statement.order):
        statement.status, statement.until, statement.by = "active", None, None
        ledger.add(statement)
    if now is not None:
        ledger.expire(now)
    return ledger

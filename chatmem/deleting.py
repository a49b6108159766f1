"""Deleting: what /forget, /undo and an order in a message do, and what is said of it.

What would go is shown to somebody who can be asked; the reply to an order never recites what is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chatmem.commands import count
from chatmem.forgetting import last_told, meant
from chatmem.interface import CommandError
from chatmem.judgement import MEMORY_KINDS
from chatmem.orders import Order

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory

Confirm = Callable[[str], bool]  # shows what would go, and returns whether it may
_OWN_THING = re.compile(r"(?:my|our) ([a-z][a-z' -]{1,40})", re.ASCII)
NOT_FOUND = "I found nothing like that in my memory, so nothing was deleted."
KEPT = "Nothing was deleted."


def forget(memory: IndexedMemory, text: str, confirm: Confirm) -> str:
    """Erase every memory in which all words of a text occur, and say which; CommandError where there is none."""
    if not any(char.isalnum() for char in text):
        raise CommandError("/forget needs words: /forget TEXT erases every memory in which all of them occur")
    doomed = memory.journal.matching(text)
    if not doomed:
        raise CommandError("Nothing that was said has all of these words; nothing was erased.")
    if not confirm(listed([line.text for line in doomed if line.speaker == "user"], "Erase")):
        raise CommandError("Nothing was erased.")
    before = _not_current(memory)
    erased = memory.forget(text)
    told = [line.text for line in erased if line.speaker == "user"]
    rows = [listed(told, "Erased")] if told else []
    if len(erased) > len(told):
        rows.append(f"Erased {count(len(erased) - len(told), 'line')} of mine.")
    return "\n".join([*rows, *_current_again(memory, before)])


def undo(memory: IndexedMemory, confirm: Confirm) -> str:
    """Take the last memory back as if it had never been told; CommandError where there is none."""
    doomed = last_told([line for line in memory.journal.lines() if line.kind in MEMORY_KINDS])
    if not doomed:
        raise CommandError("There is no memory to take back.")
    texts = [line.text for line in doomed]
    if not confirm(listed(texts, "Erase")):
        raise CommandError("Nothing was erased.")
    before = _not_current(memory)
    memory.erase(doomed)
    return "\n".join([listed(texts, "Erased"), *_current_again(memory, before)])


def obey(memory: IndexedMemory, order: Order, confirm: Confirm) -> str:
    """Carry out an order to delete, and return the reply to it."""
    doomed = meant(order, memory)
    if not doomed:
        return NOT_FOUND
    if not confirm(listed([line.text for line in doomed], "Delete")):
        return KEPT
    memory.erase(doomed)
    thing = _OWN_THING.fullmatch(order.what) if order.scope != "statement" else None
    return f"Done, I have forgotten {f'your {thing[1]}' if thing else 'that'}: {count(len(doomed), 'line')}."


def listed(texts: Sequence[str], verb: str) -> str:
    """Return lines that go, for reading."""
    return "\n".join([f"{verb} {count(len(texts), 'line')} of yours:", *(f"- {text}" for text in texts)])


def _not_current(memory: IndexedMemory) -> set[int]:
    return {line.key for line in memory.journal.facts() if line.status != "active"}


def _current_again(memory: IndexedMemory, before: set[int]) -> list[str]:
    """Return what counts as current again: what was erased had superseded it, or had taken it back."""
    again = [line.text for line in memory.journal.facts() if line.key in before and line.status == "active"]
    return ["This counts as current again:", *(f"- {text}" for text in again)] if again else []

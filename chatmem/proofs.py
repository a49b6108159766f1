"""Proofs: what is promised of deletion, users, encryption, planted text, secrets and copies, tried many times.

Each function returns how many `trials` there were, and how many `failed`. The memories are real ones over a small
encoder, in folders of their own; every byte under a folder is searched for marks that nothing else could have written.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from chatmem import deleting, encrypting, harm
from chatmem.commands import export, import_file
from chatmem.forgetting import meant
from chatmem.indexed import IndexedMemory
from chatmem.interface import ChatMemError, Session, Turn
from chatmem.journal import Journal
from chatmem.opening import open_user
from chatmem.orders import deletion, split_orders
from chatmem.redaction import redact
from chatmem.stand_ins import TinyEncoder
from chatmem.storage import user_folder
from chatmem.vault import Vault

NOON = datetime(2025, 3, 3, 12, tzinfo=UTC)
_ALIKE = ("ana", "Ana", "ana2", "ana ", "an", "ana/", "../ana", "ana\0", "ána", "a\u0301na")
_SECRETS = (
    "My card is 4111 1111 1111 1111.",
    "My password is hunter2.",
    "The PIN of my phone is 739182.",
    "Use sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY from now on.",
    "export AWS_KEY=AKIAIOSFODNN7EXAMPLE",
    "My token is ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY2zA4.",
    "密码是qwerty-77",
    "Мой пароль: zima-2024",
)


class Way(NamedTuple):
    """One way to erase a fact with a mark in it."""

    name: str
    erase: Callable[[IndexedMemory, str], object]


def _order(memory: IndexedMemory, mark: str) -> None:
    order = deletion(f"Forget that my boat is called {mark}.")
    memory.erase(meant(order, memory) if order else [])


WAYS = (
    Way("/forget", lambda memory, mark: memory.forget(mark)),
    Way("an order", _order),
    Way("/undo", lambda memory, _: deleting.undo(memory, lambda _: True)),
    Way("/reset", lambda memory, _: memory.reset()),
    Way("--max-sessions", lambda memory, _: memory.keep_at_most(1, NOON + timedelta(days=900))),
)


def forgotten(arms: Iterable[harm.OpenMemory], count: int) -> Counter[str]:
    """Erase marked facts in every way and search every byte; those that are to stay must be there."""
    found = Counter[str]()
    for open_memory in arms:
        for way in WAYS:
            for mark in _marks(count, way.name):
                with _memory(open_memory) as memory:
                    kept = "I keep bees."
                    told = [f"My boat is called {mark}.", f"What is {mark}?"]
                    later = way.name == "--max-sessions"
                    _tell(memory, *([*told, kept] if later else [kept, *told]))
                    was_there = mark.lower() in _bytes(memory)
                    way.erase(memory, mark)
                    stays = way.name == "/reset" or kept in [line.text for line in memory.journal.facts()]
                    found += Counter(trials=1, failed=mark.lower() in _bytes(memory) or not (was_there and stays))
    return found


def returned(open_memory: harm.OpenMemory, count: int) -> Counter[str]:
    """Import a copy from before a fact was forgotten; nothing of the fact may be on the disk."""
    found = Counter[str]()
    for mark in _marks(count, "old"):
        with _memory(open_memory) as memory:
            _tell(memory, f"My boat is called {mark}.", "I keep bees.")
            copy = (memory.folder or Path()).with_name(f"{mark}.json")
            export(memory.journal, str(copy))
            memory.forget(mark)
            import_file(memory, str(copy))
            found += Counter(trials=1, failed=mark.lower() in _bytes(memory))
    return found


def names(count: int, *, seed: int = 0) -> Counter[str]:
    """Open folders for random names: each is right inside, or refused with one line, and no two are the same."""
    chance, found, folders = random.Random(seed), Counter[str](), dict[Path, str]()
    letters = [chr(code) for code in (*range(0x250), 0x301, 0x200B, 0x202E, 0x4E2D, 0xD800, 0x1F4A5)] + ["../", "con"]
    with tempfile.TemporaryDirectory() as name:
        for user in [*_ALIKE, *("".join(chance.choices(letters, k=chance.randrange(9))) for _ in range(count))]:
            try:
                folder = user_folder(Path(name), user)
            except ChatMemError:
                found += Counter(trials=1)
                continue
            is_own = folder.parent == Path(name) and folders.setdefault(folder, user) == user
            found += Counter(trials=1, failed=not is_own)
    return found


def strangers(open_memory: harm.OpenMemory) -> Counter[str]:
    """Let users of names alike tell, forget and reset; nobody else's bytes change, and nobody sees another's fact."""
    found = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        users: dict[str, IndexedMemory] = {}
        for user, mark in zip(_ALIKE, _marks(len(_ALIKE), "names"), strict=True):
            opened = open_user(Path(name), user)
            users[user] = open_memory(opened.journal, TinyEncoder(), opened.folder)
            _tell(users[user], f"My boat is called {mark}.")
        for user, memory in users.items():
            before = {other: _bytes(one) for other, one in users.items() if other != user}
            alone = len(memory.journal.facts()) == 1
            memory.forget("boat")
            memory.reset()
            same = all(_bytes(users[other]) == content for other, content in before.items())
            found += Counter(trials=1, failed=not (alone and same))
    return found


def encrypted(open_memory: harm.OpenMemory, count: int) -> Counter[str]:
    """Encrypt memories with marks in them, go on talking, and search every byte for the marks."""
    found = Counter[str]()
    for mark in _marks(count, "sealed"):
        with tempfile.TemporaryDirectory() as name:
            opened = open_user(Path(name), harm.USER)
            _tell(open_memory(opened.journal, TinyEncoder(), opened.folder), f"My boat is called {mark}.")
            opened.journal.close()
            encrypting.turn_on(user_folder(Path(name), harm.USER), Vault.new(), mark)
            opened = open_user(Path(name), harm.USER, lambda _, mark=mark: mark)  # type: ignore[misc]
            memory = open_memory(opened.journal, TinyEncoder(), opened.folder)
            _tell(memory, f"My goat is called {mark}.")
            facts = len(memory.journal.facts())
            found += Counter(trials=1, failed=facts != 2 or mark.lower() in _bytes(memory))
    return found


def planted(attempts: Sequence[str]) -> Counter[str]:
    """Say texts that would plant a memory or an order; none may become a memory or delete one."""
    found, journal = Counter[str](), Journal("sqlite://")
    number = journal.begin(NOON)
    journal.append(number, Turn("user", "I keep bees.", NOON))
    for text in attempts:
        orders, rest = split_orders(text)
        _, new = journal.append(number, Turn("user", rest, NOON))
        kept = [line.status for line in journal.facts() if line.text == "I keep bees."]
        found += Counter(trials=1, failed=bool(orders or new) or kept != ["active"])
    return found


def secrets() -> Counter[str]:
    """Say secrets of known forms; what is kept must be without them."""
    return Counter(trials=len(_SECRETS), failed=sum(not redact(text)[1] for text in _SECRETS))


def copied(count: int, *, seed: int = 0) -> Counter[str]:
    """Write memories of random sessions out and in again; the two are equal, and a second import changes nothing."""
    chance, found = random.Random(seed), Counter[str]()
    things = (
        "I live in Kaunas.",
        "I moved to Turku.",
        "My boat is blue.",
        "No, it's red.",
        "What now?",
        "До мая я в Риге.",
    )
    for _ in range(count):
        journal, other = Journal("sqlite://"), Journal("sqlite://")
        for day in range(chance.randrange(1, 6)):
            journal.record(_session(chance.choices(things, k=3), day))
        rows = journal.dump()
        other.restore_all(rows)
        other.restore_all(rows)
        found += Counter(trials=1, failed=other.dump() != rows)
    return found


def _marks(count: int, purpose: str) -> Iterator[str]:
    """Yield words that stand nowhere else."""
    chance = random.Random(purpose)
    for _ in range(count):
        yield "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(6)).capitalize()


def _session(texts: Iterable[str], day: int = 0) -> Session:
    when = NOON + timedelta(days=day)
    turns = [turn for text in texts for turn in (Turn("user", text, when), Turn("assistant", f"I see: {text}", when))]
    return Session(tuple(turns))


def _tell(memory: IndexedMemory, *texts: str) -> None:
    for day, text in enumerate(texts):
        memory.remember(_session([text], day))


@contextmanager
def _memory(open_memory: harm.OpenMemory) -> Iterator[IndexedMemory]:
    with tempfile.TemporaryDirectory() as name:
        opened = open_user(Path(name), harm.USER)
        memory = open_memory(opened.journal, TinyEncoder(), opened.folder)
        yield memory
        memory.drop_index()  # or Chroma keeps the files of every trial open
        opened.journal.close()


def _bytes(memory: IndexedMemory) -> str:
    """Return every byte under the folder of a memory as lower-case text."""
    paths = sorted(path for path in (memory.folder or Path()).rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in paths).decode("latin-1").lower()

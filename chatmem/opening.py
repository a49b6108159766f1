"""Opening the memory of one user: what a crash, a full disk or a damaged file left behind is put right here.

Says what it did through the logger `chatmem`, never with the words of a memory.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from chatmem import encrypting, rows, server, storage
from chatmem.interface import DamagedError, LockedError, NewerError, StoreError, Turn
from chatmem.journal import Journal
from chatmem.schema import connect
from chatmem.vault import Vault, key_of

log = logging.getLogger("chatmem")
POOL_FORMAT = "chatmem-memory"
POOL_VERSION = 1


@dataclass(frozen=True)
class Opened:
    """A user's journal, and the folder for index files; the folder is None where nothing is kept on disk."""

    journal: Journal
    folder: Path | None


def open_user(memory_dir: Path, user: str, passphrase: Callable[[str], str] | None = None) -> Opened:
    """Open or make the memory of a user, repair what is damaged, and finish what a killed program left open.

    Args:
        memory_dir: where memories lie.
        user: whose it is.
        passphrase: returns the passphrase of an encrypted memory, by the id in its header.

    Raises:
        UsageError: the name cannot be used.
        NewerError: a newer version of the program wrote it.
        LockedError: it is encrypted and does not open.
        StoreError: `memory_dir` is not a folder.
    """
    folder = storage.user_folder(memory_dir, user)
    path = folder / "journal.db"
    encrypting.settle(folder)
    header = encrypting.find_header(folder)
    vault = None if header is None else encrypting.unlock(header, passphrase)
    try:
        is_new = not path.exists()
        for place in (folder, path):
            if place.exists() and not os.access(place, os.W_OK):  # SQLite would open it and fail at the first line
                raise StoreError(f"cannot write {place}: it is read-only")
        journal = _open_or_repair(path, vault, is_new=is_new)
        _finish_abandoned(journal, folder)
    except (NewerError, LockedError):
        raise
    except (StoreError, OSError) as error:  # a lock of a session is a file too
        log.warning("%s. This conversation will not be remembered.", str(error).rstrip("."))
        return Opened(Journal.copy_in_ram(path, vault), None)
    return Opened(journal, folder)


def open_store(store: str, user: str) -> Opened:
    """Open or make the memory of a user on a server; nothing of it is kept on this machine.

    Raises:
        UsageError: the URL or the name cannot be used.
        StoreError: the server cannot be reached, or what is there cannot be used.
    """
    journal = Journal(server.open_engine(store, user))
    _finish_abandoned(journal, None)
    return Opened(journal, None)


def _open_or_repair(path: Path, vault: Vault | None, *, is_new: bool) -> Journal:
    """Open the journal; a damaged one is set aside, and what can be read of it goes into a new one."""
    try:
        journal = Journal.at(path, vault)
    except DamagedError as error:
        if encrypting.has_changed(path.parent, vault):
            raise LockedError("another program has just encrypted or decrypted this memory: start again") from error
        aside = storage.set_aside(path, datetime.now().strftime("%Y%m%d-%H%M%S"))
        path.with_name(f"{path.name}.suspect").unlink(missing_ok=True)
        journal = Journal.at(path, vault)
        sessions = list(_read_damaged(aside, vault))
        journal.take_tombstones(*_read_tombstones(aside, vault))
        kept = _restore(journal, sessions) + _restore(journal, _read_pool(path.parent, vault))
        log.warning("%s. Recovered %d sessions; the damaged file is kept as %s.", error, kept, aside.name)
        return journal
    if is_new and (kept := _restore(journal, _read_pool(path.parent, vault))):
        log.warning("The journal was missing. Recovered %d sessions from memory.pkl.", kept)
    return journal


def _restore(journal: Journal, sessions: Any) -> int:
    """Write sessions that the journal lacks, and return their number; what is malformed is left out."""
    kept = 0
    for session in sessions:
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            kept += journal.restore_all([session]).added
    return kept


def _read_pool(folder: Path, vault: Vault | None) -> list[Any]:
    """Return the sessions that memory.pkl holds, or none."""
    try:
        sessions = storage.load_tensors(folder / "memory.pkl", POOL_FORMAT, POOL_VERSION, vault).get("sessions")
    except (FileNotFoundError, StoreError):
        return []
    return sessions if isinstance(sessions, list) else []


def _read_damaged(path: Path, vault: Vault | None) -> Iterator[dict[str, Any]]:
    """Yield the sessions that can still be read from a damaged SQLite file."""
    uids = {row[0]: row[1] for row in _rows(path, vault, "SELECT number, uid FROM sessions")}
    sessions: dict[int, list[dict[str, Any]]] = {}
    columns = 'session, position, speaker, text, "when", explicit'
    for number, position, speaker, text, when, explicit in _rows(path, vault, f"SELECT {columns} FROM turns"):
        turn = {"speaker": speaker, "text": text, "when": when, "explicit": bool(explicit), "position": position}
        sessions.setdefault(number, []).append(turn)
    for number, turns in sessions.items():
        turns = [turn for turn in turns if _is_whole(turn)]
        in_order = sorted(turns, key=lambda turn: (not isinstance(turn["position"], int), turn["position"]))
        yield {"uid": uids.get(number, uuid.uuid4().hex), "turns": in_order}


def _is_whole(turn: dict[str, Any]) -> bool:
    """Tell whether a turn can be written again; one with a damaged time or speaker does not take its session along."""
    try:
        rows.turn(turn)
    except (KeyError, TypeError, ValueError):
        return False
    return True


def _read_tombstones(path: Path, vault: Vault | None) -> tuple[str, list[str]]:
    """Return what can be read of the tombstones of a damaged SQLite file."""
    key = next((row[0] for row in _rows(path, vault, "SELECT value FROM meta WHERE key = 'tombstone-key'")), "")
    return str(key), [str(row[0]) for row in _rows(path, vault, "SELECT mark FROM tombstones")]


def _rows(path: Path, vault: Vault | None, query: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query until the damage, over a new connection: SQLCipher reads nothing more after it."""
    with closing(connect(path, key_of(vault))) as db, suppress(db.Error, MemoryError):
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        yield from db.execute(query)


def _finish_abandoned(journal: Journal, folder: Path | None) -> None:
    """Finish the sessions whose program is gone: nobody holds their lock any more."""
    for number, uid in journal.open_sessions():
        lock = session_lock(journal, folder, uid)
        if lock is None:
            continue
        try:
            lock.acquire(blocking=False)
        except Timeout:
            continue  # another program is having this conversation now
        if (number, uid) not in journal.open_sessions():
            release(lock)
            continue  # it has just ended
        said: list[tuple[int, Turn]] = journal.turns(number)
        journal.finish(number, said[-1][1].when if said else datetime.now().astimezone())
        release(lock)
        if said:
            started = said[0][1].when.strftime("%Y-%m-%d %H:%M")
            log.warning("Recovered a session of %d lines from %s.", len(said), started)


def session_lock(journal: Journal, folder: Path | None, uid: str) -> FileLock | server.SessionLock | None:
    """Return the lock that a program holds while a session of its own is open; None where no other one can see it."""
    if folder is None:
        return journal.lock(uid)
    return FileLock(folder / f"open-{uid}.lock", mode=0o600)


def release(lock: FileLock | server.SessionLock) -> None:
    """Let go of a session's lock and take its file away."""
    lock.release()
    if isinstance(lock, FileLock):
        with suppress(OSError):
            Path(lock.lock_file).unlink(missing_ok=True)

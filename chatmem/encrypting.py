"""Turning encryption on and off, and the recovery of a conversion that was interrupted.

The journal is written anew beside the old one, flushed, and put in its place by one rename; before and after that the
memory is whole. While a conversion goes on, its header is called `encryption.pending`: found at a start, it says that
there was an interruption, and the journal itself says on which side of the rename. Indexes are made again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from chatmem import storage
from chatmem.interface import LockedError, StoreError
from chatmem.journal import Journal
from chatmem.schema import connect
from chatmem.vault import HEADER, SEALED, Header, Vault, key_of, require_libraries

log = logging.getLogger("chatmem")
PENDING = "encryption.pending"
_BESIDE = "journal.db.new"
_STRAY = ".encryption.*"  # a header that was being written
_PLAIN = b"SQLite format 3\0"
_WAIT_SECONDS = 5.0


def find_header(folder: Path) -> Header | None:
    """Return the header of an encrypted memory, None for a plain one.

    Raises:
        LockedError: header and journal do not belong together.
        DamagedError, NewerError: the header cannot be used.
        StoreError: it cannot be read.
    """
    path, journal = folder / HEADER, folder / "journal.db"
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        if _begins(folder / "memory.pkl", SEALED) and not _begins(journal, _PLAIN):
            raise LockedError(f"{path} is missing, without which this encrypted memory does not open") from None
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    if _begins(journal, _PLAIN):
        raise LockedError(f"{journal} is not encrypted, but this memory is: put the right file back")
    return Header.read(raw)


def unlock(header: Header, passphrase: Callable[[str], str] | None) -> Vault:
    """Return the keys of a memory, asking for the passphrase."""
    require_libraries()
    if passphrase is None:
        raise LockedError("this memory is encrypted, and there is nobody to ask for the passphrase")
    return Vault.unlock(header, passphrase(header.id))


def turn_on(folder: Path, vault: Vault, passphrase: str) -> int:
    """Encrypt the memory in a folder; return how many set-aside damaged files, which are plain, were deleted."""
    with _alone(folder):
        _check_still(folder, None)
        storage.write_atomic(folder / PENDING, vault.header(passphrase).write())
        _convert(folder, None, vault)
        return _drop_and_rename(folder)


def turn_off(folder: Path, vault: Vault) -> int:
    """Make the memory in a folder plain; return how many set-aside damaged files, unreadable now, were deleted."""
    with _alone(folder):
        _check_still(folder, vault)
        _rename(folder, HEADER, PENDING)
        _convert(folder, vault, None)
        dropped = _drop_derived(folder)
        (folder / PENDING).unlink()
        return dropped


def change_passphrase(folder: Path, vault: Vault, passphrase: str) -> None:
    """Let another passphrase unlock a memory; nothing but its header is written."""
    with _locked(folder):
        _check_still(folder, vault)
        storage.write_atomic(folder / HEADER, vault.header(passphrase).write())
        _drop_unfinished(folder)


def settle(folder: Path) -> None:
    """End a conversion that was interrupted, on the side of it that the journal is on."""
    if not (folder / PENDING).exists() and not any(folder.glob(_STRAY)):
        return
    with _locked(folder):
        _drop_unfinished(folder)
        if not (folder / PENDING).exists():
            return  # another program was at it, and has ended
        is_encrypted = _resolve(folder)
        log.warning(
            "A conversion was interrupted: this memory is %s.", "encrypted" if is_encrypted else "not encrypted"
        )


def has_changed(folder: Path, vault: Vault | None) -> bool:
    """Tell whether a memory that was opened with these keys has been converted since, or is being converted."""
    return (folder / HEADER).exists() != (vault is not None) or (folder / PENDING).exists()


def _check_still(folder: Path, vault: Vault | None) -> None:
    """Refuse where another program was faster, with the lock held."""
    header = find_header(folder)
    if has_changed(folder, vault) or (header is not None and vault is not None and header.id != vault.id):
        raise LockedError("another program has just converted this memory: nothing was changed")


def _resolve(folder: Path) -> bool:
    """End a conversion on the side of it that the journal is on, and tell whether the memory is encrypted."""
    _drop_unfinished(folder)
    if (folder / HEADER).exists():
        raise LockedError(f"{folder} holds {HEADER} and {PENDING}: take away the one that does not belong there")
    if not _begins(folder / "journal.db", _PLAIN):
        _drop_and_rename(folder)
        return True
    (folder / "memory.pkl").unlink(missing_ok=True)  # it may be sealed
    (folder / PENDING).unlink()
    return False


def _convert(folder: Path, old: Vault | None, new: Vault | None) -> None:
    """Put a copy of the journal under other keys in its place, or leave everything as it was."""
    path, beside = folder / "journal.db", folder / _BESIDE
    try:
        _drop_unfinished(folder)
        beside.touch(mode=0o600)
        with closing(connect(path, key_of(old) or "")) as db:
            db.isolation_level = None
            try:
                db.execute("PRAGMA main.locking_mode = EXCLUSIVE")
                db.execute("BEGIN EXCLUSIVE")  # kept until the connection closes: whoever writes waits for it
                db.execute("COMMIT")
                db.execute("ATTACH DATABASE ? AS new KEY ?", (str(beside), key_of(new) or ""))
                db.execute("SELECT sqlcipher_export('new')")
                db.execute("DETACH new")
            except (db.Error, MemoryError) as error:
                raise StoreError(f"the journal cannot be converted: {error}") from error
            Journal.at(beside, new).close()  # whole and one of ours, or it takes no other's place
            storage.flush_file(beside)
            _swap(beside, path)
    except (StoreError, OSError) as error:
        with suppress(StoreError, OSError):  # else the next start does it
            _resolve(folder)
        if isinstance(error, OSError):
            raise StoreError(f"cannot convert {folder}: {error.strerror}") from error
        raise


def _swap(new: Path, path: Path) -> None:
    """Rename the new journal over the old one, and overwrite the old one's bytes where the system lets us."""
    if os.name != "posix":  # a file that is open cannot be replaced there
        new.replace(path)
        return
    with path.open("r+b") as old:
        new.replace(path)
        storage.flush_folder(path.parent)
        with suppress(OSError):
            for _ in range(0, os.fstat(old.fileno()).st_size, 1 << 16):
                old.write(bytes(1 << 16))
            os.fsync(old.fileno())


def _drop_and_rename(folder: Path) -> int:
    """Let no plain file be left, and only then say that the memory is encrypted."""
    dropped = _drop_derived(folder)
    _rename(folder, PENDING, HEADER)
    return dropped


def _drop_derived(folder: Path) -> int:
    """Delete the indexes and the set-aside files, and return the number of the latter."""
    num_aside = sum(1 for _ in folder.glob("*.damaged-*"))
    storage.delete_indexes(folder)
    storage.flush_folder(folder)
    return num_aside


def _drop_unfinished(folder: Path) -> None:
    """Delete what a program was writing when it was killed."""
    for path in [*folder.glob(f"{_BESIDE}*"), *folder.glob(_STRAY)]:
        path.unlink(missing_ok=True)


def _rename(folder: Path, old: str, new: str) -> None:
    (folder / old).replace(folder / new)
    storage.flush_folder(folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Convert while nobody is in a session; whoever begins one meanwhile waits, and is told."""
    with _locked(folder):
        for path in folder.glob("open-*.lock"):
            lock = FileLock(path, mode=0o600)
            try:
                lock.acquire(blocking=False)
            except Timeout:
                raise LockedError("this memory is in use: end the other program first") from None
            lock.release()
            path.unlink(missing_ok=True)
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other programs from writing indexes, and from converting."""
    try:
        with FileLock(folder / "index.lock", mode=0o600).acquire(timeout=_WAIT_SECONDS):
            yield
    except Timeout:
        raise LockedError("another program is writing this memory: try again") from None
    except OSError as error:
        raise StoreError(f"cannot write {folder}: {error.strerror}") from error


def _begins(path: Path, magic: bytes) -> bool:
    """Tell whether a file begins with some bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error

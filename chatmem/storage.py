"""Files: where a user's memory lies, atomic private writes, and tensors that are read without running code.

Knows nothing of what the files mean.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatmem.interface import DamagedError, NewerError, StoreError, UsageError

if TYPE_CHECKING:
    from chatmem.vault import Vault

INDEX_NAMES = ("memory.pkl", "chroma", "neural.safetensors")  # what can be made again from the journal


def user_digest(user: str) -> str:
    """Return what stands for a user's exact name wherever a name would be used: 32 hexadecimal digits of its hash.

    Letters and digits that every file system keeps apart, the ones that ignore case, too.

    Raises:
        UsageError: the name is blank or is not valid text.
    """
    try:
        digest = hashlib.sha256(user.encode("utf-8")).hexdigest()[:32]
    except UnicodeEncodeError as error:
        raise UsageError("--user is not valid UTF-8: give the name in another encoding") from error
    if not any(char.isprintable() and not char.isspace() for char in user):
        raise UsageError("--user must not be empty: give a name, or leave the option out")
    return digest


def user_folder(memory_dir: Path, user: str) -> Path:
    """Make and return the folder of one user, mode 0700; a name is never used as a path.

    Raises:
        UsageError: the name is blank or is not valid text, or `memory_dir` can be no path.
        StoreError: the folder cannot be made.
    """
    folder = memory_dir / f"user-{user_digest(user)}"
    try:
        memory_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
            flush_folder(memory_dir)
        if os.name == "posix" and folder.stat().st_mode & 0o077:
            folder.chmod(0o700)  # it was copied here, or unpacked from a backup
    except OSError as error:
        raise StoreError(f"cannot use {memory_dir} as --memory-dir: {error.strerror}") from error
    except ValueError as error:  # a NUL, or half a character
        raise UsageError("--memory-dir is not the name of a folder") from error
    return folder


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file that is either the old or the new one whatever happens: aside, flushed, renamed; mode 0600.

    Raises:
        StoreError: the disk refuses; the old file is as it was.
    """
    aside: str | None = None
    try:
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(path)
        flush_folder(path.parent)
    except OSError as error:
        if aside is not None:
            Path(aside).unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def flush_file(path: Path) -> None:
    """Make the content of a file durable."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Make a rename in `folder` durable; only POSIX lets a folder be opened for that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def save_tensors(path: Path, kind: str, version: int, content: dict[str, Any], vault: Vault | None = None) -> None:
    """Write `content` with `torch.save`, its format name and version first; encrypted where there is a vault."""
    import torch

    buffer = io.BytesIO()
    torch.save({"format": kind, "version": version, **content}, buffer)
    raw = buffer.getvalue()
    write_atomic(path, raw if vault is None else vault.seal(path.name, raw))


def load_tensors(path: Path, kind: str, version: int, vault: Vault | None = None) -> dict[str, Any]:
    """Read what `save_tensors` wrote, with `weights_only=True`: a crafted pickle is refused and never run.

    Where there is a vault, what it did not seal is refused before anything reads it.

    Raises:
        FileNotFoundError: there is no such file.
        DamagedError: it is damaged or foreign.
        NewerError: its version is above `version`.
        StoreError: it cannot be read.
    """
    import torch

    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise DamagedError(f"{path.name} is no file")
        raw = path.read_bytes()  # first: what torch raises for a broken archive can look like a disk's refusal
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch thinks of a foreign pickle is no notice for the user
            whole = io.BytesIO(raw if vault is None else vault.unseal(path.name, raw))
            content = torch.load(whole, map_location="cpu", weights_only=True)
    except DamagedError:
        raise
    except Exception as error:  # a broken stream leads its reader anywhere: IndexError, struct.error, OSError …
        raise DamagedError(f"{path.name} is damaged or is not a memory of this program") from error
    if not isinstance(content, dict) or content.get("format") != kind:
        raise DamagedError(f"{path.name} is not a file of the format {kind}")
    found = content.get("version")
    if not isinstance(found, int):
        raise DamagedError(f"{path.name} has no version")
    if found > version:
        raise NewerError(f"{path} has version {found} and this program reads up to {version}: update the program")
    return content


def load_weights(path: Path, wanted: dict[str, str]) -> dict[str, Any]:
    """Return the tensors of a .safetensors file by name; none where there is no file, or it was made for other things.

    Args:
        path: the file.
        wanted: what its metadata must say.

    Raises:
        DamagedError: it cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        return {}
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if any(about.get(name) != value for name, value in wanted.items()):
                return {}
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError) as error:
        raise DamagedError(f"{path} is damaged: {error}") from error


def delete_indexes(folder: Path) -> None:
    """Delete what can be made again from the journal, and every set-aside copy of a damaged file.

    Raises:
        StoreError: the disk refuses.
    """
    try:
        for path in folder.iterdir():
            if path.name.removeprefix(".").startswith(INDEX_NAMES) or ".damaged-" in path.name:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot delete from {folder}: {error.strerror}") from error


def set_aside(path: Path, stamp: str) -> Path:
    """Rename a damaged file so that nothing reads it any more, and return its new name."""
    target = path.with_name(f"{path.name}.damaged-{stamp}")
    count = 0
    while target.exists():
        count += 1
        target = path.with_name(f"{path.name}.damaged-{stamp}-{count}")
    try:
        path.replace(target)
    except OSError as error:
        raise StoreError(f"cannot set {path} aside: {error.strerror}") from error
    return target

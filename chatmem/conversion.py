"""What --encrypt, --decrypt and --change-passphrase do with one user's memory. Knows nothing of terminals."""

from __future__ import annotations

from typing import NoReturn

from chatmem import encrypting
from chatmem.interface import StoreError
from chatmem.opening import open_user
from chatmem.passphrase import Passphrases
from chatmem.settings import Settings
from chatmem.vault import Vault


def convert(settings: Settings, passphrases: Passphrases | None = None) -> str:
    """Carry out what the settings ask for, and return what is to be said.

    The memory is opened first as for a chat, so that it is sound, and every session finished.

    Raises:
        LockedError: it does not open, another program uses it, or a passphrase is not to be had.
        StoreError: it is not as the flag expects it to be, or the disk refuses; it is as it was.
    """
    source = passphrases or Passphrases(settings)
    opened = open_user(settings.memory_dir, settings.user, _refuse if settings.encryption == "on" else source.current)
    folder, vault = opened.folder, opened.journal.vault
    opened.journal.close()
    if folder is None:
        raise StoreError("this memory cannot be written: nothing was changed")
    if settings.encryption == "on":
        vault, passphrase = Vault.new(), source.new()
        dropped = encrypting.turn_on(folder, vault, passphrase)
        source.keep(vault.id, passphrase)
        return "This memory is encrypted now. Without the passphrase nobody can read it, you included." + _told(dropped)
    if vault is None:
        raise StoreError("this memory is not encrypted: --encrypt encrypts it")
    if settings.encryption == "off":
        return "This memory is not encrypted any more." + _told(encrypting.turn_off(folder, vault))
    passphrase = source.new()
    encrypting.change_passphrase(folder, vault, passphrase)
    source.keep(vault.id, passphrase)
    return "The passphrase is changed. Copies of this memory that were made before open with the old one."


def _refuse(_: str) -> NoReturn:
    raise StoreError("this memory is encrypted already: --change-passphrase changes the passphrase")


def _told(dropped: int) -> str:
    """Return a sentence about set-aside damaged files that were deleted."""
    return f" Set-aside damaged files that were deleted: {dropped}." if dropped else ""

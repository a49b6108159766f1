"""Where a passphrase comes from: the prompt, a file descriptor, or the system's keyring. Never the command line.

Asks at the terminal itself, so that input may come from a pipe; where there is no terminal it says what to do.
"""

from __future__ import annotations

import getpass
import os
import warnings
from collections.abc import Callable
from typing import Any

from chatmem.interface import LockedError, UsageError
from chatmem.settings import Settings

_SERVICE = "chatmem"
_MOST_BYTES = 4096


class Passphrases:
    """The passphrases of one run, from where the settings say."""

    def __init__(self, settings: Settings, ask: Callable[[str], str] | None = None) -> None:
        """Read from where the settings say; `ask` shows a prompt and returns what is typed unseen."""
        self._fd = settings.passphrase_fd
        self._use_keyring = settings.passphrase_keyring
        self._ask = ask or _at_terminal

    def current(self, name: str) -> str:
        """Return the passphrase of a memory, by the id in its header.

        Raises:
            LockedError: there is none to be had.
        """
        if self._use_keyring:
            found = _keyring("get_password", _SERVICE, name)
            if found is None:
                raise LockedError("the keyring holds no passphrase for this memory: leave --passphrase-keyring out")
            return str(found)
        return _read_line(self._fd) if self._fd is not None else self._ask("Passphrase: ")

    def new(self) -> str:
        """Return a new passphrase; one that is typed is typed twice.

        Raises:
            LockedError: the two differ, it is empty, or there is none to be had.
        """
        if self._fd is not None:
            return _filled(_read_line(self._fd))
        typed = _filled(self._ask("New passphrase: "))
        if self._ask("The same again: ") != typed:
            raise LockedError("the two passphrases differ: nothing was changed")
        return typed

    def keep(self, name: str, passphrase: str) -> None:
        """Put a new passphrase into the keyring where that is used."""
        if self._use_keyring:
            _keyring("set_password", _SERVICE, name, passphrase)


def _filled(passphrase: str) -> str:
    if not passphrase:
        raise LockedError("a passphrase must not be empty: nothing was changed")
    return passphrase


def _read_line(fd: int) -> str:
    """Return the next line of a file descriptor, and not a byte more: what follows may be the chat."""
    raw = b""
    try:
        while not raw.endswith(b"\n") and len(raw) < _MOST_BYTES and (byte := os.read(fd, 1)):
            raw += byte
    except OSError as error:
        raise UsageError(f"--passphrase-fd {fd} cannot be read: {error.strerror}") from error
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise LockedError("the passphrase is not valid UTF-8") from error


def _at_terminal(prompt: str) -> str:
    """Ask without showing what is typed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)  # it would be shown, or taken from the chat's lines
            return getpass.getpass(prompt)
    except (getpass.GetPassWarning, EOFError, OSError) as error:
        raise LockedError(
            "a passphrase is needed and there is no terminal to ask at: use --passphrase-fd or --passphrase-keyring"
        ) from error


def _keyring(action: str, *given: str) -> Any:
    """Do something with the system's keyring."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise LockedError("--passphrase-keyring needs keyring: pip install -r requirements.txt") from error
    try:
        return getattr(keyring, action)(*given)
    except (KeyringError, OSError, RuntimeError) as error:  # NoKeyringError is both
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise LockedError(f"the system's keyring cannot be used: {first}") from error

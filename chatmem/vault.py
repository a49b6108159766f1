"""The keys of an encrypted memory, and the small file from which a passphrase unlocks them.

A random data key encrypts everything: the journal through SQLCipher, every other file with content through AES-256-GCM
(NIST SP 800-38D). It lies in the header `encryption.json`, encrypted with a key that Argon2id (RFC 9106) makes of the
passphrase; so another passphrase rewrites the header alone. The header holds its content twice, each with a checksum:
one damaged byte there must not lose a memory.

The libraries are imported when they are needed: a memory that is not encrypted does without them.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from chatmem.interface import DamagedError, LockedError, NewerError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

HEADER = "encryption.json"
FORMAT = "chatmem-encryption"
VERSION = 1
SEALED = b"chatmem-sealed 1\n"  # how a sealed file begins: format and version
_KEY_BYTES = 32
_NONCE_BYTES = 12


class Costs(NamedTuple):
    """What Argon2id costs whoever tries a passphrase; by default RFC 9106's second recommendation."""

    iterations: int = 3
    lanes: int = 4
    memory_kib: int = 64 * 1024


COSTS = Costs()
_MOST = Costs(iterations=64, lanes=64, memory_kib=2 * 1024 * 1024)  # more than that is no header of ours


@dataclass(frozen=True, slots=True)
class Header:
    """What a passphrase needs to unlock a memory; bytes as hexadecimal digits."""

    id: str  # under which a keyring knows the passphrase
    iterations: int
    lanes: int
    memory_kib: int
    salt: str
    nonce: str
    key: str  # the data key, encrypted

    @classmethod
    def read(cls, raw: bytes) -> Header:
        """Return what a header says, from whichever of its two halves is whole.

        Raises:
            DamagedError: neither is.
            NewerError: a newer version of the program wrote it.
        """
        middle = len(raw) // 2
        for line in (raw[:middle], raw[middle:]):
            digest, _, text = line.removesuffix(b"\n").partition(b" ")
            if sha256(text).hexdigest().encode() == digest:
                return cls._parse(text)
        raise DamagedError(f"{HEADER} is damaged: put a copy of it back, nothing else unlocks this memory")

    @classmethod
    def _parse(cls, text: bytes) -> Header:
        try:
            content = dict(json.loads(text))
            if content.pop("format") != FORMAT:
                raise ValueError("another format")
            if content.pop("version") > VERSION:
                raise NewerError(f"{HEADER} was written by a newer version of the program: update the program")
            header = cls(**content)
            sound = all(1 <= mine <= most for mine, most in zip(header.costs, _MOST, strict=True))
            for part in (header.salt, header.nonce, header.key):
                bytes.fromhex(part)
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedError(f"{HEADER} is none of this program") from error
        if not sound:
            raise DamagedError(f"{HEADER} asks for more work than this program ever does")
        return header

    @property
    def costs(self) -> Costs:
        """What a passphrase costs."""
        return Costs(self.iterations, self.lanes, self.memory_kib)

    def write(self) -> bytes:
        """Return the bytes that `read` reads."""
        text = json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}).encode()
        return (sha256(text).hexdigest().encode() + b" " + text + b"\n") * 2

    def bound(self) -> bytes:
        """Return what the encrypted key is bound to: it opens with no other salt or costs."""
        return json.dumps([FORMAT, VERSION, self.id, *self.costs, self.salt]).encode()


class Vault:
    """The keys of one unlocked memory."""

    def __init__(self, data_key: bytes, name: str) -> None:
        """Use a data key; `name` is the id in the header."""
        self.id = name
        self._data_key = data_key
        self._files = self._subkey(b"files")

    @classmethod
    def new(cls) -> Vault:
        """Return the keys of a memory that is about to be encrypted."""
        require_libraries()
        return cls(secrets.token_bytes(_KEY_BYTES), secrets.token_hex(8))

    @classmethod
    def unlock(cls, header: Header, passphrase: str) -> Vault:
        """Return the keys that a passphrase unlocks.

        Raises:
            LockedError: it is the wrong one, or a library is missing.
        """
        require_libraries()
        from cryptography.exceptions import InvalidTag

        key = _derived(passphrase, bytes.fromhex(header.salt), header.costs)
        try:
            data_key = _aead(key).decrypt(bytes.fromhex(header.nonce), bytes.fromhex(header.key), header.bound())
        except (InvalidTag, ValueError):
            raise LockedError("wrong passphrase: nothing was changed") from None
        return cls(data_key, header.id)

    def header(self, passphrase: str) -> Header:
        """Return the header from which a passphrase unlocks these keys."""
        salt, nonce = secrets.token_bytes(16), secrets.token_bytes(_NONCE_BYTES)
        empty = Header(self.id, *COSTS, salt=salt.hex(), nonce=nonce.hex(), key="")
        wrapped = _aead(_derived(passphrase, salt, COSTS)).encrypt(nonce, self._data_key, empty.bound())
        return Header(self.id, *COSTS, salt=salt.hex(), nonce=nonce.hex(), key=wrapped.hex())

    @property
    def journal_key(self) -> str:
        """The raw key of the journal, as SQLCipher reads it."""
        return f"x'{self._subkey(b'journal').hex()}'"

    def seal(self, name: str, content: bytes) -> bytes:
        """Return the encrypted bytes of a file; they open under the same name only."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return SEALED + nonce + _aead(self._files).encrypt(nonce, content, SEALED + name.encode())

    def unseal(self, name: str, sealed: bytes) -> bytes:
        """Return the content of what `seal` returned.

        Raises:
            DamagedError: a byte of it was changed, it was cut short, or it is another file or not encrypted.
        """
        from cryptography.exceptions import InvalidTag

        body = sealed[len(SEALED) :]
        try:
            if not sealed.startswith(SEALED):
                raise ValueError("no sealed file")
            return _aead(self._files).decrypt(body[:_NONCE_BYTES], body[_NONCE_BYTES:], SEALED + name.encode())
        except (InvalidTag, ValueError) as error:
            raise DamagedError(f"{name} is damaged or was changed by something else than this program") from error

    def _subkey(self, purpose: bytes) -> bytes:
        """Return a key for one purpose (HKDF, RFC 5869)."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        return HKDF(SHA256(), _KEY_BYTES, salt=None, info=FORMAT.encode() + b" " + purpose).derive(self._data_key)


def key_of(vault: Vault | None) -> str | None:
    """Return the raw key of a journal; None for a plain one."""
    return None if vault is None else vault.journal_key


def require_libraries() -> None:
    """Raise `LockedError` where a library that encryption needs is not installed."""
    try:
        import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401 - only whether it is there
        import sqlcipher3  # noqa: F401
    except ImportError as error:
        packages = "cryptography and sqlcipher3-wheels"
        raise LockedError(f"encryption needs {packages}: pip install -r requirements.txt") from error


def _derived(passphrase: str, salt: bytes, costs: Costs) -> bytes:
    """Return the key that a passphrase makes, the same however its accents were typed."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    text = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    with _enough_memory():
        kdf = Argon2id(
            salt=salt,
            length=_KEY_BYTES,
            iterations=costs.iterations,
            lanes=costs.lanes,
            memory_cost=max(costs.memory_kib, 8 * costs.lanes),
        )
        return kdf.derive(text)


@contextmanager
def _enough_memory() -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise LockedError("there is not enough free memory to try the passphrase") from None


def _aead(key: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)

"""The keys of an encrypted memory: the header, changed bytes, and where a passphrase comes from.

pytest tests/test_vault.py        needs no weights and no network
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import keyring
import pytest
import torch
from conftest import NOON, bytes_under
from keyring.backend import KeyringBackend
from test_encryption import FACTS, PASSPHRASE, asked, marks_in, open_arm, opened
from test_encryption import _cheap as _cheap
from test_encryption import folder as folder
from test_encryption import told as told

from chatmem import encrypting, storage, vault
from chatmem.conversion import convert
from chatmem.interface import DamagedError, LockedError, NewerError, StoreError, Turn, UsageError
from chatmem.opening import open_user
from chatmem.passphrase import Passphrases
from chatmem.settings import Settings
from chatmem.vault import HEADER, Header, Vault


def test_header_holds_nothing_but_what_unlocks(folder):
    content = json.loads((folder / HEADER).read_bytes().splitlines()[0].partition(b" ")[2])
    assert sorted(content) == ["format", "id", "iterations", "key", "lanes", "memory_kib", "nonce", "salt", "version"]
    assert (folder / HEADER).stat().st_mode & 0o777 == 0o600


def test_costs_are_those_of_the_standard():
    assert tuple(vault.Costs()) == (3, 4, 65536)  # RFC 9106, section 4, second recommendation


def test_every_passphrase_has_its_own_salt_and_every_file_its_own_nonce():
    keys = Vault.new()
    assert len({(header.salt, header.nonce) for header in [keys.header("a"), keys.header("a")]}) == 2
    assert keys.seal("file", b"text") != keys.seal("file", b"text")


@pytest.mark.parametrize("library", ["sqlcipher3", "cryptography.hazmat.primitives.ciphers.aead"])
def test_missing_library_is_named_with_what_installs_it(folder, tmp_path, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(LockedError, match="pip install"):
        opened(tmp_path)
    with pytest.raises(LockedError, match="pip install"):
        Vault.new()


# Changed bytes


def test_changed_pool_is_refused_and_made_again(folder, tmp_path, caplog):
    path = folder / "memory.pkl"
    whole = path.read_bytes()
    keys = opened(tmp_path).journal.vault
    assert keys is not None
    places = range(0, len(whole), len(whole) // 12)
    changed = [bytes([*whole[:place], whole[place] ^ 1, *whole[place + 1 :]]) for place in places]
    for bad in [*changed, b"", whole[:20], whole[:-1], whole + b"x", keys.seal("another name", b"x")]:
        path.write_bytes(bad)
        with pytest.raises(DamagedError, match=r"memory\.pkl"):
            storage.load_tensors(path, "chatmem-memory", 1, keys)
    torch.save({"format": "chatmem-memory", "version": 1}, path)  # put there by somebody without the key
    with pytest.raises(DamagedError, match=r"memory\.pkl"):
        storage.load_tensors(path, "chatmem-memory", 1, keys)
    open_arm(tmp_path)
    assert "made again" in caplog.text
    assert storage.load_tensors(path, "chatmem-memory", 1, keys)["num_filled"] == 3


@pytest.mark.parametrize("place", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999])
def test_changed_journal_is_set_aside_and_the_rest_goes_on(folder, tmp_path, caplog, capfd, place):
    path = folder / "journal.db"
    raw = bytearray(path.read_bytes())
    raw[int(place * len(raw))] ^= 1
    path.write_bytes(bytes(raw))
    assert {line.text for line in open_arm(tmp_path).journal.facts()} == set(FACTS)
    assert "damaged" in caplog.text
    assert capfd.readouterr().err == ""  # nothing of SQLCipher's own
    assert marks_in(bytes_under(tmp_path)) == []


def test_journal_that_is_damaged_under_a_running_program_is_a_clear_error(folder, tmp_path):
    journal = opened(tmp_path).journal
    path = folder / "journal.db"
    raw = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(len(raw) - 4096))
    journal.close()  # what it had in RAM already is sound
    for _ in range(3):
        with pytest.raises(StoreError):
            journal.append(journal.begin(NOON, "late"), Turn("user", "I keep goats.", NOON))


def test_lost_journal_comes_back_from_the_sealed_pool(folder, tmp_path):
    (folder / "journal.db").unlink()
    assert {line.text for line in opened(tmp_path).journal.facts()} == set(FACTS)


def test_no_single_changed_byte_of_the_header_loses_the_memory(folder, tmp_path):
    path = folder / HEADER
    whole = path.read_bytes()
    header = Header.read(whole)
    for place in range(0, len(whole), 5):
        path.write_bytes(bytes([*whole[:place], whole[place] ^ 4, *whole[place + 1 :]]))
        assert encrypting.find_header(folder) == header
    assert len(opened(tmp_path).journal.facts()) == 3


def _signed(change: Callable[[dict], None]) -> Callable[[bytes], bytes]:
    """Return what changes a header and makes its checksums fit again."""

    def changed(raw: bytes) -> bytes:
        content = json.loads(raw.splitlines()[0].partition(b" ")[2])
        change(content)
        text = json.dumps(content).encode()
        return (vault.sha256(text).hexdigest().encode() + b" " + text + b"\n") * 2

    return changed


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda _: b"", DamagedError),
        (lambda _: b"\xff" * 99, DamagedError),
        (lambda raw: raw[:50], DamagedError),
        (_signed(lambda header: header.update(memory_kib=1 << 40)), DamagedError),
        (_signed(lambda header: header.update(iterations="3")), DamagedError),
        (_signed(lambda header: header.update(salt="zz")), DamagedError),
        (_signed(lambda header: header.pop("key")), DamagedError),
        (_signed(lambda header: header.update(format="other")), DamagedError),
        (_signed(lambda header: header.update(version=2)), NewerError),
        (_signed(lambda header: header.update(lanes=2)), LockedError),
        (_signed(lambda header: header.update(key="00")), LockedError),
    ],
)
def test_changed_header_is_one_clear_error_and_nothing_is_touched(folder, tmp_path, change, error):
    path = folder / HEADER
    path.write_bytes(change(path.read_bytes()))
    before = bytes_under(tmp_path)
    with pytest.raises(error):
        opened(tmp_path)
    assert bytes_under(tmp_path) == before


def test_lost_header_is_told_and_nothing_is_set_aside(folder, tmp_path):
    (folder / HEADER).unlink()
    before = bytes_under(tmp_path)
    with pytest.raises(LockedError, match="missing"):
        opened(tmp_path)
    assert bytes_under(tmp_path) == before


def test_plain_journal_put_in_the_place_of_an_encrypted_one_is_refused(folder, tmp_path):
    """Or what is said next would be written in plain text without a word."""
    (folder / "journal.db").unlink()
    with sqlite3.connect(folder / "journal.db") as other:
        other.execute("CREATE TABLE recipes (name)")
    with pytest.raises(LockedError, match="not encrypted"):
        opened(tmp_path)


# Where a passphrase comes from


def test_descriptor_gives_a_line_for_each_passphrase_and_no_byte_is_lost(tmp_path):
    end, other = os.pipe()
    os.write(other, "old\r\nнов ый\nHello, the chat begins.\n".encode())
    source = Passphrases(Settings(passphrase_fd=end))
    assert (source.current("id"), source.new()) == ("old", "нов ый")
    assert os.read(end, 99) == b"Hello, the chat begins.\n"
    os.close(other)
    with pytest.raises(LockedError, match="empty"):
        source.new()
    os.close(end)
    with pytest.raises(UsageError, match="--passphrase-fd"):
        source.new()


class FakeKeyring(KeyringBackend):
    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


def test_keyring_keeps_the_passphrase_and_gives_it_back(tmp_path, monkeypatch):
    backend = FakeKeyring()
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend)
    convert(*asked(tmp_path, "on", PASSPHRASE, passphrase_keyring=True))
    settings, source = asked(tmp_path, "passphrase", "another", passphrase_keyring=True)
    convert(settings, source)
    assert list(backend.kept.values()) == ["another"]
    assert open_user(tmp_path, "ana", source.current).journal.vault is not None
    backend.kept.clear()
    with pytest.raises(LockedError, match="holds no passphrase"):
        open_user(tmp_path, "ana", source.current)


def test_machine_without_a_keyring_is_one_line(monkeypatch):
    from keyring.backends import fail

    monkeypatch.setattr(keyring.core, "_keyring_backend", fail.Keyring())
    with pytest.raises(LockedError, match="keyring cannot be used"):
        Passphrases(Settings(passphrase_keyring=True)).current("id")


def test_every_test_that_the_document_names_is_there():
    root = Path(__file__).parent
    text = (root.parent / "docs" / "security.md").read_text("utf-8")
    code = "".join(path.read_text("utf-8") for path in root.glob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", text))
    assert len(named) > 20
    assert [name for name in named if f"def {name}(" not in code] == []

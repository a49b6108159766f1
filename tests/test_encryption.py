"""Encryption at rest: no plain text in any byte, and what opens, changes and refuses an encrypted memory.

pytest tests/test_encryption.py                needs no weights and no network
pytest tests/test_encryption.py -m slow        the program with the bundled model, killed and in a terminal
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import keyring
import pytest
import torch
from conftest import NOON, FakeEncoder, bytes_under, make_session, tell
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from keyring.backend import KeyringBackend
from test_program import run

from chatmem import encrypting, storage, vault
from chatmem.commands import export
from chatmem.conversion import convert
from chatmem.indexed import IndexedMemory
from chatmem.interface import DamagedError, LockedError, NewerError, StoreError, Turn, UsageError
from chatmem.journal import Journal
from chatmem.opening import Opened, open_user, session_lock
from chatmem.passphrase import Passphrases
from chatmem.settings import Settings, parse_args
from chatmem.vault import HEADER, Header, Vault
from memory_module import GruMemory
from rag_baseline import RagMemory

ROOT = Path(__file__).parent.parent
PASSPHRASE = "correct horse — лошадь"
FACTS = ["My boat is called Zanzibar.", "I bank with Fenwick & Lowe.", "Мой кот Барсиковид боится грома."]
CHEAP = vault.Costs(1, 1, 8)
MARKS = ["zanzibar", "fenwick", "барсиковид", "грома"]


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a passphrase cost next to nothing."""
    monkeypatch.setattr(vault, "COSTS", CHEAP)


def opened(memory_dir: Path, passphrase: str = PASSPHRASE) -> Opened:
    return open_user(memory_dir, "ana", lambda _: passphrase)


def open_arm(memory_dir: Path, arm: str = "gru", passphrase: str = PASSPHRASE) -> IndexedMemory:
    found = opened(memory_dir, passphrase)
    if arm == "rag":
        return RagMemory(found.journal, FakeEncoder(), found.folder)
    return GruMemory(found.journal, FakeEncoder(), found.folder, hidden_dim=64)


def encrypt(memory_dir: Path, passphrase: str = PASSPHRASE) -> Path:
    """Encrypt ana's memory and return its folder."""
    found = opened(memory_dir)
    found.journal.close()
    assert found.folder is not None
    encrypting.turn_on(found.folder, Vault.new(), passphrase)
    return found.folder


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory_dir with an encrypted memory that knows the facts, to be copied."""
    memory_dir = tmp_path_factory.mktemp("told")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vault, "COSTS", CHEAP)
        encrypt(memory_dir)
        memory = open_arm(memory_dir)  # also writes a sealed memory.pkl
        tell(memory, *FACTS)
        memory.journal.close()
    return memory_dir


@pytest.fixture
def folder(told: Path, tmp_path: Path) -> Path:
    """Return the folder of an encrypted memory that knows the facts."""
    shutil.copytree(told, tmp_path, dirs_exist_ok=True)
    return storage.user_folder(tmp_path, "ana")


def marks_in(raw: bytes) -> list[str]:
    """Return the marks that bytes hold in any encoding or case."""
    forms = (str.lower, str.upper, str.capitalize)
    codes = ("utf-8", "utf-16-le", "utf-16-be", "cp1251")
    return [
        mark
        for mark in MARKS
        if any(form(mark).encode(code, "ignore") in raw for form in forms for code in codes if form(mark))
    ]


def rows(journal: Journal) -> dict[str, list]:
    """Return every row of every table."""
    with journal._transaction() as db:
        names = [row[0] for row in db.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(map(repr, db.exec_driver_sql(f"SELECT * FROM {name}"))) for name in names}


# No plain text


@pytest.mark.parametrize("arm", ["gru", "rag"])
def test_no_plain_text_in_any_byte(arm, tmp_path):
    before = open_arm(tmp_path, arm)
    tell(before, *FACTS)
    assert marks_in(bytes_under(tmp_path)) == MARKS
    if arm == "rag":
        before._close()
    before.journal.close()
    folder = encrypt(tmp_path)
    for path in ("journal.db-wal", "journal.db-shm", "journal.db-journal", "chroma"):
        assert not (folder / path).exists()
    assert marks_in(bytes_under(tmp_path)) == []
    memory = open_arm(tmp_path, arm)
    number = memory.journal.begin(NOON, "open")
    memory.journal.append(number, Turn("user", "My other boat is called Zanzibar, too.", NOON))
    assert memory.recall("What is my boat called?")[0].text.startswith("My")
    assert marks_in(bytes_under(tmp_path)) == []  # in the middle of a session
    memory.remember(make_session(*FACTS, day=9))
    memory.journal.finish(number, NOON)
    memory.sync()
    assert marks_in(bytes_under(tmp_path)) == []
    assert not any(mark in str(path).casefold() for path in folder.rglob("*") for mark in MARKS)


def test_no_plain_text_while_a_transaction_is_written(folder, tmp_path):
    journal = opened(tmp_path).journal
    with journal._transaction() as db:
        db.exec_driver_sql("UPDATE turns SET text = text || ' Zanzibar Fenwick'")
        db.exec_driver_sql("PRAGMA cache_spill = ON")
        assert (folder / "journal.db-journal").exists()
        assert marks_in(bytes_under(tmp_path)) == []


def test_every_leftover_in_plain_text_is_deleted(tmp_path):
    tell(open_arm(tmp_path), *FACTS)
    folder = storage.user_folder(tmp_path, "ana")
    for name in ("journal.db.damaged-1", ".memory.pkl.x1", "journal.db.new", "chroma"):
        (folder / name).write_text(" ".join(FACTS))
    said = convert(*asked(tmp_path, "on", PASSPHRASE))
    assert "deleted: 1" in said
    assert marks_in(bytes_under(tmp_path)) == []


def test_old_bytes_are_overwritten_not_only_unlinked(tmp_path):
    memory = open_arm(tmp_path)
    tell(memory, *FACTS)
    memory.journal.close()
    with (storage.user_folder(tmp_path, "ana") / "journal.db").open("rb") as old:
        encrypt(tmp_path)
        assert old.read().strip(b"\0") == b""


# Opening


def test_facts_come_back_and_nothing_is_asked_of_a_plain_memory(folder, tmp_path):
    assert [line.text for line in opened(tmp_path).journal.facts()] == FACTS
    assert open_user(tmp_path, "bea").journal.facts() == []


@pytest.mark.parametrize("passphrase", ["", "correct horse", PASSPHRASE + " ", PASSPHRASE.upper()])
def test_wrong_passphrase_harms_nothing(folder, tmp_path, passphrase):
    before = bytes_under(tmp_path)
    with pytest.raises(LockedError, match="wrong passphrase"):
        opened(tmp_path, passphrase)
    assert bytes_under(tmp_path) == before
    assert len(opened(tmp_path).journal.facts()) == 3


def test_accents_may_be_typed_either_way(tmp_path):
    encrypt(tmp_path, "caf\u00e9")
    assert opened(tmp_path, "cafe\u0301").journal.vault is not None


def test_changing_the_passphrase_writes_the_header_alone(folder, tmp_path):
    others = {path: path.read_bytes() for path in folder.iterdir() if path.name != HEADER}
    (folder / f".{HEADER}.x1").write_text("of a killed program")
    keys = opened(tmp_path).journal.vault
    assert keys is not None
    encrypting.change_passphrase(folder, keys, "another")
    assert {path: path.read_bytes() for path in folder.iterdir() if path.name != HEADER} == others
    assert [line.text for line in opened(tmp_path, "another").journal.facts()] == FACTS
    with pytest.raises(LockedError):
        opened(tmp_path)


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


def test_unwritable_memory_is_read_and_told(folder, tmp_path, monkeypatch, caplog):
    def refuse(*_: object) -> Journal:
        raise StoreError("Read-only file system")

    monkeypatch.setattr(Journal, "at", refuse)
    before = bytes_under(tmp_path)
    found = opened(tmp_path)
    assert found.folder is None
    assert [line.text for line in found.journal.facts()] == FACTS
    assert "will not be remembered" in caplog.text
    assert bytes_under(tmp_path) == before


@pytest.mark.slow
def test_plain_memory_needs_none_of_the_libraries(tmp_path):
    code = (
        "import sys, chat_memory; from pathlib import Path; from chatmem.opening import open_user; "
        "open_user(Path(sys.argv[1]), 'ana'); "
        "print([name for name in ('cryptography', 'sqlcipher3', 'keyring') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("library", ["sqlcipher3", "cryptography.hazmat.primitives.ciphers.aead"])
def test_missing_library_is_named_with_what_installs_it(folder, tmp_path, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(LockedError, match="pip install"):
        opened(tmp_path)
    with pytest.raises(LockedError, match="pip install"):
        Vault.new()


# On and off


def asked(memory_dir: Path, encryption: str, *lines: str, **options: object) -> tuple[Settings, Passphrases]:
    """Return what a run with these flags would be given, its passphrases typed."""
    settings = Settings(user="ana", memory_dir=memory_dir, encryption=encryption, **options)  # type: ignore[arg-type]
    typed = iter([*lines, *lines[-1:]])
    return settings, Passphrases(settings, lambda _: next(typed))


def test_on_off_on_changes_nothing(tmp_path):
    memory = open_arm(tmp_path)
    tell(memory, *FACTS, "I keep bees.", "My boat is now called Quagga.")
    memory.forget("bees")
    before = rows(memory.journal)
    memory.journal.close()
    for way in ("on", "off", "on", "off"):
        convert(*asked(tmp_path, way, PASSPHRASE))
        journal = opened(tmp_path).journal
        assert (rows(journal), journal.vault is not None) == (before, way == "on")
        journal.close()
    assert {path.name for path in storage.user_folder(tmp_path, "ana").iterdir()} == {"journal.db", "index.lock"}
    assert open_arm(tmp_path).recall("What is my boat called?")[0].text == "My boat is now called Quagga."


def test_new_memory_is_encrypted_from_its_first_line(tmp_path):
    assert "encrypted now" in convert(*asked(tmp_path, "on", PASSPHRASE))
    tell(open_arm(tmp_path), *FACTS)
    assert marks_in(bytes_under(tmp_path)) == []


@pytest.mark.parametrize(
    ("encrypted", "encryption", "lines", "said"),
    [
        (True, "on", ["x"], "encrypted already"),
        (False, "off", ["x"], "not encrypted"),
        (False, "passphrase", ["x"], "not encrypted"),
        (False, "on", [""], "must not be empty"),
        (True, "off", ["wrong"], "wrong passphrase"),
        (True, "passphrase", ["wrong", "new"], "wrong passphrase"),
        (True, "passphrase", [PASSPHRASE, ""], "must not be empty"),
    ],
)
def test_what_cannot_be_done_changes_nothing(tmp_path, encrypted, encryption, lines, said):
    tell(open_arm(tmp_path), *FACTS)
    if encrypted:
        encrypt(tmp_path)
    before = bytes_under(tmp_path)
    with pytest.raises(StoreError, match=said):
        convert(*asked(tmp_path, encryption, *lines))
    assert bytes_under(tmp_path) == before


def test_two_different_new_passphrases_change_nothing(tmp_path):
    typed = iter(["one", "two"])
    settings = Settings(user="ana", memory_dir=tmp_path, encryption="on")
    with pytest.raises(LockedError, match="differ"):
        convert(settings, Passphrases(settings, lambda _: next(typed)))
    assert open_user(tmp_path, "ana").journal.vault is None


def test_memory_in_use_is_not_converted(tmp_path):
    found = opened(tmp_path)
    assert found.folder is not None
    with session_lock(found.folder, "a1b2"), pytest.raises(LockedError, match="in use"):
        convert(*asked(tmp_path, "on", PASSPHRASE))
    assert open_user(tmp_path, "ana").journal.vault is None


@pytest.mark.parametrize("encrypted", [False, True])
def test_idle_program_is_told_and_loses_no_line_in_silence(tmp_path, encrypted):
    if encrypted:
        encrypt(tmp_path)
    idle = opened(tmp_path).journal
    convert(*asked(tmp_path, "off" if encrypted else "on", PASSPHRASE))
    with pytest.raises(StoreError, match="replaced by another program"):
        idle.begin(NOON, "late")
    assert opened(tmp_path).journal.open_sessions() == []


def test_full_disk_leaves_the_memory_as_it_was(tmp_path, monkeypatch):
    tell(open_arm(tmp_path), *FACTS)
    monkeypatch.setattr(storage, "flush_file", _no_room)
    with pytest.raises(StoreError, match="No space left"):
        convert(*asked(tmp_path, "on", PASSPHRASE))
    monkeypatch.undo()
    folder = storage.user_folder(tmp_path, "ana")
    assert not any("encryption" in path.name or "new" in path.name for path in folder.iterdir())
    assert [line.text for line in open_user(tmp_path, "ana").journal.facts()] == FACTS


def _no_room(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_export_says_that_it_is_plain(folder, tmp_path):
    assert "not encrypted" in export(opened(tmp_path).journal, str(tmp_path / "out.json"))
    assert "encrypted" not in export(open_user(tmp_path, "bea").journal, str(tmp_path / "out2.json"))


# Two programs, and deletion

WRITER = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/tests"]
from conftest import NOON
from chatmem.interface import Turn
from chatmem.opening import open_user
journal = open_user(Path(sys.argv[2]), "ana", lambda _: sys.argv[4]).journal
number = journal.begin(NOON, sys.argv[3])
for count in range(15):
    journal.append(number, Turn("user", f"My {sys.argv[3]} number {count} is heron{count}.", NOON))
journal.finish(number, NOON)
"""


@pytest.mark.slow
def test_two_programs_on_one_encrypted_memory_lose_no_line(folder, tmp_path):
    given = [sys.executable, "-c", WRITER, str(ROOT), str(tmp_path)]
    programs = [subprocess.Popen([*given, name, PASSPHRASE]) for name in ("amber", "beryl")]
    assert [program.wait() for program in programs] == [0, 0]
    assert len(opened(tmp_path).journal.facts()) == 3 + 2 * 15
    assert b"heron" not in bytes_under(tmp_path)


def decrypted(folder: Path, keys: Vault) -> bytes:
    """Return what all pages of the journal, free ones too, and all sealed files say to whoever has the keys.

    A page of SQLCipher 4 ends with 16 bytes of initialisation vector and 64 of HMAC; the first begins with a salt.
    """
    raw, key = (folder / "journal.db").read_bytes(), bytes.fromhex(keys.journal_key[2:-1])
    plain = b""
    for start in range(0, len(raw), 4096):
        page = raw[start + (16 if start == 0 else 0) : start + 4096]
        decryptor = Cipher(algorithms.AES(key), modes.CBC(page[-80:-64])).decryptor()
        plain += decryptor.update(page[:-80]) + decryptor.finalize()
    pool = folder / "memory.pkl"
    return plain + (keys.unseal(pool.name, pool.read_bytes()) if pool.exists() else b"")


@pytest.mark.parametrize("way", ["forget", "reset"])
def test_forgotten_fact_is_in_no_page_even_for_the_owner_of_the_key(folder, tmp_path, way):
    memory = open_arm(tmp_path)
    keys = memory.journal.vault
    assert keys is not None
    assert set(marks_in(decrypted(folder, keys))) == set(MARKS)
    if way == "reset":
        memory.reset()
    else:
        for word in ("zanzibar", "fenwick", "барсиковид"):
            memory.forget(word)
    assert marks_in(decrypted(folder, keys)) == []
    assert opened(tmp_path).journal.facts() == []  # still encrypted, with the same passphrase


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


# The program


@pytest.mark.slow
def test_wrong_passphrase_and_no_terminal_are_one_line_each(folder, tmp_path):
    given = ["--user", "ana", "--memory-dir", str(tmp_path)]
    before = bytes_under(tmp_path)
    for more, lines, said in (
        (["--passphrase-fd", "0"], "wrong\nHello\n", "wrong passphrase"),
        ([], "Hello\n", "--passphrase-fd"),
        (["--encrypt", "--passphrase-fd", "0"], "new\n", "encrypted already"),
    ):
        done = run(*given, *more, lines=lines, start_new_session=True)  # without a terminal to ask at
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
        assert said in done.stderr
    assert bytes_under(tmp_path) == before


@pytest.mark.parametrize(
    "flags",
    [["--encrypt", "--decrypt"], ["--encrypt", "--temporary"], ["--passphrase-fd", "-1"], ["--passphrase", "x"]],
)
def test_flags_that_cannot_be_are_refused(flags):
    with pytest.raises(UsageError):
        parse_args(flags)


@pytest.mark.slow
@pytest.mark.parametrize("arm", ["gru", "rag"])
def test_program_leaves_no_plain_text_running_finished_or_killed(arm, tmp_path):
    memory, temporary = tmp_path / "m", tmp_path / "tmp"
    temporary.mkdir()
    env = {**os.environ, "TMPDIR": str(temporary)}
    flags = ["--memory-dir", str(memory), "--memory", arm, "--json", "--max-new-tokens", "8", "--passphrase-fd", "0"]
    assert run("--encrypt", *flags, lines=f"{PASSPHRASE}\n", env=env).returncode == 0
    program = [sys.executable, str(ROOT / "chat_memory.py"), *flags]
    told = [*FACTS[:2], "/end", *FACTS[2:], "What is my boat called?"]
    for ended in (False, True) if arm == "gru" else (False,):
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as child:
            assert child.stdin is not None and child.stdout is not None
            child.stdin.write(f"{PASSPHRASE}\n")
            for line in told:
                child.stdin.write(f"{line}\n")
                child.stdin.flush()
                answer = json.loads(child.stdout.readline())
                assert marks_in(bytes_under(tmp_path)) == []
            assert "Zanzibar" in answer["reply"]
            if ended:
                child.stdin.close()
                assert child.wait() == 0
            else:
                child.send_signal(signal.SIGKILL)
        assert marks_in(bytes_under(tmp_path)) == []
    assert run("--decrypt", *flags, lines=f"{PASSPHRASE}\n", env=env).returncode == 0
    assert marks_in(bytes_under(memory)) == MARKS


@pytest.mark.slow
def test_terminal_asks_for_the_passphrase_and_shows_nothing_of_it(folder, tmp_path):
    import pexpect

    given = [str(ROOT / "chat_memory.py"), "--user", "ana", "--memory-dir", str(tmp_path), "--max-new-tokens", "4"]
    child = pexpect.spawn(sys.executable, given, encoding="utf-8", timeout=100)
    child.expect("Passphrase: ")
    child.sendline(PASSPHRASE)
    child.expect("/quit leaves")
    assert PASSPHRASE not in child.before
    child.expect(r">.*\x1b\[\?25h")
    child.sendline("/quit")
    child.expect(pexpect.EOF)

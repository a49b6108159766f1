"""Encryption at rest: no plain text in any byte, and what opens, changes and refuses an encrypted memory.

pytest tests/test_encryption.py                needs no weights and no network
pytest tests/test_encryption.py -m slow        the program with the bundled model, killed and in a terminal
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NOON, FakeEncoder, bytes_under, make_session, tell
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from test_program import run

from chatmem import encrypting, storage, vault
from chatmem.commands import export
from chatmem.conversion import convert
from chatmem.indexed import IndexedMemory
from chatmem.interface import LockedError, StoreError, Turn, UsageError
from chatmem.journal import Journal
from chatmem.opening import Opened, open_user, session_lock
from chatmem.passphrase import Passphrases
from chatmem.settings import Settings, parse_args
from chatmem.vault import HEADER, Vault
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


def record(memory_dir: Path) -> None:
    """Write the facts into ana's journal."""
    journal = opened(memory_dir).journal
    for number, fact in enumerate(FACTS):
        journal.record(make_session(fact, day=number))
    journal.close()


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
    record(tmp_path)
    folder = storage.user_folder(tmp_path, "ana")
    for name in ("journal.db.damaged-1", ".memory.pkl.x1", "journal.db.new", "chroma"):
        (folder / name).write_text(" ".join(FACTS))
    said = convert(*asked(tmp_path, "on", PASSPHRASE))
    assert "deleted: 1" in said
    assert marks_in(bytes_under(tmp_path)) == []


def test_old_bytes_are_overwritten_not_only_unlinked(tmp_path):
    record(tmp_path)
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


# On and off


def asked(memory_dir: Path, encryption: str, *lines: str, **options: object) -> tuple[Settings, Passphrases]:
    """Return what a run with these flags would be given, its passphrases typed."""
    settings = Settings(user="ana", memory_dir=memory_dir, encryption=encryption, **options)  # type: ignore[arg-type]
    typed = iter([*lines, *lines[-1:]])
    return settings, Passphrases(settings, lambda _: next(typed))


def test_on_off_on_changes_nothing(tmp_path):
    memory = open_arm(tmp_path)
    tell(memory, *FACTS, "I keep bees.", "My boat is now called Quagga.")
    memory.forget("bees")  # leaves its hash
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
    record(tmp_path)
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
    with session_lock(found.journal, found.folder, "a1b2"), pytest.raises(LockedError, match="in use"):
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
    record(tmp_path)
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

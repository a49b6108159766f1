"""A conversion that is killed at any moment loses nothing, and the next start ends it on one side or the other.

pytest tests/test_conversion.py -m slow        real processes, no weights, no network
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FakeEncoder, bytes_under, make_session
from test_encryption import CHEAP, FACTS, PASSPHRASE, encrypt, marks_in, opened, rows
from test_encryption import told as told

from chatmem import encrypting, storage, vault
from chatmem.interface import LockedError
from chatmem.opening import open_user
from memory_module import GruMemory

ROOT = Path(__file__).parent.parent

# Converts copies of a memory, each killed by itself at its own moment: as it is about to touch a file of the memory for
# the n-th time. Prints how often it was killed before one came through.
KILLED = """
import os, shutil, signal, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/tests"]
from pathlib import Path
import sqlcipher3
from chatmem import encrypting, vault
from chatmem.opening import open_user
vault.COSTS = vault.Costs(1, 1, 8)
source, copies, way, passphrase = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5]

def convert(memory_dir):
    opened = open_user(memory_dir, "ana", lambda _: passphrase)
    keys = opened.journal.vault
    opened.journal.close()
    left = int(memory_dir.name)

    def count(event, given):
        nonlocal left
        if event in ("open", "os.rename", "os.remove", "shutil.rmtree") and str(memory_dir) in str(given):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    if way == "on":
        encrypting.turn_on(opened.folder, vault.Vault.new(), passphrase)
    elif way == "off":
        encrypting.turn_off(opened.folder, keys)
    else:
        encrypting.change_passphrase(opened.folder, keys, "another")

for moment in range(1000):
    shutil.copytree(source, copies / str(moment))
    child = os.fork()
    if child == 0:
        convert(copies / str(moment))
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
print(moment)
"""


@pytest.fixture
def memory_dir(told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Return a memory that knows the facts, encrypted or not."""
    monkeypatch.setattr(vault, "COSTS", CHEAP)
    copy = tmp_path / "source"
    shutil.copytree(told, copy)
    if request.param == "plain":
        found = opened(copy)
        found.journal.close()
        assert found.folder is not None and found.journal.vault is not None
        encrypting.turn_off(found.folder, found.journal.vault)
        again = opened(copy)
        GruMemory(again.journal, FakeEncoder(), again.folder, hidden_dim=64)  # writes memory.pkl
        again.journal.close()
        (found.folder / "chroma").mkdir()
        (found.folder / "chroma" / "data").write_text(" ".join(FACTS))
    return copy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory_dir", "way"), [("plain", "on"), ("encrypted", "off"), ("encrypted", "change")], indirect=["memory_dir"]
)
def test_killed_at_any_moment_nothing_is_lost_or_left_in_plain_text(memory_dir, way, tmp_path, caplog):
    before = rows(opened(memory_dir).journal)
    (copies := tmp_path / "copies").mkdir()
    given = [sys.executable, "-c", KILLED, str(ROOT), str(memory_dir), str(copies), way, PASSPHRASE]
    done = subprocess.run(given, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    moments = int(done.stdout)
    assert moments > (8 if way != "change" else 2)
    ends = set()
    for moment in range(moments + 1):
        copy = copies / str(moment)
        passphrase = PASSPHRASE
        if way == "change":
            try:
                opened(copy)
            except LockedError:
                passphrase = "another"
        journal = opened(copy, passphrase).journal
        assert rows(journal) == before, moment
        is_encrypted = journal.vault is not None
        if is_encrypted:
            assert marks_in(bytes_under(copy)) == [], moment
        journal.close()
        folder = storage.user_folder(copy, "ana")
        found = {path.name for path in folder.iterdir()}
        assert found <= {"journal.db", "memory.pkl", "chroma", "index.lock", vault.HEADER}, moment
        ends.add((is_encrypted, passphrase))
        again = opened(copy, passphrase)  # and goes on
        GruMemory(again.journal, FakeEncoder(), again.folder, hidden_dim=64).remember(make_session("I keep goats."))
        again.journal.close()
        assert len(opened(copy, passphrase).journal.facts()) == 4
    assert "damaged" not in caplog.text
    assert len(ends) == 2  # both sides of the rename were seen


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child does nothing with threads
@pytest.mark.parametrize("memory_dir", ["plain"], indirect=True)
def test_killed_by_the_clock_nothing_is_lost(memory_dir, tmp_path):
    """Inside SQLCipher's own writing, where no audit hook looks: killed after 1, 2, 4, … milliseconds."""
    journal = opened(memory_dir).journal
    with journal._transaction() as db:
        db.exec_driver_sql("INSERT INTO meta VALUES ('ballast', hex(randomblob(8000000)))")
    before = rows(journal)
    journal.close()
    for power in range(12):
        copy = tmp_path / str(power)
        shutil.copytree(memory_dir, copy)
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_REAL, 2**power / 1000)
            signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
            encrypt(copy)
            os._exit(0)
        os.waitpid(child, 0)
        journal = opened(copy).journal
        assert rows(journal) == before, power
        journal.close()


@pytest.mark.parametrize("memory_dir", ["encrypted"], indirect=True)
def test_start_waits_for_a_conversion_and_does_not_end_it(memory_dir, monkeypatch):
    folder = storage.user_folder(memory_dir, "ana")
    (folder / vault.HEADER).rename(folder / encrypting.PENDING)
    monkeypatch.setattr(encrypting, "_WAIT_SECONDS", 0.05)
    before = bytes_under(memory_dir)
    with encrypting._locked(folder), pytest.raises(LockedError, match="try again"):
        open_user(memory_dir, "ana", lambda _: PASSPHRASE)
    assert bytes_under(memory_dir) == before
    assert len(opened(memory_dir).journal.facts()) == 3

"""Users are apart: any name is safe or refused, and nothing that one does reaches another.

pytest tests/test_isolation.py                needs no weights and no network
pytest tests/test_isolation.py -m slow        the same with more users
"""

from __future__ import annotations

import re
import stat
import tempfile
import unicodedata
from itertools import combinations
from pathlib import Path

import pytest
from conftest import FakeEncoder, bytes_under, make_session, tell
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from test_encryption import CHEAP

from chatmem import encrypting, vault
from chatmem.commands import export
from chatmem.indexed import IndexedMemory
from chatmem.interface import ChatMemError, CommandError, LockedError, StoreError, UsageError
from chatmem.opening import open_user
from chatmem.settings import parse_args
from chatmem.storage import user_folder
from chatmem.vault import Vault
from memory_module import GruMemory
from rag_baseline import RagMemory

ALIKE = [
    "ana", "ana2", "Ana", "ANA", " ana", "ana ", "ana\t", "ana.", "ana..", "an", "a", "ana\0", "ana\0x", "аna", "ana/",
    "./ana", "../ana", "ana/..", "..", ".", "/", "\\", "C:", "C:\\ana", "~", "~root", "$HOME", "%TEMP%", "*", "?", "-p",
    "con", "CON", "nul", "aux.txt", "com1", "LPT1", "user-ana", "default", "\u212bngstrom", "\u00c5ngstrom",
    "A\u030angstrom", "\u0131", "i", "I", "\u0130", "\ufb01", "fi", "stra\u00dfe", "strasse", "\u202eana",
    "\u200bana", "ana\u200d", "x" * 255, "x" * 256, "x" * 100_000, "名前", "🏴", "a\nb", "a\r\nb",
    "'; DROP TABLE turns;--",
]  # fmt: skip
PIECES = ["..", "/", "\\", "ana", "\0", ".", " ", "e\u0301", "\u00e9", "CON", "\ud800"]
BLANK = ["", " ", "\t\n", "\u3000", "\0", "\u200b", "\u00ad\u200d", "\ufeff", "\x1b", "\u2028\u202e"]
names = st.one_of(st.text(), st.sampled_from(ALIKE), st.lists(st.sampled_from(PIECES)).map("".join))
relaxed = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def folder_of(memory_dir: Path, user: str) -> Path | None:
    """Return the folder of a user, None where the name is refused in one clear line."""
    try:
        return user_folder(memory_dir, user)
    except UsageError as error:
        assert str(error).startswith("--user ")
        assert "\n" not in str(error)
        return None


@relaxed
@given(user=names)
def test_any_name_is_a_folder_right_inside_or_a_clear_error(tmp_path: Path, user: str):
    memory_dir = tmp_path / "inside" / "m"
    folder = folder_of(memory_dir, user)
    if folder is not None:
        assert folder.resolve().parent == memory_dir.resolve()
        assert re.fullmatch(r"user-[0-9a-f]{32}", folder.name)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in [*tmp_path.iterdir(), *tmp_path.glob("inside/*")]} <= {"inside", "m"}


@relaxed
@given(one=names, other=names)
@example(one="ana", other="ANA")
@example(one="\u00e9", other="e\u0301")
def test_two_names_never_share_a_folder_on_any_file_system(tmp_path: Path, one: str, other: str):
    assume(one != other)
    first, second = folder_of(tmp_path, one), folder_of(tmp_path, other)
    if first is not None and second is not None:
        # as systems compare names that ignore case, composition, or dots and spaces at the end
        assert len({unicodedata.normalize("NFKC", path.name).casefold().rstrip(". ") for path in (first, second)}) == 2


def test_names_that_look_alike_are_apart(tmp_path):
    folders = {user: folder_of(tmp_path, user) for user in ALIKE}
    assert None not in folders.values()
    assert len(set(folders.values())) == len(ALIKE)


@pytest.mark.parametrize("user", BLANK)
def test_name_without_anything_to_see_is_refused(tmp_path, user):
    assert folder_of(tmp_path / "m", user) is None
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("user", ["\ud800", "ana\udcff", "\udfff\ud800"])
def test_half_characters_are_refused(tmp_path, user):
    assert folder_of(tmp_path / "m", user) is None
    assert not (tmp_path / "m").exists()


@relaxed
@given(path=st.text(max_size=300).filter(lambda path: ".." not in path))
@example(path="a\0b")
@example(path="\ud800")
@example(path="x" * 300)
@example(path="~nobody-here/m")
def test_any_memory_dir_is_used_or_a_clear_error(path: str):
    with tempfile.TemporaryDirectory() as here:
        try:
            settings = parse_args(["--memory-dir", f"{here}/{path}"])
            folder = user_folder(settings.memory_dir, "ana")
        except ChatMemError as error:
            assert len(str(error).splitlines()) <= 1 + len(path.splitlines())
        else:
            assert folder.is_dir()


def test_home_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(UsageError, match="--memory-dir"):
        parse_args(["--memory-dir", "~nobody-here/m"])
    with pytest.raises(CommandError, match="home"):
        export(open_user(tmp_path, "ana").journal, "~nobody-here/out.json")


def test_folder_that_others_could_read_is_closed_to_them(tmp_path):
    folder = user_folder(tmp_path, "ana")
    folder.chmod(0o755)
    assert stat.S_IMODE(user_folder(tmp_path, "ana").stat().st_mode) == 0o700


# What one does reaches no other


def open_arm(arm: str, memory_dir: Path, user: str) -> IndexedMemory:
    opened = open_user(memory_dir, user)
    if arm == "rag":
        return RagMemory(opened.journal, FakeEncoder(), opened.folder)
    return GruMemory(opened.journal, FakeEncoder(), opened.folder, hidden_dim=64)


@pytest.mark.parametrize("arm", ["gru", "rag"])
def test_nothing_of_one_user_reaches_another(arm, tmp_path):
    users = ["ana", "ana2", "ANA"]
    memories = {user: open_arm(arm, tmp_path, user) for user in users}
    for number, user in enumerate(users):
        tell(memories[user], f"My code word is heron{number}.", "I keep goats.")
    for number, user in enumerate(users):
        assert [line.text for line in memories[user].recall("What is my code word?")] == [
            f"My code word is heron{number}."
        ]
        raw = bytes_under(user_folder(tmp_path, user))
        assert [b"heron%d" % other in raw for other in range(3)] == [other == number for other in range(3)]
    before = {user: bytes_under(user_folder(tmp_path, user)) for user in users}
    memories["ana2"].forget("goats")
    memories["ana2"].reset()
    memories["ana2"].journal.restore_all(memories["ana"].journal.export()[:1])
    for user in ("ana", "ANA"):
        assert bytes_under(user_folder(tmp_path, user)) == before[user]
    assert [line.text for line in memories["ana"].journal.facts()] == ["My code word is heron0.", "I keep goats."]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(users=st.lists(st.sampled_from(ALIKE), min_size=3, max_size=3, unique=True))
def test_users_with_names_alike_keep_their_own_facts(users):
    with tempfile.TemporaryDirectory() as here:
        for number, user in enumerate(users):
            open_user(Path(here), user).journal.record(make_session(f"My code word is heron{number}."))
        open_user(Path(here), users[0]).journal.clear()
        told = [[line.text for line in open_user(Path(here), user).journal.facts()] for user in users]
        assert told == [[], ["My code word is heron1."], ["My code word is heron2."]]


def test_encrypting_one_memory_leaves_the_others_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(vault, "COSTS", CHEAP)
    folders = []
    for user in ("ana", "ana2", "bea"):
        opened = open_user(tmp_path, user)
        opened.journal.record(make_session(f"I am {user}."))
        opened.journal.close()
        assert opened.folder is not None
        folders.append(opened.folder)
    before = bytes_under(folders[2])
    for folder, passphrase in zip(folders[:2], ("one", "two"), strict=True):
        encrypting.turn_on(folder, Vault.new(), passphrase)
    assert bytes_under(folders[2]) == before
    with pytest.raises(LockedError):
        open_user(tmp_path, "ana2", lambda _: "one")
    for one, other in combinations(folders[:2], 2):  # nor does a file of one memory pass for one of the other's
        (other / "journal.db").write_bytes((one / "journal.db").read_bytes())
        (other / "memory.pkl").write_bytes(b"")
    assert open_user(tmp_path, "ana2", lambda _: "two").journal.facts() == []


def test_user_whose_folder_is_a_file_is_a_clear_error(tmp_path):
    folder = user_folder(tmp_path, "ana")
    folder.rmdir()
    folder.write_text("mine")
    with pytest.raises(StoreError):
        open_user(tmp_path, "ana")
    assert folder.read_text() == "mine"

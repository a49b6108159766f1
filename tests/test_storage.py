"""Files: private, atomic, and read without running code.

pytest tests/test_storage.py        needs no weights and no network
"""

from __future__ import annotations

import os
import pickle
import stat
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatmem import storage
from chatmem.interface import DamagedError, NewerError, StoreError, UsageError


def test_write_is_private_and_whole(tmp_path: Path):
    storage.write_atomic(tmp_path / "file", b"one")
    storage.write_atomic(tmp_path / "file", b"two")
    assert (tmp_path / "file").read_bytes() == b"two"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch, moment):
    storage.write_atomic(tmp_path / "file", b"old")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if moment == "fsync" else (Path, "replace")), refuse)
    with pytest.raises(StoreError, match="No space left"):
        storage.write_atomic(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_tensors_survive_the_round_trip(tmp_path: Path):
    storage.save_tensors(tmp_path / "file", "kind", 2, {"rows": torch.ones(2, 3), "names": ["a", "б"]})
    content = storage.load_tensors(tmp_path / "file", "kind", 2)
    assert torch.equal(content["rows"], torch.ones(2, 3))
    assert content["names"] == ["a", "б"]
    assert storage.load_tensors(tmp_path / "file", "kind", 3)["version"] == 2  # an older version is read


def test_other_files_are_refused(tmp_path: Path):
    path = tmp_path / "file"
    storage.save_tensors(path, "kind", 2, {})
    with pytest.raises(NewerError, match="version 2"):
        storage.load_tensors(path, "kind", 1)
    with pytest.raises(DamagedError, match="format other"):
        storage.load_tensors(path, "other", 2)
    whole = path.read_bytes()
    for bad in (b"", b"\0", whole[:100], whole[:-40], pickle.dumps([1]), b"PK\3\4 is no archive"):
        path.write_bytes(bad)
        with pytest.raises(DamagedError):
            storage.load_tensors(path, "kind", 2)
    with pytest.raises(FileNotFoundError):
        storage.load_tensors(tmp_path / "none", "kind", 2)


class _Payload:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('executed').touch()",))


@pytest.mark.parametrize("write", [lambda path: path.write_bytes(pickle.dumps(_Payload())), None])
def test_code_in_a_file_never_runs(tmp_path: Path, monkeypatch, write):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "file"
    if write is not None:
        write(path)
    else:
        torch.save({"format": "kind", "version": 1, "more": _Payload()}, path)
    with pytest.raises(DamagedError):
        storage.load_tensors(path, "kind", 1)
    assert not (tmp_path / "executed").exists()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1), other=st.text(min_size=1))
def test_any_name_has_its_own_folder_inside(tmp_path: Path, name: str, other: str):
    folders = []
    for user in {name, other}:
        try:
            folder = storage.user_folder(tmp_path, user)
        except UsageError:
            continue
        assert folder.parent == tmp_path
        assert folder.resolve().parent == tmp_path.resolve()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        folders.append(folder)
    assert len(set(folders)) == len(folders)


@pytest.mark.parametrize("name", ["../../etc", "/etc/passwd", "a/b", "..", "nul\0", "ana ", "ANA", "C:\\x", "名前"])
def test_names_are_never_paths(tmp_path: Path, name: str):
    folder = storage.user_folder(tmp_path, name)
    assert folder.parent == tmp_path
    assert folder != storage.user_folder(tmp_path, "ana")


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u3000"])
def test_blank_name_is_refused(tmp_path: Path, name: str):
    with pytest.raises(UsageError, match="--user"):
        storage.user_folder(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_name_of_broken_bytes_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="UTF-8"):
        storage.user_folder(tmp_path, "\udcff")


def test_memory_dir_that_is_a_file_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="--memory-dir"):
        storage.user_folder(tmp_path / "file", "ana")
    assert (tmp_path / "file").read_text() == "mine"


def test_indexes_and_set_aside_copies_are_deleted(tmp_path: Path):
    (tmp_path / "chroma" / "inside").mkdir(parents=True)
    for name in ("memory.pkl", "journal.db", "journal.db.damaged-1", ".memory.pkl.x1", "chroma/inside/data"):
        (tmp_path / name).write_text("words")
    storage.delete_indexes(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["journal.db"]

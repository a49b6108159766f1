"""RecurrentMemory and GruMemory: the specification's unit tests, and the identities that make a memory one.

pytest tests/test_memory.py        needs no weights and no network
"""

from __future__ import annotations

import logging
import pickle
import stat
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import FakeEncoder, bytes_under, make_session, tell

from chatmem import storage
from chatmem.interface import NewerError
from chatmem.journal import Journal
from chatmem.opening import POOL_FORMAT, POOL_VERSION, open_user
from memory_module import GruMemory, RecurrentMemory

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here"))]


def sessions(batch: int, steps: int, width: int = 24, seed: int = 1) -> torch.Tensor:
    """Return sessions of unit rows."""
    rows = torch.randn(batch, steps, width, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(rows, dim=-1)


@pytest.fixture
def network() -> RecurrentMemory:
    return RecurrentMemory(24, 32, 10)


# The specification's three


def test_update_slots(network):
    told = sessions(12, 5)
    for session in told:
        network.update(session[None])
    assert network.filled == 10
    assert bool((network.memory.norm(dim=1) > 0).all())
    assert torch.allclose(network.memory, network.encode(told[2:]).last, atol=1e-6)  # the two oldest left


def test_retrieve_returns_topk(network):
    told = sessions(6, 4)
    network.update(told)
    query = network.encode(told[2:3]).last
    for k in (1, 3, 6):
        assert network.retrieve(query, k).shape == (k, 32)
    assert torch.equal(network.retrieve(query, 1)[0], network.memory[-4])  # the session itself is the nearest


def test_memory_persistence(network, tmp_path: Path):
    network.update(sessions(3, 4))
    torch.save(network.state_dict(), tmp_path / "state.pt")
    again = RecurrentMemory(24, 32, 10)
    again.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert again.filled == 3
    more, query = sessions(1, 4, seed=2), sessions(1, 1, seed=3)
    assert torch.equal(network.update(more), again.update(more))
    for one in (network, again):
        one.eval()
    expected = network.retrieve(network.encode(query).last, 4)
    assert torch.equal(expected, again.retrieve(again.encode(query).last, 4))


# Encoding


def test_padding_does_not_change_the_result(network):
    told = sessions(3, 6)
    padded = told.clone()
    padded[0, 2:], padded[1, 5:] = torch.nan, 7.0
    encoding = network.encode(padded, [2, 5, 6])
    for row, length in enumerate([2, 5, 6]):
        alone = network.encode(told[row : row + 1, :length])
        assert torch.allclose(encoding.last[row], alone.last[0], atol=1e-6)
        assert torch.allclose(encoding.states[row, :length], alone.states[0], atol=1e-6)
        assert not encoding.states[row, length:].any()


def test_batch_equals_one_by_one(network):
    told, other = sessions(4, 5), RecurrentMemory(24, 32, 10)
    network.update(told)
    for session in told:
        other.update(session[None])
    assert torch.allclose(network.memory, other.memory, atol=1e-6)


def test_larger_batch_than_pool_keeps_newest(network):
    told = sessions(13, 3)
    network.update(told)
    assert network.filled == 10
    assert torch.allclose(network.memory, network.encode(told[3:]).last, atol=1e-6)


def test_start_keeps_cosines_of_the_running_mean():
    network = RecurrentMemory(64, 128, 4)
    told = sessions(30, 8, width=64)
    weights = 0.9 ** torch.arange(7, -1, -1.0)
    means = (told * weights[:, None]).sum(1)
    slots = network.encode(told).last
    expected = torch.nn.functional.cosine_similarity(means[:1], means[1:])
    found = torch.nn.functional.cosine_similarity(slots[:1], slots[1:])
    assert torch.allclose(found, expected, atol=0.05)


def test_start_is_the_same_every_time():
    torch.manual_seed(5)
    first = RecurrentMemory(24, 32, 10)
    torch.manual_seed(6)
    assert RecurrentMemory(24, 32, 10).fingerprint() == first.fingerprint()


@pytest.mark.parametrize("input_dim", [24, 48])
def test_gradient_reaches_every_gru_parameter(input_dim):
    network = RecurrentMemory(input_dim, 32, 10)
    network.encode(sessions(2, 5, width=input_dim)).last.square().sum().backward()
    for name, parameter in network.encoder.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.abs().sum() > 0), name


def test_pool_is_state_without_gradient(network):
    assert "memory" not in dict(network.named_parameters())
    assert not network.update(sessions(1, 3)).requires_grad


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_works_in_each_precision(device, dtype):
    network = RecurrentMemory(24, 32, 4).to(device, dtype)
    told = sessions(3, 5).to(device, dtype)
    assert network.update(told).dtype == dtype
    nearest = network.retrieve(network.encode(told[1:2]).last, 1)
    assert torch.allclose(nearest.float(), network.memory[-2].float(), atol=0.02)


# Retrieval


def test_only_filled_slots_are_retrieved(network):
    network.update(-sessions(1, 3))  # a cosine below 0 must still beat an empty slot
    query = network.encode(sessions(1, 3)).last
    assert network.scores(query).max() < 0
    assert network.retrieve(query, 3).shape == (1, 32)
    assert torch.equal(network.retrieve(query, 3)[0], network.memory[-1])


def test_retrieval_is_ordered_by_cosine(network):
    network.update(sessions(8, 3))
    query = network.encode(sessions(1, 1, seed=9)).last
    found = network.retrieve(query, 8)
    cosines = torch.nn.functional.cosine_similarity(query, found)
    assert torch.equal(cosines, cosines.sort(descending=True).values)


def test_empty_pool_retrieves_nothing(network):
    assert network.retrieve(torch.ones(1, 32), 3).shape == (0, 32)


def test_reset_empties_every_slot(network):
    network.update(sessions(4, 3))
    network.reset()
    assert network.filled == 0
    assert not network.memory.any()


@pytest.mark.parametrize(
    ("bad", "lengths", "said"),
    [
        (torch.zeros(5, 24), None, r"\(B, T, 24\), not \(5, 24\)"),
        (torch.zeros(1, 5, 23), None, r"\(B, T, 24\), not \(1, 5, 23\)"),
        (torch.zeros(0, 5, 24), None, r"\(0, 5, 24\)"),
        (torch.zeros(1, 0, 24), None, r"\(1, 0, 24\)"),
        (torch.full((1, 2, 24), torch.nan), None, "NaN"),
        (torch.full((1, 2, 24), torch.inf), None, "NaN or Inf"),
        (torch.zeros(2, 3, 24), [3], "2 whole numbers"),
        (torch.zeros(2, 3, 24), [0, 3], "from 1 to 3"),
        (torch.zeros(2, 3, 24), [4, 3], "from 1 to 3"),
    ],
)
def test_bad_sessions_are_refused_with_shapes(network, bad, lengths, said):
    with pytest.raises(ValueError, match=said):
        network.update(bad, lengths)
    assert network.filled == 0


def test_bad_queries_are_refused_with_shapes(network):
    network.update(sessions(1, 3))
    with pytest.raises(ValueError, match="k must be at least 1"):
        network.retrieve(torch.ones(1, 32), 0)
    with pytest.raises(ValueError, match=r"\(1, 32\), not \(1, 31\)"):
        network.retrieve(torch.ones(1, 31))
    with pytest.raises(ValueError, match="NaN"):
        network.retrieve(torch.full((1, 32), torch.nan))
    with pytest.raises(ValueError, match="at least 1"):
        RecurrentMemory(24, 32, 0)


# GruMemory


FACTS = ["My name is Ottilie.", "I work in a quarry.", "My goat is called Bramble.", "I play the harp."]


def open_gru(folder: Path, fingerprint: str = "fake", **options: int) -> GruMemory:
    return GruMemory(Journal.at(folder / "journal.db"), FakeEncoder(fingerprint), folder, hidden_dim=64, **options)


def test_reopened_equals_uninterrupted(tmp_path: Path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    whole = open_gru(tmp_path / "one", num_slots=3)
    tell(whole, *FACTS)
    for day, fact in enumerate(FACTS):
        open_gru(tmp_path / "two", num_slots=3).remember(make_session(fact, "I see.", day=day))
    parts = open_gru(tmp_path / "two", num_slots=3)
    assert torch.equal(whole.network.memory, parts.network.memory)
    for query in ("What is my name?", "What is my goat called?", "Where do I work?"):
        assert whole.recall(query) == parts.recall(query) != []


def test_session_that_left_the_pool_is_recalled(tmp_path: Path):
    memory = open_gru(tmp_path, num_slots=2)
    tell(memory, *FACTS)
    assert memory.network.filled == 2
    assert memory.recall("What is my name?")[0].text == FACTS[0]


def test_everything_is_not_only_the_candidates(tmp_path: Path):
    memory = open_gru(tmp_path, num_slots=2, num_candidates=1)
    tell(memory, *FACTS)
    assert [line.text for line in memory.recall("What do you know about me?", 4)] == FACTS[::-1]


def test_files_of_a_memory_are_private(tmp_path: Path):
    opened = open_user(tmp_path, "ana")
    assert opened.folder is not None
    tell(GruMemory(opened.journal, FakeEncoder(), opened.folder, hidden_dim=64), *FACTS)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in opened.folder.iterdir()}
    assert modes.keys() >= {"journal.db", "memory.pkl"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(opened.folder.stat().st_mode) == 0o700


def test_unencoded_session_is_encoded_at_opening(tmp_path: Path):
    journal = Journal.at(tmp_path / "journal.db")
    journal.record(make_session(FACTS[2], "I see."))  # as if killed between writing and encoding
    memory = open_gru(tmp_path)
    assert memory.network.filled == 1
    assert journal.waiting(memory.fingerprint).finished == []


def test_open_session_is_recalled_before_it_ends(tmp_path: Path):
    memory = open_gru(tmp_path)
    session = make_session(FACTS[2])
    number = memory.journal.begin(session.turns[0].when)
    key, _ = memory.journal.append(number, session.turns[0])
    assert memory.recall("What is my goat called?")[0].text == FACTS[2]
    assert memory.recall("What is my goat called?", visible=(key,)) == []


def test_forgotten_slot_equals_never_told(tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    told, never = open_gru(tmp_path / "one"), open_gru(tmp_path / "two")
    told.remember(make_session("I play the harp. My locker code is Zanzibar.", "", day=0))
    never.remember(make_session("I play the harp.", "", day=0))
    assert not torch.allclose(told.network.memory, never.network.memory)
    assert [line.text for line in told.forget("zanzibar")] == ["My locker code is Zanzibar."]
    assert torch.allclose(told.network.memory, never.network.memory)
    assert b"zanzibar" not in bytes_under(tmp_path).lower()


def test_two_programs_see_each_others_sessions(tmp_path: Path):
    first, second = open_gru(tmp_path), open_gru(tmp_path)
    first.remember(make_session(FACTS[0]))
    second.remember(make_session(FACTS[2]))
    assert first.recall("What is my goat called?")[0].text == FACTS[2]
    assert second.recall("What is my name?")[0].text == FACTS[0]
    assert first.network.filled == second.network.filled == 2
    second.forget("Bramble")
    assert FACTS[2] not in [line.text for line in first.recall("What is my goat called?")]


def test_another_encoder_reencodes_from_the_journal(tmp_path: Path):
    tell(open_gru(tmp_path), *FACTS)
    other = open_gru(tmp_path, fingerprint="other")
    assert other.encoder.num_encoded >= len(FACTS)
    assert other.recall("What is my goat called?")[0].text == FACTS[2]
    assert other.network.filled == len(FACTS)


def test_vectors_of_damaged_size_are_made_again(tmp_path: Path):
    memory = open_gru(tmp_path)
    tell(memory, *FACTS)
    memory.journal.store_vectors(2, memory.fingerprint, b"\0" * 4, b"")
    assert open_gru(tmp_path).recall("What is my goat called?")[0].text == FACTS[2]


class _Payload:
    def __reduce__(self):
        return (exec, ("import pathlib; pathlib.Path('executed').touch()",))


BAD_POOLS = {
    "empty": b"",
    "garbage": b"garbage",
    "malicious": pickle.dumps(_Payload()),
    "foreign": pickle.dumps({"format": "other"}),
}


@pytest.mark.parametrize("content", BAD_POOLS.values(), ids=BAD_POOLS)
def test_bad_pool_file_is_made_again(tmp_path: Path, monkeypatch, caplog, content):
    monkeypatch.chdir(tmp_path)
    tell(open_gru(tmp_path), *FACTS)
    good = (tmp_path / "memory.pkl").read_bytes()
    for bad in (content, good[: len(good) // 2]):
        (tmp_path / "memory.pkl").write_bytes(bad)
        with caplog.at_level(logging.WARNING, "chatmem"):
            memory = open_gru(tmp_path)
        assert "made again" in caplog.text
        caplog.clear()
        assert not (tmp_path / "executed").exists()
        assert memory.recall("What is my goat called?")[0].text == FACTS[2]
        stored = storage.load_tensors(tmp_path / "memory.pkl", POOL_FORMAT, POOL_VERSION)
        assert torch.equal(stored["memory"], memory.network.memory)


def test_newer_pool_file_is_refused_and_kept(tmp_path: Path):
    tell(open_gru(tmp_path), *FACTS)
    storage.save_tensors(tmp_path / "memory.pkl", POOL_FORMAT, POOL_VERSION + 1, {})
    before = (tmp_path / "memory.pkl").read_bytes()
    with pytest.raises(NewerError, match="update the program"):
        open_gru(tmp_path)
    assert (tmp_path / "memory.pkl").read_bytes() == before


def test_pool_file_has_what_a_reader_expects(tmp_path: Path):
    memory = open_gru(tmp_path, num_slots=3)
    tell(memory, *FACTS)
    stored = torch.load(tmp_path / "memory.pkl", weights_only=True)
    assert list(stored)[:2] == ["format", "version"]
    assert stored["memory"].shape == (3, 64)
    assert [session["turns"][0]["text"] for session in stored["sessions"]] == FACTS[1:]


def test_session_of_no_sentence_is_stored(tmp_path: Path):
    memory = open_gru(tmp_path)
    memory.remember(make_session(" "))
    assert memory.network.filled == 1
    assert np.isfinite(memory.network.memory.numpy()).all()
    assert memory.recall("What is my name?") == []

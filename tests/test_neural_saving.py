"""Files of the memory inside a model: states, adapters, checkpoints, merged folders; what does not fit is refused."""

from __future__ import annotations

import json

import pytest
import safetensors.torch
import torch
from neural_models import base_model, ids, wrapped

from chatmem.interface import ChatMemError, DamagedError, ModelError, NewerError, StoreError
from chatmem.neural import merging, saving
from chatmem.neural.model import NeuralMemoryModel

QUESTION = ids(5, 6, 7, 8)


def told(model, *lines):
    state = model.initial_memory()
    for line in lines:
        state = model(ids(*line), memory_state=state, update_memory=True, force_write=True).memory_state
    return state


def answer(model, state=None):
    with torch.no_grad():
        return model(QUESTION, memory_state=state, read_memory=True).logits


def test_a_state_survives_the_model_twice(tmp_path):
    model = wrapped()
    first = answer(model, told(model, (1, 2, 3), (11, 12)))
    model.save_runtime_memory(tmp_path / "user", told(model, (1, 2, 3), (11, 12)))
    for _ in range(2):
        model = wrapped()
        state = model.load_runtime_memory(tmp_path / "user")
        assert torch.equal(answer(model, state), first)
        model.save_runtime_memory(tmp_path / "user", state)


def test_a_state_file_holds_the_state_alone(tmp_path):
    model = wrapped()
    model.save_runtime_memory(tmp_path / "user", told(model, (1, 2, 3)))
    names = set(safetensors.torch.load_file(tmp_path / "user"))
    assert names == {"slots", "tokens", "lengths", "written", "count", "raw"}


def test_a_state_of_another_model_is_refused(tmp_path):
    wrapped().save_runtime_memory(tmp_path / "user", wrapped().initial_memory())
    with pytest.raises(ModelError, match="another language model"):
        wrapped(seed=5).load_runtime_memory(tmp_path / "user")


@pytest.mark.parametrize(
    "choices, message", [({"num_slots": 5}, "does not fit"), ({"feature_layers": (0, 1)}, "other layers")]
)
def test_a_state_of_another_shape_or_of_other_layers_is_refused(tmp_path, choices, message):
    wrapped().save_runtime_memory(tmp_path / "user", wrapped().initial_memory())
    with pytest.raises(ModelError, match=message):
        wrapped(**choices).load_runtime_memory(tmp_path / "user")


def test_a_state_with_numbers_that_are_none_is_refused(tmp_path):
    model = wrapped()
    state = told(model, (1, 2))
    state.slots[0, 0, 0] = float("nan")
    model.save_runtime_memory(tmp_path / "user", state)
    with pytest.raises(ModelError, match="numbers that are none"):
        model.load_runtime_memory(tmp_path / "user")


@pytest.mark.parametrize("content", [b"", b"no tensors at all", b"\x80\x04cos\nsystem\n"])
def test_a_damaged_state_is_one_clear_error(tmp_path, content):
    (tmp_path / "user").write_bytes(content)
    with pytest.raises(ChatMemError) as error:
        wrapped().load_runtime_memory(tmp_path / "user")
    assert "\n" not in str(error.value)


def test_a_file_of_another_kind_and_a_newer_one_are_told_apart(tmp_path):
    tensors = {"slots": torch.zeros(1)}
    (tmp_path / "other").write_bytes(safetensors.torch.save(tensors, {"format": "else", "version": "1"}))
    (tmp_path / "newer").write_bytes(safetensors.torch.save(tensors, {"format": saving.STATE_FORMAT, "version": "9"}))
    with pytest.raises(DamagedError):
        wrapped().load_runtime_memory(tmp_path / "other")
    with pytest.raises(NewerError):
        wrapped().load_runtime_memory(tmp_path / "newer")


def test_an_adapter_gives_back_the_same_answers(tmp_path):
    model = wrapped()
    for weight in model.memory.parameters():
        weight.data = weight.data.half().float()  # as it is stored
    state = told(model, (1, 2, 3))
    saving.save_adapter(tmp_path, model.memory, model.fingerprint)
    again = NeuralMemoryModel.from_adapter(base_model("llama"), tmp_path)
    assert again.config == model.config
    assert torch.allclose(answer(again, state), answer(model, state), atol=1e-6)


def test_an_adapter_for_another_model_is_refused(tmp_path):
    model = wrapped()
    saving.save_adapter(tmp_path, model.memory, model.fingerprint)
    with pytest.raises(ModelError, match="another language model"):
        NeuralMemoryModel.from_adapter(base_model("llama", seed=5), tmp_path)


def test_an_adapter_that_does_not_fit_its_configuration_is_refused(tmp_path):
    model = wrapped()
    saving.save_adapter(tmp_path, model.memory, model.fingerprint)
    config = json.loads((tmp_path / saving.CONFIG).read_text())
    (tmp_path / saving.CONFIG).write_text(json.dumps(config | {"slot_dim": 52}))
    with pytest.raises(ModelError, match="does not fit"):
        NeuralMemoryModel.from_adapter(base_model("llama"), tmp_path)
    (tmp_path / saving.CONFIG).write_text(json.dumps(config | {"colour": 1}))
    with pytest.raises(ModelError):
        NeuralMemoryModel.from_adapter(base_model("llama"), tmp_path)
    with pytest.raises(ModelError, match="no memory adapter"):
        NeuralMemoryModel.from_adapter(base_model("llama"), tmp_path / "nothing")


def test_the_number_of_slots_can_be_chosen_when_trained_parts_are_loaded(tmp_path):
    model = wrapped()
    saving.save_adapter(tmp_path, model.memory, model.fingerprint)
    larger = NeuralMemoryModel.from_adapter(base_model("llama"), tmp_path, num_slots=9)
    assert told(larger, (1, 2, 3)).slots.shape == (1, 9, 48)


def test_a_combined_checkpoint_brings_its_state_along(tmp_path):
    model = wrapped()
    state = told(model, (1, 2, 3))
    model.save_persistent_memory_checkpoint(tmp_path, state)
    again = NeuralMemoryModel.from_adapter(base_model("llama"), tmp_path)
    assert torch.equal(again.state.tokens, state.tokens)
    assert torch.equal(answer(again), answer(again, state))


def test_merging_leaves_the_base_models_files_as_they_are_and_loads_without_flags(tmp_path):
    base = tmp_path / "base"
    base_model("llama").save_pretrained(base)
    before = {path.name: path.read_bytes() for path in base.iterdir()}
    model = wrapped()
    state = told(model, (1, 2, 3))
    merging.merge(base, model, state, tmp_path / "merged")
    assert {path.name: path.read_bytes() for path in base.iterdir()} == before
    loaded = merging.load_merged(tmp_path / "merged")
    assert torch.equal(loaded.state.tokens, state.tokens)
    assert torch.allclose(answer(loaded), answer(model, state), atol=2e-2)
    with pytest.raises(StoreError):
        merging.merge(base, model, state, base)


def test_later_saves_rewrite_the_extra_shard_alone_and_a_failed_one_leaves_the_old(tmp_path, monkeypatch):
    base = tmp_path / "base"
    base_model("llama").save_pretrained(base)
    model = wrapped()
    merging.merge(base, model, model.initial_memory(), tmp_path / "merged")
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "merged").iterdir()}
    shard = merging.save_merged(tmp_path / "merged", model, told(model, (1, 2)))
    changed = {path.name for path in (tmp_path / "merged").iterdir() if path.stat().st_mtime_ns != times[path.name]}
    assert changed == {shard.name}
    old = shard.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(StoreError):
        merging.save_merged(tmp_path / "merged", model, model.initial_memory())
    assert shard.read_bytes() == old
    assert not list((tmp_path / "merged").glob(".*"))

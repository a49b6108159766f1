"""The memory inside a frozen model: state in, state out, on three families of models."""

from __future__ import annotations

import pytest
import torch
from neural_models import FAMILIES, base_model, ids, wrapped

from chatmem.interface import ModelError
from chatmem.neural.config import NeuralConfig
from chatmem.neural.model import NeuralMemoryModel

QUESTION = ids(5, 6, 7, 8, 9, 10)
SEED = {"num_tokens": 0, "layer_indices": (1, 2), "direct_logit_scale": 2.0}  # the seed's design


def told(model: NeuralMemoryModel, *lines: torch.Tensor, **options: object) -> object:
    state = model.initial_memory()
    for line in lines:
        state = model(line, memory_state=state, update_memory=True, force_write=True, **options).memory_state
    return state


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("choices", [{}, SEED], ids=["tokens", "slots"])
def test_with_memory_off_the_logits_are_the_base_models_bit_for_bit(family, choices):
    plain = base_model(family)(QUESTION).logits
    model = wrapped(family, **choices)
    state = told(model, ids(1, 2, 3, 4))
    assert torch.equal(model(QUESTION, memory_state=state).logits, plain)
    assert torch.equal(model.base(QUESTION).logits, plain)  # no hook is left behind


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("choices", [{}, SEED], ids=["tokens", "slots"])
def test_what_was_written_changes_the_logits_only_when_it_is_read(family, choices):
    model = wrapped(family, **choices)
    one, two = (told(model, ids(*line)) for line in ((1, 2, 3, 4), (20, 30, 40)))
    read = [model(QUESTION, memory_state=state, read_memory=True).logits for state in (one, two)]
    assert not torch.allclose(read[0], read[1])
    assert torch.isfinite(read[0]).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_writing_returns_a_new_state_and_leaves_the_old_one_alone(family):
    model = wrapped(family)
    empty = model.initial_memory()
    after = model(ids(1, 2, 3), memory_state=empty, update_memory=True, force_write=True).memory_state
    assert not empty.used.any()
    assert after.used.sum() == 1 and after.lengths.sum() == 3
    assert after.slots.shape == (1, 4, 48) and after.tokens.shape == (1, 4, 6, 48)


def test_the_state_is_returned_where_it_is_asked_for():
    model = wrapped()
    state = told(model, ids(1, 2, 3))
    assert model(QUESTION, memory_state=state, read_memory=True).memory_state is None
    kept = model(QUESTION, memory_state=state, read_memory=True, return_memory=True).memory_state
    assert torch.equal(kept.tokens, state.tokens)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("choices", [{}, SEED], ids=["tokens", "slots"])
def test_a_reply_token_by_token_has_the_logits_of_the_whole(family, choices):
    model = wrapped(family, **choices)
    state = told(model, ids(1, 2, 3, 4), ids(11, 12, 13))
    mask = torch.tensor([[False, True, True, True, False, False]])
    whole = model(torch.cat([QUESTION, ids(3, 4)], 1), memory_state=state, read_memory=True,
                  read_mask=torch.nn.functional.pad(mask, (0, 2))).logits  # fmt: skip
    out = model(QUESTION, memory_state=state, read_memory=True, read_mask=mask, use_cache=True)
    steps = [out.logits[:, -1]]
    for token in (3, 4):
        out = model(
            ids(token), memory_state=state, read_memory=True, past_key_values=out.past_key_values, use_cache=True
        )
        steps.append(out.logits[:, -1])
    assert torch.allclose(torch.stack(steps, 1), whole[:, 5:], atol=1e-4)


def test_reading_never_looks_ahead():
    model = wrapped()
    state = told(model, ids(1, 2, 3, 4))
    one, two = (model(ids(5, 6, 7, last), memory_state=state, read_memory=True).logits for last in (8, 9))
    assert torch.allclose(one[:, :3], two[:, :3], atol=1e-5)


def test_rows_of_a_batch_have_memories_of_their_own():
    model = wrapped()
    lines = torch.tensor([[1, 2, 3, 4], [11, 12, 13, 0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    state = model(lines, mask, model.initial_memory(2), update_memory=True, force_write=True).memory_state
    alone = told(model, ids(11, 12, 13))
    assert torch.allclose(state.tokens[1], alone.tokens[0], atol=1e-5)
    assert state.lengths[:, :].sum(1).tolist() == [4, 3]


def test_base_weights_are_frozen_and_the_memory_learns_through_them():
    model = wrapped(**SEED)
    model.train()
    state = model(ids(1, 2, 3), memory_state=model.initial_memory(), update_memory=True).memory_state
    labels = torch.cat([torch.full_like(QUESTION[:, :-1], -100), ids(10)], 1)
    model(QUESTION, memory_state=state, read_memory=True, labels=labels).loss.backward()
    assert all(weight.grad is None for weight in model.base.parameters())
    assert model.memory.writer.candidate.weight.grad.abs().sum() > 0
    assert all(reader.out.weight.grad.abs().sum() > 0 for reader in model.memory.readers.values())


def test_a_read_gate_starts_nearly_closed():
    model = wrapped(**{**SEED, "direct_logit_scale": 0.0})
    state = told(model, ids(1, 2, 3))
    out = model(QUESTION, memory_state=state, read_memory=True)
    assert all(float(reading.gate.detach().max()) < 0.05 for reading in out.slot_readings.values())
    plain = model(QUESTION).logits
    assert float((out.logits - plain).detach().abs().max()) < 0.1 * float(plain.abs().max())


def test_slots_are_read_only_after_the_layers_that_were_chosen():
    model = wrapped(num_tokens=0, layer_indices=(1,))
    out = model(QUESTION, memory_state=told(model, ids(1, 2)), read_memory=True)
    assert list(out.slot_readings) == [1]
    with pytest.raises(ModelError, match="not among the model's 3"):
        wrapped(layer_indices=(3,))


@pytest.mark.parametrize("fusion", ["residual", "blend", "replace"])
def test_every_fusion_changes_the_hidden_state_as_its_formula_says(fusion):
    model = wrapped(num_tokens=0, layer_indices=(1,), fusion=fusion)
    before, after, delta = torch.randn(3, 1, 2, 32)
    fused = model.memory.readers["1"].fuse(before, after, delta, fusion)
    share = torch.sigmoid(model.memory.readers["1"].blend)
    wanted = {"residual": after + delta, "replace": delta,
              "blend": before + (1 - share) * (after - before) + share * delta}  # fmt: skip
    assert torch.allclose(fused, wanted[fusion])
    assert abs(share.item() - 0.1) < 1e-6


def test_the_reset_token_empties_every_slot_inside_the_model():
    model = wrapped(reset_token=63)
    state = told(model, ids(1, 2, 3))
    after = model(ids(63), memory_state=state, return_memory=True).memory_state
    assert not after.used.any() and (after.slots.abs().sum() + after.tokens.abs().sum()).item() == 0
    assert model(ids(62), memory_state=state, return_memory=True).memory_state.used.any()


def test_the_raw_pointer_adds_its_scale_to_the_stored_token_at_the_first_generated_token_only():
    model = wrapped("gpt2", num_tokens=0, raw_token_write=True, raw_logit_scale=30.0, token_offset=2,
                    broadcast_write=True)  # fmt: skip
    state = told(model, ids(1, 2, 33, 4))
    out = model(QUESTION, memory_state=state, read_memory=True, use_cache=True)
    plain = model(QUESTION).logits
    assert abs(float(out.logits[0, -1, 33] - plain[0, -1, 33]) - 30.0) < 1e-3
    assert torch.equal(out.logits[0, :-1], plain[0, :-1])
    later = model(ids(33), memory_state=state, read_memory=True, past_key_values=out.past_key_values)
    base = model(torch.cat([QUESTION, ids(33)], 1)).logits
    assert torch.allclose(later.logits[0, -1], base[0, -1], atol=1e-4)


def test_learned_memory_stores_no_raw_rows_unless_asked():
    assert wrapped().initial_memory().raw.numel() == 0


def test_a_memory_for_another_size_is_refused():
    base = base_model("llama")
    config = NeuralConfig.for_model(base_model("gpt2"), num_tokens=0)
    other = NeuralConfig(**{**config.__dict__, "hidden_size": 16})
    with pytest.raises(ModelError, match="another size"):
        NeuralMemoryModel(base, other)

"""Token states: what slots lack of a question, pointing at the next token, and how a state is written."""

from __future__ import annotations

import pytest
import torch
from neural_models import ids, wrapped
from torch.nn import functional as F

from chatmem.neural.decisions import last, pooled
from chatmem.neural.state import MemoryState
from chatmem.neural.writing import free_slot


def features(*rows: list[float]) -> torch.Tensor:
    return torch.tensor([rows])


def told(model, *lines, **options):
    if model.config.num_tokens and not options.pop("forgets", False):
        torch.nn.init.constant_(model.memory.forget.news.bias, -99.0)  # a random gate would clear slots at random
    state = model.initial_memory()
    for line in lines:
        state = model(ids(*line), memory_state=state, update_memory=True, force_write=True, **options).memory_state
    return state


def test_shares_of_tokens_reply_and_model_sum_to_one():
    model = wrapped(reply_tokens=(1, 2, 3))
    out = model(ids(5, 6, 7), memory_state=told(model, (1, 2, 3), (7, 8)), read_memory=True)
    reading = out.reading
    total = reading.tokens.sum((2, 3)) + reading.reply.sum(-1) + 1 - reading.gate
    assert torch.allclose(total, torch.ones_like(total), atol=1e-5)
    assert reading.tokens[:, :, 2:].abs().max().item() < 1e-6  # slots that hold nothing


def test_a_slot_costs_what_it_lacks_of_the_question_and_no_more():
    model = wrapped()
    relevance = model.memory.tokens.relevance
    x = torch.randn(1, 3, 96)
    query = F.normalize(relevance.query(x), dim=-1)
    has_all, has_two = query[0], torch.stack([query[0, 0], query[0, 1], -query[0, 2]])
    match, filled = torch.stack([has_all, has_two])[None], torch.ones(1, 2, 3, dtype=torch.bool)
    cost = relevance(x, torch.ones(1, 3, dtype=torch.bool), match, filled)[0, -1]
    assert abs(cost[0].item()) < 1e-4
    assert cost[1].item() > 0.1
    masked = relevance(x, torch.tensor([[True, True, False]]), match, filled)[0, -1]
    assert abs(masked[1].item()) < 1e-4  # a word that asks nothing costs nothing


def test_a_pointer_follows_the_words_before_it():
    model = wrapped(slot_dim=96, context_dim=16)
    tokens = model.memory.tokens
    with torch.no_grad():
        for weight in (tokens.point.weight, tokens.point.bias, tokens.reply.weight):
            weight.zero_()
        tokens.reply.bias.fill_(-50.0)
        tokens.near.copy_(torch.tensor([60.0, 30.0, 10.0]))
    state = told(model, (40, 41, 42, 43, 44))
    mask = torch.zeros(1, 4, dtype=torch.bool)
    shares = model(ids(9, 40, 41, 42), memory_state=state, read_memory=True, read_mask=mask).reading.tokens[0, :, 0]
    assert shares[1:].argmax(-1).tolist() == [1, 2, 3]  # after 40 comes 41, after 41 comes 42


def test_only_masked_words_become_token_states_and_no_more_than_fit():
    model = wrapped()
    mask = torch.tensor([[False, True, True, False]])
    out = model(ids(1, 2, 3, 4), update_memory=True, write_mask=mask, force_write=True, return_memory=True)
    assert out.memory_state.lengths[0, 0] == 2
    long = told(model, tuple(range(20)))
    assert long.lengths[0, 0] == 6 and long.tokens[0, 0].norm().item() > 0


def test_writes_take_an_empty_slot_first_and_then_the_oldest():
    model = wrapped()
    state = told(model, *((n, n + 1) for n in range(4)))
    assert state.written.tolist() == [[1, 2, 3, 4]]
    after = told(model, *((n, n + 1) for n in range(6)))
    kept = after.written[0].tolist()
    assert sorted(kept)[-2:] == [5, 6] and after.count.tolist() == [6]
    assert free_slot(state).tolist() == [0]


def test_a_forced_refusal_writes_nothing():
    model = wrapped()
    out = model(ids(1, 2), update_memory=True, force_write=False)
    assert not out.memory_state.used.any() and out.written.decision.item() == 0.0


def test_a_new_line_clears_the_slot_that_it_makes_void():
    model = wrapped()
    forget = model.memory.forget
    with torch.no_grad():
        forget.relevance.query.weight.copy_(model.memory.tokens.match.weight)
        forget.relevance.query.bias.copy_(model.memory.tokens.match.bias)
        forget.relevance.weight.bias.fill_(5.0)
        forget.news.weight.zero_()
    state = told(model, (1, 2, 3), forgets=True)
    same = model(ids(1, 2, 3), memory_state=state, update_memory=True, force_write=True).written
    other = model(ids(50, 51, 52), memory_state=state, update_memory=True, force_write=True).written
    assert same.forgotten[0, 0].item() > 0.5 and int(same.state.used.sum()) == 1
    assert other.forgotten[0, 0].item() < 0.5 and int(other.state.used.sum()) == 2


def test_a_margin_keeps_slots_that_a_decision_is_not_sure_of():
    even, careful = (wrapped(forget_margin=margin) for margin in (0.0, 2.0))
    careful.memory.load_state_dict(even.memory.state_dict())
    state = told(even, (1, 2, 3), forgets=True)
    shares = [
        model(ids(1, 2, 4), memory_state=state, update_memory=True).written.forgotten for model in (even, careful)
    ]
    difference = torch.logit(shares[0][0, 0]) - torch.logit(shares[1][0, 0])
    assert abs(difference.item() - 2.0) < 1e-3


@pytest.mark.parametrize("summary", ["last", "offset", "pooled", "several"])
def test_every_summary_reads_the_masked_words_alone(summary):
    writer = wrapped(summary=summary, token_offset=2).memory.writer
    x = torch.randn(1, 5, 96)
    mask = torch.tensor([[False, True, True, True, False]])
    changed = x.clone()
    changed[0, [0, 4]] += 3.0
    assert torch.allclose(writer.summary(x, mask), writer.summary(changed, mask))
    changed[0, 2] += 3.0  # the second from the end
    if summary != "last":
        assert not torch.allclose(writer.summary(x, mask), writer.summary(changed, mask))


def test_last_counts_from_the_end_of_the_mask():
    x = features([1.0], [2.0], [3.0], [4.0])
    mask = torch.tensor([[True, True, True, False]])
    assert [last(x, mask, offset).item() for offset in (1, 2, 3)] == [3.0, 2.0, 1.0]
    assert pooled(x, mask).item() == 2.0


def test_the_seeds_soft_write_keeps_old_content_by_its_shares():
    model = wrapped(num_tokens=0, layer_indices=(1,))
    old = torch.randn(1, 4, 48)
    x, mask = torch.randn(1, 3, 96), torch.ones(1, 3, dtype=torch.bool)
    candidate, share, forget = model.memory.writer.weights(x, mask, old)
    new, _ = model.memory.writer(x, mask, old, torch.ones(1))
    wanted = ((1 - share) * (1 - forget))[..., None] * old + share[..., None] * candidate[:, None]
    assert torch.allclose(new, wanted)
    nothing, _ = model.memory.writer(x, mask, old, torch.zeros(1))
    assert torch.equal(nothing, old)


def test_broadcast_writes_to_every_slot_alike():
    model = wrapped(num_tokens=0, layer_indices=(1,), broadcast_write=True)
    state = told(model, (1, 2, 3))
    assert torch.allclose(state.slots[0], state.slots[0, :1].expand(4, -1))


def test_the_forget_gate_of_the_seed_depends_on_the_old_content():
    writer = wrapped(num_tokens=0, layer_indices=(1,)).memory.writer
    x, mask = torch.randn(1, 3, 96), torch.ones(1, 3, dtype=torch.bool)
    one, two = (writer.weights(x, mask, torch.randn(1, 4, 48))[2] for _ in range(2))
    assert not torch.allclose(one, two)


def test_the_size_of_a_state_does_not_depend_on_what_was_written():
    model = wrapped()
    assert told(model, *((n, n + 1, n + 2) for n in range(12))).num_bytes == model.initial_memory().num_bytes


@pytest.mark.parametrize("writes", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_writes_leave_finite_numbers_no_larger_than_after_a_few(writes):
    model = wrapped()
    few, many = (told(model, *((n % 60, (n + 7) % 60, (n + 13) % 60) for n in range(count))) for count in (8, writes))
    assert all(torch.isfinite(value.float()).all() for value in many.tensors().values())
    assert isinstance(many, MemoryState) and many.count.tolist() == [writes]
    assert many.tokens.norm() < 1.5 * few.tokens.norm()


def test_of_two_slots_that_fit_alike_the_newer_wins_and_one_that_does_not_fit_changes_nothing():
    memory = wrapped().memory.tokens
    written = torch.tensor([[1, 2, 3]])
    alike = memory._outdated(torch.tensor([[[5.0, 4.8, -9.0]]]), written)[0, 0]
    assert alike.argmax() == 1 and alike[1] - alike[0] > 1.5
    apart = memory._outdated(torch.tensor([[[5.0, -4.0, -9.0]]]), written)[0, 0]
    assert abs(apart[0] - 5.0) < 1e-3

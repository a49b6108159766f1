"""One write: whether, which older slots it makes void, into which slot, and what the state is afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from chatmem.neural.modules import NeuralModules
from chatmem.neural.state import MemoryState


@dataclass(frozen=True)
class Written:
    """The state after a write and how it came: `decision` (B,) of writing, `forgotten` (B, S), `shares` (B, S)."""

    state: MemoryState
    decision: Tensor
    forgotten: Tensor
    shares: Tensor


def write(
    modules: NeuralModules,
    state: MemoryState,
    x: Tensor,
    embeddings: Tensor,
    mask: Tensor,
    force: bool | None = None,
    *,
    clear: bool = True,
) -> Written:
    """Write the words of x (B, T, F) where mask (B, T) is true.

    Args:
        modules: the trained parts.
        state: the states before.
        x: features of all tokens of the call.
        embeddings: their embeddings (B, T, H).
        mask: which of them are words to write.
        force: writes, or does not, whatever the decision says. Old slots are made void in either case.
        clear: whether slots that the words make void are cleared.
    """
    logit = modules.write(x, mask)
    decision = torch.sigmoid(logit) if force is None else torch.full_like(logit, float(force))
    if not modules.config.num_tokens:  # the seed's design
        slots, share = modules.writer(x, mask, state.slots, decision)
        count = state.count + (decision > 0.5)
        written = torch.where(share > 0, count[:, None], state.written)
        return Written(replace(state, slots=slots, written=written, count=count), decision, share * 0, share)
    void = forgets(modules, state, x, mask)
    left = state.cleared(void > 0.5) if clear else state
    slot = free_slot(left)
    told = torch.nn.functional.one_hot(slot, state.written.shape[1]).bool() & (decision > 0.5)[:, None]
    tokens, lengths = _token_states(modules, x, embeddings, mask)
    count = left.count + (decision > 0.5)
    after = replace(
        left,
        slots=torch.where(told[..., None], modules.writer.vector(x, mask)[:, None], left.slots),
        tokens=torch.where(told[..., None, None], tokens[:, None], left.tokens),
        lengths=torch.where(told, lengths[:, None], left.lengths),
        written=torch.where(told, count[:, None], left.written),
        count=count,
    )
    return Written(after, decision, void, told.to(x.dtype))


def forgets(modules: NeuralModules, state: MemoryState, x: Tensor, mask: Tensor) -> Tensor:
    """Return the probability (B, S) that each slot is void after the words of x."""
    filled = torch.arange(state.tokens.shape[2], device=x.device) < state.lengths[..., None]
    match = modules.tokens.parts(state.tokens).match
    logit = modules.forget(x, mask, match, filled) - modules.config.forget_margin
    return torch.sigmoid(logit) * state.used


def free_slot(state: MemoryState) -> Tensor:
    """Return the slot (B,) that a write goes to: an empty one, else the one written longest ago."""
    return state.written.argmin(1)


def _token_states(modules: NeuralModules, x: Tensor, embeddings: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the token states (B, J, D) of the first words, and how many there are (B,)."""
    most = modules.config.num_tokens
    states = modules.tokens.states(x, embeddings)
    lengths = mask.sum(1).clamp(max=most)
    order = (~mask).to(torch.uint8).argsort(dim=1, stable=True)[:, :most]  # positions of the mask first
    chosen = states.gather(1, order[..., None].expand(-1, -1, states.shape[-1]))
    chosen = torch.nn.functional.pad(chosen, (0, 0, 0, most - chosen.shape[1]))
    filled = torch.arange(most, device=x.device) < lengths[:, None]
    return chosen * filled[..., None], lengths

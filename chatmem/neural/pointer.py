"""Token states: a slot keeps a short sequence of vectors, one for each token told, and replies point at them.

A token state j has a match key m (what the token is about), a pointer key c and three context keys n (where it stands:
after which tokens), and a code v (which token it is). A query position t finds the slot by late interaction with the
question (Khattab and Zaharia, 2020) as an additive "noisy and": each important word of the question that a slot lacks
costs it. Within slots it points at the token that comes next (Vinyals et al., 2015), as an induction head does (Olsson
et al., 2022). Two choices compete with the token states in the same softmax: a small list of reply tokens ("I don't
know …"), and leaving the reply to the language model, whose share is 1 - gate (See et al., 2017). docs/neural.md has
the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem.neural.config import NeuralConfig
from chatmem.neural.state import MemoryState

_LOWEST = -1e4  # a score that no softmax chooses


class Parts(NamedTuple):
    """The parts of token states (..., D)."""

    match: Tensor
    pointer: Tensor
    context: Tensor
    code: Tensor


class Reading(NamedTuple):
    """What query positions choose. Shares sum to 1 with `gate`: over token states, over reply tokens, and 1 - gate."""

    tokens: Tensor  # (B, T, S, J)
    reply: Tensor  # (B, T, P)
    gate: Tensor  # (B, T)
    lacking: Tensor  # (B, T, S): cost of what each slot lacks of the question so far; goes on in the next call
    slots: Tensor  # (B, T, S): scores of the slots


class Relevance(nn.Module):
    """Which slots hold what some words are about: every important word that a slot lacks costs it."""

    def __init__(self, width: int, config: NeuralConfig) -> None:
        """Make the query side; the slots' keys are stored."""
        super().__init__()
        self.query = nn.Linear(width, config.match_dim)
        self.weight = nn.Linear(width, 1)
        nn.init.constant_(self.weight.bias, -1.0)

    def forward(self, x: Tensor, mask: Tensor, match: Tensor, filled: Tensor) -> Tensor:
        """Return the cost of what is lacking up to each position, (B, T, S).

        Args:
            x: features (B, T, F) of the words.
            mask: which of them count, (B, T).
            match: match keys (B, S, J, K) of the token states, of unit length.
            filled: which token states there are, (B, S, J).
        """
        query = F.normalize(self.query(x), dim=-1)
        same = torch.einsum("btk,bsjk->btsj", query, match)
        best = same.masked_fill(~filled[:, None], -1.0).amax(-1)
        weight = F.softplus(self.weight(x)) * mask[..., None]
        return (8.0 * weight * (1.0 - best)).cumsum(1)


class TokenMemory(nn.Module):
    """Makes token states of what is told, and reads them."""

    def __init__(self, config: NeuralConfig) -> None:
        """Make the projections; F = (1 + number of feature layers) x H."""
        super().__init__()
        self.config = config
        width = (1 + len(config.feature_layers)) * config.hidden_size
        self.match = nn.Linear(width, config.match_dim)
        self.place = nn.Linear(2 * width, config.pointer_dim)
        self.point = nn.Linear(width, config.pointer_dim)
        self.context = nn.Linear(config.hidden_size, config.context_dim, bias=False)
        self.near = nn.Parameter(torch.tensor([6.0, 3.0, 2.0]))  # weights of the tokens before
        self.code = nn.Linear(config.hidden_size, config.code_dim, bias=False)
        self.decode = nn.Linear(config.code_dim, config.hidden_size, bias=False)
        self.relevance = Relevance(width, config)
        self.ask = nn.Linear(width, 128)
        self.offer = nn.Linear(config.slot_dim, 128)
        self.reply = nn.Linear(width, len(config.reply_tokens) + 1)  # the last is leaving it to the language model
        hidden = nn.Linear(width + config.slot_dim, 128)
        self.begin = nn.Sequential(hidden, nn.GELU(), nn.Linear(128, len(config.reply_tokens) + 1))
        self.known = nn.Parameter(torch.zeros(len(config.reply_tokens) + 2))  # how these and the tokens depend on
        # whether any slot fits
        self.newest = nn.Parameter(torch.tensor(0.0))
        self.outdated = nn.Parameter(torch.tensor([2.0, 1.0]))  # what a newer slot that fits as well costs, and how
        # much worse it may fit

    def states(self, x: Tensor, embeddings: Tensor) -> Tensor:
        """Return the token state (B, T, D) of every position of x (B, T, F) with its embeddings (B, T, H)."""
        before = F.pad(x, (0, 0, 1, 0))[:, :-1]
        unit = F.rms_norm(embeddings.float(), embeddings.shape[-1:])
        near = self.contexts(embeddings)
        parts = [F.normalize(self.match(x), dim=-1), self.place(torch.cat([before, x], dim=-1))]
        parts += [F.pad(near, (0, 0, back, 0))[:, : near.shape[1]] for back in (1, 2, 3)]
        return torch.cat([*parts, self.code(unit)], dim=-1)

    def contexts(self, embeddings: Tensor) -> Tensor:
        """Return the context key (B, T, C) of every token by its embedding."""
        unit = F.rms_norm(embeddings.float(), embeddings.shape[-1:])
        return F.normalize(self.context(unit), dim=-1)

    def parts(self, states: Tensor) -> Parts:
        """Return the parts of token states (..., D)."""
        c = self.config
        sizes = [c.match_dim, c.pointer_dim, 3 * c.context_dim, c.code_dim]
        return Parts(*torch.split(states, sizes, dim=-1))

    def read(
        self, x: Tensor, near: Tensor, mask: Tensor, memory: MemoryState, lacking: Tensor | None = None
    ) -> Reading:
        """Choose at every position between token states, reply tokens and the language model.

        Args:
            x: features (B, T, F).
            near: context keys (B, T, 3, C) of each position's own token and the two before it.
            mask: which positions are words of the question, (B, T).
            memory: the states.
            lacking: (B, S), of the positions before these.
        """
        parts = self.parts(memory.tokens)
        length = memory.tokens.shape[2]
        filled = torch.arange(length, device=x.device) < memory.lengths[..., None]
        cost = self.relevance(x, mask, parts.match, filled)
        cost = cost if lacking is None else cost + lacking[:, None]
        order = memory.written.float() / memory.count.clamp(min=1)[:, None]  # the newest has 1
        about = torch.einsum("btk,bsk->bts", self.ask(x), self.offer(memory.slots)) / 128**0.5
        slot = about - cost + F.softplus(self.newest) * order[:, None]
        slot = self._outdated(slot.masked_fill(~memory.used[:, None], _LOWEST), memory.written)
        place = torch.einsum("btk,bsjk->btsj", self.point(x), parts.pointer) / self.config.pointer_dim**0.5
        context = parts.context.view(*parts.context.shape[:-1], 3, self.config.context_dim)
        place = place + torch.einsum("btok,bsjok,o->btsj", near, context, self.near)
        best = 10.0 * slot.amax(-1, keepdim=True).clamp(min=-20.0)
        among = slot.log_softmax(-1) + self.known[-1] * best
        scores = (among[..., None] + place).masked_fill(~filled[:, None], _LOWEST)
        vector = slot.softmax(-1) @ memory.slots  # what the slots found hold, as the seed reads it
        others = self.reply(x) + self.begin(torch.cat([x, vector], dim=-1)) + self.known[:-1] * best
        shares = torch.cat([scores.flatten(2), others], dim=-1).softmax(-1)
        size = scores.shape[2] * scores.shape[3]
        split = torch.split(shares, [size, others.shape[-1] - 1, 1], dim=-1)
        return Reading(split[0].view_as(scores), split[1], 1 - split[2][..., 0], cost, slot)

    def _outdated(self, slot: Tensor, written: Tensor) -> Tensor:
        """Return scores (B, T, S), lowered where a slot written (B, S) later fits as well: the newest of two holds."""
        newer = written[:, None, :] > written[:, :, None]
        rival = slot[:, :, None, :].masked_fill(~newer[:, None], 2 * _LOWEST).amax(-1)
        cost, margin = self.outdated
        return slot - F.softplus(cost) * torch.sigmoid(4.0 * (rival - slot + margin))

    def readout(self, reading: Reading, memory: MemoryState, reply_codes: Tensor) -> Tensor:
        """Return what is read as an output vector (B, T, H), to be multiplied with the unembedding.

        Args:
            reading: the shares.
            memory: the states they are of.
            reply_codes: codes (P, C) of the reply tokens.
        """
        code = self.parts(memory.tokens).code
        read = torch.einsum("btsj,bsjc->btc", reading.tokens, code) + reading.reply @ reply_codes
        out: Tensor = self.decode(read / reading.gate.clamp(min=1e-6)[..., None])
        return out

"""The seed's mechanism: slots of one vector each, read by attention and written softly."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem.neural.config import NeuralConfig
from chatmem.neural.decisions import last


class SlotReading(NamedTuple):
    """What one layer read: the readout r (B, T, D), its change of the hidden state (B, T, H), and the shares."""

    readout: Tensor
    delta: Tensor
    shares: Tensor  # (B, T, S)
    gate: Tensor  # (B, T)


class SlotReader(nn.Module):
    """Reads slots after one layer.

    q = W_q h, k = W_k M, v = W_v M, Δh = read_scale · sigmoid(w h) · W_r softmax(q k / √D) v.
    """

    def __init__(self, config: NeuralConfig) -> None:
        """Make the projections; the gate starts nearly closed."""
        super().__init__()
        hidden, self._scale = config.hidden_size, config.read_scale
        self.query = nn.Linear(hidden, config.slot_dim, bias=False)
        self.key = nn.Linear(config.slot_dim, config.slot_dim, bias=False)
        self.value = nn.Linear(config.slot_dim, config.slot_dim, bias=False)
        self.out = nn.Linear(config.slot_dim, hidden, bias=False)
        self.gate = nn.Linear(hidden, 1)
        nn.init.zeros_(self.gate.weight)
        nn.init.constant_(self.gate.bias, -4.0)
        self.blend = nn.Parameter(torch.logit(torch.tensor(config.blend_init)))

    def forward(self, hidden: Tensor, slots: Tensor, used: Tensor) -> SlotReading:
        """Read for hidden states (B, T, H) from slots (B, S, D); unused ones (B, S) have no share."""
        unit = F.rms_norm(hidden.float(), hidden.shape[-1:])
        score = self.query(unit) @ self.key(slots).transpose(1, 2) / slots.shape[-1] ** 0.5
        shares = score.masked_fill(~used[:, None], -1e4).softmax(-1) * used.any(1)[:, None, None]
        readout = shares @ self.value(slots)
        gate = torch.sigmoid(self.gate(unit))[..., 0]
        return SlotReading(readout, self._scale * gate[..., None] * self.out(readout), shares, gate)

    def fuse(self, before: Tensor, after: Tensor, delta: Tensor, fusion: str) -> Tensor:
        """Return the hidden state after a layer that made `after` of `before`, all (B, T, H)."""
        delta = delta.to(after.dtype)
        if fusion == "residual":
            return after + delta
        if fusion == "replace":
            return delta
        share = torch.sigmoid(self.blend).to(after.dtype)
        return before + (1 - share) * (after - before) + share * delta


class SlotWriter(nn.Module):
    """Makes of what is told a candidate vector, an address over the slots, and a strength."""

    def __init__(self, width: int, config: NeuralConfig) -> None:
        """Make the projections from features of width F."""
        super().__init__()
        self.config = config
        several = config.num_summaries if config.summary == "several" else 1
        self.pool = nn.Linear(width, several)
        self.candidate = nn.Linear(several * width, config.slot_dim)
        self.address = nn.Linear(several * width, config.num_slots)
        self.strength = nn.Linear(several * width, 1)
        self.forget_new = nn.Linear(several * width, 1)
        self.forget_old = nn.Bilinear(64, 64, 1)
        self.look_new, self.look_old = nn.Linear(several * width, 64), nn.Linear(config.slot_dim, 64)
        nn.init.constant_(self.strength.bias, 2.0)
        nn.init.constant_(self.forget_new.bias, -2.0)

    def summary(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the summary (B, several · F) of features (B, T, F) where mask (B, T) is true."""
        kind = self.config.summary
        if kind in ("last", "offset"):
            return last(x, mask, self.config.token_offset if kind == "offset" else 1)
        share = self.pool(x).masked_fill(~mask[..., None], -1e4).softmax(1)
        return torch.einsum("btn,btf->bnf", share, x).flatten(1)

    def vector(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the candidate (B, D)."""
        out: Tensor = self.candidate(self.summary(x, mask))
        return out

    def weights(self, x: Tensor, mask: Tensor, slots: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return candidate (B, D), share z · a of each slot (B, S), and what of the old is forgotten (B, S)."""
        about = self.summary(x, mask)
        address = self.address(about).softmax(-1)
        if self.config.broadcast_write:
            address = torch.ones_like(address)
        share = torch.sigmoid(self.strength(about)) * address
        new = self.look_new(about)[:, None].expand(-1, slots.shape[1], -1).contiguous()
        gate = self.forget_new(about) + self.forget_old(new, self.look_old(slots))[..., 0]
        return self.candidate(about), share, torch.sigmoid(gate)

    def forward(self, x: Tensor, mask: Tensor, slots: Tensor, decision: Tensor) -> tuple[Tensor, Tensor]:
        """Return the slots after a soft write and the shares written; `decision` (B,) in [0, 1] scales the write.

        m_i becomes (1 - z a_i) (1 - f_i) m_i + z a_i p, with f_i the forget gate.
        """
        candidate, share, forget = self.weights(x, mask, slots)
        share, forget = share * decision[:, None], forget * decision[:, None]
        kept = (1 - share) * (1 - forget)
        return kept[..., None] * slots + share[..., None] * candidate[:, None], share

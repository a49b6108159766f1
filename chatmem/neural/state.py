"""The memory state: what a model has been told, as vectors of a fixed size, apart from its context and its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from chatmem.interface import ModelError
from chatmem.neural.config import NeuralConfig


@dataclass(frozen=True)
class MemoryState:
    """B states. An empty slot has `written` 0; T and H are 0 where a configuration does without them.

    slots (B, S, D): the vector of each slot, the seed's M. tokens (B, S, T, D): its token states. lengths (B, S): how
    many of them hold something. written (B, S): the number of the write that filled it. count (B,): writes so far.
    raw (B, S, H): rows of the output matrix, for the raw token pointer only.
    """

    slots: Tensor
    tokens: Tensor
    lengths: Tensor
    written: Tensor
    count: Tensor
    raw: Tensor

    @classmethod
    def empty(cls, config: NeuralConfig, batch: int = 1, device: torch.device | str = "cpu") -> MemoryState:
        """Return states in which nothing was written."""
        size, numbers = (batch, config.num_slots), {"dtype": torch.long, "device": device}
        raw = config.hidden_size if config.raw_token_write else 0
        return cls(
            slots=torch.zeros(*size, config.slot_dim, device=device),
            tokens=torch.zeros(*size, config.num_tokens, config.slot_dim, device=device),
            lengths=torch.zeros(size, **numbers),  # type: ignore[call-overload]
            written=torch.zeros(size, **numbers),  # type: ignore[call-overload]
            count=torch.zeros(batch, **numbers),  # type: ignore[call-overload]
            raw=torch.zeros(*size, raw, device=device),
        )

    @property
    def used(self) -> Tensor:
        """Which slots hold something, (B, S)."""
        return self.written > 0

    @property
    def num_bytes(self) -> int:
        """Bytes of all tensors; the same however much was written."""
        return sum(value.numel() * value.element_size() for value in self.tensors().values())

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def to(self, device: torch.device | str) -> MemoryState:
        """Return the states on a device."""
        return MemoryState(**{name: value.to(device) for name, value in self.tensors().items()})

    def cleared(self, which: Tensor) -> MemoryState:
        """Return the states without some slots: `which` (B, S) is true where nothing is to be left."""
        kept = ~which
        return replace(
            self,
            slots=self.slots * kept[..., None],
            tokens=self.tokens * kept[..., None, None],
            lengths=self.lengths * kept,
            written=self.written * kept,
            raw=self.raw * kept[..., None],
        )

    def only(self, slots: Sequence[int]) -> MemoryState:
        """Return the states with some slots alone, in this order: as if nothing else had been written.

        A write depends on no other slot, so that this is bit for bit what writing those lines anew would give.
        """
        fresh = MemoryState(**{name: torch.zeros_like(value) for name, value in self.tensors().items()})
        at, size = list(slots), len(slots)
        for name in ("slots", "tokens", "lengths", "raw"):
            getattr(fresh, name)[:, :size] = getattr(self, name)[:, at]
        fresh.written[:, :size] = torch.arange(1, size + 1, device=fresh.written.device)
        fresh.count.fill_(size)
        return fresh

    def reset(self, rows: Tensor) -> MemoryState:
        """Return the states with those of some rows emptied, their counts too: `rows` (B,) is true for them."""
        cleared = self.cleared(rows[:, None].expand_as(self.written))
        return replace(cleared, count=self.count * ~rows)

    def checked(self, config: NeuralConfig) -> MemoryState:
        """Return the states if they fit a configuration.

        Raises:
            ModelError: a shape or type is another, or a number is no number.
        """
        batch = self.slots.shape[0] if self.slots.ndim == 3 else 1
        for name, wanted in MemoryState.empty(config, batch).tensors().items():
            found = self.tensors()[name]
            if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
                kinds = [f"{tuple(one.shape)} of {one.dtype}" for one in (found, wanted)]
                raise ModelError(f"this memory does not fit the model: {name} is {kinds[0]}, not {kinds[1]}")
            if not torch.isfinite(found).all():
                raise ModelError(f"this memory is damaged: {name} holds numbers that are none")
        return self

"""One call of a model with memory: hidden states are gathered in its layers, and its output vectors are changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from chatmem.neural.pointer import Reading
from chatmem.neural.slots import SlotReading
from chatmem.neural.state import MemoryState

if TYPE_CHECKING:
    from chatmem.neural.model import NeuralMemoryModel


@dataclass
class Trace:
    """What goes on from one call of a generation to the next: it is kept on the base model's cache."""

    lacking: Tensor  # (B, S)
    near: Tensor  # (B, 2, C): context keys of the last two tokens


class Run:
    """One call: gathers hidden states in the layers, and changes what the last one gives to the unembedding."""

    def __init__(self, model: NeuralMemoryModel, state: MemoryState, ids: Tensor, read: bool, mask: Tensor) -> None:
        self.model, self.state, self.read, self.mask = model, state, read, mask
        self.embeddings = model.base.get_input_embeddings()(ids)
        self.hidden: dict[int, Tensor] = {}
        self.slot_readings: dict[int, SlotReading] = {}
        self.reading: Reading | None = None
        self.trace: Trace | None = None
        self.is_first = True

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Put the hooks on, and take them off whatever happens."""
        config, layers = self.model.config, self.model.layers
        hooks = [layers[at].register_forward_pre_hook(self._keep(at), with_kwargs=True) for at in config.feature_layers]
        if self.read:
            hooks += [layers[at].register_forward_hook(self._fuse(at), with_kwargs=True) for at in config.layer_indices]
            head = self.model.base.get_output_embeddings()
            hooks.append(head.register_forward_pre_hook(self._before_head))
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def features(self) -> Tensor:
        """Return the features (B, T, F) of the call's tokens; without feature layers the embeddings twice."""
        layers = self.model.config.feature_layers
        states = [self.hidden[at] for at in layers] or [self.embeddings]
        return self.model.memory.features(self.embeddings, torch.stack(states, dim=2))

    def _keep(self, at: int) -> Any:
        def hook(_: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Any]) -> None:
            self.hidden[at] = args[0] if args else kwargs["hidden_states"]

        return hook

    def _fuse(self, at: int) -> Any:
        def hook(_: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Any], output: Any) -> Any:
            after = output[0] if isinstance(output, tuple) else output
            before = args[0] if args else kwargs["hidden_states"]
            reader: Any = self.model.memory.readers[str(at)]
            found: SlotReading = reader(after, self.state.slots, self.state.used)
            self.slot_readings[at] = found
            fused = reader.fuse(before, after, found.delta, self.model.config.fusion)
            return (fused, *output[1:]) if isinstance(output, tuple) else fused

        return hook

    def _before_head(self, _: nn.Module, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Change the output vectors (B, T', H), the last T' of the call's positions."""
        out, config = args[0], self.model.config
        count = out.shape[1]
        if config.direct_logit_scale and self.slot_readings:
            readout = list(self.slot_readings.values())[-1].readout[:, -count:]
            out = out + (config.direct_logit_scale * self.model.memory.direct(readout)).to(out.dtype)
        if config.raw_token_write and self.is_first:
            newest = self.state.written.argmax(1)
            row = self.state.raw[torch.arange(len(newest)), newest]
            row = row / row.square().sum(-1, keepdim=True).clamp(min=1e-9)
            out = torch.cat([out[:, :-1], out[:, -1:] + (config.raw_logit_scale * row[:, None]).to(out.dtype)], dim=1)
        if config.num_tokens and bool(self.state.used.any() | (config.reply_tokens != ())):
            out = self._point(out, count)
        return (out, *args[1:])

    def _point(self, out: Tensor, count: int) -> Tensor:
        """Blend what the token states give into output vectors."""
        memory, config = self.model.memory.tokens, self.model.config
        x = self.features()
        own = memory.contexts(self.embeddings)
        past = self.trace.near if self.trace is not None else own.new_zeros(len(own), 2, own.shape[-1])
        line = torch.cat([past, own], dim=1)
        near = torch.stack([line[:, 2 - back : line.shape[1] - back] for back in range(3)], dim=2)
        lacking = self.trace.lacking if self.trace is not None else None
        mask = self.mask if self.is_first else torch.zeros_like(self.mask)
        reading = memory.read(x, near, mask, self.state, lacking)
        self.trace = Trace(reading.lacking[:, -1], line[:, -2:])
        self.reading = reading
        kept = Reading(*(part[:, -count:] for part in reading))
        read = config.readout_scale * memory.readout(kept, self.state, self.model.reply_codes())
        gate = torch.sigmoid(config.gate_sharpness * torch.logit(kept.gate.clamp(1e-6, 1 - 1e-6)))[..., None]
        return ((1 - gate) * out.float() + gate * read).to(out.dtype)

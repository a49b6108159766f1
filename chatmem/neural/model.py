"""A frozen causal model with a memory: it reads a state between its layers, and writes one.

`NeuralMemoryModel` puts hooks on the layers of any decoder of the library transformers whose decoder layers are a list
(GPT-2, Llama, Qwen2 and those built like them). The base weights are never touched; with memory off no hook does
anything, and the logits are bit for bit the base model's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem.interface import ModelError
from chatmem.neural import saving
from chatmem.neural.config import NeuralConfig
from chatmem.neural.modules import NeuralModules
from chatmem.neural.pointer import Reading
from chatmem.neural.run import Run
from chatmem.neural.slots import SlotReading
from chatmem.neural.state import MemoryState
from chatmem.neural.writing import Written, write


@dataclass(frozen=True)
class NeuralOutput:
    """Logits (B, T, V), the state after the call, the base model's cache, and what was read and written."""

    logits: Tensor
    memory_state: MemoryState | None = None
    past_key_values: Any = None
    loss: Tensor | None = None
    reading: Reading | None = None
    slot_readings: dict[int, SlotReading] | None = None
    written: Written | None = None


class NeuralMemoryModel(nn.Module):
    """A causal model with a memory state that is passed in and returned."""

    def __init__(self, base: Any, config: NeuralConfig | None = None, modules: NeuralModules | None = None) -> None:
        """Wrap a model; its weights are frozen. `modules` are trained ones, else new ones are made of `config`.

        Raises:
            ModelError: they are for a model of another size.
        """
        super().__init__()
        if modules is None:
            modules = NeuralModules(config or NeuralConfig.for_model(base))
        self.base, self.config = base, modules.config
        self.layers = _layers(base)
        wanted = (base.get_output_embeddings().weight.shape[0], base.config.hidden_size, len(self.layers))
        if wanted != (self.config.vocab_size, self.config.hidden_size, self.config.num_layers):
            raise ModelError("this memory is for a language model of another size")
        for weight in base.parameters():
            weight.requires_grad_(False)
        self.memory: NeuralModules = modules.to(base.device)
        self.fingerprint = saving.fingerprint(base)
        self.state: MemoryState | None = None  # what a combined checkpoint brings along
        self._reply_codes: Tensor | None = None

    def initial_memory(self, batch: int = 1) -> MemoryState:
        """Return empty states."""
        return MemoryState.empty(self.config, batch, self.base.device)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        memory_state: MemoryState | None = None,
        *,
        read_memory: bool = False,
        update_memory: bool = False,
        return_memory: bool = False,
        read_mask: Tensor | None = None,
        write_mask: Tensor | None = None,
        force_write: bool | None = None,
        clear_void: bool = True,
        labels: Tensor | None = None,
        past_key_values: Any = None,
        use_cache: bool = False,
        logits_to_keep: int = 0,
    ) -> NeuralOutput:
        """Run the model.

        Args:
            input_ids: (B, T).
            attention_mask: (B, T), 1 for what is no padding; with a cache, of all positions so far.
            memory_state: what is read and written; none is the state of a combined checkpoint, else an empty one.
            read_memory: let what is in the state change the logits.
            update_memory: write what the words of `write_mask` say.
            return_memory: return the state, also where it did not change.
            read_mask: which words ask, (B, T); all that is no padding where none is given.
            write_mask: which words are written, (B, T); all that is no padding where none is given.
            force_write: write or do not write whatever the write decision says.
            clear_void: clear the slots that the forget decision finds void after a write.
            labels: (B, T), -100 where there is no target; gives `loss`.
            past_key_values: cache of an earlier call, which continues with the same memory.
            use_cache: return a cache.
            logits_to_keep: only the logits of the last positions; 0 for all.
        """
        state = memory_state if memory_state is not None else self.state
        state = self.initial_memory(len(input_ids)) if state is None else state.to(input_ids.device)
        state = self._reset(state, input_ids)
        attended = _attended(input_ids, attention_mask)
        options = {"attention_mask": attention_mask, "cache": past_key_values, "use_cache": use_cache}
        options |= {"logits_to_keep": logits_to_keep} if logits_to_keep else {}
        if not (read_memory or update_memory):
            output = self.base(input_ids, **options)
            return self._output(output, labels, state if return_memory else None)
        run = Run(self, state, input_ids, read_memory, attended if read_mask is None else read_mask.bool())
        run.trace = getattr(past_key_values, "memory_trace", None)
        run.is_first = past_key_values is None or not past_key_values.get_seq_length()
        with run.hooked():
            output = self.base(input_ids, **options)
        if use_cache and run.trace is not None:
            output.past_key_values.memory_trace = run.trace
        written = None
        if update_memory:
            mask = attended if write_mask is None else write_mask.bool()
            written = write(self.memory, state, run.features(), run.embeddings, mask, force_write, clear=clear_void)
            if self.config.raw_token_write:
                written = self._raw_write(written, input_ids, mask)
            state = written.state
        result = self._output(output, labels, state if return_memory or update_memory else None)
        return replace(result, reading=run.reading, slot_readings=run.slot_readings, written=written)

    def _output(self, output: Any, labels: Tensor | None, state: MemoryState | None) -> NeuralOutput:
        loss = None
        if labels is not None:
            loss = F.cross_entropy(output.logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return NeuralOutput(output.logits, state, output.past_key_values, loss)

    def _reset(self, state: MemoryState, ids: Tensor) -> MemoryState:
        """Empty the states of the rows whose input holds the reset token."""
        rows = (ids == self.config.reset_token).any(1)
        return state.reset(rows) if self.config.reset_token >= 0 and bool(rows.any()) else state

    def _raw_write(self, written: Written, ids: Tensor, mask: Tensor) -> Written:
        """Keep the output row of the token at `token_offset` from the end of the mask: the raw pointer ablation."""
        place = torch.arange(ids.shape[1], device=ids.device).expand_as(ids).masked_fill(~mask, -1)
        at = place.sort(1, descending=True).values[:, self.config.token_offset - 1].clamp(min=0)
        rows = self.base.get_output_embeddings().weight[ids.gather(1, at[:, None])[:, 0]].float()
        share = torch.ones_like(written.shares) if self.config.broadcast_write else written.shares
        share = (share >= share.amax(1, keepdim=True)) & (written.decision > 0.5)[:, None]
        raw = torch.where(share[..., None], rows[:, None], written.state.raw)
        return replace(written, state=replace(written.state, raw=raw))

    def reply_codes(self) -> Tensor:
        """Return the codes (P, C) of the reply tokens."""
        if self._reply_codes is None or self._reply_codes.device != self.base.device or self.training:
            rows = self.base.get_input_embeddings().weight[list(self.config.reply_tokens)].float()
            self._reply_codes = self.memory.tokens.code(F.rms_norm(rows, rows.shape[-1:]))
        return self._reply_codes

    # Files: thin names for chatmem.neural.saving

    def save_runtime_memory(self, path: Path, state: MemoryState) -> None:
        """Write a state and nothing else."""
        saving.save_state(Path(path), state, self.config, self.fingerprint)

    def load_runtime_memory(self, path: Path) -> MemoryState:
        """Return a state that was written for this model; ModelError where it was for another."""
        return saving.load_state(Path(path), self.config, self.fingerprint).to(self.base.device)

    def save_persistent_memory_checkpoint(self, folder: Path, state: MemoryState) -> None:
        """Write the trained modules and one user's state into one folder."""
        saving.save_adapter(Path(folder), self.memory, self.fingerprint)
        self.save_runtime_memory(Path(folder) / saving.PERSISTENT, state)

    @classmethod
    def from_adapter(cls, base: Any, folder: Path, **choices: Any) -> NeuralMemoryModel:
        """Wrap a model with trained modules, and with the state that lies beside them, if any."""
        model = cls(base, modules=saving.load_adapter(Path(folder), saving.fingerprint(base), **choices))
        if (Path(folder) / saving.PERSISTENT).exists():
            model.state = model.load_runtime_memory(Path(folder) / saving.PERSISTENT)
        return model


def _layers(base: Any) -> nn.ModuleList:
    """Return the decoder layers of a causal model.

    Raises:
        ModelError: there is no list of as many modules as the model has layers.
    """
    for module in base.base_model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == base.config.num_hidden_layers:
            return module
    raise ModelError(f"memory cannot be put into a model of the kind {base.config.model_type}")


def _attended(ids: Tensor, mask: Tensor | None) -> Tensor:
    """Return which of the call's positions are no padding, (B, T)."""
    return torch.ones_like(ids, dtype=torch.bool) if mask is None else mask[:, -ids.shape[1] :].bool()

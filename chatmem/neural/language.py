"""The bundled language model with its memory, as the chat knows language models: only the state brings the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from chatmem.interface import ModelError
from chatmem.language_model import Message, Sampling, TransformersModel
from chatmem.neural import merging
from chatmem.neural.inspection import slot_shares
from chatmem.neural.model import NeuralMemoryModel
from chatmem.neural.state import MemoryState
from chatmem.neural.text import frame, within

ADAPTER = Path(__file__).parents[1] / "weights" / "neural"
CHAT_SLOTS = 64  # of the chat's state; the trained parts work with any number


class NeuralLanguageModel(TransformersModel):
    """A model that reads `state` while it replies; its prompt is the user's line alone."""

    has_memory = True

    def __init__(self, model: NeuralMemoryModel, tokenizer: Any, name: str = "") -> None:
        """Wrap a model with a memory."""
        super().__init__(model.base, tokenizer, name)
        self.model = model
        self.state: MemoryState = model.initial_memory()
        self.reads = torch.zeros(0)  # the largest share that each slot had in the last reply
        self._mask: torch.Tensor | None = None

    @classmethod
    def load(cls, name: str, device: str = "auto") -> NeuralLanguageModel:
        """Load a model and the trained memory for it; a merged folder brings its own trained parts.

        Raises:
            ModelError: the model cannot be had, or no memory was trained for it.
        """
        plain = TransformersModel.load(name, device)
        _switch_off(plain)
        try:
            if merging.is_merged(Path(name)):
                model = merging.load_merged(Path(name), plain._model)
            else:
                model = NeuralMemoryModel.from_adapter(plain._model, ADAPTER, num_slots=CHAT_SLOTS)
        except ModelError as error:
            raise ModelError(f"--memory neural: no memory was trained for the model {name} ({error})") from error
        return cls(model, plain.tokenizer, name)

    def render(self, messages: Sequence[Message]) -> str:
        """Return the prompt of the last user message alone: nothing of the past is in it."""
        last = [message for message in messages if message["role"] == "user"][-1:]
        return super().render(last) if self.has_chat_template else f"User: {last[0]['content']}\nAssistant:"

    def _tokens(
        self,
        prompt: str,
        sampling: Sampling,
        *,
        reader: bool = False,  # noqa: ARG002 - there are no lines to read
        copied: str = "",  # noqa: ARG002
        avoided: str = "",  # noqa: ARG002
    ) -> Iterator[int]:
        """Yield the tokens of the continuation; the words that ask are those of the user's line."""
        self._mask = self._asking(prompt)
        self.reads = torch.zeros(self.state.written.shape[1])
        return super()._tokens(prompt, sampling)

    def _asking(self, prompt: str) -> torch.Tensor:
        """Return which tokens of a prompt are the user's words, (1, T)."""
        before, after = frame(self.tokenizer)
        return within(self.tokenizer, prompt, before, len(prompt) - after).mask

    def _step(self, inputs: dict[str, Any]) -> Any:
        """Run the model with its memory on the next tokens."""
        first = inputs["cache"] is None
        mask = self._mask.to(inputs["input_ids"].device) if first and self._mask is not None else None
        output = self.model(
            inputs["input_ids"],
            memory_state=self.state,
            read_memory=True,
            read_mask=mask,
            past_key_values=inputs["cache"],
            use_cache=True,
            logits_to_keep=1,
        )
        self.reads = torch.maximum(self.reads, slot_shares(output)[0].to("cpu"))
        return output


def _switch_off(plain: TransformersModel) -> None:
    """The reader's adapter stays off: it is for prompts with memory lines."""
    if plain._reader is not None:
        plain._reader.on = False

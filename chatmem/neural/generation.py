"""Writing messages into a state and answering from it: what scripts, checks and the chat share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from chatmem.language_model import Message
from chatmem.neural.model import NeuralMemoryModel, NeuralOutput
from chatmem.neural.state import MemoryState
from chatmem.neural.text import tokens


@torch.inference_mode()
def tell(
    model: NeuralMemoryModel,
    tokenizer: Any,
    text: str,
    state: MemoryState | None,
    *,
    force: bool | None = None,
    clear: bool = True,
) -> NeuralOutput:
    """Write one line into a state, without reading it; the output holds the new state and how it was written.

    `force` writes whatever the write decision says; without `clear` the forget decision changes nothing.
    """
    read = tokens(tokenizer, [{"role": "user", "content": text}])
    ids, mask = read.ids.to(model.base.device), read.mask.to(model.base.device)
    options = {"update_memory": True, "write_mask": mask, "force_write": force, "clear_void": clear}
    output: NeuralOutput = model(ids, memory_state=state, logits_to_keep=1, **options)
    return output


def reply_steps(
    model: NeuralMemoryModel,
    tokenizer: Any,
    messages: Sequence[Message],
    state: MemoryState | None,
    max_new_tokens: int = 32,
    *,
    read_memory: bool = True,
) -> Iterator[tuple[int, NeuralOutput]]:
    """Yield the likeliest tokens of a reply, without the end, each with the call that it came of."""
    read = tokens(tokenizer, messages)
    ids, cache = read.ids.to(model.base.device), None
    mask: Tensor | None = read.mask.to(model.base.device)
    options: dict[str, Any] = {"memory_state": state, "read_memory": read_memory, "use_cache": True}
    for _ in range(max_new_tokens):
        with torch.inference_mode():
            out: NeuralOutput = model(ids, read_mask=mask, past_key_values=cache, logits_to_keep=1, **options)
        token = int(out.logits[0, -1].argmax())
        if token == tokenizer.eos_token_id:
            return
        yield token, out
        ids, mask, cache = torch.tensor([[token]], device=ids.device), None, out.past_key_values


def reply(
    model: NeuralMemoryModel,
    tokenizer: Any,
    question: str,
    state: MemoryState | None,
    max_new_tokens: int = 32,
    *,
    read_memory: bool = True,
) -> str:
    """Return the likeliest reply to a question, given only the question and the state."""
    messages: list[Message] = [{"role": "user", "content": question}]
    steps = reply_steps(model, tokenizer, messages, state, max_new_tokens, read_memory=read_memory)
    text: str = tokenizer.decode([token for token, _ in steps], skip_special_tokens=True)
    return text.strip()

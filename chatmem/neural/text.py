"""Messages as token ids, and which of them are the user's own words: those are written and asked with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chatmem.language_model import Message


@dataclass(frozen=True)
class Tokens:
    """A conversation as token ids (1, T); `mask` (1, T) is true on the words of the last user message."""

    ids: Tensor
    mask: Tensor


def tokens(tokenizer: Any, messages: Sequence[Message], *, reply: bool = True) -> Tokens:
    """Return a conversation, ready for the reply, or without its beginning where `reply` is false.

    The last user message is found by rendering the template around a mark that no text has.
    """
    last = max(at for at, message in enumerate(messages) if message["role"] == "user")
    marked = [{**m, "content": _MARK} if at == last else m for at, m in enumerate(messages)]
    before, after = _render(tokenizer, marked, reply=reply).split(_MARK)
    text = str(messages[last]["content"]).strip()
    return within(tokenizer, before + text + after, len(before), len(before) + len(text))


def within(tokenizer: Any, text: str, first: int, end: int) -> Tokens:
    """Return a text as tokens, with those in the mask that have characters from `first` up to `end`."""
    read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    mask = [begin < end and stop > first for begin, stop in read.offset_mapping]
    return Tokens(torch.tensor([read.input_ids]), torch.tensor([mask]))


def frame(tokenizer: Any) -> tuple[int, int]:
    """Return how many characters of a prompt stand before and after the user's line."""
    before, after = _render(tokenizer, [{"role": "user", "content": _MARK}], reply=True).split(_MARK)
    return len(before), len(after)


_MARK = "\ue000"  # of Unicode's private use


def _render(tokenizer: Any, messages: Sequence[Message], *, reply: bool) -> str:
    """Return the text of a conversation in the model's template; without one as a plain dialogue."""
    if getattr(tokenizer, "chat_template", None):
        text: str = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=reply)
        return text
    roles = {"system": "", "user": "User: ", "assistant": "Assistant: "}
    lines = [f"{roles[message['role']]}{message['content']}\n" for message in messages]
    return "".join(lines) + ("Assistant:" if reply else "")

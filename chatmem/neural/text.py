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
    parts = [_ids(tokenizer, part) for part in (before, text, after)]
    mask = [place == 1 for place, part in enumerate(parts) for _ in part]
    return Tokens(torch.tensor([sum(parts, [])]), torch.tensor([mask]))


_MARK = "\ue000"  # of Unicode's private use


def _ids(tokenizer: Any, text: str) -> list[int]:
    ids: list[int] = tokenizer(text, add_special_tokens=False, verbose=False).input_ids
    return ids


def _render(tokenizer: Any, messages: Sequence[Message], *, reply: bool) -> str:
    """Return the text of a conversation in the model's template; without one as a plain dialogue."""
    if getattr(tokenizer, "chat_template", None):
        text: str = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=reply)
        return text
    roles = {"system": "", "user": "User: ", "assistant": "Assistant: "}
    lines = [f"{roles[message['role']]}{message['content']}\n" for message in messages]
    return "".join(lines) + ("Assistant:" if reply else "")

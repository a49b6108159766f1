"""Packing: one sequence that reads a prompt's beginning once and has many branches after it.

A group's branches share the system message, the history and the notes. Each branch attends to that prefix and to
itself, and its positions go on where the prefix ends, so its logits are those of the plain sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chatmem.prompt import reader_messages
from training.reader_data import Case, Group

END = "<|im_end|>"


@dataclass(frozen=True)
class Packed:
    """A packed group: token ids (T), positions (T), branch numbers (T; -1 is the prefix), answer weights (T).

    A weight above 0 stands at a token that is to be learned; its logits come from the token before it in its branch,
    whose place is in `before` (T).
    """

    ids: Tensor
    positions: Tensor
    branches: Tensor
    weights: Tensor
    before: Tensor


def sequence(tokenizer: Any, group: Group, case: Case) -> tuple[list[int], list[int]]:
    """Return the token ids of a case's prompt and of its answer."""
    history = [{"role": role, "content": text} for role, text in _turns(group)]
    messages = reader_messages(group.lines, case.said, history)
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    whole = case.kind != "ordinary" or case.answer.endswith((".", "!", "?", ":", '"', ")"))  # else it was cut
    answer = case.answer + (END if whole else "")
    return tuple(tokenizer(text, add_special_tokens=False).input_ids for text in (prompt, answer))  # type: ignore[return-value]


def _turns(group: Group) -> list[tuple[str, str]]:
    """Return the history as (role, text)."""
    return [turn for said, reply in group.history for turn in (("user", said), ("assistant", reply))]


def pack(pairs: Sequence[tuple[list[int], list[int]]]) -> Packed:
    """Pack the prompts and answers of one group; answers weigh by the root of their length."""
    shared = _shared([prompt for prompt, _ in pairs])
    ids, positions, branches = list(pairs[0][0][:shared]), list(range(shared)), [-1] * shared
    weights, before = [0.0] * shared, [0] * shared
    for number, (prompt, answer) in enumerate(pairs):
        rest, start = prompt[shared:], len(ids)
        size = len(rest) + len(answer)
        ids += rest + answer
        positions += range(shared, shared + size)
        branches += [number] * size
        weights += [0.0] * len(rest) + [len(answer) ** -0.5] * len(answer)
        before += range(start - 1, start + size - 1)
    return Packed(*(torch.tensor(row) for row in (ids, positions, branches, weights, before)))


def _shared(prompts: Sequence[list[int]]) -> int:
    """Return how many tokens all prompts begin with; a prompt keeps at least one of its own."""
    size = min(len(prompt) for prompt in prompts) - 1
    for place in range(size):
        if any(prompt[place] != prompts[0][place] for prompt in prompts):
            return place
    return size


def batch(packed: Sequence[Packed], dtype: torch.dtype) -> dict[str, Tensor]:
    """Pad packed groups to input_ids (B, T), position_ids (B, T) and an additive attention_mask (B, 1, T, T)."""
    size = max(len(item.ids) for item in packed)
    ids = torch.zeros(len(packed), size, dtype=torch.long)
    positions = torch.zeros(len(packed), size, dtype=torch.long)
    mask = torch.full((len(packed), 1, size, size), torch.finfo(dtype).min, dtype=dtype)
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    for row, item in enumerate(packed):
        count = len(item.ids)
        ids[row, :count], positions[row, :count] = item.ids, item.positions
        same = item.branches[:, None] == item.branches[None, :]
        seen = (same | (item.branches[None, :] == -1)) & causal[:count, :count]
        mask[row, 0, :count, :count].masked_fill_(seen, 0.0)
        mask[row, 0, count:, 0] = 0.0  # padding looks at something, or its softmax would be undefined
    return {"input_ids": ids, "position_ids": positions, "attention_mask": mask}


def loss(model: Any, head: Any, packed: Sequence[Packed], dtype: torch.dtype) -> Tensor:
    """Return the weighted cross-entropy of the answers; logits are made only where there is something to learn."""
    hidden = model(**batch(packed, dtype), use_cache=False).last_hidden_state
    places = [torch.nonzero(item.weights).squeeze(-1) for item in packed]
    states = torch.cat([hidden[row, item.before[at]] for row, (item, at) in enumerate(zip(packed, places, strict=True))])
    targets = torch.cat([item.ids[at] for item, at in zip(packed, places, strict=True)])
    weights = torch.cat([item.weights[at] for item, at in zip(packed, places, strict=True)])
    losses = torch.nn.functional.cross_entropy(head(states).float(), targets, reduction="none")
    return (losses * weights).sum() / weights.sum()

"""Packing: one sequence that reads a prompt's beginning once and has many branches after it.

A group's branches share the system message, the history and the notes. Each branch attends to that prefix and to
itself, and its positions go on where the prefix ends, so its logits are those of the plain sequence.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface

from chatmem.prompt import reader_messages
from training.reader_lines import Case, Group

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
    return tuple(tokenizer(text, add_special_tokens=False).input_ids for text in (prompt, answer))


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


@dataclass(frozen=True)
class Layout:
    """Where the tokens of a batch lie, for attention: P prefixes of at most L tokens, N branches of at most M.

    `prefix` (P, L) and `branch` (N, M) are places in the flat sequence, `owner` (N) is a branch's prefix, `mask`
    (N, 1, M, L + M) what a branch sees, `back` (T) the place of each token in prefixes and branches laid end to end.
    """

    prefix: Tensor
    branch: Tensor
    owner: Tensor
    mask: Tensor
    back: Tensor


def layout(packed: Sequence[Packed]) -> Layout:
    """Return where prefixes and branches lie when packed groups stand one after the other, without padding."""
    prefixes, branches, owner, start = [], [], [], 0
    for number, item in enumerate(packed):
        places = torch.arange(len(item.ids)) + start
        prefixes.append(places[item.branches == -1])
        for one in range(int(item.branches.max()) + 1):
            branches.append(places[item.branches == one])
            owner.append(number)
        start += len(item.ids)
    prefix, seen = _padded(prefixes)
    branch, own = _padded(branches)
    width, length = branch.shape[1], prefix.shape[1]
    back = torch.zeros(start, dtype=torch.long)
    back[torch.cat([prefix[seen], branch[own]])] = torch.nonzero(torch.cat([seen.flatten(), own.flatten()])).squeeze(-1)
    mask = torch.ones(len(branches), width, length + width, dtype=torch.bool)
    mask[:, :, :length] = seen[owner][:, None, :]
    mask[:, :, length:] = torch.ones(width, width, dtype=torch.bool).tril()
    return Layout(prefix, branch, torch.tensor(owner), mask[:, None], back)


def _padded(rows: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return rows of numbers as one matrix, with 0 behind short ones, and which are real."""
    matrix = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
    sizes = torch.tensor([len(row) for row in rows])
    return matrix, torch.arange(matrix.shape[1]) < sizes[:, None]


def attend(
    module: Any, query: Tensor, key: Tensor, value: Tensor, _mask: Any, *, scaling: float, branching: Layout, **_: Any
) -> tuple[Tensor, None]:
    """Attention of one flat sequence (1, heads, T, size): prefixes by themselves, branches to prefix and themselves."""
    groups = module.num_key_value_groups
    q, k, v = (rows[0].transpose(0, 1) for rows in (query, key, value))  # (T, heads, size)
    of_prefix = [_heads(rows, branching.prefix, share) for rows, share in ((q, 1), (k, groups), (v, groups))]
    of_branch = [_heads(rows, branching.branch, share) for rows, share in ((q, 1), (k, groups), (v, groups))]
    size = branching.prefix.shape[1]
    first = _attention(
        of_prefix[0], of_prefix[1], of_prefix[2], torch.ones(size, size, dtype=torch.bool).tril(), scaling
    )
    keys, values = (torch.cat([of_prefix[i].index_select(0, branching.owner), of_branch[i]], dim=2) for i in (1, 2))
    second = _attention(of_branch[0], keys, values, branching.mask, scaling)
    rows = torch.cat([part.transpose(1, 2).flatten(0, 1) for part in (first, second)])
    return rows.flatten(1).index_select(0, branching.back).view(1, len(branching.back), q.shape[1], q.shape[2]), None


def _attention(query: Tensor, key: Tensor, value: Tensor, seen: Tensor, scaling: float) -> Tensor:
    """Plain attention: for many short queries the fused kernel's backward pass is several times slower on a CPU."""
    bias = torch.zeros(seen.shape, dtype=query.dtype).masked_fill_(~seen, torch.finfo(query.dtype).min)
    scores = torch.matmul(query * scaling, key.transpose(2, 3)) + bias
    return torch.matmul(scores.softmax(dim=-1), value)


def _heads(rows: Tensor, places: Tensor, share: int) -> Tensor:
    """Gather rows (T, heads, size) at places (P, L) as (P, heads * share, L, size)."""
    found = rows.flatten(1).index_select(0, places.flatten()).view(*places.shape, *rows.shape[1:])
    return found.transpose(1, 2).repeat_interleave(share, dim=1) if share > 1 else found.transpose(1, 2)


AttentionInterface.register("branching", attend)


def hidden_states(model: Any, packed: Sequence[Packed]) -> Tensor:
    """Return the last hidden states (T, size) of packed groups, one after the other; the model attends "branching"."""
    ids, positions = (torch.cat([getattr(item, name) for item in packed])[None] for name in ("ids", "positions"))
    output = model(input_ids=ids, position_ids=positions, use_cache=False, branching=layout(packed))
    return output.last_hidden_state[0]  # type: ignore[no-any-return]


def loss(model: Any, head: Any, packed: Sequence[Packed]) -> Tensor:
    """Return the weighted cross-entropy of the answers; logits are made only where there is something to learn."""
    starts = itertools.accumulate((len(item.ids) for item in packed), initial=0)
    before = torch.cat([item.before + start for item, start in zip(packed, starts, strict=False)])
    ids, weights = (torch.cat([getattr(item, name) for item in packed]) for name in ("ids", "weights"))
    learned = weights > 0
    logits = head(hidden_states(model, packed)[before[learned]]).float()
    losses = torch.nn.functional.cross_entropy(logits, ids[learned], reduction="none")
    return (losses * weights[learned]).sum() / weights[learned].sum()

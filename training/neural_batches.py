"""Episodes from the cache: a pool of lines that were told, and questions with memories drawn from the pool."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from training.neural_data import Told
from training.pairs_frames import UNCLEAR


@dataclass(frozen=True)
class Padded:
    """Texts of a batch: features' sources, padded at the end. The first HEAD tokens are the template's."""

    ids: Tensor  # (N, L)
    hidden: Tensor  # (N, L, layers, H)
    words: Tensor  # (N, L): the user's words
    reply: Tensor  # (N, L): positions that predict a token of the reply
    base: Tensor  # (N, L): the base model's log probability of the next token, at those positions
    last: Tensor  # (N, L, H): what the last layer gives there, before the final norm


@dataclass(frozen=True)
class Batch:
    """Lines, questions, and which lines each question's memory holds, oldest first (Q, S), -1 for none."""

    lines: Padded
    told: list[Told]
    questions: Padded
    roles: list[str]
    memory: Tensor
    own: Tensor  # (Q,): the place in the memory of the line that answers, or -1
    dialogues: Padded  # with the template's whole beginning; nothing of them asks the memory
    unasked: Tensor  # (D, S): the memories beside them, as in `memory`


HEAD = 3
DIALOGUES = 5  # in a batch


class Episodes:
    """Draws batches from one cache or several."""

    def __init__(self, paths: Sequence[Path], config: Any, seed: int) -> None:
        """Read caches; one block of six facts in twenty is kept for validation."""
        self.items: list[dict[str, Any]] = []
        self.kept: list[dict[str, Tensor]] = []
        first = 0  # blocks of one cache come after those of another
        for path in paths:
            content = torch.load(path, weights_only=True)
            items = [dict(item, told=Told(**item["told"])) for item in json.loads(content["items"])]
            self.items += [item | {"group": item["group"] + first if item["group"] else 0} for item in items]
            self.kept += content["kept"]
            first += -(-max(item["group"] for item in items) // 6) * 6
            self.prefix, self.head = content["prefix"], content["prefix_hidden"]
        self.config, self.draw = config, random.Random(seed)
        self.by_role: dict[str, list[int]] = {}
        self.by_group: dict[int, list[int]] = {}
        for place, item in enumerate(self.items):
            if item["told"].kind == "chatter" and item["role"] == "line":
                self.by_role.setdefault("chatter", []).append(place)
            elif item["role"] in ("ordinary", "dialogue"):
                self.by_role.setdefault(item["role"], []).append(place)
            else:
                self.by_group.setdefault(item["group"], []).append(place)

    def blocks(self, *, held: bool) -> list[int]:
        """Return the numbers of the blocks, people mostly, for training or for validation."""
        return sorted({(group - 1) // 6 for group in self.by_group if ((group - 1) // 6 % 20 == 0) == held})

    def pad(self, places: list[int], head: int = HEAD) -> Padded:
        """Return texts as padded tensors, behind the last `head` tokens of the template's beginning."""
        kept = [self.kept[place] for place in places]
        longest = head + max(len(one["ids"]) for one in kept)
        layers, size = self.head.shape[1:]
        ids = torch.zeros(len(kept), longest, dtype=torch.long)
        hidden = torch.zeros(len(kept), longest, layers, size, dtype=torch.float16)
        words, reply = (torch.zeros(len(kept), longest, dtype=torch.bool) for _ in range(2))
        base, last = torch.zeros(len(kept), longest), torch.zeros(len(kept), longest, size, dtype=torch.float16)
        ids[:, :head], hidden[:, :head] = self.prefix[-head:], self.head[-head:]
        for row, one in enumerate(kept):
            count, answer = len(one["ids"]), int(one["reply"])
            ids[row, head : head + count], hidden[row, head : head + count] = one["ids"], one["hidden"]
            words[row, head : head + int(one["words"])] = True
            if answer:
                span = slice(head + count - answer - 1, head + count - 1)
                reply[row, span], base[row, span], last[row, span] = True, one["base"], one["last"]
        return Padded(ids, hidden, words, reply, base, last)

    def batch(self, persons: int, questions: int, *, held: bool = False) -> Batch:
        """Return a batch with the facts of some people."""
        blocks = self.draw.sample(self.blocks(held=held), persons)
        chosen = {g for block in blocks for g in range(6 * block + 1, 6 * block + 7) if g in self.by_group}
        places = [place for g in sorted(chosen) for place in self.by_group[g]]
        lines = [place for place in places if self.items[place]["role"] == "line"]
        asked = [place for place in places if self.items[place]["role"] != "line"]
        asked = self.draw.sample(asked, min(questions, len(asked)))
        asked += self.draw.sample(self.by_role["ordinary"], questions // 6)
        memory = torch.full((len(asked), self.config.num_slots), -1)
        own = torch.full((len(asked),), -1)
        for row, place in enumerate(asked):
            held_lines, own[row] = self._memory(self.items[place], lines)
            memory[row, : len(held_lines)] = torch.tensor(held_lines, dtype=torch.long)
        talks = self.draw.sample(self._dialogues(held=held), DIALOGUES)
        unasked = torch.full((DIALOGUES, self.config.num_slots), -1)
        facts = [n for n, place in enumerate(lines) if self.items[place]["told"].kind in ("fact", "update")]
        for row in range(DIALOGUES):
            size = min(self.draw.randint(1, self.config.num_slots), len(facts))
            unasked[row, :size] = torch.tensor(self.draw.sample(facts, size))
        lines += self.draw.sample(self.by_role["chatter"], 24)
        told = [self.items[place]["told"] for place in lines]
        roles = [self.items[place]["role"] for place in asked]
        beside = self.pad(talks, len(self.prefix))
        return Batch(self.pad(lines), told, self.pad(asked), roles, memory, own, beside, unasked)

    def _dialogues(self, *, held: bool) -> list[int]:
        """Return the places of dialogues for training or for validation: one in ten."""
        return [place for at, place in enumerate(self.by_role["dialogue"]) if (at % 10 == 0) == held]

    def _memory(self, item: dict[str, Any], lines: list[int]) -> tuple[list[int], int]:
        """Return the numbers of the lines in a question's memory, oldest first, and the place of the answer's."""
        about: Told = item["told"]
        told = [self.items[place]["told"] for place in lines]
        size = min(self.draw.choice((1, 1, 2, 3, 4, 6, 8, 8, 12, 16)), self.config.num_slots)
        others = [
            number for number, one in enumerate(told) if one.kind in ("fact", "update") and not _may_answer(one, about)
        ]
        near = [n for n in others if told[n].subject == about.subject or told[n].attribute == about.attribute]
        self.draw.shuffle(others)
        self.draw.shuffle(near)
        picked = list(dict.fromkeys([*near[: size // 2], *others]))
        if item["role"] != "answer":
            return picked[: size if self.draw.random() > 0.05 else 0], -1
        own = next(n for n, place in enumerate(lines) if self.items[place]["group"] == item["group"]
                   and told[n].text == about.text)  # fmt: skip
        old = [n for n, place in enumerate(lines) if about.kind == "update" and told[n].kind == "fact"
               and self.items[place]["group"] == item["group"] and self.draw.random() < 0.8]  # fmt: skip
        picked = picked[: max(size - 1 - len(old), 0)]
        at = self.draw.randint(0, len(picked))
        before = self.draw.randint(0, at)
        return [*picked[:before], *old, *picked[before:at], own, *picked[at:]], at + len(old)


def _may_answer(one: Told, about: Told) -> bool:
    """Tell whether a line may be thought to answer what another answers: it may not stand beside it."""
    near = one.attribute == about.attribute or one.attribute in UNCLEAR.get(about.attribute, ())
    return one.subject == about.subject and near

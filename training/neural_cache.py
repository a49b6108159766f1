"""What the frozen model makes of the training texts, computed once: the small modules are trained on this alone.

    python -m training.neural_cache --out .benchmark/neural/train.pt

A text is kept as token ids and the hidden states of the feature layers, and, for a question with its reply, the base
model's log probability of every reply token and its last hidden state there.
The template's beginning is the same for all texts and is read once.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from chatmem import bundled
from chatmem.neural.config import NeuralConfig
from chatmem.neural.text import tokens
from training.neural_data import UNKNOWN, Fact, Told, chatter, mapping, newer, people, retraction
from training.train_reader import base_replies


@dataclass
class Item:
    """A text to read: a line told, or a question with a reply. Index lists point into the cache."""

    text: str
    reply: str = ""  # empty for a line told
    told: dict[str, Any] = field(default_factory=dict)
    group: int = 0  # facts of one person and attribute have one number
    role: str = "line"  # line, answer, unknown, ordinary


def items(seed: int, persons: int, objects: int, ordinary: dict[str, str]) -> list[Item]:
    """Return all texts of one training set."""
    draw, found, group = random.Random(seed), [], 0

    def add(fact: Fact, number: int) -> None:
        found.append(Item(fact.told.text, told=asdict(fact.told), group=number))
        found.append(Item(fact.question, fact.answer, asdict(fact.told), number, "answer"))

    for person in people(seed, persons, fresh=False):
        for attribute, fact in person:
            group += 1
            add(fact, group)
            if draw.random() < 0.35:
                add(newer(draw, attribute, fact, fresh=False), group)
            if draw.random() < 0.2:
                found.append(Item((took := retraction(draw, attribute, fact)).text, told=asdict(took), group=group))
            if draw.random() < 0.4:
                found.append(Item(fact.question, UNKNOWN, asdict(fact.told), group, "unknown"))
    for fact in mapping(seed, objects, fresh=False):
        group += 1
        add(fact, group)
        if draw.random() < 0.3:
            found.append(Item(fact.question, UNKNOWN, asdict(fact.told), group, "unknown"))
    lines = [item.text for item in found if item.role == "line"]
    found += said_alone(draw, draw.sample(lines, len(lines) // 12))
    found += [Item(text, told=asdict(Told("chatter", text))) for text in chatter(fresh=False)]
    found += [Item(said, reply, asdict(Told("chatter", said)), 0, "ordinary") for said, reply in ordinary.items()]
    return found


def said_alone(draw: random.Random, lines: list[str]) -> list[Item]:
    """Return lines that are told and ask nothing: the memory has to leave the reply to the model."""
    texts = [*lines, *chatter(fresh=False)]
    return [Item(text, draw.choice(_ACKNOWLEDGED), asdict(Told("chatter", text)), 0, "ordinary") for text in texts]


_ACKNOWLEDGED = (
    "Okay, I will keep that in mind.",
    "Thank you for telling me.",
    "That's great to hear!",
    "Hello! How can I help you today?",
    "Got it, thanks.",
    "I'm glad you told me about this.",
)


class Reader:
    """Runs the frozen model over texts behind the template's beginning."""

    def __init__(self, config: NeuralConfig, dtype: torch.dtype = torch.bfloat16) -> None:
        """Load the bundled model; bfloat16 is three times as fast on this kind of machine."""
        source = str(bundled.prepare())
        self.tokenizer = AutoTokenizer.from_pretrained(source)
        self.model = AutoModelForCausalLM.from_pretrained(source, dtype=dtype).eval()
        self.layers = config.feature_layers
        one, two = (tokens(self.tokenizer, [{"role": "user", "content": text}]).ids[0] for text in ("a", "9"))
        self.prefix = one[: int((one != two).nonzero()[0])]
        with torch.no_grad():
            out = self.model(self.prefix[None], use_cache=True, output_hidden_states=True)
        self._past = out.past_key_values
        self.prefix_hidden = torch.stack([out.hidden_states[layer][0] for layer in self.layers], dim=1).half()

    def ids(self, item: Item) -> tuple[list[int], int, int]:
        """Return the token ids behind the beginning, and how many are the user's words and the reply."""
        read = tokens(self.tokenizer, [{"role": "user", "content": item.text}])
        words, head = int(read.mask.sum()), len(self.prefix)
        ids = read.ids[0, head:] if item.reply else read.ids[0, head : head + words]
        end = [self.tokenizer.eos_token_id] if item.reply else []
        reply = self.tokenizer(item.reply, add_special_tokens=False).input_ids + end if item.reply else []
        return [*ids.tolist(), *reply], words, len(reply)

    @torch.no_grad()
    def __call__(self, batch: list[tuple[list[int], int, int]]) -> Iterator[dict[str, Tensor]]:
        """Yield what is kept of a text: `hidden` (n, layers, H); for a reply of r tokens `base` (r), `last` (r, H)."""
        longest = max(len(ids) for ids, _, _ in batch)
        padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _, _ in batch])
        past = deepcopy(self._past)
        past.batch_repeat_interleave(len(batch))
        last: list[Tensor] = []
        hook = self.model.model.layers[-1].register_forward_hook(lambda *a: last.append(a[2]))
        out = self.model.model(padded, cache=past, output_hidden_states=True)
        hook.remove()
        states = torch.stack([out.hidden_states[layer] for layer in self.layers], dim=2).half()
        for row, (ids, words, reply) in enumerate(batch):
            kept = {"ids": torch.tensor(ids), "words": torch.tensor(words), "reply": torch.tensor(reply)}
            kept["hidden"] = states[row, : len(ids)].clone()
            if reply:
                span = slice(len(ids) - reply - 1, len(ids) - 1)
                logits = self.model.lm_head(out.last_hidden_state[row, span]).float()
                kept["base"] = logits.log_softmax(-1).gather(-1, padded[row, len(ids) - reply : len(ids), None])[:, 0]
                kept["last"] = last[0][row, span].half().clone()
            yield kept


def main() -> None:
    """Read all texts and write the cache."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(".benchmark/neural/train.pt"))
    parser.add_argument("--ordinary", type=Path, default=Path(".benchmark/neural/ordinary.json"))
    parser.add_argument("--persons", type=int, default=800)
    parser.add_argument("--objects", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    all_items = items(options.seed, options.persons, options.objects, base_replies(options.ordinary))
    reader, started = Reader(NeuralConfig.for_bundled()), time.monotonic()
    ids = [reader.ids(item) for item in all_items]
    order = sorted(range(len(ids)), key=lambda at: len(ids[at][0]))
    kept: list[dict[str, Tensor]] = [{}] * len(ids)
    total, done = sum(len(one[0]) for one in ids), 0
    print(f"{len(ids)} texts, {total} tokens", flush=True)
    for first in range(0, len(order), 32):
        places = order[first : first + 32]
        for place, one in zip(places, reader([ids[place] for place in places]), strict=True):
            kept[place] = one
        done += sum(len(ids[place][0]) for place in places)
        if first // 32 % 50 == 0:
            print(f"{done}/{total} tokens, {time.monotonic() - started:.0f} s", flush=True)
    texts = json.dumps([asdict(item) for item in all_items])
    content = {"items": texts, "kept": kept, "prefix": reader.prefix, "prefix_hidden": reader.prefix_hidden}
    torch.save(content, options.out)


if __name__ == "__main__":
    main()

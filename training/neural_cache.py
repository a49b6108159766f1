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
from training.neural_everyday import (
    as_messages,
    dialogues,
    everyday_news,
    everyday_people,
    everyday_retraction,
    utterances,
)
from training.reader_words import ordinary_prompts


@dataclass
class Item:
    """A text to read: a line told, or a question with a reply. Index lists point into the cache."""

    text: str
    reply: str = ""  # empty for a line told
    told: dict[str, Any] = field(default_factory=dict)
    group: int = 0  # facts of one person and attribute have one number
    role: str = "line"  # line, answer, unknown, ordinary, dialogue


def items(seed: int, persons: int, objects: int, ordinary: dict[str, str], talks: list[str]) -> list[Item]:
    """Return all texts of one training set; blocks of six groups are of one person."""
    draw, found = random.Random(seed), []
    for person in people(seed, persons, fresh=False):
        for attribute, fact in person:
            others = (newer(draw, attribute, fact, fresh=False), retraction(draw, attribute, fact))
            found.append(_about(draw, fact, fact.question, *others))
    for everyday in everyday_people(seed, persons):
        for frame, subject, fact, second in everyday:
            others_or_none = (everyday_news(draw, frame, subject, fact), everyday_retraction(draw, fact))
            found.append([*_about(draw, fact, second, *others_or_none), _asked(fact, second)])
    found += [_about(draw, fact, fact.question) for fact in mapping(seed, objects, fresh=False)]
    for group, texts in enumerate(found, 1):
        for item in texts:
            item.group = group
    flat = [item for texts in found for item in texts]
    lines = [item.text for item in flat if item.role == "line"]
    flat += said_alone(draw, draw.sample(lines, len(lines) // 12))
    flat += [Item(text, told=asdict(Told("chatter", text))) for text in chatter(fresh=False)]
    flat += [Item(said, reply, asdict(Told("chatter", said)), 0, "ordinary") for said, reply in ordinary.items()]
    return flat + [Item(text, told=asdict(Told("chatter", text)), role="dialogue") for text in talks]


def _about(
    draw: random.Random, fact: Fact, question: str, news: Fact | None = None, taken: Told | None = None
) -> list[Item]:
    """Return a fact told and asked for, and sometimes news of it, its retraction, and the refusal."""
    found = [Item(fact.told.text, told=asdict(fact.told)), _asked(fact, fact.question)]
    if news is not None and draw.random() < 0.5:
        found += [Item(news.told.text, told=asdict(news.told)), _asked(news, news.question)]
    if taken is not None and draw.random() < 0.2:
        found.append(Item(taken.text, told=asdict(taken)))
    if draw.random() < 0.35:
        found.append(Item(question, UNKNOWN, asdict(fact.told), 0, "unknown"))
    return found


def _asked(fact: Fact, question: str) -> Item:
    return Item(question, fact.answer, asdict(fact.told), 0, "answer")


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


DIALOGUE_TOKENS = 200


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
        head = len(self.prefix)
        if item.role == "dialogue":
            whole = self.tokenizer(item.text, add_special_tokens=False).input_ids[head : head + DIALOGUE_TOKENS]
            return whole, len(whole), 0
        read = tokens(self.tokenizer, [{"role": "user", "content": item.text}])
        words = int(read.mask.sum())
        ids = read.ids[0, head:] if item.reply else read.ids[0, head : head + words]
        end = [self.tokenizer.eos_token_id] if item.reply else []
        reply = self.tokenizer(item.reply, add_special_tokens=False).input_ids + end if item.reply else []
        return [*ids.tolist(), *reply], words, len(reply)

    def replies(self, texts: list[str], length: int = 20) -> dict[str, str]:
        """Return the model's own replies to ordinary talk: what must stay as it is."""
        self.tokenizer.padding_side = "left"
        ends, found = self.tokenizer.eos_token_id, {}
        for first in range(0, len(texts), 32):
            batch = sorted(texts, key=len)[first : first + 32]
            rendered = [
                self.tokenizer.apply_chat_template(as_messages([text]), tokenize=False, add_generation_prompt=True)
                for text in batch
            ]
            read = self.tokenizer(rendered, add_special_tokens=False, padding=True, return_tensors="pt")
            made = self.model.generate(**read, max_new_tokens=length, do_sample=False, pad_token_id=ends)
            said = self.tokenizer.batch_decode(made[:, read.input_ids.shape[1] :], skip_special_tokens=True)
            found |= dict(zip(batch, (one.strip() or "I see." for one in said), strict=True))
        return found

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
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="dialogues and utterances")
    parser.add_argument("--persons", type=int, default=250, help="of each of the two kinds of words")
    parser.add_argument("--objects", type=int, default=200)
    parser.add_argument("--utterances", type=int, default=300)
    parser.add_argument("--dialogues", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    reader, started = Reader(NeuralConfig.for_bundled()), time.monotonic()
    prompts = [*ordinary_prompts(), *utterances(options.data, options.utterances)]
    ordinary = reader.replies(list(dict.fromkeys(prompts)))
    print(f"{len(ordinary)} replies of the frozen model, {time.monotonic() - started:.0f} s", flush=True)
    path = options.data / "persona_chat_dialogues.jsonl.gz"
    talks = [
        reader.tokenizer.apply_chat_template(as_messages(turns), tokenize=False)
        for turns in dialogues(path, options.dialogues, scored=False)
    ]
    all_items = items(options.seed, options.persons, options.objects, ordinary, talks)
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
        if first // 32 % 20 == 0:
            print(f"{done}/{total} tokens, {time.monotonic() - started:.0f} s", flush=True)
    texts = json.dumps([asdict(item) for item in all_items])
    content = {"items": texts, "kept": kept, "prefix": reader.prefix, "prefix_hidden": reader.prefix_hidden}
    torch.save(content, options.out)


if __name__ == "__main__":
    main()

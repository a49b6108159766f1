"""How well a model remembers inside: each measure takes a model with its tokenizer and cases, and returns numbers."""

from __future__ import annotations

import math
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from chatmem.evaluation import wilson
from chatmem.neural.generation import reply, reply_steps, tell
from chatmem.neural.model import NeuralMemoryModel
from chatmem.neural.state import MemoryState
from chatmem.neural.text import tokens
from training.neural_data import UNKNOWN, Told
from training.neural_sets import Case


@dataclass
class Subject:
    """What is measured; without memory it is the plain base model."""

    model: NeuralMemoryModel
    tokenizer: Any
    memory: bool = True


def share(right: Sequence[bool]) -> dict[str, Any]:
    """Return a share with its 95% interval (Wilson, 1927) and the number of cases."""
    low, high = wilson(sum(right), len(right))
    return {"share": sum(right) / max(len(right), 1), "low": low, "high": high, "n": len(right)}


def remembered(subject: Subject, case: Case, *, force: bool | None = None) -> MemoryState:
    """Return the state after the lines of a case were told."""
    state = subject.model.initial_memory()
    for line in case.lines:
        out = tell(subject.model, subject.tokenizer, line.text, state, force=force)
        assert out.memory_state is not None
        state = out.memory_state
    return state


@torch.inference_mode()
def forced(subject: Subject, question: str, answer: str, state: MemoryState) -> dict[str, Any]:
    """Return what teacher forcing measures of one reply and the end after it: losses, right tokens, the first, all."""
    read = tokens(subject.tokenizer, [{"role": "user", "content": question}])
    target = [*subject.tokenizer(answer, add_special_tokens=False).input_ids, subject.tokenizer.eos_token_id]
    ids = torch.cat([read.ids, torch.tensor([target])], dim=1)
    mask = F.pad(read.mask, (0, len(target)))
    if subject.model.config.raw_token_write:  # the pointer works on the first token alone, so that one is asked alone
        first = subject.model(read.ids, memory_state=state, read_memory=subject.memory).logits[0, -1:]
        rest = subject.model(ids).logits[0, read.ids.shape[1] : -1]
        logits = torch.cat([first, rest])
    else:
        out = subject.model(ids, memory_state=state, read_memory=subject.memory, read_mask=mask)
        logits = out.logits[0, read.ids.shape[1] - 1 : -1]
    wanted = torch.tensor(target)
    right = (logits.argmax(-1) == wanted).tolist()
    losses = F.cross_entropy(logits.float(), wanted, reduction="none").tolist()
    return {"losses": losses, "right": right, "first": right[0], "exact": all(right)}


def replies(subject: Subject, cases: Sequence[Case], *, force: bool | None = None) -> dict[str, Any]:
    """Return all measures of replies: by teacher forcing, and in free generation."""
    rows = []
    for case in cases:
        state = remembered(subject, case, force=force)
        row = forced(subject, case.fact.question, case.answer, state)
        asked = (subject.model, subject.tokenizer, case.fact.question, state)
        row["reply"] = reply(*asked, read_memory=subject.memory)
        row |= {"question": case.fact.question, "answer": case.answer, "kind": case.kind}
        row["recalled"] = recalled(row["reply"], case)
        rows.append(row)
    losses = [loss for row in rows for loss in row["losses"]]
    facts, unknown = ([row for row in rows if (row["answer"] == UNKNOWN) == is_unknown] for is_unknown in (False, True))
    return {
        "loss": statistics.fmean(losses),
        "perplexity": math.exp(min(statistics.fmean(losses), 50)),
        "token_accuracy": share([right for row in rows for right in row["right"]]),
        "first_token": share([row["first"] for row in rows]),
        "exact_sequence": share([row["exact"] for row in rows]),
        "recall": share([row["recalled"] for row in facts]),
        "refusal": share([row["recalled"] for row in unknown]),
        "wrong": [{key: row[key] for key in ("question", "answer", "reply")} for row in rows if not row["recalled"]][
            :12
        ],
    }


def recalled(said: str, case: Case) -> bool:
    """Tell whether a free reply is right: it has the value and no wrong one; for an unknown one it says so."""
    if case.answer == UNKNOWN:
        return said.startswith(UNKNOWN.rstrip("."))
    value = case.fact.told.value
    if case.kind == "mapping":  # the reply begins with it, and nothing but an end follows
        return said.rstrip(".") == value
    others = [wrong for wrong in case.wrong if wrong not in value]
    return value in said and not any(wrong in said for wrong in others)


def decisions(subject: Subject, cases: Sequence[Case]) -> dict[str, Any]:
    """Return how right the decisions to write and to forget are, line by line, as memory goes on by itself."""
    writes, forgets, replaced, retracted = [], [], [], []
    for case in cases:
        state = subject.model.initial_memory()
        held: dict[int, Told] = {}  # what each slot holds
        for line in case.lines:
            out = tell(subject.model, subject.tokenizer, line.text, state)
            assert out.written is not None and out.memory_state is not None
            wanted = line.kind in ("fact", "update")
            wrote = float(out.written.decision[0]) > 0.5
            writes.append(wrote == wanted)
            for slot, old in list(held.items()):
                void = float(out.written.forgotten[0, slot]) > 0.5
                forgets.append(void == line.replaces(old))
                if line.replaces(old):
                    (replaced if line.kind == "update" else retracted).append(void)
                if void:
                    del held[slot]
            if wrote:
                held[int(out.written.shares[0].argmax())] = line
            state = out.memory_state
    names = ("write", "forget", "replacement", "retraction")
    return {name: share(found) for name, found in zip(names, (writes, forgets, replaced, retracted), strict=True)}


def many_writes(subject: Subject, lines: Sequence[str]) -> dict[str, Any]:
    """Return norms of the state while many lines are written one after the other, and whether any number is none."""
    state, norms = subject.model.initial_memory(), []
    for number, line in enumerate(lines, 1):
        out = tell(subject.model, subject.tokenizer, line, state, force=True)
        assert out.memory_state is not None
        state = out.memory_state
        if number in (1, 10, 16, 100, 300, 1000) or number == len(lines):
            size = state.tokens if state.tokens.numel() else state.slots
            norm = float(size.flatten(0, -2).norm(dim=-1)[size.flatten(0, -2).abs().sum(-1) > 0].mean())
            norms.append({"writes": number, "norm": norm, "used": int(state.used.sum()), "bytes": state.num_bytes})
    finite = all(bool(torch.isfinite(value.float()).all()) for value in state.tensors().values())
    return {"norms": norms, "finite": finite, "writes": len(lines)}


@torch.inference_mode()
def perplexity(subject: Subject, texts: Sequence[str], state: MemoryState | None) -> tuple[float, int]:
    """Return the mean loss of texts in the model's template and the number of tokens."""
    total, count = 0.0, 0
    for text in texts:
        ids = torch.tensor([subject.tokenizer(text, add_special_tokens=False).input_ids[:320]])
        logits = subject.model(ids, memory_state=state, read_memory=state is not None).logits[0, :-1]
        total += float(F.cross_entropy(logits.float(), ids[0, 1:], reduction="sum"))
        count += ids.shape[1] - 1
    return total / count, count


def same_replies(
    subject: Subject, prompts: Sequence[str], state: MemoryState, length: int = 24
) -> list[dict[str, Any]]:
    """Return for ordinary prompts whether the reply with memory on is the base model's own."""
    rows = []
    for prompt in prompts:
        messages = [{"role": "user", "content": prompt}]
        base, memory = (
            [one for one, _ in reply_steps(subject.model, subject.tokenizer, messages, state, length, read_memory=on)]
            for on in (False, True)
        )
        rows.append({"prompt": prompt, "same": base == memory, "reply": subject.tokenizer.decode(memory)})
    return rows


def speed(subject: Subject, questions: Sequence[str], state: MemoryState, length: int = 32) -> dict[str, Any]:
    """Return tokens per second of base and memory in turn, over the same prompts and the same number of tokens."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for question in questions:
        read = tokens(subject.tokenizer, [{"role": "user", "content": question}])
        for on in (False, True):
            ids, mask, cache = read.ids, read.mask, None
            started = time.perf_counter()
            with torch.inference_mode():
                for _ in range(length):
                    out = subject.model(ids, memory_state=state, read_memory=on, read_mask=mask,
                                        past_key_values=cache, use_cache=True, logits_to_keep=1)  # fmt: skip
                    ids, mask, cache = out.logits[:, -1].argmax(-1, keepdim=True), None, out.past_key_values
            seconds[on].append(time.perf_counter() - started)
    ratios = [base / memory for base, memory in zip(seconds[False], seconds[True], strict=True)]
    rates = {name: length / statistics.median(seconds[on]) for name, on in (("base", False), ("memory", True))}
    return rates | {"ratio": statistics.median(ratios), "rounds": len(questions), "tokens": length}


def peak_bytes() -> int:
    """Return the largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

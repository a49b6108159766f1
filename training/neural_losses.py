"""The losses of the memory inside a model, on batches of the cache."""

from __future__ import annotations

import argparse

import torch
from torch import Tensor
from torch.nn import functional as F

from chatmem.neural.modules import NeuralModules
from chatmem.neural.state import MemoryState
from training.neural_batches import Batch, Padded
from training.neural_data import Told
from training.pairs_frames import UNCLEAR


class Losses:
    """The losses of a batch."""

    def __init__(self, modules: NeuralModules, embedding: Tensor, options: argparse.Namespace) -> None:
        """Take the frozen embedding (V, H)."""
        self.modules, self.embedding, self.options = modules, embedding, options
        self.reply = torch.tensor(modules.config.reply_tokens)

    def _features(self, text: Padded) -> tuple[Tensor, Tensor]:
        embeddings = self.embedding[text.ids]
        x = self.modules.features(embeddings, text.hidden)
        return F.dropout(x, self.options.dropout, self.modules.training), embeddings

    def __call__(self, batch: Batch) -> dict[str, Tensor]:
        """Return the losses, and `seen` and `first`, shares of reply tokens that get more than a half."""
        x, embeddings = self._features(batch.lines)
        token = self.modules.tokens
        states, length = token.states(x, embeddings), self.modules.config.num_tokens
        words = batch.lines.words
        told = states[:, 3 : 3 + length] * words[:, 3 : 3 + length, None]
        told = F.pad(told, (0, 0, 0, length - told.shape[1]))
        ids = F.pad(batch.lines.ids[:, 3 : 3 + length], (0, max(0, length - batch.lines.ids.shape[1] + 3)))
        lengths = words.sum(1).clamp(max=length)
        vectors = self.modules.writer.vector(x, words)
        found = self._decisions(batch, x, token.parts(told).match, lengths)
        found |= self._reading(batch, _state(batch.memory, vectors, told, lengths), ids[batch.memory.clamp(min=0)])
        found["talk"] = self._talk(batch.dialogues, _state(batch.unasked, vectors, told, lengths))
        return found

    def _talk(self, text: Padded, memory: MemoryState) -> Tensor:
        """Return the loss of leaving dialogues to the frozen model, every token of them."""
        x, embeddings = self._features(text)
        there = _positions(text)
        mask = there if torch.rand(()) < 0.7 else text.words
        gate = self.modules.tokens.read(x, self._near(embeddings), mask, memory).gate
        alone = -torch.log1p(-gate.clamp(max=1 - 1e-6))
        return (alone * there).sum() / there.sum()

    def _near(self, embeddings: Tensor) -> Tensor:
        """Return the context keys (B, T, 3, C) of each token and the two before it."""
        own = self.modules.tokens.contexts(embeddings)
        return torch.stack([F.pad(own, (0, 0, back, 0))[:, : own.shape[1]] for back in range(3)], dim=2)

    def _decisions(self, batch: Batch, x: Tensor, match: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """Return the losses and accuracies of writing and forgetting."""
        kinds = [told.kind for told in batch.told]
        wanted = torch.tensor([float(kind in ("fact", "update")) for kind in kinds])
        write = self.modules.write(x, batch.lines.words)
        new = list(range(len(kinds)))  # small talk among them, which makes nothing void
        old = [n for n, kind in enumerate(kinds) if kind in ("fact", "update")]
        filled = torch.arange(match.shape[1]) < lengths[old][:, None]
        forget = self.modules.forget(
            x[new],
            batch.lines.words[new],
            match[old].expand(len(new), -1, -1, -1),
            filled.expand(len(new), -1, -1),
        )
        parts = _pairs([batch.told[n] for n in new], [batch.told[o] for o in old])
        bce = F.binary_cross_entropy_with_logits
        each = bce(forget, parts["void"], reduction="none")
        right = ((forget > 0) == (parts["void"] > 0)).float()
        found = {name: (right * part).sum() / part.sum().clamp(min=1) for name, part in parts.items()}
        lost = [(each * part).sum() / part.sum().clamp(min=1) for part in parts.values()]
        return found | {
            "write": bce(write, wanted),
            "forget": torch.stack(lost).sum(),
            "write_right": ((write > 0) == (wanted > 0)).float().mean(),
        }

    def _reading(self, batch: Batch, memory: MemoryState, ids: Tensor) -> dict[str, Tensor]:
        """Return the losses of the replies and of leaving the rest to the frozen model."""
        asked = batch.questions
        x, embeddings = self._features(asked)
        token = self.modules.tokens
        reading = token.read(x, self._near(embeddings), asked.words, memory)
        target = F.pad(asked.ids[:, 1:], (0, 1))
        same = ids[:, None] == target[..., None, None]  # (Q, L, S, J)
        copied = (reading.tokens * same).sum((2, 3)) + (reading.reply * (self.reply == target[..., None])).sum(-1)
        both = copied + (1 - reading.gate) * asked.base.exp()
        ordinary = torch.tensor([role == "ordinary" for role in batch.roles])[:, None]
        replies = asked.reply & ~ordinary
        first = replies & ~F.pad(replies, (1, 0))[:, :-1]
        rest = (asked.words & ~asked.reply) | (asked.reply & ordinary)
        alone = -torch.log1p(-reading.gate.clamp(max=1 - 1e-6))
        logs = -(both + 1e-12).log()
        from_memory = (reading.tokens * same).sum((2, 3))
        must = replies & same.flatten(2).any(-1) & (asked.base < -0.7) & ~(self.reply == target[..., None]).any(-1)
        return {
            "copy": (-(from_memory + 1e-30).log() * must).sum() / must.sum().clamp(min=1),
            "slot": self._slot(batch, reading.slots, first),
            "lm": (logs * replies).sum() / replies.sum(),
            "rest": (alone * rest).sum() / rest.sum(),
            "seen": ((both > 0.5) & replies).sum() / replies.sum(),
            "first": ((both > 0.5) & first).sum() / first.sum(),
        }

    def _slot(self, batch: Batch, scores: Tensor, first: Tensor) -> Tensor:
        """Return the cross entropy of the slot that holds the answer, where a reply begins."""
        known = batch.own >= 0
        place = first.int().argmax(1)
        at = scores[torch.arange(len(place)), place]
        return F.cross_entropy(at[known], batch.own[known])


def _state(which: Tensor, vectors: Tensor, told: Tensor, lengths: Tensor) -> MemoryState:
    """Return states that hold the lines of numbers `which` (N, S), oldest first, -1 for none."""
    used, at = which >= 0, which.clamp(min=0)
    return MemoryState(
        slots=vectors[at] * used[..., None],
        tokens=told[at] * used[..., None, None],
        lengths=lengths[at] * used,
        written=torch.arange(1, at.shape[1] + 1).expand_as(at) * used,
        count=used.sum(1),
        raw=torch.zeros(len(at), at.shape[1], 0),
    )


def _positions(text: Padded) -> Tensor:
    """Return which positions (N, L) of dialogues hold a token: all up to the last word."""
    return text.words.flip(1).cumsum(1).flip(1) > 0


def _pairs(new: list[Told], old: list[Told]) -> dict[str, Tensor]:
    """Return which pairs (new, old) are void, near (one person's, or one attribute's, but not void), and far."""
    void = torch.tensor([[float(n.replaces(o)) for o in old] for n in new])
    other = torch.tensor([[float(not _undecided(n, o)) for o in old] for n in new])
    near = torch.tensor([[float(n.subject == o.subject or n.attribute == o.attribute) for o in old] for n in new])
    return {"void": void * other, "near": near * other * (1 - void), "far": (1 - near) * other * (1 - void)}


def _undecided(new: Told, old: Told) -> bool:
    """Tell whether it makes no difference, or nobody could say, if a line makes an older one void."""
    if (new.subject, new.attribute, new.value) == (old.subject, old.attribute, old.value):
        return new.kind != "retraction"
    return new.subject == old.subject and old.attribute in UNCLEAR.get(new.attribute, ())

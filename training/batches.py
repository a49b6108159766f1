"""Batches of sessions and questions as tensors, with a mask of what would be a false negative.

A batch holds sessions of one kind, so that the wrong ones are as like the right one as they can be. In training, parts
of a session that no question needs are left out or replaced by other people's words, so that no session can be learned
by heart; and some of its statements are asked for as they stand, so that the slot keeps more than what is asked often.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from training.embedding_cache import EmbeddingCache
from training.encoder_data import Corpus

MAX_SENTENCES = 36  # of a session in training; a sum has no length that it must know
SAME_QUESTION = 0.75  # cosine of a question and a line of another session from which that session may answer it too
DROPPED = 0.4  # the largest share of a session that is left out
REPLACED = 0.6  # the largest share that is replaced
PER_TALK = 4  # questions to one session


class Batch(NamedTuple):
    """B sessions of at most T sentences, Q questions; D is the width of an embedding."""

    sessions: Tensor  # (B, T, D)
    lengths: Tensor  # (B,)
    by_user: Tensor  # (B, T) bool: what the user said
    queries: Tensor  # (Q, D)
    talk: Tensor  # (Q,) the session that answers
    lines: Tensor  # (Q, B, T) bool: the lines that answer
    allowed: Tensor  # (Q, B) bool: the session is the right one or a true negative


class _Asked(NamedTuple):
    """A question as rows of the cache."""

    row: int
    lines: tuple[int, ...]  # places in the talk
    fact: str


class _Said(NamedTuple):
    """A sentence of a session as it is used once."""

    row: int
    own: bool  # the user's
    place: int  # in the talk; -1 for other people's words


class Batches:
    """Endless batches over a corpus."""

    def __init__(self, corpus: Corpus, cache: EmbeddingCache, seed: int, *, training: bool) -> None:
        """Embed the corpus; sessions are changed, and statements asked for, in training only."""
        cache.add(corpus.texts())
        self._vectors = torch.from_numpy(cache.vectors)
        self._talks = corpus.talks
        self._rows = [cache.rows(talk.texts) for talk in corpus.talks]
        self._told = [talk.facts() for talk in corpus.talks] if training else []
        self._filled = [talk for talk, rows in enumerate(self._rows) if rows]
        self._training = training
        self._chance = random.Random(seed)
        self._asked: dict[int, list[_Asked]] = defaultdict(list)
        self._kinds: dict[str, list[int]] = defaultdict(list)
        for question, row in zip(corpus.questions, cache.rows(q.text for q in corpus.questions), strict=True):
            if question.talk not in self._asked:
                self._kinds[question.kind.partition("-")[0].replace("natural", "made")].append(question.talk)
            self._asked[question.talk].append(_Asked(row, question.lines, question.fact.casefold()))
        self._facts = {talk: {one.fact for one in asked} for talk, asked in self._asked.items()}

    def __call__(self, size: int) -> Iterator[Batch]:
        """Yield batches of `size` sessions of one kind; every session comes as often as any other."""
        while True:
            chunks = []
            for talks in self._kinds.values():
                self._chance.shuffle(talks)
                chunks += [talks[start : start + size] for start in range(0, len(talks) - size + 1, size)]
            self._chance.shuffle(chunks)
            yield from map(self._batch, chunks)

    def _batch(self, talks: list[int]) -> Batch:
        asked = [(place, one) for place, talk in enumerate(talks) for one in self._questions(talk)]
        said = [self._sentences(talk, [one for place, one in asked if place == n]) for n, talk in enumerate(talks)]
        lengths = torch.tensor([len(some) for some in said])
        B, T, D = len(talks), int(lengths.max()), self._vectors.shape[1]
        sessions, by_user = torch.zeros(B, T, D), torch.zeros(B, T, dtype=torch.bool)
        for place, some in enumerate(said):
            sessions[place, : len(some)] = self._vectors[[one.row for one in some]]
            by_user[place, : len(some)] = torch.tensor([one.own for one in some])
        queries = self._vectors[[one.row for _, one in asked]]
        lines = torch.zeros(len(asked), B, T, dtype=torch.bool)
        wrong = (sessions.flatten(0, 1) @ queries.T).reshape(B, T, -1).amax(1).T > SAME_QUESTION  # (Q, B)
        for row, (place, one) in enumerate(asked):
            count = len(said[place])
            lines[row, place, :count] = torch.tensor([sentence.place in one.lines for sentence in said[place]])
            person = self._talks[talks[place]].person
            for other, talk in enumerate(talks):
                wrong[row, other] |= self._talks[talk].person == person or one.fact in self._facts[talk]
            wrong[row, place] = False
        keep = lines.flatten(1).any(1)
        right = torch.tensor([place for place, _ in asked])
        return Batch(sessions, lengths, by_user, queries[keep], right[keep], lines[keep], ~wrong[keep])

    def _questions(self, talk: int) -> list[_Asked]:
        """Return some questions to a talk, in training also one of its statements."""
        asked = self._asked[talk]
        chosen = self._chance.sample(asked, min(PER_TALK, len(asked)))
        if self._training and self._told[talk]:
            place = self._chance.choice(self._told[talk])
            chosen.append(_Asked(self._rows[talk][place], (place,), self._talks[talk].texts[place].casefold()))
        return chosen

    def _sentences(self, talk: int, asked: list[_Asked]) -> list[_Said]:
        """Return the sentences of a talk as a batch holds them; answers stay, and so does what stands before them."""
        by_user = self._talks[talk].by_user
        whole = [_Said(row, own, place) for place, (row, own) in enumerate(zip(self._rows[talk], by_user, strict=True))]
        if not self._training:
            return whole
        needed = {line for one in asked for line in one.lines}
        needed |= {line - 1 for line in needed}
        dropped, replaced = self._chance.random() * DROPPED, self._chance.random() * REPLACED
        kept = [one for one in whole if one.place in needed or self._chance.random() >= dropped]
        spare = [one.place for one in kept if one.place not in needed]
        self._chance.shuffle(spare)
        surplus = set(spare[: max(0, len(kept) - MAX_SENTENCES)])
        return [
            self._stranger() if one.place not in needed and self._chance.random() < replaced else one
            for one in kept
            if one.place not in surplus
        ]

    def _stranger(self) -> _Said:
        """Return a sentence of any other talk."""
        talk = self._chance.choice(self._filled)
        place = self._chance.randrange(len(self._rows[talk]))
        return _Said(self._rows[talk][place], self._talks[talk].by_user[place], -1)

"""Haystacks: a question, some sessions, and which of them hold the answer. People and facts that training never saw.

GoodAI and MADial are public benchmarks and are only scored here, never trained or tuned on.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chatmem.sentences import split_sentences
from training.elliptical import elliptical_corpus
from training.embedding_cache import EmbeddingCache
from training.encoder_data import (
    Corpus,
    Question,
    Split,
    Talk,
    content_words,
    persona_corpus,
    read_jsonl,
    russian_corpus,
)
from training.template_sessions import template_corpus

SIZES = (10, 30, 100)
SAME_FACT = 0.7  # cosine of a line with the fact that is asked for, from which another session may answer too
SAME_QUESTION = 0.8  # cosine of a line with the question, from which another session holds the same question


@dataclass(frozen=True)
class RetrievalSet:
    """Questions over one list of sessions; each question looks only at its own haystack."""

    name: str
    talks: list[Talk]
    questions: list[str]
    haystacks: list[list[int]]  # places of talks
    evidence: list[frozenset[int]]  # places of the talks that are asked for
    lines: list[tuple[int, ...]] | None = None  # places of the answering lines in the only talk of the evidence


def haystack_sets(name: str, corpus: Corpus, cache: EmbeddingCache, limit: int, seed: int = 0) -> list[RetrievalSet]:
    """Return one set for each size of haystack over the same questions, whose answer is in one session only.

    A question for which fewer than 99 sessions certainly hold no answer is left out.
    """
    cache.add(corpus.texts())
    cache.add(question.fact for question in corpus.questions)
    chance = random.Random(seed)
    order = list(range(len(corpus.questions)))
    chance.shuffle(order)
    finder = _Distractors(corpus, cache)
    kept: list[tuple[Question, list[int]]] = []
    for number in order:
        question = corpus.questions[number]
        others = finder.find(question)
        if len(others) >= max(SIZES) - 1:
            kept.append((question, [question.talk, *chance.sample(others, max(SIZES) - 1)]))
        if len(kept) == limit:
            break
    return [
        RetrievalSet(
            f"{name}, {size} sessions",
            corpus.talks,
            [question.text for question, _ in kept],
            [stack[:size] for _, stack in kept],
            [frozenset((question.talk,)) for question, _ in kept],
            [question.lines for question, _ in kept],
        )
        for size in SIZES
    ]


class _Distractors:
    """Finds the sessions that hold no answer to a question, by words and by meaning."""

    def __init__(self, corpus: Corpus, cache: EmbeddingCache) -> None:
        self._corpus, self._cache = corpus, cache
        self._lines = cache.get(text for talk in corpus.talks for text in talk.texts)
        self._starts = np.cumsum([0, *(len(talk.texts) for talk in corpus.talks)])[:-1]
        self._words = [content_words(" ".join(talk.texts)) for talk in corpus.talks]
        self._facts: list[set[str]] = [set() for _ in corpus.talks]
        for question in corpus.questions:
            self._facts[question.talk].add(question.fact.casefold())

    def find(self, question: Question) -> list[int]:
        """Return the talks of other people in which nothing is close to the fact or the question."""
        asked, fact = self._cache.get([question.text, question.fact])
        near_question = np.maximum.reduceat(self._lines @ asked, self._starts) > SAME_QUESTION
        near_fact = np.maximum.reduceat(self._lines @ fact, self._starts) > SAME_FACT
        person, wanted = self._corpus.talks[question.talk].person, content_words(question.fact)
        fact_name = question.fact.casefold()
        return [
            talk
            for talk, other in enumerate(self._corpus.talks)
            if other.person != person
            and not near_question[talk]
            and not near_fact[talk]
            and fact_name not in self._facts[talk]
            and not (len(wanted) > 1 and wanted <= self._words[talk])
        ]


def own_sets(data: Path, split: Split, cache: EmbeddingCache, limit: int = 400) -> list[RetrievalSet]:
    """Return the haystacks of personas, templates, elliptical answers and Russian statements of a split."""
    people = persona_corpus(data, split)
    chatter = [pair for talk in people.talks for pair in zip(talk.texts, talk.by_user, strict=True)]
    natural = Corpus(people.talks, [q for q in people.questions if q.kind == "natural"])
    made = Corpus(people.talks, [q for q in people.questions if q.kind != "natural"])
    sets = haystack_sets("persona, natural questions", natural, cache, limit)
    sets += haystack_sets("persona, made questions", made, cache, limit)
    unseen = template_corpus(split, chatter, 250)
    sets += haystack_sets("templates, unseen attributes", unseen, cache, limit)
    if split == "test":
        known = template_corpus(split, chatter, 250, seed=1, unseen_attributes=False)
        sets += haystack_sets("templates, unseen words", known, cache, limit)
    sets += haystack_sets("elliptical", elliptical_corpus(split, chatter, 250, seed=2), cache, limit)
    sets += haystack_sets("russian", russian_corpus(data, split, 150), cache, limit)
    return sets


def goodai_set(data: Path, size: int = 30, seed: int = 0) -> RetrievalSet:
    """Return GoodAI's questions, each over its own sessions and, up to `size`, sessions of other tasks."""
    rows = read_jsonl(data / "goodai_ltm.jsonl")
    talks, places = [], {}
    for row in rows:
        for session in row["sessions"]:
            said = tuple(text for turn in session["turns"] for text in split_sentences(turn["text"]))
            if (row["task"], said) not in places:
                places[row["task"], said] = len(talks)
                talks.append(Talk(said, (True,) * len(said), row["task"]))
    chance = random.Random(seed)
    haystacks, evidence = [], []
    for row in rows:
        own = [
            places[row["task"], tuple(text for turn in session["turns"] for text in split_sentences(turn["text"]))]
            for session in row["sessions"]
        ]
        others = [place for place, talk in enumerate(talks) if talk.person != row["task"]]
        unique = list(dict.fromkeys(own))
        haystacks.append(unique + chance.sample(others, max(0, min(size - len(unique), len(others)))))
        evidence.append(frozenset(own[place] for place in row["evidence"]))
    return RetrievalSet(f"GoodAI, {size} sessions", talks, [row["question"] for row in rows], haystacks, evidence)


def madial_set(data: Path, language: str) -> RetrievalSet:
    """Return MADial's turns of two users, each over the user's own memories, an event to a session."""
    memories = json.loads((data / f"madial_{language}_memories.json").read_text("utf-8"))
    owners = {name: row["user-id"] for name, row in json.loads((data / "madial_zh_memories.json").read_text()).items()}
    place = {name: number for number, name in enumerate(memories)}
    talks = []
    for memory in memories.values():
        said = tuple(split_sentences(memory["event"]))
        talks.append(Talk(said, (True,) * len(said)))
    rows = [row for row in read_jsonl(data / f"madial_{language}_questions.jsonl") if row["evidence"]]
    own = {user: [place[name] for name in memories if owners[name] == user] for user in (1, 2)}
    return RetrievalSet(
        f"MADial, {language}",
        talks,
        [row["question"] for row in rows],
        [own[row["user"]] for row in rows],
        [frozenset(place[str(name)] for name in row["evidence"]) for row in rows],
    )

"""Questions with the lines that do and do not answer them, and pairs of statements: what the pair network learns from.

Every question is put to a memory of one made-up person, and is learnt with the lines that recall would bring: the
nearest by cosine. Ordinary talk comes from CLINC150 (CC BY 3.0), further lines and questions from Synthetic-Persona-
Chat (CC BY 4.0), see `--data`'s README.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from training.pairs_frames import TALK, TODAY
from training.pairs_people import Fact, Inventory, Query, about, ask, make_facts, request
from training.pairs_text import typed

_PERSONAL = re.compile(r"\b(?:my|i|me|mine|we|our|i'm|i've|us)\b", re.I)
_SHAPED = re.compile(r"suggestion|recipe|location|calendar|schedule|list|reminder|user_name|reservation|vacation")
_GENERIC = re.compile(r"\b(?:for fun|like to do|free time|hobbies|up to|else)\b", re.I)
_NOT_TOLD = frozenset(
    "balance bill_balance transactions spending_history credit_limit apr rewards_balance order_status gas tire_pressure"  # noqa: SIM905
    " find_phone w2 interest_rate application_status".split()
)


def rows(path: Path) -> list[dict[str, object]]:
    """Return the objects of a .jsonl.gz file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def part(text: str) -> str:
    """Return the split of a text, the same in every run: of ten, eight train, one is dev, one test."""
    return (["train"] * 8 + ["dev", "test"])[sum(text.encode()) * 31 % 97 % 10]


@dataclass
class World:
    """What comes from public data, for one split."""

    talk: list[str]  # said to an assistant, answered by no memory
    not_told: list[str]  # questions about the user of a kind that no made-up person tells
    persona_lines: list[str]
    triples: list[tuple[str, str]]  # question, fact

    @classmethod
    def read(cls, data: Path, split: str) -> World:
        """Read the public data of one split."""
        clinc = [row for row in rows(data / "clinc150_intents.jsonl.gz") if part(str(row["text"])) == split]
        talk = [
            str(row["text"])
            for row in clinc
            if not _PERSONAL.search(str(row["text"])) and not _SHAPED.search(str(row["intent"]))
        ]
        not_told = [
            str(row["text"]) for row in clinc if row["intent"] in _NOT_TOLD and _PERSONAL.search(str(row["text"]))
        ]
        facts, triples = [], []
        for row in rows(data / "persona_chat_triples.jsonl.gz"):
            fact, question = str(row["fact"]), str(row["question"])
            if part(fact) != split:
                continue
            facts.append(fact)
            if not _GENERIC.search(question):
                triples.append((question, fact))
        own = [text for text in TALK if part(text) == split]
        return cls(talk + own * 8, not_told, sorted(set(facts)), triples)


@dataclass
class Memory:
    """The lines of one user and what is asked of them."""

    lines: list[str]
    facts: list[Fact]
    queries: list[Query] = field(default_factory=list)


def make_memory(inventory: Inventory, world: World, rng: random.Random, num_queries: int = 24) -> Memory:
    """Return a made-up person's lines, some of a real persona among them, and questions of every kind."""
    facts = make_facts(inventory, rng)
    strangers = rng.sample(world.persona_lines, min(len(world.persona_lines), rng.randint(3, 9)))
    facts = facts + [Fact(("", "?", ""), "", text) for text in strangers]
    rng.shuffle(facts)
    memory = Memory([fact.text for fact in facts], facts)
    while len(memory.queries) < num_queries:
        query = _query(facts, inventory, world, rng)
        if query is None:
            continue
        for place, fact in enumerate(facts):  # nobody checked what a persona's line may answer
            if fact.frame is None and query.kind in ("own", "yes-no", "request", "not told") and not query.key[2]:
                query.labels[place] = -2  # unclear where it is near
        memory.queries.append(query)
    return memory


def _query(facts: list[Fact], inventory: Inventory, world: World, rng: random.Random) -> Query | None:
    """Return one question, request or remark, with its labels."""
    way = rng.random()
    if way < 0.40:
        return ask(facts, inventory, rng, known=True)
    if way < 0.72:
        return ask(facts, inventory, rng, known=False)
    if way < 0.79:
        return request(facts, rng)
    if way < 0.83:
        return about(facts, rng)
    if way < 0.93:
        text, kind = rng.choice(world.talk), "talk"
    elif way < 0.96:
        text, kind = rng.choice(world.not_told), "not told"
    elif way < 0.98:
        who = rng.choice(inventory.subjects()).who
        text, kind = rng.choice(TODAY).replace("{x}", f"my {who}"), "told"
    else:  # a new fact, which is told and not asked
        other = rng.choice(make_facts(inventory, rng))
        return Query(other.text, "told", other.key, [-1 if fact.key[0] == other.key[0] and fact.key[0] else 0
                                                     if fact.key != other.key else -1 for fact in facts])  # fmt: skip
    return Query(typed(text, rng, 0.2), kind, ("", "", ""), [0] * len(facts))


@dataclass
class Groups:
    """Questions with their candidates: texts by number, -1 where a question has fewer than C candidates."""

    questions: npt.NDArray[np.int64]  # (Q,)
    candidates: npt.NDArray[np.int64]  # (Q, C)
    labels: npt.NDArray[np.int64]  # (Q, C): 1, 0, or -1 for left out
    kinds: npt.NDArray[np.str_]  # (Q,)
    names: npt.NDArray[np.str_]  # (Q,) the attribute asked for
    has_answer: npt.NDArray[np.bool_]  # (Q,): some line of the whole memory answers it
    well_spelt: npt.NDArray[np.bool_]  # (Q,): the question and the lines that answer it
    lines: list[npt.NDArray[np.int64]]  # all lines of each question's memory, for the baselines

    def some(self, rows: npt.NDArray[np.bool_] | slice) -> Groups:
        """Return some of the questions."""
        columns = (
            self.questions,
            self.candidates,
            self.labels,
            self.kinds,
            self.names,
            self.has_answer,
            self.well_spelt,
        )
        places = np.arange(len(self.questions))[rows]
        return Groups(*(column[rows] for column in columns), lines=[self.lines[place] for place in places])  # type: ignore[arg-type]


def nearest_groups(
    memories: Sequence[Memory],
    numbers: dict[str, int],
    vectors: npt.NDArray[np.float32],
    count: int = 8,
    rng: random.Random | None = None,
) -> Groups:
    """Choose for every question the `count` nearest lines of its memory; for training (`rng`) one missed answer too."""
    rows_: list[tuple[int, list[int], list[int], str, str, bool, bool, npt.NDArray[np.int64]]] = []
    for memory in memories:
        lines = np.array([numbers[line] for line in memory.lines])
        for query in memory.queries:
            scores = vectors[lines] @ vectors[numbers[query.text]]
            order = np.argsort(-scores)
            chosen = list(order[:count])
            if rng is not None:
                missed = [place for place in order[count:] if query.labels[place] == 1][:1]
                chosen[len(chosen) - len(missed) :] = missed
            marks = [(-1 if scores[place] > 0.35 else 0) if query.labels[place] == -2 else query.labels[place]
                     for place in chosen]  # fmt: skip
            fill = [-1] * (count - len(chosen))
            answers = [memory.facts[place] for place in chosen if query.labels[place] == 1]
            rows_.append(
                (
                    numbers[query.text],
                    [*lines[chosen], *fill],
                    marks + fill,
                    query.kind,
                    query.key[1],
                    any(mark == 1 for mark in query.labels),
                    not query.misspelt and not any(fact.misspelt for fact in answers),
                    lines,
                )
            )
    columns = list(zip(*rows_, strict=True))
    return Groups(*(np.array(column) for column in columns[:7]), lines=list(columns[7]))  # type: ignore[misc]

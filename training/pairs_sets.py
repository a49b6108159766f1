"""The sets that the pair network is trained, tuned and scored on, and their token embeddings.

| set | attributes | values | wordings | people |
|---|---|---|---|---|
| train | ours and facts.py's | training | training | training |
| dev | the same | kept from training | training | others |
| seen | facts.py's | unseen | unseen | unseen |
| unseen | facts.py's unseen ones, beside the seen | unseen | unseen | unseen |
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chatmem.embedding import SentenceEncoder
from training.pairs_data import Groups, Memory, World, make_memory, nearest_groups
from training.pairs_facts import TALK, UNSEEN_NAMES, fact_inventory
from training.pairs_people import Inventory
from training.pairs_relations import Relation, relations
from training.token_cache import TokenCache

CANDIDATES = 8


@dataclass
class PairSet:
    """One set: memories with questions, pairs of statements, and (train only) questions with one fact each."""

    memories: list[Memory]
    relations: list[Relation]
    triples: list[tuple[str, str]]

    def texts(self) -> set[str]:
        """Return every text of the set."""
        found = {text for memory in self.memories for text in memory.lines}
        found |= {query.text for memory in self.memories for query in memory.queries}
        found |= {text for new, old, _ in self.relations for text in (new, old)}
        return found | {text for pair in self.triples for text in pair}


def make_sets(data: Path, scale: float = 1.0, seed: int = 0) -> dict[str, PairSet]:
    """Make every set; `scale` 1 gives 800 people for training."""
    rng = random.Random(seed)
    plans = {
        "train": [("train", Inventory("train"), 350), ("train", fact_inventory("train", things=True), 250),
                  ("train", fact_inventory("train"), 200)],
        "dev": [("dev", Inventory("dev"), 30), ("dev", fact_inventory("dev", things=True), 60)],
        "seen": [("test", fact_inventory("test"), 100)],
        "unseen": [("test", fact_inventory("test", unseen=True), 170)],
    }  # fmt: skip
    sets = {}
    for name, plan in plans.items():
        made = PairSet([], [], [])
        for split, inventory, count in plan:
            world = World.read(data, split)
            world.talk += list(TALK.get(split, ())) * 6
            for _ in range(max(1, round(count * scale))):
                memory = make_memory(inventory, world, rng, 30)
                pairs = relations(inventory, memory.facts, 26 if name == "train" else 16, rng)
                if name == "unseen":
                    memory.queries = [query for query in memory.queries if query.key[1] in UNSEEN_NAMES]
                    fresh = {fact.text for fact in memory.facts if fact.key[1] in UNSEEN_NAMES}
                    pairs = [pair for pair in pairs if pair[1] in fresh]
                made.memories.append(memory)
                made.relations += pairs
            if name == "train" and not made.triples:
                made.triples = world.triples
        sets[name] = made
    return sets


@dataclass
class Pairs:
    """One set with texts as numbers in the token cache."""

    groups: Groups  # questions and candidates as numbers
    relations: npt.NDArray[np.int64]  # (R, 3): new, old, label
    triples: npt.NDArray[np.int64]  # (P, 2): question, fact


def with_tokens(sets: dict[str, PairSet], cache: Path, seed: int = 0) -> tuple[dict[str, Pairs], TokenCache]:
    """Read every text with the encoder, once for the same texts, and choose the candidates of every question."""
    texts = sorted(set().union(*(made.texts() for made in sets.values())))
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]
    path = cache / f"pairs-{digest}.npz"
    if path.exists():
        tokens = TokenCache.load(path)
    else:
        tokens = TokenCache.make(SentenceEncoder.load(), texts)
        cache.mkdir(parents=True, exist_ok=True)
        tokens.save(path)
    numbers = {text: number for number, text in enumerate(texts)}
    rng = random.Random(seed)
    numbered = {}
    for name, made in sets.items():
        groups = nearest_groups(made.memories, numbers, tokens.vectors, CANDIDATES, rng if name == "train" else None)
        triples = [
            (numbers[question], numbers[fact])
            for question, fact in made.triples
            if float(tokens.vectors[numbers[question]] @ tokens.vectors[numbers[fact]]) > 0.35
        ]
        pairs = [(numbers[new], numbers[old], label) for new, old, label in made.relations]
        numbered[name] = Pairs(groups, np.array(pairs), np.array(triples).reshape(-1, 2))
    return numbered, tokens

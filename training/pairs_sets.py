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
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chatmem.embedding import SentenceEncoder
from training.kind_data import Labelled, own_sentences, sentences
from training.pairs_data import Groups, Memory, World, make_memory, nearest_groups
from training.pairs_facts import TALK, UNSEEN_NAMES, fact_inventory
from training.pairs_people import Inventory
from training.pairs_relations import Relation, relations, tastes
from training.pairs_scenes import Answer, read_scenes, tell
from training.token_cache import TokenCache

CANDIDATES = 8
SCENE_ROUNDS = {"train": 24, "dev": 8}  # stories from each scene
WEAK = 2  # label of a question and a fact that only their words put together


@dataclass
class PairSet:
    """One set: memories with questions, pairs of statements, and (train only) questions with one line each."""

    memories: list[Memory]
    relations: list[Relation]
    answers: list[Answer]
    kinds: list[Labelled] = field(default_factory=list)

    def texts(self) -> set[str]:
        """Return every text of the set."""
        found = {text for memory in self.memories for text in memory.lines}
        found |= {query.text for memory in self.memories for query in memory.queries}
        found |= {text for new, old, _ in self.relations for text in (new, old)}
        found |= {text for text, _ in self.kinds}
        return found | {text for asked, line, _ in self.answers for text in (asked, line)}


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
            if name == "train" and not made.answers:
                made.answers = [(question, fact, WEAK) for question, fact in world.triples]
        made.relations += tastes(plan[0][1], round((2500 if name == "train" else 150) * scale), random.Random(seed + 1))
        if name in SCENE_ROUNDS:
            told = tell(read_scenes(name), max(1, round(SCENE_ROUNDS[name] * scale)), random.Random(seed + 2))
            made.relations += told.relations
            made.answers += told.answers
            made.kinds = sentences(data, random.Random(seed + 3)) if name == "train" else own_sentences(name)
        sets[name] = made
    return sets


def _read_texts(texts: list[str], cache: Path) -> TokenCache:
    """Read texts with the encoder; those that the newest file of the cache holds are taken from there."""
    cache.mkdir(parents=True, exist_ok=True)
    files = sorted(cache.glob("pairs-*.json"), key=lambda file: file.stat().st_mtime)
    if not files:
        return TokenCache.make(SentenceEncoder.load(), texts)
    before = json.loads(files[-1].read_text(encoding="utf-8"))
    known = {text: place for place, text in enumerate(before)}
    new = [text for text in texts if text not in known]
    both = TokenCache.load(files[-1].with_suffix(".npz")).joined(TokenCache.make(SentenceEncoder.load(), new))
    known |= {text: len(before) + place for place, text in enumerate(new)}
    return both.chosen([known[text] for text in texts])


@dataclass
class Pairs:
    """One set with texts as numbers in the token cache."""

    groups: Groups  # questions and candidates as numbers
    relations: npt.NDArray[np.int64]  # (R, 3): new, old, label
    answers: npt.NDArray[np.int64]  # (P, 3): question, line, 1 where it answers
    kinds: npt.NDArray[np.int64]  # (N, 2): sentence, the place of its kind in KINDS


def with_tokens(sets: dict[str, PairSet], cache: Path, seed: int = 0) -> tuple[dict[str, Pairs], TokenCache]:
    """Read every text with the encoder, once for the same texts, and choose the candidates of every question."""
    texts = sorted(set().union(*(made.texts() for made in sets.values())))
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]
    path = cache / f"pairs-{digest}.npz"
    if path.exists():
        tokens = TokenCache.load(path)
    else:
        tokens = _read_texts(texts, cache)
        tokens.save(path)
        path.with_suffix(".json").write_text(json.dumps(texts), encoding="utf-8")
    numbers = {text: number for number, text in enumerate(texts)}
    rng = random.Random(seed)
    numbered = {}
    for name, made in sets.items():
        groups = nearest_groups(made.memories, numbers, tokens.vectors, CANDIDATES, rng if name == "train" else None)
        answers = [
            (numbers[question], numbers[line], min(label, 1))
            for question, line, label in made.answers
            if label != WEAK or float(tokens.vectors[numbers[question]] @ tokens.vectors[numbers[line]]) > 0.35
        ]
        pairs = [(numbers[new], numbers[old], label) for new, old, label in made.relations]
        kinds = np.array([(numbers[text], kind) for text, kind in made.kinds], np.int64).reshape(-1, 2)
        numbered[name] = Pairs(groups, np.array(pairs), np.array(answers, np.int64).reshape(-1, 3), kinds)
    return numbered, tokens

"""Score every way to find a session on haystacks that training never saw; the result is one plain dictionary.

    python -m training.score_retrieval --data ../shared/data          writes .benchmark/retrieval.json
    python -m training.score_retrieval --split valid --grid           compares weights of the fusion

Arms that rank lines give a session the value of its best line. Lines are what the product may bring back: what the
user told. Intervals are 95% bootstrap intervals over questions.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from tqdm import tqdm

from chatmem.embedding import Array, SentenceEncoder
from chatmem.ranking import DEFAULT, OTHER_SCRIPTS, Evidence, Weights, fuse, reciprocal_rank, weights_for
from chatmem.words_index import WordIndex
from memory_module import WEIGHTS, RecurrentMemory
from training.embedding_cache import EmbeddingCache
from training.encoder_data import Talk
from training.retrieval_sets import RetrievalSet, goodai_set, madial_set, own_sets

RESAMPLES = 1000
METRICS = ("hit@1", "recall_all@3", "recall_all@5", "ndcg@5", "line hit@1")


class Case(NamedTuple):
    """One question with everything the arms need; S sessions, L lines."""

    session_of_line: Array  # (L,) places in the haystack
    evidence: Evidence
    cosines: Array  # (L,) of the sentences alone
    weights: Weights  # of the default for this question
    slots: Mapping[str, Array]  # by name of the vector: (S,) cosines
    right: Array  # (S,) bool
    right_lines: Array  # (L,) bool; none where the set does not say


class Talks:
    """Every talk of a set, read by the trained and by the untrained network."""

    @torch.no_grad()
    def __init__(self, talks: list[Talk], cache: EmbeddingCache, networks: Mapping[str, RecurrentMemory]) -> None:
        cache.add(text for talk in talks for text in talk.texts)
        self.candidates = [talk.facts() or [n for n, own in enumerate(talk.by_user) if own] or [0] for talk in talks]
        self.lines = [cache.get(talk.texts) for talk in talks]
        self.turns: list[Array] = []
        vectors: dict[str, list[Array]] = {"mean": [lines.mean(0) for lines in self.lines]}
        for name, network in networks.items():
            vectors[name] = []
            for lines in self.lines:
                embeds = torch.from_numpy(lines)[None]
                encoding = network.encode(embeds)
                vectors[name].append(encoding.last[0].numpy())
                if name == "trained":
                    self.turns.append(network.turns(embeds, encoding.states)[0].numpy())
        self.slots = {name: _unit(np.stack(rows)) for name, rows in vectors.items()}


def _unit(rows: Array) -> Array:
    """Return rows of length one."""
    scaled: Array = rows / np.linalg.norm(rows, axis=-1, keepdims=True).clip(min=1e-8)
    return scaled


@torch.no_grad()
def cases(
    some: RetrievalSet, talks: Talks, cache: EmbeddingCache, networks: Mapping[str, RecurrentMemory]
) -> list[Case]:
    """Return what the arms need for each question of a set."""
    asked = cache.get(some.questions)
    vectors = {"mean": asked}
    for name, network in networks.items():
        query = network.query(torch.from_numpy(asked))
        vectors[name] = _unit(query.slot.numpy())
    turn_queries = networks["trained"].query(torch.from_numpy(asked)).turn.numpy()
    order = np.random.default_rng(0)
    found = []
    for number, question in enumerate(tqdm(some.questions, desc=some.name, disable=None)):
        stack = order.permutation(some.haystacks[number])  # the place of the right one says nothing
        slots = {name: talks.slots[name][stack] @ vectors[name][number] for name in vectors}
        where = [(place, line) for place, talk in enumerate(stack) for line in talks.candidates[talk]]
        places = np.array([place for place, _ in where])
        lines = np.stack([talks.lines[stack[place]][line] for place, line in where])
        turns = np.stack([talks.turns[stack[place]][line] for place, line in where])
        index = WordIndex()
        index.sync({row: some.talks[stack[place]].texts[line] for row, (place, line) in enumerate(where)})
        words = np.zeros(len(where), dtype=np.float32)
        for row, score in index.scores(question).items():
            words[row] = score
        right = np.array([talk in some.evidence[number] for talk in stack])
        answer = some.lines[number] if some.lines else ()
        right_lines = np.array([bool(right[place]) and line in answer for place, line in where])
        evidence = Evidence(turns @ turn_queries[number], words, slots["trained"][places])
        found.append(Case(places, evidence, lines @ asked[number], weights_for(question), slots, right, right_lines))
    return found


Arm = Callable[[Case], Array]  # a value for each line, or for each session


def _alone(words: float) -> Arm:
    """Return the fusion of the sentences' own cosines with words."""
    return lambda case: fuse(case.evidence._replace(turns=case.cosines), Weights(1.0, words, 0.0))


def _fused(turns: float = 1.0, words: float = 0.0, sessions: float = 0.0) -> Arm:
    return lambda case: fuse(case.evidence, Weights(turns, words, sessions))


def _with_cosines(case: Case) -> Array:
    turns = (case.cosines + case.evidence.turns) / 2
    return fuse(case.evidence._replace(turns=turns), case.weights)


SESSION_ARMS: dict[str, Arm] = {
    "untrained GRU": lambda case: case.slots["untrained"],
    "mean of the sentences": lambda case: case.slots["mean"],
    "trained session vector": lambda case: case.slots["trained"],
}
LINE_ARMS: dict[str, Arm] = {
    "best sentence (max-sim)": lambda case: case.cosines,
    "trained turn states": _fused(),
    "BM25": lambda case: case.evidence.words,
    "max-sim + BM25": _alone(0.2),
    "max-sim + BM25, words as in the default": lambda case: _alone(case.weights.words)(case),
    "max-sim + BM25, reciprocal rank": lambda case: reciprocal_rank(case.cosines, case.evidence.words),
    "turn states + BM25": lambda case: fuse(case.evidence, case.weights._replace(sessions=0.0)),
    "turn states + BM25, reciprocal rank": lambda case: reciprocal_rank(*case.evidence[:2]),
    "turn states + session vector": _fused(sessions=DEFAULT.sessions),
    "default: turn states + BM25 + session vector": lambda case: fuse(case.evidence, case.weights),
    "default + max-sim": _with_cosines,
}
BASELINE, CHOSEN = "max-sim + BM25", "default: turn states + BM25 + session vector"


def measure(case: Case, values: Array) -> list[float]:
    """Return the metrics of one question from a value for each session or line; equal values are ordered by chance."""
    jitter = np.random.default_rng(1).random(len(values)) * 1e-7
    values = values + jitter
    best_line = float("nan")
    if len(values) == len(case.session_of_line) and case.right_lines.any():
        best_line = float(case.right_lines[int(values.argmax())])
    sessions = values
    if len(values) == len(case.session_of_line):
        sessions = np.full(len(case.right), -np.inf)
        np.maximum.at(sessions, case.session_of_line, values)
    hits = case.right[np.argsort(-sessions)]
    total = int(case.right.sum())
    gains = 1 / np.log2(np.arange(2, 7))
    ndcg = float((hits[:5] * gains[: len(hits[:5])]).sum() / gains[: min(total, 5)].sum())
    return [float(hits[0]), float(hits[:3].sum() == total), float(hits[:5].sum() == total), ndcg, best_line]


def interval(values: Array) -> list[float]:
    """Return the mean of a value for each question, and its 95% bootstrap interval."""
    values = values[~np.isnan(values)]
    if not len(values):
        return []
    draws = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    means = values[draws].mean(1)
    return [round(float(x), 4) for x in (values.mean(), np.percentile(means, 2.5), np.percentile(means, 97.5))]


def score(found: list[Case], arms: Mapping[str, Arm]) -> dict[str, Any]:
    """Return the metrics of every arm on one set, and by how much the chosen recall leads the best published recipe."""
    rows = {name: np.array([measure(case, arm(case)) for case in found]) for name, arm in arms.items()}
    result: dict[str, Any] = {
        "questions": len(found),
        "arms": {
            name: {metric: interval(values[:, n]) for n, metric in enumerate(METRICS)} for name, values in rows.items()
        },
    }
    if BASELINE in rows and CHOSEN in rows:
        lead = rows[CHOSEN] - rows[BASELINE]
        result["lead"] = {metric: interval(lead[:, n]) for n, metric in enumerate(METRICS)}
    if "trained session vector" in rows:
        lead = rows["trained session vector"] - rows["mean of the sentences"]
        result["lead of the session vector"] = {metric: interval(lead[:, n]) for n, metric in enumerate(METRICS[:4])}
    return result


def grid() -> dict[str, Arm]:
    """Return fusions with many weights, for the choice on validation data."""
    amounts = itertools.product((0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7), (0, 0.05, 0.1, 0.2, 0.3))
    arms = {f"turns, words {words}, sessions {part}": _fused(1.0, words, part) for words, part in amounts}
    return arms | {f"max-sim, words {words}": _alone(words) for words in (0, 0.1, 0.2, 0.3, 0.5, 0.7)}


def main() -> None:
    """Score, print a table, and write the dictionary."""
    parser = argparse.ArgumentParser(description="Score the ways to find a session.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="default: ../shared/data")
    parser.add_argument("--output", type=Path, default=Path(".benchmark/retrieval.json"))
    parser.add_argument("--cache", type=Path, default=Path(".benchmark/embeddings"), help="where embeddings are kept")
    parser.add_argument("--weights", type=Path, default=WEIGHTS, help="default: the product's")
    parser.add_argument("--split", choices=["valid", "test"], default="test")
    parser.add_argument("--limit", type=int, default=300, help="questions in a set")
    parser.add_argument("--grid", action="store_true", help="weights of the fusion instead of the arms")
    args = parser.parse_args()
    torch.set_num_threads(1)
    encoder = SentenceEncoder.load()
    cache = EmbeddingCache(encoder, args.cache)
    width, path = cache.vectors.shape[1], args.weights
    networks = {
        "trained": RecurrentMemory.pretrained(encoder.fingerprint, width, path=path),
        "untrained": RecurrentMemory(width).eval(),
    }
    sets = own_sets(args.data, args.split, cache, args.limit)
    if args.split == "test":
        sets += [goodai_set(args.data), madial_set(args.data, "en"), madial_set(args.data, "zh")]
    arms = grid() if args.grid else SESSION_ARMS | LINE_ARMS
    read: dict[int, Talks] = {}  # sets of several sizes share their talks
    chosen = {"default": DEFAULT._asdict(), "other scripts": OTHER_SCRIPTS._asdict()}
    results: dict[str, Any] = {"weights": chosen, "resamples": RESAMPLES, "sets": {}}
    for some in sets:
        if some.questions:
            if id(some.talks) not in read:
                read[id(some.talks)] = Talks(some.talks, cache, networks)
            found = cases(some, read[id(some.talks)], cache, networks)
            results["sets"][some.name] = score(found, arms)
            _print(some.name, results["sets"][some.name])
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(results, indent=1, ensure_ascii=False), "utf-8")


def _print(name: str, result: dict[str, Any]) -> None:
    """Print a table of one set."""
    lines = [f"\n{name}: {result['questions']} questions"]
    for arm, metrics in result["arms"].items():
        cells = [f"{value[0]:.3f} [{value[1]:.3f}, {value[2]:.3f}]" if value else "-" for value in metrics.values()]
        lines.append(f"  {arm:46} " + "  ".join(cells))
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

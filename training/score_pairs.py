"""Score the pair decision beside its baselines on what training never saw, and time it.

python -m training.score_pairs --data ../shared/data --cache DIR      writes .benchmark/answerable.json
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from rank_bm25 import BM25Okapi
from sklearn.neural_network import MLPClassifier

from chatmem.choosing import bar_for
from chatmem.embedding import SentenceEncoder
from chatmem.pairs import PairDecision, load_pairs
from chatmem.sentences import words
from chatmem.statement_network import RELATION, RELATIONS
from training.pairs_batches import Sides, answer_pairs
from training.pairs_data import Groups
from training.pairs_scoring import auc, best_scores, by_kind, curve, relation_table, threshold_for
from training.pairs_sets import Pairs, PairSet, make_sets, with_tokens
from training.token_cache import TokenCache
from training.train_pairs import ANSWERED, score_groups
from training.train_statements import score_rows as statement_rows

Floats = npt.NDArray[np.float64]
NAMES = ("seen", "unseen")


def cosine_scores(groups: Groups, tokens: TokenCache) -> Floats:
    """Return the cosines (Q, C) of every question with its candidates; -inf where there is none."""
    cosines = (tokens.vectors[groups.questions][:, None] * tokens.vectors[groups.candidates]).sum(-1)
    return np.where(groups.candidates >= 0, cosines, -np.inf).astype(np.float64)


def bm25_scores(groups: Groups, texts: Sequence[str]) -> Floats:
    """Return BM25 (Robertson and Zaragoza, 2009) of every question with its candidates, over the memory's lines."""
    scores = np.full(groups.candidates.shape, -np.inf)
    for row, lines in enumerate(groups.lines):
        found = BM25Okapi([words(texts[line]) for line in lines]).get_scores(words(texts[groups.questions[row]]))
        place = {int(line): at for at, line in enumerate(lines)}
        for column, candidate in enumerate(groups.candidates[row]):
            if candidate >= 0:
                scores[row, column] = found[place[int(candidate)]]
    return scores


def vector_features(
    first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], tokens: TokenCache
) -> npt.NDArray[np.float32]:
    """Return [q, l, q*l, |q-l|, cosine] (P, 4 D + 1) of the sentence vectors of pairs: the cheap baseline's input."""
    q, line = tokens.vectors[first], tokens.vectors[second]
    return np.concatenate([q, line, q * line, np.abs(q - line), (q * line).sum(1, keepdims=True)], axis=1)


def mlp_scores(train: Pairs, others: dict[str, Pairs], tokens: TokenCache) -> dict[str, Floats]:
    """Return the scores of a small perceptron on the two sentence vectors, trained on the same pairs."""
    rows = answer_pairs(train)
    rows = rows[np.random.default_rng(0).permutation(len(rows))[:60000]]
    model = MLPClassifier((96,), batch_size=256, early_stopping=True, n_iter_no_change=3, max_iter=25, random_state=0)
    model.fit(vector_features(rows[:, 0], rows[:, 1], tokens), rows[:, 2])
    found = {}
    for name, pairs in others.items():
        groups = pairs.groups
        question, place = np.nonzero(groups.candidates >= 0)
        given = model.predict_proba(
            vector_features(groups.questions[question], groups.candidates[question, place], tokens)
        )
        scores = np.full(groups.candidates.shape, -np.inf)
        scores[question, place] = given[:, 1]
        found[name] = scores
    return found


def russian(decision: PairDecision, path: Path, count: int = 400) -> dict[str, Any]:
    """Return how far the decision tells a Russian question's own statement from others; its encoder knows English."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:: 19090 // count][:count]
    facts = [row["fact"] for row in rows]
    own, other, cosine_own, cosine_other = [], [], [], []
    for place, row in enumerate(rows):
        lines = [facts[place], *(facts[(place + step) % len(facts)] for step in (7, 101, 211))]
        given = decision.answerable(row["question"], lines)
        read = decision._encoder.encode([row["question"], *lines])
        cosines = read[1:] @ read[0]
        own, other = [*own, given[0]], [*other, *given[1:]]
        cosine_own, cosine_other = [*cosine_own, cosines[0]], [*cosine_other, *cosines[1:]]
    return {
        "questions": len(rows),
        "auc": round(auc(np.array(own), np.array(other)), 4),
        "auc_cosine": round(auc(np.array(cosine_own), np.array(cosine_other)), 4),
        "own_above_threshold": round(float((np.array(own) >= decision.threshold).mean()), 4),
        "other_below_threshold": round(float((np.array(other) < decision.threshold).mean()), 4),
    }


def babi(decision: PairDecision, path: Path, count: int = 200) -> dict[str, Any]:
    """Return how often the sentence that holds the answer is the best of its story, in tasks of one supporting fact."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["category"] == "qa1_single-supporting-fact"][:count]
    hits = []
    for row in rows:
        lines = [turn["text"] for turn in row["sessions"][0]["turns"]]
        place = row["evidence_turns"][0][1]
        hits.append(lines[int(decision.answerable(row["question"], lines).argmax())] == lines[place])
    return {"questions": len(rows), "right_line_first": round(float(np.mean(hits)), 4)}


def calibration(logits: Floats, labels: npt.NDArray[np.int64], factor: float, offset: float) -> list[dict[str, float]]:
    """Return, in tenths of probability, how many pairs there are, the mean probability and the share that answers."""
    chance = 1 / (1 + np.exp(-(factor * logits + offset)))
    tenths = np.minimum((chance * 10).astype(int), 9)
    return [
        {
            "from": tenth / 10,
            "pairs": int((tenths == tenth).sum()),
            "mean": round(float(chance[tenths == tenth].mean()), 3),
            "answers": round(float(labels[tenths == tenth].mean()), 3),
        }
        for tenth in range(10)
        if (tenths == tenth).any()
    ]


def timing(encoder: SentenceEncoder, sets: dict[str, PairSet]) -> dict[str, Any]:
    """Return milliseconds for one question and 8 lines: warm, cold, and the question alone."""
    lines = [memory.lines[:8] for memory in sets["seen"].memories[:40]]
    queries = [memory.queries[0].text for memory in sets["seen"].memories[:40]]
    decision = load_pairs(encoder)
    assert decision is not None
    found: dict[str, list[float]] = {"cold": [], "warm": [], "query": []}
    for query, some in zip(queries, lines, strict=True):
        for name, action in (
            ("query", lambda q=query: decision.warm([q])),
            ("cold", lambda q=query, s=some: decision.answerable(q, s)),
            ("warm", lambda q=query, s=some: decision.answerable(q, s)),
        ):
            started = time.perf_counter()
            action()
            found[name].append(1000 * (time.perf_counter() - started))
    return {name: round(statistics.median(values[3:]), 2) for name, values in found.items()} | {"times": len(lines) - 3}


def curves(groups: Groups, scores: Floats, bound: float | None) -> dict[str, Any]:
    """Return the curves for the first line alone and for the first three, of all questions and of the well spelt."""
    clean = groups.well_spelt
    return {
        f"{name}_first_{first}": curve(some, given, bound, first)
        for first in (1, 3)
        for name, some, given in (("all", groups, scores), ("well_spelt", groups.some(clean), scores[clean]))
    }


def in_recall(groups: Groups, chances: Floats, texts: Sequence[str], threshold: float) -> dict[str, Any]:
    """Return what recall makes of it, with the bar that depends on the query: shares with counts and intervals."""
    bars = np.array([bar_for(texts[question], threshold) for question in groups.questions])
    return curve(groups, chances - bars[:, None], 0.0, 3)["at_threshold"]


def main() -> None:
    """Score everything and write one dictionary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path, default=Path(".benchmark/pairs"))
    parser.add_argument("--out", type=Path, default=Path(".benchmark/answerable.json"))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    made = make_sets(options.data, options.scale)
    sets, tokens = with_tokens(made, options.cache)
    encoder = SentenceEncoder.load()
    decision = load_pairs(encoder)
    assert decision is not None, "train first"
    sides, network = Sides(tokens), decision._answers
    factor, offset = decision._settings["factor"], decision._settings["offset"]
    texts = sorted(set().union(*(one.texts() for one in made.values())))
    judged = {name: score_groups(network, sides, sets[name]) for name in ("dev", *NAMES)}
    perceptron = mlp_scores(sets["train"], {name: sets[name] for name in ("dev", *NAMES)}, tokens)
    arms = {
        "decision": judged,
        "mlp": perceptron,
        "cosine": {name: cosine_scores(sets[name].groups, tokens) for name in judged},
        "bm25": {name: bm25_scores(sets[name].groups, texts) for name in judged},
    }
    result: dict[str, Any] = {"threshold": decision.threshold, "answerable": {}, "relation": {}}
    for arm, scores in arms.items():
        clean = sets["dev"].groups.well_spelt
        bound = threshold_for(best_scores(sets["dev"].groups.some(clean), scores["dev"][clean], 3)[0], ANSWERED)
        if arm == "decision":
            bound = (float(np.log(decision.threshold / (1 - decision.threshold))) - offset) / factor
        result["answerable"][arm] = {name: curves(sets[name].groups, scores[name], bound) for name in judged}
        if arm == "decision":
            chances = {name: 1 / (1 + np.exp(-(factor * found + offset))) for name, found in scores.items()}
            result["in_recall"] = {
                name: in_recall(sets[name].groups, found, texts, decision.threshold) for name, found in chances.items()
            }
            result["by_kind"] = {name: by_kind(sets[name].groups, scores[name], bound or 0.0) for name in judged}
    for name in judged:
        logits = statement_rows(decision._statements, sides, sets[name].relations, RELATION)
        result["relation"][name] = relation_table(sets[name].relations[:, 2], logits.argmax(1).numpy(), RELATIONS)
    marks = sets["seen"].groups.labels
    result["calibration"] = calibration(judged["seen"][marks >= 0], marks[marks >= 0], factor, offset)
    result["russian"] = russian(decision, options.data / "russian_triples.jsonl.gz")
    result["babi"] = babi(decision, options.data / "babi.jsonl.gz")
    result["milliseconds"] = timing(encoder, made)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

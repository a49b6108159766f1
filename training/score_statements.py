"""Score what new statements do to older ones: by the rules of words alone, and with the second look.

python -m training.score_statements        half a minute on one core; writes .benchmark/statements.json

The sets were written by people who knew neither the rules nor what the network learnt from. The kind of network and the
shares that its thresholds may lose were settled with the scores of set 1 in sight; set 2 was written afterwards, and
scored again once statements of two clauses were mended on other words.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from chatmem.embedding import SentenceEncoder
from chatmem.pairs import PairDecision, load_pairs
from chatmem.second_look import replaced
from chatmem.versions import relate
from training.pairs_scoring import auc, interval

SETS = {f"set {number}": Path(__file__).with_name(f"fresh_changes_{number}.jsonl") for number in (1, 2)}
ARMS = ("rules", "rules and second look")


def main() -> None:
    """Write the share of older statements that are taken for replaced, by what was really said."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path(".benchmark/statements.json"))
    options = parser.parse_args()
    decision = load_pairs(SentenceEncoder.load())
    assert decision is not None, "train first"
    read = {name: [json.loads(line) for line in path.read_text("utf-8").splitlines()] for name, path in SETS.items()}
    found = {name: score(decision, rows) for name, rows in read.items()}
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(json.dumps(found, indent=1))


def score(decision: PairDecision, rows: list[dict[str, str]]) -> dict[str, Any]:
    """Return shares with their intervals for the pairs of one set."""
    replaced = np.array([_replaced(decision, row["new"], row["old"]) for row in rows])  # (N, 2)
    labels = np.array([row["label"] for row in rows])
    names = list(dict.fromkeys(labels.tolist()))
    shares = {
        arm: {
            name: [float(flags[labels == name].mean()), *interval((flags[labels == name],), np.mean)] for name in names
        }
        for arm, flags in zip(ARMS, replaced.T.astype(float), strict=True)
    }
    ends = np.isin(labels, ("new", "end"))
    chances = np.array([decision.relation(row["new"], [row["old"]])[0, 1:3].sum() for row in rows])
    return {
        "pairs": {name: int((labels == name).sum()) for name in names},
        "replaced": shares,
        "auc": [round(auc(chances[ends], chances[~ends]), 4), *interval((chances[ends], chances[~ends]), auc)],
        "questions": _questions(decision, rows),
    }


def _replaced(decision: PairDecision, new: str, old: str) -> tuple[bool, bool]:
    """Tell whether an older statement counts as replaced, by the rules, and with the second look."""
    by_rules = relate(new, old) == "replaces"
    return by_rules, by_rules or replaced(new, [old], decision)[0]


def _questions(decision: PairDecision, rows: list[dict[str, str]]) -> dict[str, list[float]]:
    """Return how often a question in other words is answered by its line, and a near one refused."""
    known = [decision.answerable(row["question"], [row["new" if row["label"] == "new" else "old"]])[0] for row in rows]
    unknown = [decision.answerable(row["unanswered"], [row["old"], row["new"]]).max() for row in rows]
    answered, refused = np.array(known) >= decision.threshold, np.array(unknown) < decision.threshold
    return {
        "answered": [float(answered.mean()), *interval((answered.astype(float),), np.mean)],
        "refused": [float(refused.mean()), *interval((refused.astype(float),), np.mean)],
    }


if __name__ == "__main__":
    main()

"""Score how sentences are judged: which are kept as facts, on labelled public data and on sentences of our own.

python training/score_judgement.py --data ../shared/data        a minute on one core, no weights

The labels of the public data are of another kind than ours: CLINC's requests ("i need to find my luggage") are
statements of the user too, and the labels of the persona turns are weak.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from chatmem.reading import read_turn  # noqa: E402 - the package lies beside this folder

PUBLIC = ("clinc150_intents", "persona_chat_turn_labels", "russian_statements_questions")
NO_FACTS = ("question", "command", "what-if", "fiction")


def is_kept(text: str) -> bool:
    """Tell whether any part of a turn becomes a fact about the user."""
    return any(piece.kind in ("fact", "temporary") for piece in read_turn(text))


def share(count: int, total: int) -> str:
    """Return a share with its 95% interval (Wilson, 1927)."""
    if not total:
        return "-"
    z, p = 1.96, count / total
    middle, width = p + z * z / 2 / total, z * math.sqrt(p * (1 - p) / total + (z / 2 / total) ** 2)
    low, high = (max(0.0, min(1.0, (middle + sign * width) / (1 + z * z / total))) for sign in (-1, 1))
    return f"{count}/{total} = {p:.1%} [{low:.1%}, {high:.1%}]"


def public_rows(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what a text is labelled as, and the text."""
    for name in PUBLIC:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                yield f"{name}: {row['kind']}, {row['label']}", row["text"]


def own_rows() -> Iterator[tuple[str, str]]:
    """Yield kind and text of our own sentences."""
    for name, kinds in tomllib.loads((ROOT / "training" / "fresh_sentences.toml").read_text("utf-8")).items():
        for kind, texts in kinds.items():
            for text in texts:
                yield f"{name}: {kind}", text
                if kind in NO_FACTS:
                    yield f"{name}: question, command, what-if or fiction", text


def score(rows: Iterable[tuple[str, str]]) -> str:
    """Return how many of each label are kept as facts, one line for each."""
    kept: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for label, text in rows:
        total[label] += 1
        kept[label] += is_kept(text)
    return "\n".join(f"{label:75} kept {share(kept[label], total[label])}" for label in sorted(total))


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    sys.stdout.write(f"{score(own_rows())}\n{score(public_rows(options.data))}\n")


if __name__ == "__main__":
    main()

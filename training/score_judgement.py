"""Score how sentences are judged: which are kept as facts, on labelled public data and on sentences of our own.

python -m training.score_judgement --data ../shared/data        two minutes on one core; writes .benchmark/judged.json

Public data by the rules of words alone; sentences of our own by these, and with the second look of the trained network.

The labels of the public data are of another kind than ours: CLINC's requests ("i need to find my luggage") are
statements of the user too, and the labels of the persona turns are weak.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from chatmem.embedding import SentenceEncoder
from chatmem.evaluation import wilson
from chatmem.judgement import asks_to_keep
from chatmem.pairs import PairDecision, load_pairs
from chatmem.reading import read_turn
from chatmem.second_look import is_latin

ROOT = Path(__file__).resolve().parents[1]

PUBLIC = ("clinc150_intents", "persona_chat_turn_labels", "russian_statements_questions")
NO_FACTS = ("question", "command", "what-if", "fiction")


def kept(text: str) -> list[str]:
    """Return the parts of a turn that become facts about the user by the rules of words."""
    return [piece.text for piece in read_turn(text) if piece.kind in ("fact", "temporary")]


def looked_at(decision: PairDecision, text: str) -> list[str]:
    """Return those that still are facts after the second look."""
    facts = kept(text)
    doubted = decision.doubted(facts)
    return [
        fact for fact, kind in zip(facts, doubted, strict=True) if not kind or asks_to_keep(text) or not is_latin(fact)
    ]


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


def score(rows: Iterable[tuple[str, str]], keeps: Callable[[str], list[str]]) -> dict[str, list[int]]:
    """Return for each label how many texts are kept as facts, and how many there are."""
    found: dict[str, list[int]] = {}
    for label, text in rows:
        counts = found.setdefault(label, [0, 0])
        counts[0] += bool(keeps(text))
        counts[1] += 1
    return dict(sorted(found.items()))


def main() -> None:
    """Write and print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path(".benchmark/judged.json"))
    options = parser.parse_args()
    decision = load_pairs(SentenceEncoder.load())
    assert decision is not None, "train first"
    found = score([*own_rows(), *public_rows(options.data)], kept)
    looks = score(own_rows(), partial(looked_at, decision))
    found |= {f"{label}, second look": counts for label, counts in looks.items()}
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(found, ensure_ascii=False, indent=1), "utf-8")
    for label, (count, total) in found.items():
        low, high = wilson(count, total)
        print(f"{label:75} kept {count}/{total} = {count / total:.1%} [{low:.1%}, {high:.1%}]")


if __name__ == "__main__":
    main()

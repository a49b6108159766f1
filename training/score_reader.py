"""Score the reader by kind, before and after, on lines, values, people and phrasings that training never saw.

    python -m training.score_reader --count 40        writes .benchmark/reader.json

"before" is the bundled model with the prompt for models without a reader; "after" has the reader. Both go through the
program's own prompt builder and sampling; lines are ranked by the cosine of the sentence embeddings, as recall ranks.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from chatmem import adapter, bundled
from chatmem.embedding import SentenceEncoder
from chatmem.evaluation import wilson
from chatmem.interface import Recollection
from chatmem.language_model import Sampling, TransformersModel
from chatmem.prompt import Prompt, build_prompt, prompt_budget, reader_messages
from training import facts
from training.reader_data import Maker
from training.reader_lines import Case, Group
from training.train_reader import base_replies

KINDS = (
    "plain", "loose words", "many lines", "exact", "conflict", "past", "other person", "unknown", "yes/no", "list",
    "everything", "shaped", "second hop", "told", "ordinary",
)  # fmt: skip
REFUSAL = re.compile(r"\bI (?:don't|do not) know\b|\bhaven't told\b|\bnot told\b", re.I)
REPLY_TOKENS = 64
_NEW = {attribute.name for attribute in facts.UNSEEN_ATTRIBUTES}


def cases(kind: str, count: int, seed: int, ordinary: dict[str, str]) -> list[Group]:
    """Return groups of one case each, of values that were never trained.

    Questions are about attributes that training never saw; those of "loose words" about known ones in words far from
    those of training ("Who issued my student card?"). "list" and "shaped" have usual statements and new values,
    "shaped" also new requests.
    """
    maker = Maker(seed, fresh=True, ordinary=ordinary)
    least, most = (8, 12) if kind == "many lines" else (1, 12)
    found: list[Group] = []
    while len(found) < count:
        group = maker.cases("plain" if kind in ("many lines", "loose words") else kind, 1, least, most)[0]
        name = group.cases[0].attribute
        fits = not name or (name in _NEW) != (kind == "loose words")
        if fits and (kind == "past" or not any(fact.until for fact in group.raw)):
            found.append(group)
    return found


def recollections(group: Group, said: str, encoder: SentenceEncoder) -> list[Recollection]:
    """Return a group's lines as recall gives them: best first."""
    rows = encoder.encode([said, *(fact.said for fact in group.raw)])
    scores = rows[1:] @ rows[0]
    found = [
        Recollection(fact.said, float(score), number, 0, fact.when, "user")
        for number, (fact, score) in enumerate(zip(group.raw, scores, strict=True))
    ]
    return sorted(found, key=lambda line: -line.score)


def prompt_for(model: TransformersModel, group: Group, case: Case, encoder: SentenceEncoder) -> Prompt:
    """Return the program's prompt; lines with an end date are written as training wrote them."""
    if case.kind == "past" and model.has_reader:
        return Prompt(model.render(reader_messages(group.lines, case.said)), reader=True)
    lines = recollections(group, case.said, encoder)
    return build_prompt(model, case.said, lines, budget=prompt_budget(model, REPLY_TOKENS))


def is_right(case: Case, reply: str) -> bool:
    """Tell whether a reply holds what it should, and nothing that it should not."""
    refused = bool(REFUSAL.search(reply))
    if case.kind == "unknown":
        return refused
    if refused or not reply or any(_holds(reply, value) for value in case.forbidden):
        return False
    if case.kind == "yes/no" and not re.match(rf"{case.expected[0]}\b", reply, re.I):
        return False
    return all(_holds(reply, value) for value in case.expected)


def _holds(text: str, value: str) -> bool:
    """Tell whether a value stands in a text as a whole, character for character but for capitals."""
    bare = re.sub(r"^(?:an?|the) ", "", value)
    return bool(re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", text, re.I))


def ask(model: TransformersModel, prompt: Prompt, temperature: float) -> str:
    """Return the reply to a prompt."""
    sampling = Sampling(REPLY_TOKENS, temperature=temperature)
    pieces = model.stream(prompt.text, sampling, prompt.stops, **prompt.options())
    return (prompt.opening + "".join(pieces)).strip()


def score(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each case and arm; those in the file already are not made again."""
    options.work.mkdir(parents=True, exist_ok=True)
    path = options.work / "scores.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    done = {(row["arm"], row["kind"], row["number"]) for row in rows}
    yield from (row for row in rows if row["number"] < options.count)
    encoder = SentenceEncoder.load()
    adapter.READER = options.adapter
    model = TransformersModel.load(bundled.NAME, "cpu")
    ordinary = base_replies(options.work / "ordinary_fresh.json", fresh=True)
    for arm in options.arms:
        model.has_reader = arm == "after"
        for kind in options.kinds:
            for number, group in enumerate(cases(kind, options.count, options.seed, ordinary)):
                if (arm, kind, number) in done:
                    continue
                case = group.cases[0]
                reply = ask(model, prompt_for(model, group, case, encoder), options.temperature)
                row = {"arm": arm, "kind": kind, "number": number, "right": is_right(case, reply), "said": case.said}
                row |= {"reply": reply, "answer": case.answer, "lines": list(group.lines)}
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                yield row


def table(rows: list[dict[str, Any]]) -> str:
    """Return the scores by kind as a table in Markdown, with 95% intervals (Wilson)."""
    lines = ["| kind | n | before | after |", "|---|---|---|---|"]
    for kind in KINDS:
        cells, count = [], 0
        for arm in ("before", "after"):
            found = [row["right"] for row in rows if row["arm"] == arm and row["kind"] == kind]
            low, high = wilson(sum(found), len(found))
            cells.append(f"{sum(found) / len(found):.0%} ({low:.0%} to {high:.0%})" if found else "–")
            count = max(count, len(found))
        lines.append(f"| {kind} | {count} | {' | '.join(cells)} |")
    for arm in ("before", "after"):
        alike = [_alike(row) for row in rows if row["arm"] == arm and row["kind"] == "ordinary"]
        if alike:
            lines.append(
                f"\nLikeness of ordinary replies to the base model's own, {arm}: {statistics.fmean(alike):.2f}"
            )
    return "\n".join(lines)


def _alike(row: dict[str, Any]) -> float:
    """Return how much of a reply's beginning is the base model's own, in [0, 1]."""
    size = min(len(row["reply"]), len(row["answer"]))
    return difflib.SequenceMatcher(None, row["reply"][:size].split(), row["answer"][:size].split()).ratio()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapter", type=Path, default=adapter.READER)
    parser.add_argument("--work", type=Path, default=Path(".benchmark/reader"))
    parser.add_argument("--output", type=Path, default=Path(".benchmark/reader.json"))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=99)
    parser.add_argument("--temperature", type=float, default=0.3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--arms", nargs="*", default=("before", "after"))
    parser.add_argument("--data", default="../shared/data", help="not needed: the cases are our own words")
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    torch.set_num_threads(given.threads)
    scored = list(score(given))
    short = [{key: row[key] for key in ("arm", "kind", "right")} for row in scored]
    given.output.write_text(json.dumps(short), encoding="utf-8")
    print(table(scored))

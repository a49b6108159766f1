"""GoodAI's long-term memory benchmark through the real program: sessions are told, then each question is asked.

    python -m training.score_goodai --data ../shared/data

The statements are recorded as sessions of their own; the question goes through the chat with the default memory. The
benchmark has no automatic judge for free text, so a reply is scored by rule: it must hold the words of the reference.
Writes `.benchmark/goodai.json`. Nothing here was ever trained or tuned on.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmark import new_chat
from chat_memory import open_model
from chatmem.embedding import SentenceEncoder
from chatmem.evaluation import wilson
from chatmem.interface import Session, Turn
from chatmem.journal import Journal
from chatmem.sentences import words
from chatmem.settings import Settings
from memory_module import GruMemory

FIRST_DAY = datetime(2025, 3, 3, 18, 30, tzinfo=UTC)
ENOUGH = 2 / 3  # of the content words of a reference in free text
_COLOURS = frozenset(
    words("red blue green purple white black yellow orange pink brown grey gray cream khaki tan cyan teal magenta")
)
_STOP = frozenset(words("a an the of to in on at is are was were it its and or by for with from that this as be you i"))


def is_right(row: dict[str, Any], reply: str) -> bool:
    """Tell whether a reply holds what the reference says, by the kind of the question."""
    said, task, answer = set(words(reply)), row["task"], row["answer"]
    if task == "Colours":
        return said & _COLOURS == set(words(answer))
    if task in ("NameList", "Spy Meeting"):
        groups = [[item] if isinstance(item, str) else item for item in json.loads(answer)]
        return all(any(set(words(way)) <= said for way in group) for group in groups)
    if task == "Trigger Response":
        wanted = re.sub(r"^say: ", "", answer)
        return " ".join(words(wanted)) in " ".join(words(reply))
    wanted_words = set(words(answer)) - _STOP
    return len(wanted_words & said) >= ENOUGH * len(wanted_words)


def ask(rows: list[dict[str, Any]], settings: Settings) -> Iterator[dict[str, Any]]:
    """Tell and ask each row in a memory of its own, and yield what came of it."""
    model, encoder = open_model(settings), SentenceEncoder.load()
    for row in tqdm(rows, desc="GoodAI", unit="question"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            journal = Journal.at(folder / "journal.db")
            for day, session in enumerate(row["sessions"]):
                when = FIRST_DAY + timedelta(days=day)
                journal.record(Session(tuple(Turn(turn["speaker"], turn["text"], when) for turn in session["turns"])))
            chat = new_chat(GruMemory(journal, encoder, folder), model, settings)
            reply = "".join(chat.say(row["question"])).strip()
            yield {
                "id": row["id"],
                "task": row["task"],
                "question": row["question"],
                "answer": row["answer"],
                "reply": reply,
                "lines": [line.text for line in chat.used or []],
                "right": is_right(row, reply),
            }


def main() -> None:
    """Ask everything and write and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="default: ../shared/data")
    parser.add_argument("--task", help="only this task")
    parser.add_argument("--output", type=Path, default=Path(".benchmark/goodai.json"))
    args = parser.parse_args()
    rows = [json.loads(line) for line in (args.data / "goodai_ltm.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if args.task in (None, row["task"])]
    answers = list(ask(rows, Settings(max_new_tokens=80)))
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(json.dumps(answers, ensure_ascii=False, indent=1), "utf-8")
    by_task = defaultdict(list)
    for answer in answers:
        by_task[answer["task"]].append(answer["right"])
    for task, right in by_task.items():
        low, high = wilson(sum(right), len(right))
        print(f"{task:22} {sum(right):3} of {len(right):3}  ({100 * low:.0f}–{100 * high:.0f}%)")


if __name__ == "__main__":
    main()

"""The part of report.md on what was trained: retrieval, the decision, judgement, the reader, the public benchmark.

Each function renders one dictionary that a script in `training/` wrote; a part that was not measured is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chatmem.tables import percent, table

_SUMMARY = (
    "mean of the sentences",
    "trained session vector",
    "max-sim + BM25",
    "default: turn states + BM25 + session vector",
)
TRAINED = ("retrieval", "answerable", "judged", "reader", "goodai")  # names of the files that hold the results
_METRICS = ("hit@1", "recall_all@3", "recall_all@5", "ndcg@5")


def render_trained(measured: dict[str, Any]) -> str:
    """Return the sections for what `benchmark.py` collected from `.benchmark/*.json`."""
    parts = dict(zip(TRAINED, (_retrieval, _answerable, _judged, _reader, _goodai), strict=True))
    found = [render(measured[name]) for name, render in parts.items() if measured.get(name)]
    return "\n\n".join(["## What was trained", _ABOUT, *found])


_ABOUT = """Weights, data, licences, seeds and commands are on the cards in `chatmem/weights/`. All of this was measured on
people, values and template families that training never saw; GoodAI and MADial were never trained or tuned on."""


def _retrieval(found: dict[str, Any]) -> str:
    """Render the arms that look for sessions on every set."""
    rows, ahead, details = [], [], []
    for name, one in found["sets"].items():
        arms = one["arms"]
        rows.append((name, str(one["questions"]), *(_interval(arms[arm]["hit@1"]) for arm in _SUMMARY)))
        lead = one["lead"]["hit@1"]
        if lead[0] < 0:
            ahead.append(f"{name} ({100 * lead[0]:+.1f}, {100 * lead[1]:+.0f} to {100 * lead[2]:+.0f})")
        all_arms = [(arm, *(_interval(values[metric]) for metric in _METRICS)) for arm, values in arms.items()]
        title = f"<details><summary>{name}, {one['questions']} questions</summary>"
        details.append(f"{title}\n\n{table(('arm', *_METRICS), all_arms)}\n\n</details>")
    behind = "; ".join(ahead) if ahead else "nowhere"
    return "\n\n".join(
        [
            "### Finding the session",
            "Hit@1 in percent with its 95% bootstrap interval: the best-ranked session holds the answer.",
            table(("set", "questions", *(arm.split(":")[0] for arm in _SUMMARY)), rows),
            f"The default ranks behind max-sim + BM25 (Hit@1, points with interval): {behind}.",
            *details,
        ]
    )


def _interval(value: Sequence[float]) -> str:
    """Return a share with its interval in percent; a dash where it was not measured."""
    return f"{100 * value[0]:.1f} ({100 * value[1]:.0f}–{100 * value[2]:.0f})" if value else "–"


def _goodai(answers: list[dict[str, Any]]) -> str:
    """Render the public benchmark by kind."""
    tasks: dict[str, list[bool]] = {}
    for answer in answers:
        tasks.setdefault(answer["task"], []).append(answer["right"])
    rows = [(task, percent(right)) for task, right in sorted(tasks.items())]
    return f"""### GoodAI's long-term memory benchmark

Through the chat, arm `gru`; sessions are told, the question is asked in a new one. Scored by rule, strictly: the reply
must hold the words of the reference (`training/score_goodai.py`).

{table(("kind", "right"), rows)}"""

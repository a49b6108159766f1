"""The part of report.md on what was trained: retrieval, the decision, judgement, the reader, the public benchmark.

Each function renders one dictionary that a script in `training/` wrote; a part that was not measured is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chatmem.report_neural import render_neural
from chatmem.tables import percent, table

_SUMMARY = (
    "mean of the sentences",
    "trained session vector",
    "max-sim + BM25",
    "default: turn states + BM25 + session vector",
)
TRAINED = (
    "retrieval",
    "answerable",
    "judged",
    "statements",
    "reader",
    "stand_ins",
    "goodai",
    "neural",
)  # names of the files that hold the results
_METRICS = ("hit@1", "recall_all@3", "recall_all@5", "ndcg@5")


def render_trained(measured: dict[str, Any]) -> str:
    """Return the sections for what `benchmark.py` collected from `.benchmark/*.json`."""
    renderers: tuple[Callable[[Any], str], ...] = (
        _retrieval,
        _answerable,
        _judged,
        _statements,
        _reader,
        _stand_ins,
        _goodai,
        render_neural,
    )
    parts = dict(zip(TRAINED, renderers, strict=True))
    found = [render(measured[name]) for name, render in parts.items() if measured.get(name)]
    return "\n\n".join(["## What was trained", _ABOUT, *found])


_ABOUT = """Weights, data, licences, seeds and commands are on the cards in `chatmem/weights/`. Measured on
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


def _answerable(found: dict[str, Any]) -> str:
    """Render the decision beside its baselines, for seen and for unseen attributes."""
    rows, curves = [], []
    for arm, by_set in found["answerable"].items():
        for name in ("seen", "unseen"):
            one = by_set[name]["all_first_3"]
            low, high = one["auc_interval"]
            refused = (one["refused_at_95"], *one["refused_at_95_interval"])
            cells = (f"{one['auc']:.3f} ({low:.3f}–{high:.3f})", f"{100 * one['right_line_first']:.1f}%")
            rows.append((f"`{arm}`, {name}", f"{one['known']} / {one['unknown']}", *cells, _or_never(refused)))
            if arm == "decision":
                curves.append((name, *(_or_never((point["refused"],)) for point in one["curve"])))
    curve = found["answerable"]["decision"]["seen"]["all_first_3"]["curve"]
    shares = [f"{100 * point['answered']:.1f}%" for point in curve]
    head = ("arm, attributes", "known / unknown", "AUC", "right among three", "unknown refused at 95% answered")
    names = ("answered_right", "unknown_refused", "talk_left_alone")
    inside = [
        (kind, *(_or_never((one[name]["share"], *one[name]["interval"])) for name in names))
        for kind, one in found["in_recall"].items()
    ]
    time = found["milliseconds"]
    return f"""### Answerable from these lines or not

The best eight lines of one person's memory are judged together with the question; at most three come back. "At 95%
answered": at the threshold where 95% of the answerable questions get a line that answers them; a dash where no
threshold answers so many, because the right line is not ranked high enough.

{table(head, rows)}

The curve of the decision, unknown questions refused at the share of answerable ones answered right:

{table(("attributes", *shares), curves)}

As recall works, at the threshold {found["threshold"]:.3f} that was chosen on the development set:

{table(("attributes", "answered right", "unknown refused", "ordinary talk left alone"), inside)}

Judging eight lines takes {time["warm"]:.1f} ms where their words were read before and {time["cold"]:.1f} ms where not
(medians)."""


def _or_never(value: Sequence[float | None]) -> str:
    """Return a share, with its interval where there is one, in percent; a dash where it cannot be reached."""
    if value[0] is None:
        return "–"
    bounds = [f"{100 * bound:.0f}" for bound in value[1:] if bound is not None]
    return f"{100 * value[0]:.1f}%" + (f" ({'–'.join(bounds)})" if bounds else "")


def _judged(found: dict[str, list[int]]) -> str:
    """Render how many of each label are kept as facts."""
    looked = {label.removesuffix(_LOOK): counts for label, counts in found.items() if label.endswith(_LOOK)}
    rows = [
        (label, _share(counts), _share(looked[label]) if label in looked else "")
        for label, counts in found.items()
        if not label.endswith(_LOOK)
    ]
    return f"""### What is kept as a fact

Share of sentences that become memory lines, by label: by the rules of words, which judge while a line is written, and
after the second look of the trained network, which follows before the reply. Sets 1 to 4 are not blind: the rules were
mended after each was first scored. Set 5 was written by somebody who knew neither rules nor training text; the kind of
network and the share of facts that its threshold may lose were settled with its scores in sight. Set 6 was written
likewise, after everything was settled, and scored once. First scores of the rules on sets 1 to 4 and on two more: 7.0%,
24.6% (written to deceive), 3.6%, 2.2%, 8.1% and 10% of what is no fact was kept. The labels of the public data are
weak, and of another kind (a request such as "i need to find my luggage" states something, too).

{table(("label", "kept by the rules", "after the second look"), rows)}"""


_LOOK = ", second look"


def _share(counts: Sequence[int]) -> str:
    kept, total = counts
    return percent([True] * kept + [False] * (total - kept))


def _statements(found: dict[str, Any]) -> str:
    """Render what new statements do to older ones, for each set."""
    rows = [row for name, one in found.items() for row in _pairs(name, one)]
    return f"""### What takes the place of an older statement

Pairs of statements in everyday wording, written by people who knew neither rules nor training text. The kind of network
and the share of near misses that its threshold may lose were settled with the first set's scores in sight; the second
was written afterwards, scored once, and again when statements of two clauses had been mended on other words. Share of
the older statements that are taken for replaced:

{table(("set", "the new statement says", "pairs", *_ARMS), rows)}

Each statement has a question in words that do not occur in it, and a near one that neither statement answers:

{table(("set", "AUC of replaced or not", "answered by its line", "near ones that get none"), _asked(found))}"""


_ARMS = ("rules", "rules and second look")
_SAID = {
    "new": "a newer value",
    "end": "it no longer holds, or never did",
    "stays": "a near miss: both hold",
    "same": "the same in other words",
}


def _pairs(name: str, found: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, said, str(found["pairs"][label]), *(_or_never(found["replaced"][arm][label]) for arm in _ARMS))
        for label, said in _SAID.items()
    ]


def _asked(found: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (name, f"{one['auc'][0]:.3f} ({one['auc'][1]:.3f}–{one['auc'][2]:.3f})",
         *(_or_never(one["questions"][what]) for what in ("answered", "refused")))
        for name, one in found.items()
    ]  # fmt: skip


def _reader(answers: list[dict[str, Any]]) -> str:
    """Render the reader by kind, before and after training."""
    kinds = dict.fromkeys(answer["kind"] for answer in answers)

    def cell(arm: str, kind: str) -> str:
        right = [answer["right"] for answer in answers if answer["arm"] == arm and kind in (answer["kind"], "all")]
        return percent(right) if right else "–"

    rows = [(kind, cell("before", kind), cell("after", kind)) for kind in (*kinds, "all")]
    return f"""### Reading the lines

Through the chat's prompt at temperature 0.3, on lines, values and phrasings that training never saw. Before: the plain
model with the worked example and the started reply. After: the reader.

{table(("kind", "before", "after"), rows)}"""


def _stand_ins(found: dict[str, list[dict[str, Any]]]) -> str:
    """Render how models without a reader do, with and without the boost of a line's words."""
    bonuses = sorted({answer["bonus"] for answers in found.values() for answer in answers})
    rows = [
        (name, *(percent([answer["right"] for answer in answers if answer["bonus"] == bonus]) for bonus in bonuses))
        for name, answers in found.items()
    ]
    head = ("model", *("no boost" if bonus == 0 else f"logits + {bonus:g}" for bonus in bonuses))
    return f"""### Models without a reader

Scenarios A to F, five runs, arm `gru`, the chat's default temperature. In base mode the bundled model has neither
chat template nor reader, as GPT-2; the reply is begun with the first two words of the best line. Boost: what follows
the last word in that line gets a bonus, the second seed's `direct_logit_scale` on words of the recalled line.

{table(head, rows)}"""


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

"""What a decision is worth: answered right against refused, with intervals, and relations by kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from training.pairs_data import Groups

Floats = npt.NDArray[np.float64]
ASKED = ("own", "other", "yes-no")


def auc(positive: Floats, negative: Floats) -> float:
    """Return the chance that a positive score is above a negative one; ties count half."""
    if not len(positive) or not len(negative):
        return float("nan")
    order = np.sort(negative)
    below = np.searchsorted(order, positive, "left")
    upto = np.searchsorted(order, positive, "right")
    return float((below + upto).mean() / 2 / len(negative))


def interval(
    values: tuple[Floats, ...], measure: Callable[..., float], seed: int = 0, rounds: int = 1000
) -> list[float]:
    """Return the 95% bootstrap interval of a measure (Efron, 1979) of samples that are drawn anew each by itself."""
    rng = np.random.default_rng(seed)
    found = [measure(*(value[rng.integers(0, len(value), len(value))] for value in values)) for _ in range(rounds)]
    return [round(float(bound), 4) for bound in np.quantile(found, (0.025, 0.975))]


def best_scores(groups: Groups, scores: Floats, first: int = 1) -> tuple[Floats, Floats, Floats]:
    """Return a score for each known question, for each unknown one, and for each piece of ordinary talk.

    That of a known one is the best score of a line that answers, or -inf where none is among the `first` lines; that
    of the others is their best line's. Lines of which people would not agree are left out.
    """
    scores = np.where(groups.labels < 0, -np.inf, scores)
    best = scores.max(1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :first]  # (Q, first)
    ranked = np.take_along_axis(scores, order, axis=1)
    right = np.where(np.take_along_axis(groups.labels, order, axis=1) == 1, ranked, -np.inf).max(1)
    asked = np.isin(groups.kinds, ASKED)
    clear = ~((groups.labels < 0) & (groups.candidates >= 0)).any(1)
    unknown = (asked & ~groups.has_answer & clear) | (groups.kinds == "not told")
    talk = np.isin(groups.kinds, ("talk", "told")) & clear
    return right[asked & groups.has_answer], best[unknown], best[talk]


def curve(groups: Groups, scores: Floats, threshold: float | None = None, first: int = 1) -> dict[str, Any]:
    """Return the curve of a decision: at every share of answerable questions answered right, the unknown refused.

    Args:
        groups: Q questions.
        scores: (Q, C) of the candidates; -inf where there is none.
        threshold: the one chosen on the development set, for the point where the product works.
        first: how many lines come back at most; a question is answered right when one of them answers it.
    """
    known, unknown, talk = best_scores(groups, scores, first)
    anyhow = np.where(groups.labels < 0, -np.inf, scores).max(1)[np.isin(groups.kinds, ASKED) & groups.has_answer]
    refused = [
        {"answered": share, "refused": _refused_at(known, unknown, share)}
        for share in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975)
    ]
    at_95 = lambda k, u: _refused_at(k, u, 0.95) or 0.0  # noqa: E731
    result: dict[str, Any] = {
        "known": len(known),
        "unknown": len(unknown),
        "talk": len(talk),
        "auc": round(auc(anyhow, unknown), 4),
        "auc_interval": interval((anyhow, unknown), auc),
        "right_line_first": round(float(np.isfinite(known).mean()), 4),
        "refused_at_95": _refused_at(known, unknown, 0.95),
        "refused_at_95_interval": interval((known, unknown), at_95),
        "curve": refused,
    }
    if threshold is not None:
        result["at_threshold"] = {
            "threshold": round(threshold, 4),
            "answered_right": _share(known, threshold, above=True),
            "unknown_refused": _share(unknown, threshold, above=False),
            "talk_left_alone": _share(talk, threshold, above=False),
        }
    return result


def _refused_at(known: Floats, unknown: Floats, answered: float) -> float | None:
    """Return the share of the unknown below the threshold at which a share of the known is answered right."""
    threshold = threshold_for(known, answered)
    return None if threshold is None else round(float((unknown < threshold).mean()), 4)


def threshold_for(known: Floats, answered: float) -> float | None:
    """Return the highest threshold at which a share of the known is answered right; None where none is."""
    ordered = np.sort(known)[::-1]
    bound = ordered[max(0, int(np.ceil(answered * len(ordered))) - 1)]
    return float(bound) if np.isfinite(bound) else None


def _share(values: Floats, threshold: float, *, above: bool) -> dict[str, Any]:
    """Return the share of values above or below a threshold with its count and interval."""
    hits = (values >= threshold if above else values < threshold).astype(np.float64)
    if not len(hits):
        return {"share": None, "of": 0}
    return {
        "share": round(float(hits.mean()), 4),
        "of": len(hits),
        "interval": interval((hits,), lambda v: float(v.mean())),
    }


def by_kind(groups: Groups, scores: Floats, threshold: float) -> dict[str, Any]:
    """Return for every kind of query how many of its answering lines come back, and of the others how few."""
    found: dict[str, Any] = {}
    for kind in sorted(set(groups.kinds)):
        rows = groups.kinds == kind
        marks, passed = groups.labels[rows], scores[rows] >= threshold
        found[str(kind)] = {
            "queries": int(rows.sum()),
            "answering_lines_kept": round(float(passed[marks == 1].mean()), 4) if (marks == 1).any() else None,
            "other_lines_left_out": round(float((~passed)[marks == 0].mean()), 4),
        }
    return found


def relation_table(
    labels: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64], names: tuple[str, ...]
) -> dict[str, Any]:
    """Return how many of each relation are told right, and what the others were taken for."""
    table: dict[str, Any] = {"pairs": len(labels), "right": round(float((labels == predicted).mean()), 4)}
    table["right_interval"] = interval(((labels == predicted).astype(float),), lambda v: float(v.mean()))
    for place, name in enumerate(names):
        rows = labels == place
        taken = {other: int((predicted[rows] == at).sum()) for at, other in enumerate(names)}
        table[name] = {
            "pairs": int(rows.sum()),
            "right": round(float((predicted[rows] == place).mean()), 4),
            "taken_for": taken,
        }
    return table

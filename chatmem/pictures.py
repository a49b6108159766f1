"""The report's pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from chatmem.evaluation import wilson

_COLOURS = {  # Okabe and Ito, 2008: told apart by everyone
    "none": "#999999",
    "bm25": "#F0E442",
    "mean": "#009E73",
    "rag": "#E69F00",
    "gru": "#0072B2",
}


def draw_accuracy(results: dict[str, Any], path: Path) -> None:
    """Draw the share of right answers for each scenario and arm, with 95% intervals."""
    names = list(results["scenarios"])
    figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
    for place, (arm, colour) in enumerate(_COLOURS.items()):
        shares, errors = [], []
        for name in names:
            right = [a["right"] for a in results["answers"] if a["scenario"] == name and a["arm"] == arm]
            low, high = wilson(sum(right), len(right))
            share = sum(right) / len(right)
            shares.append(100 * share)
            errors.append((100 * max(share - low, 0), 100 * max(high - share, 0)))
        at = np.arange(len(names)) + 0.17 * (place - 2)
        axes.bar(at, shares, width=0.16, color=colour, label=arm)
        axes.errorbar(at, shares, yerr=np.array(errors).T, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=2)
    axes.axhline(80, color="#333333", linewidth=0.8, linestyle=":")
    axes.text(len(names) - 0.45, 80.8, "80%", fontsize=8)
    axes.set(xticks=range(len(names)), xticklabels=names, ylim=(0, 106), ylabel="right answers, %", xlabel="scenario")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="arm", ncols=5, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.2))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_slots(pool: dict[str, Any], path: Path) -> None:
    """Draw how the sessions move through the slots, and how near each question is to each slot at the end."""
    held, cosines = np.array(pool["held"]), np.array(pool["cosines"])
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", width_ratios=[1, 1.1])
    shades = mpl.colormaps["cividis"].with_extremes(under="white")
    left.imshow(held, cmap=shades, vmin=1, vmax=int(held.max()), aspect="auto")
    for (row, column), session in np.ndenumerate(held):
        if session:
            tone = "white" if session < held.max() * 0.6 else "black"
            left.text(column, row, str(session), ha="center", va="center", fontsize=8, color=tone)
    left.set(
        title="Session in each slot, after each session", xlabel="slot", ylabel="sessions told",
        xticks=range(held.shape[1]), xticklabels=range(1, held.shape[1] + 1),
        yticks=range(held.shape[0]), yticklabels=range(1, held.shape[0] + 1),
    )  # fmt: skip
    image = right.imshow(cosines, cmap="cividis", aspect="auto")
    last = held[-1].tolist()
    for row, session in enumerate(pool["sessions"]):
        if session in last:
            at = last.index(session)
            right.add_patch(plt.Rectangle((at - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2))
    labels = [f"{text}  ({session})" for text, session in zip(pool["questions"], pool["sessions"], strict=True)]
    right.set(
        title="Cosine of each question with each slot at the end\n(framed: the session that was told the answer)",
        xlabel="session in the slot", xticks=range(len(last)), xticklabels=last, yticks=range(len(labels)),
    )  # fmt: skip
    right.set_yticklabels(labels, fontsize=8)
    figure.colorbar(image, ax=right, shrink=0.8)
    figure.savefig(path, dpi=150)
    plt.close(figure)

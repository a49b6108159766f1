"""Reading the benchmark's results: shares of right answers, ratios and medians of times."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from chatmem.evaluation import median_ratio


def pick(results: dict[str, Any], arm: str, scenarios: str, key: str = "right") -> list[Any]:
    """Return one value for each answer of an arm in some scenarios, where there is one."""
    chosen = (a for a in results["answers"] if a["arm"] == arm and a["scenario"] in scenarios)
    return [answer[key] for answer in chosen if answer[key] is not None]


def share(values: Sequence[bool]) -> float:
    """Return the share of what is true."""
    return sum(values) / len(values)


def ratio(results: dict[str, Any], arm: str) -> float:
    """Return the median over the rounds of an arm's reply time by that without memory."""
    replies = results["costs"]["replies"]
    return median_ratio(replies[arm], replies["none"])


def milliseconds(values: Sequence[float]) -> float:
    """Return the median of some seconds, in milliseconds."""
    return 1000 * median(values)

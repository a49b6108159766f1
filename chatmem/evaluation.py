"""Metrics of the benchmark, as pure functions of plain numbers.

Knows nothing of models and memories.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson, 1927), as two numbers in [0, 1]; (0, 1) where nothing was counted."""
    if total == 0:
        return 0.0, 1.0
    share = right / total
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    middle, scale = share + z * z / (2 * total), 1 + z * z / total
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation, which is 0 for a single value."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value under which a share of the values lies, interpolated between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median_and_p95(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    return percentile(values, 0.5), percentile(values, 0.95)


def median_ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the median of the ratios of measurements that were taken in the same rounds."""
    return statistics.median(value / other for value, other in zip(values, base, strict=True))


def hit_at(ranked: Sequence[str], wanted: str, k: int) -> bool:
    """Tell whether what was wanted is among the first k."""
    return wanted in ranked[:k]

"""Tables in Markdown, and shares with their intervals as they stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatmem.evaluation import wilson


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def percent(values: Sequence[bool]) -> str:
    """Return the share of what is true, with its 95% interval (Wilson, 1927) and the number of cases."""
    low, high = wilson(sum(values), len(values))
    return f"{100 * sum(values) / len(values):.1f}% ({100 * low:.0f}–{100 * high:.0f}, n = {len(values)})"

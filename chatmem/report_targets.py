"""The part of report.md that holds what was to be reached against what was measured."""

from __future__ import annotations

from statistics import median
from typing import Any

from chatmem.results import milliseconds, pick, ratio, share
from chatmem.tables import percent, table


def render_targets(results: dict[str, Any]) -> str:
    """Return the section that holds what was to be reached against what was measured."""
    costs, start = results["costs"], results["costs"]["start"]
    right = {names: pick(results, "gru", names) for names in ("ABCDE", "F", "G", "H")}
    hits = {name: pick(results, "gru", name, "recalled") for name in "FG"}
    recall = milliseconds(costs["steps"]["recall"]["gru"])
    long = milliseconds(costs["long recall"])
    embed = milliseconds(costs["steps"]["embed"]["one line"])
    finish = median(costs["steps"]["finish"]["gru"])
    slowdown = ratio(results, "gru")
    rows: list[tuple[str, str, str, bool | None]] = [
        ("A to E, arm `gru`", "99%", percent(right["ABCDE"]), share(right["ABCDE"]) >= 0.99),
        ("F, ten facts", "95%", percent(right["F"]), share(right["F"]) >= 0.95),
        ("F, right line recalled", "95%", percent(hits["F"]), share(hits["F"]) >= 0.95),
        ("G, after thirteen sessions", "95%", percent(right["G"]), share(right["G"]) >= 0.95),
        ("G, right line recalled", "95%", percent(hits["G"]), share(hits["G"]) >= 0.95),
        ("H, says that it does not know", "90%", percent(right["H"]), share(right["H"]) >= 0.9),
        *_refusing(results.get("trained", {})),
        ("whole reply, `gru` ÷ `none`", "≤ 1.25", f"{slowdown:.2f}", slowdown <= 1.25),
        ("recall over 10 sessions", "≤ 5 ms", f"{recall:.1f} ms", recall <= 5),
        ("recall over 1,000 sessions", "≤ 40 ms", f"{long:.1f} ms", long <= 40),
        ("embedding one line", "≤ 40 ms", f"{embed:.1f} ms", embed <= 40),
        ("finishing a session of 20 lines", "≤ 1.5 s", f"{finish:.2f} s", finish <= 1.5),
        ("`--help`", "≤ 0.5 s", f"{start['help']:.2f} s", start["help"] <= 0.5),
        ("start to first prompt", "≤ 3 s", f"{start['first prompt']:.1f} s", start["first prompt"] <= 3),
        ("start to first reply", "≤ 15 s", f"{start['first reply']:.1f} s", start["first reply"] <= 15),
    ]
    marks = {True: "yes", False: "**no**", None: "–"}
    rendered = table(("what", "to reach", "measured", "reached"), [(*row[:3], marks[row[3]]) for row in rows])
    return f"## Targets\n\n{rendered}\n\nTimes are medians."


def _refusing(trained: dict[str, Any]) -> list[tuple[str, str, str, bool | None]]:
    """Return the rows on unknown questions refused at the threshold where 95% of the answerable are answered."""
    if not trained.get("answerable"):
        return []
    sets = trained["answerable"]["answerable"]["decision"]
    refused = {name: sets[name]["all_first_3"]["refused_at_95"] for name in ("seen", "unseen")}
    return [
        (
            f"unknown refused at 95% answered, attributes that training {'saw' if name == 'seen' else 'never saw'}",
            "90%",
            "95% answered is not reached" if part is None else f"{100 * part:.1f}%",
            part is not None and part >= 0.9,
        )
        for name, part in refused.items()
    ]

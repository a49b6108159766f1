"""The part of report.md on reliability: what harm a memory survives, and what a large one costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from chatmem.evaluation import median_and_p95
from chatmem.tables import table

_RECALL_MS, _START_SECONDS, _RAM_MB = 60, 2, 300  # the targets, each beyond an empty memory but recall


def render_reliability(found: Mapping[str, Any]) -> str:
    """Return the section for what `benchmark.py --only reliability` measured."""
    parts = (_harm(found), _proofs(found["proofs"]), _load(found["load"]), _pages(found), _long_run(found["long run"]))
    machine = found["machine"]
    where = f"Measured by `make reliability` on {machine['processor']}, {machine['cores']} cores."
    return "\n\n".join(["## Reliability", where, *parts])


def _harm(found: Mapping[str, Any]) -> str:
    """Render the trials in which something was broken on purpose."""

    def row(title: str, name: str) -> Sequence[str]:
        one = found[name]
        bad = sum(one.get(key, 0) for key in ("unsound", "failed", "traceback", "refused"))
        return title, str(one["trials"]), str(one.get("acknowledged", "–")), str(one.get("lost", 0)), str(bad)

    rows = [
        row("SIGKILL at a random moment of a chat", "kills"),
        row("processes that write one memory at once", "writers"),
        row("file size limit in the middle of a chat", "full disks"),
        row("folder and files that may not be written", "read-only"),
    ]
    hurt = found["damages"]
    kept = 100 * hurt["kept"] / hurt["lines"]
    return f"""### Nothing lost

A line is acknowledged when its reply is complete and nobody was told that it is not saved. Failed: a traceback, a
memory that does not open, sessions without vectors, a notice that did not come. The journal, the pool and the chat are
the real ones; encoder and language model are small stand-ins, so that a trial takes less than a second.

{table(("harm", "trials", "acknowledged lines", "lost", "failed"), rows)}

{hurt["trials"]} random bit flips and cuts over every file of a memory: {hurt.get("traceback", 0)} ended in a traceback,
{hurt.get("refused", 0)} left it refused with a clear error, {hurt.get("error", 0)} gave a clear error and were repaired
at the next start, {hurt.get("notice", 0)} were repaired with a notice, {hurt.get("unnoticed", 0)} changed nothing that
was read. {kept:.2f}% of the {hurt["lines"]} lines could be read afterwards."""


def _proofs(found: Mapping[str, Mapping[str, int]]) -> str:
    """Render what was tried of deletion, users, encryption, planted text, secrets and copies."""
    titles = {
        "forgotten": "facts erased (/forget, order, /undo, /reset, --max-sessions; gru and rag), every byte read",
        "returned": "forgotten facts in an old copy that is imported, every byte read",
        "names": "user names: a folder of their own inside, or refused",
        "strangers": "users of names alike: no byte or fact of another's",
        "encrypted": "encrypted memories, every byte searched for the plain text",
        "planted": "planted texts (`tests/injections.txt`): nothing kept, nothing deleted",
        "secrets": "secrets of known forms, taken out",
        "copied": "exports read into an empty memory twice: equal",
    }
    rows = [(title, str(found[name]["trials"]), str(found[name].get("failed", 0))) for name, title in titles.items()]
    return f"""### Promises

{table(("what was tried", "trials", "failed"), rows)}

The planted texts are those that the rules were made for: none failing says that nothing was lost since, not that no
other text gets through. Killed conversions, older formats, the order of writes before a loss of power, other encoders
and a server are tested as `docs/security.md` says."""


def _load(loads: Sequence[Mapping[str, Any]]) -> str:
    """Render memories of different sizes."""
    empty, small, big = loads
    rows = []
    for one in loads:
        recall, high = median_and_p95(one["recall"]) if "recall" in one else (0.0, 0.0)
        start = one["start"]
        rows.append(
            (
                f"{one['sessions']:,}",
                f"{1000 * recall:.0f} / {1000 * high:.0f}" if recall else "–",
                f"{start['seconds']:.2f}",
                f"{start['bytes'] / 1e6:.0f}",
                f"{1000 * median(one['finish']):.0f}",
                f"{one['forget']:.2f}",
                f"{one['file'] / 1e6:.1f}" if "file" in one else "–",
            )
        )
    ratio = median(big["finish"]) / median(small["finish"])
    high = 1000 * median_and_p95(big["recall"])[1]
    seconds = big["start"]["seconds"] - empty["start"]["seconds"]
    ram = (big["start"]["bytes"] - empty["start"]["bytes"]) / 1e6
    targets = [
        ("recall, p95, ms", f"{high:.0f}", str(_RECALL_MS), _met(high <= _RECALL_MS)),
        ("start, s more than empty", f"{seconds:.2f}", str(_START_SECONDS), _met(seconds <= _START_SECONDS)),
        ("RAM, MB more than empty", f"{ram:.0f}", str(_RAM_MB), _met(ram <= _RAM_MB)),
        (f"end of a session ÷ that with {small['sessions']} sessions", f"{ratio:.2f}", "about 1", _met(ratio <= 1.3)),
    ]
    ranking, ranking_high = (1000 * value for value in median_and_p95(big["rank"]))
    head = ("sessions", "recall, ms (median / p95)", "start, s", "RAM, MB", "end of a session, ms", "/forget, s", "MB")
    return f"""### Load

Sessions of twenty turns. Recall is whole: the query is embedded ({1000 * median(big["embed"]):.0f} ms, median), the
pages are read and the decision judges lines that it has not seen; ranking alone, with the query embedded, takes
{ranking:.0f} ms (p95 {ranking_high:.0f}). The second look at a new line, before the reply to it, takes
{1000 * median(small["look"]):.0f} ms with {small["sessions"]} sessions and {1000 * median(big["look"]):.0f} ms with \
{big["sessions"]:,}.
Start and RAM are those of a process that has loaded its models. `/forget` derives all states again and rewrites the
file, so it grows with the memory.

{table(head, rows)}

{table((f"{big['sessions']:,} sessions", "measured", "target", ""), targets)}"""


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def _pages(found: Mapping[str, Any]) -> str:
    """Render recall by pages beside a full scan, and the time of the coarse step."""
    big, coarse = found["load"][-1], found["coarse"]
    scan = {key: 100 * value for key, value in big["scan"].items()}
    sizes = ((f"{int(count):,}", f"{1000 * seconds:.2f}") for count, seconds in coarse.items())
    pays = 1000 * coarse["100000"]
    right = 100 * big["right"] / big["asked"]
    return f"""### Pages and a full scan

With {big["sessions"]:,} sessions recall reads the lines of {scan["pages_read"]:.2f}% of them. Its best line is that of
a full scan in {scan["same_best"]:.1f}% of the questions, and {scan["same_nearest"]:.1f}% of the scan's nearest eight
lines are among its own. The line that answers is among the nearest eight in {scan["found"]:.1f}%, in a full scan in
{scan["found_by_scan"]:.1f}%; recall with k = 3 brings it back in {right:.1f}% of {big["asked"]}.

Comparing the query with every session's vector takes:

{table(("session vectors", "ms"), sizes)}

{pays:.1f} ms for 100,000 sessions, which are {100_000 / 365 / 10:.0f} years of ten sessions a day: an index library
(usearch, hnswlib) could save no more than that, and would be one more file to forget from. None is used."""


def _long_run(found: Mapping[str, Any]) -> str:
    """Render the pool after many updates."""
    drift = 100 * (found["norm_last"] / found["norm_first"] - 1)
    sizes = " and ".join(str(size) for size in sorted(set(found["bytes"])))
    finite = "all values are finite" if found["finite"] else "there are NaN or Inf"
    return f"""### Long life

After {found["updates"]:,} updates of the pool {finite}; the mean norm of a new slot over the last tenth differs by
{drift:+.2f}% from that over the first. The pool's file has {sizes} bytes when full, half-way and at the end."""

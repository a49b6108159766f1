"""report.md as a pure rendering of the benchmark's results: the same dictionary always gives the same text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median
from typing import Any

from chatmem.evaluation import mean_and_deviation, median_and_p95
from chatmem.report_reliability import render_reliability
from chatmem.report_targets import render_targets
from chatmem.report_trained import render_trained
from chatmem.results import milliseconds, pick, ratio, share
from chatmem.tables import percent, table

ARMS = ("none", "bm25", "mean", "rag", "gru")  # in the order in which they are shown
COSTED = ("none", "rag", "gru")  # arms whose times and sizes are measured
MARK = "<!-- results -->"


def render_report(results: dict[str, Any]) -> str:
    """Return the report for the results of `benchmark.py`."""
    parts = [
        _head(results),
        render_targets(results),
        _accuracy(results),
        _forms(results),
        render_trained(results.get("trained", {})),
        _latency(results),
        *([render_reliability(results["reliability"])] if results.get("reliability") else []),
        _cost(results),
        _conclusions(results),
        _method(results),
        _answers(results),
        f"{MARK}\n<details><summary>All numbers as JSON</summary>\n\n```json\n"
        f"{json.dumps(results, ensure_ascii=False, separators=(',', ':'))}\n```\n\n</details>",
    ]
    return "\n\n".join(parts) + "\n"


def read_results(report: str) -> dict[str, Any]:
    """Return the results that a report was rendered from."""
    block = report.split(MARK, 1)[1].split("```json\n", 1)[1].split("\n```", 1)[0]
    results: dict[str, Any] = json.loads(block)
    return results


def readme_table(results: dict[str, Any]) -> str:
    """Return the few numbers that the README shows, in words that need no translation."""
    groups = {"A–E": "ABCDE", "F": "F", "G": "G", "H": "H"}
    rows = [
        (label, *(f"{100 * share(pick(results, arm, names)):.0f}%" for arm in COSTED))
        for label, names in groups.items()
    ]
    rows.append(("t ÷ t(`none`)", *(f"{ratio(results, arm):.2f}" for arm in COSTED)))
    return table(("", *(f"`{arm}`" for arm in COSTED)), rows)


def _arms(results: dict[str, Any]) -> list[str]:
    """Return the arms that answered."""
    answered = {answer["arm"] for answer in results["answers"]}
    return [arm for arm in ARMS if arm in answered]


def _head(results: dict[str, Any]) -> str:
    machine = results["costs"]["machine"]
    chosen = results["settings"]
    return f"""# Report

Does a chatbot on {chosen["model"]} remember its user across sessions, and is the recurrent memory (`gru`) better than
retrieval over ChromaDB (`rag`) or than no memory (`none`)? {chosen["runs"]} runs; every question goes through the chat
itself, with the same language model, prompt, k = {chosen["k"]} and token budget on every arm; temperature
{chosen["temperature"]}. Shares stand with their 95% Wilson interval. Questions of one run share sessions and the five
runs share facts, so the intervals are somewhat too narrow.

Measured on {machine["processor"]}, {machine["cores"]} cores, Python {machine["python"]}, torch {machine["torch"]}.
Made by `make report`; this text is a rendering of the numbers at its end, and a test renders it again."""


def _accuracy(results: dict[str, Any]) -> str:
    arms = _arms(results)
    rows = [
        (f"{name}: {title}", *(percent(pick(results, arm, name)) for arm in arms))
        for name, title in results["scenarios"].items()
    ]
    rows.append(("**A to E**", *(percent(pick(results, arm, "ABCDE")) for arm in arms)))
    runs = range(results["settings"]["runs"])
    by_run = []
    for arm in arms:
        shares = []
        for run in runs:
            right = [
                a["right"] for a in results["answers"] if a["arm"] == arm and a["run"] == run and a["scenario"] != "H"
            ]
            shares.append(100 * share(right))
        mean, deviation = mean_and_deviation(shares)
        by_run.append((f"`{arm}`", *(f"{one:.1f}%" for one in shares), f"{mean:.1f} ± {deviation:.1f}"))
    recalled = [
        (f"`{arm}`", *(percent(pick(results, arm, names, "recalled")) for names in ("ABCDE", "F", "G")))
        for arm in arms[1:]
    ]
    return "\n\n".join(
        [
            "## Accuracy",
            "![Right answers by scenario and arm](docs/accuracy.png)",
            table(("scenario", *(f"`{arm}`" for arm in arms)), rows),
            "A to G by run, with mean and standard deviation:",
            table(("arm", *(f"run {run}" for run in runs), "mean ± deviation"), by_run),
            "The line that holds the answer is among the recalled:",
            table(("arm", "A to E", "F", "G"), recalled),
            "The pool while scenario G fills it, and how near its slots are to the questions:",
            "![Slots filling and being retrieved](docs/slots.png)",
        ]
    )


def _forms(results: dict[str, Any]) -> str:
    forms = results["costs"]["forms"]
    temperatures = list(next(iter(forms.values())))
    rows = [(form, *(percent(right[at]) for at in temperatures)) for form, right in forms.items()]
    rendered = table(("form of the prompt", *(f"temperature {at}" for at in temperatures)), rows)
    return f"""## Prompt forms

The ten questions of scenario F, run 0, with the same recalled lines (arm `gru`):

{rendered}"""


def _spread(values: Sequence[float], unit: float = 1000.0, digits: int = 1) -> str:
    middle, high = median_and_p95(values)
    return f"{unit * middle:.{digits}f} / {unit * high:.{digits}f}"


def _latency(results: dict[str, Any]) -> str:
    costs = results["costs"]
    rows = [
        (
            f"`{arm}`",
            _spread(costs["replies"][arm], 1.0, 2),
            f"{ratio(results, arm):.2f}",
            _spread(costs["steps"]["recall"][arm]),
            _spread(costs["steps"]["finish"][arm]),
        )
        for arm in COSTED
    ]
    head = ("arm", "whole reply, s", "÷ `none`", "recall, ms", "finishing 20 lines, ms")
    return f"""## Latency

Median / 95th percentile. Replies have exactly {costs["reply_tokens"]} tokens and were taken in one interleaved run; the
ratio is the median of the rounds' ratios. Recall is over ten sessions of 20 lines, without embedding the query, which
takes {_spread(costs["steps"]["embed"]["one line"])} ms.

{table(head, rows)}

{_gpt2(costs["gpt2"])}"""


def _gpt2(speeds: dict[str, float]) -> str:
    """Return a sentence on the specification's model, of which only the speed can be measured without its weights."""
    if not speeds:
        return ""
    short, long = speeds["100"], speeds["154"]
    return (
        f"A GPT-2 (small) of full size with random weights writes {short:.1f} tokens/s after a prompt of 100 tokens and"
        f" {long:.1f} after one of 154, as memory makes it: {short / long:.2f} times the time."
    )


def _cost(results: dict[str, Any]) -> str:
    costs = results["costs"]
    disk, ram = ("gru", "rag"), ("gru in RAM", "rag in RAM")
    parameters = [(name, f"{count:,}") for name, count in costs["parameters"].items()]
    rows = [
        (str(row["sessions"]), *(f"{row[key] / 1024:,.0f}" for key in ("journal", *disk, *ram)))
        for row in costs["sizes"]
    ]
    tokens = {arm: pick(results, arm, "FG", "prompt_tokens") for arm in COSTED}
    added = {arm: median(t - n for t, n in zip(tokens[arm], tokens["none"], strict=True)) for arm in ("rag", "gru")}
    head = ("sessions of 20 lines", "journal", "`gru` on disk", "`rag` on disk", "`gru` in RAM", "`rag` in RAM")
    return f"""## Cost

{table(("what", "parameters"), parameters)}

The RAG baseline adds no parameters of its own. Memory adds {added["gru"]:.0f} tokens to a prompt (`gru`, median over F
and G; `rag` {added["rag"]:.0f}): the notes alone, for the reader needs no worked example.

{table(head, rows)}

KiB. Both arms read the journal, which every arm keeps. In RAM: by how much a process that has loaded the sentence
encoder grows when it opens the memory and asks it once, the memory's own libraries included."""


def _conclusions(results: dict[str, Any]) -> str:
    gru, rag, none = (share(pick(results, arm, "ABCDEFG")) for arm in ("gru", "rag", "none"))
    recall = {arm: milliseconds(results["costs"]["steps"]["recall"][arm]) for arm in ("gru", "rag")}
    finish = {arm: milliseconds(results["costs"]["steps"]["finish"][arm]) for arm in ("gru", "rag")}
    last = results["costs"]["sizes"][-1]
    disk = {arm: last[arm] for arm in ("gru", "rag")}
    if abs(gru - rag) < 0.02:
        quality = f"Both memories answer alike ({100 * gru:.1f}% `gru`, {100 * rag:.1f}% `rag`, A to G)"
    else:
        better, worse = ("gru", "rag") if gru > rag else ("rag", "gru")
        quality = f"`{better}` answers better than `{worse}` ({100 * gru:.1f}% `gru`, {100 * rag:.1f}% `rag`, A to G)"
    return f"""## Conclusions

- {quality}; without memory it is {100 * none:.1f}%. Every arm has the same judgement of what is a fact, the same states
  (active, superseded, retracted), the same decision and the same reader: the arms differ only in how lines are ranked,
  and on stores this small every ranking brings most of the right lines. What makes the chatbot right is shared.
- Recall is faster with {_faster(recall)}, finishing a session with {_faster(finish)}.
- On disk the index of {last["sessions"]} sessions is smaller with {_smaller(disk)}.
- Both keep everything on the user's machine and work offline. The recurrent memory needs no second database: text and
  vectors of a session lie in one file and go in one transaction, so erasing is exact; Chroma keeps deleted words in its
  files, and the program has to make its folder again after every /forget.
- RAG is the better choice where a program already runs a vector database, needs filters over millions of documents, or
  changes single documents often: Chroma adds a sentence at once, while a slot is made when its session ends.
- Where the encoder itself is compared, over haystacks of sessions ("Finding the session" above), the trained session
  vector is far ahead of the mean of the sentence vectors, and the turn states with BM25 find the session most often."""


def _faster(milliseconds: dict[str, float]) -> str:
    first, second = sorted(milliseconds, key=lambda arm: milliseconds[arm])
    return f"`{first}` ({milliseconds[first]:.1f} ms against {milliseconds[second]:.1f})"


def _smaller(sizes: dict[str, int]) -> str:
    first, second = sorted(sizes, key=lambda arm: sizes[arm])
    return f"`{first}` ({sizes[first] / 1024:,.0f} KiB against {sizes[second] / 1024:,.0f})"


def _method(results: dict[str, Any]) -> str:
    return f"""## How to read this

- Facts are told in scripted conversations: the user's lines and the assistant's answers to them are fixed for a run, so
  that every arm remembers the same. Each question is asked in a session of its own, which is dropped afterwards.
- A question about the user for which recall finds no line that answers it gets a reply that begins with "I don't know,
  you haven't told me". A question that has lines is answered by the reader (the adapter for the bundled model), which
  writes the whole reply; its beginning is given only where a rule knows it, such as a denial or a date. Models without
  an adapter get the first two words of the best line, said in the second person. All of this is the same on every arm.
- A reply is right when it matches the expected pattern and not the forbidden one; replies have at most
  {results["settings"]["reply_tokens"]} tokens. Read the replies below before you believe a share.
- Scenario H asks about things that were never said, beside facts that were. Whether a line answers the question is
  judged by the trained decision; its curve is above."""


def _answers(results: dict[str, Any]) -> str:
    parts = ["## Every question\n\nOf run 0 with its prompt, of all runs with the reply. ✓ is right, ✗ is wrong."]
    for name, title in results["scenarios"].items():
        answers = [a for a in results["answers"] if a["scenario"] == name]
        rows = [_answer(a) for a in answers]
        prompts = [f"`{a['arm']}`, {a['text']}\n\n```text\n{a['prompt']}\n```" for a in answers if "prompt" in a]
        head = ("run", "arm", "question", "expected", "reply", "")
        parts.append(
            f"<details><summary>{name}: {title}</summary>\n\n{table(head, rows)}\n\n"
            f"<details><summary>Prompts of run 0</summary>\n\n" + "\n\n".join(prompts) + "\n\n</details>\n\n</details>"
        )
    return "\n\n".join(parts)


def _answer(answer: dict[str, Any]) -> tuple[str, ...]:
    def plain(text: str) -> str:
        return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())

    expected = f"`{plain(answer['expected'])}`" if answer["evidence"] else "says that it does not know"
    mark = "✓" if answer["right"] else "✗"
    return str(answer["run"]), answer["arm"], answer["text"], expected, plain(answer["reply"]), mark

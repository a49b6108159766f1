"""The part of report.md on the memory inside the model: renders what `training/score_neural.py` measured."""

from __future__ import annotations

from typing import Any

from chatmem.tables import table

# what, where it is among the results, the least wanted, the seed's figure on a 4B model
TARGETS: tuple[tuple[str, tuple[str, ...], float, str], ...] = (
    ("one character, first target token", ("mapping", "ours", "first_token"), 0.95, "75"),
    ("one character, free generation", ("mapping", "ours", "recall"), 0.95, "75"),
    ("the same with the raw pointer (ablation)", ("mapping", "raw pointer (ablation)", "first_token"), 1.0, "100"),
    ("native set: write decision", ("native", "decisions", "write"), 1.0, "100"),
    ("native set: forget decision", ("native", "decisions", "forget"), 0.996, "99.58"),
    ("native set: replaced lines forgotten", ("native", "decisions", "replacement"), 0.99, "96.30"),
    ("native set: retracted lines forgotten", ("native", "decisions", "retraction"), 0.99, "–"),
    ("native set: token accuracy", ("native", "ours", "token_accuracy"), 0.95, "92.12"),
    ("native set: free-generation recall", ("native", "ours", "recall"), 0.92, "81.31"),
    ("native set: unknown refused", ("native", "ours", "refusal"), 1.0, "100"),
    ("values of 2–8 tokens, one fact", ("values", "1 facts", "recall"), 0.9, "–"),
    ("values of 2–8 tokens, eight facts", ("values", "8 facts", "recall"), 0.7, "–"),
    ("newest of two", ("values", "newest of two", "recall"), 0.98, "–"),
)


def render_neural(found: dict[str, Any]) -> str:
    """Return the section; parts that were not measured are left out."""
    parts = ["### Memory inside the model", _ABOUT, _targets(found)]
    for name, render in (("cost", _cost), ("fill", _fill), ("seed", _seed), ("writes", _writes)):
        if found.get(name):
            parts.append(render(found))
    parts += [render(found) for name, render in (("restart", _restart), ("scenarios", _scenarios)) if found.get(name)]
    return "\n\n".join([*parts, _conclusion(found)])


_ABOUT = """Arm `neural`: the user's lines are written into a state of vectors between the layers of the frozen model,
and a reply is read from that state, with no text of the past in the prompt (`docs/neural.md`). People, objects and
values were never in training. In brackets the 95% interval (Wilson) and the number of cases."""


def _at(found: dict[str, Any], path: tuple[str, ...]) -> Any:
    for name in path:
        found = found.get(name, {}) if isinstance(found, dict) else {}
    return found or None


def _share(one: dict[str, Any] | None) -> str:
    if not one or not one["n"]:
        return "–"
    return f"{100 * one['share']:.1f}% ({100 * one['low']:.0f}–{100 * one['high']:.0f}, n = {one['n']})"


def _targets(found: dict[str, Any]) -> str:
    rows = []
    for what, path, least, seed in TARGETS:
        one = _at(found, path)
        mark = "" if one is None else "yes" if one["share"] >= least else "no"
        rows.append((what, _share(one), f"{100 * least:g}%", mark, seed))
    if (general := found.get("general")) is not None:
        for name, what in (("dialogues", "held-out dialogues"), ("prompts", "single prompts, each answered 'I see.'")):
            if (one := general.get(name)) is not None:
                mark = "yes" if one["perplexity_ratio"] <= 1.02 else "no"
                ratio = f"{one['perplexity_ratio']:.3f}"
                rows.append((f"perplexity ÷ base, {what} ({one['tokens']} tokens)", ratio, "1.02", mark, "–"))
        same = _share(general["same_replies"])
        rows.append(("ordinary prompts with the base model's own reply", same, "–", "", "–"))
    if (cost := found.get("cost")) is not None:
        mark = "yes" if cost["ratio"] >= 0.9 else "no"
        rows.append(("tokens/s ÷ base, one run", f"{cost['ratio']:.2f}", "0.90", mark, "0.69"))
    return table(("what", "measured", "at least", "reached", "the seed's, 4B model, %"), rows)


def _cost(found: dict[str, Any]) -> str:
    cost = found["cost"]
    return (
        f"{cost['base']:.1f} tokens/s without and {cost['memory']:.1f} with memory, medians of {cost['rounds']} rounds"
        f" of {cost['tokens']} tokens in turn. {cost['parameters'] / 1e6:.1f} M trained numbers; a state has"
        f" {cost['state_bytes'] / 1024:,.0f} KiB however much is in it; the process, base model in float32 included,"
        f" took {cost['peak_bytes'] / 2**20:,.0f} MiB at most."
    )


def _fill(found: dict[str, Any]) -> str:
    fill = {name: one for name, one in found["fill"].items() if isinstance(one, dict)}
    facts = list(dict.fromkeys(name.split(", ")[1] for name in fill))
    slots = list(dict.fromkeys(name.split(", ")[0] for name in fill))
    rows = [(size, *(_share(_at(fill, (f"{size}, {count}", "recall"))) for count in facts)) for size in slots]
    return "Recall of a value of 2–8 tokens while memory fills:\n\n" + table(("state", *facts), rows)


def _seed(found: dict[str, Any]) -> str:
    seed, ours = found["seed"], found
    pairs = (
        ("one character", seed.get("mapping"), _at(ours, ("mapping", "ours"))),
        ("2–8 tokens, one fact", seed.get("values, 1 facts"), _at(ours, ("values", "1 facts"))),
        ("2–8 tokens, eight facts", seed.get("values, 8 facts"), _at(ours, ("values", "8 facts"))),
    )
    rows = [
        (what, _share(one["recall"]), _share(other["recall"]), f"{100 * one['token_accuracy']['share']:.1f}%",
         f"{100 * other['token_accuracy']['share']:.1f}%")
        for what, one, other in pairs if one and other
    ]  # fmt: skip
    head = ("free generation", "the seed's design", "token states", "its token accuracy", "theirs")
    return "The seed's design (one vector a slot) trained on the same texts, the same sets:\n\n" + table(head, rows)


def _writes(found: dict[str, Any]) -> str:
    writes = found["writes"]
    norms = ", ".join(f"{one['norm']:.2f} after {one['writes']}" for one in writes["norms"])
    state = "every number finite" if writes["finite"] else "NOT every number finite"
    return f"{writes['writes']} writes one after the other: mean norm of a token state {norms}; {state}."


def _restart(found: dict[str, Any]) -> str:
    restart = found["restart"]
    same = "the same reply" if restart["equal"] else "another reply"
    left = restart.get("left_after_reset")
    reset = "" if left is None else f" After the reset token the largest number in the state is {left:g}."
    asked = f"{restart['question']} → {restart['replies'][-1]}"
    return f"Saved, the model destroyed, loaded, asked, twice: {same} ({asked}).{reset}"


def _scenarios(found: dict[str, Any]) -> str:
    rows = [(name, _share(one)) for name, one in found["scenarios"].items() if isinstance(one, dict)]
    return "The scenarios above through the chat, arm `neural`, no memory line in any prompt:\n\n" + table(
        ("scenario", "`neural`"), rows
    )


def _conclusion(found: dict[str, Any]) -> str:
    one, eight = (_share(_at(found, ("values", f"{n} facts", "recall"))) for n in (1, 8))
    write, forget = (_share(_at(found, ("native", "decisions", name))) for name in ("write", "forget"))
    return f"""**When it is better than text, and when not.** Memory inside the model adds no token to a prompt, and its
state has a fixed size, whatever was told. It gives back exact values ({one} with one fact, {eight} with
eight). It is worse where a person has to read, correct or erase what is kept: vectors cannot be read, and exact erasing
needs the journal, which is text. Its own decisions are right for {write} of the lines (to write) and {forget} of
the pairs of lines (to forget); the chat leaves both to the rules over the journal. It holds as many lines as it has
slots, each of 24 tokens at most, was trained on short English lines of a few kinds, and answers with the line that was
told: questions that join lines, or ask in words far from those of the line, are better answered from text by the
reader. For one user's facts in this chat, text is the better memory and stays the default; memory inside the model is
for where prompts must stay short or must not hold what was told."""

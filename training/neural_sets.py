"""Sets for evaluating (and, in the seed's form, for training) the memory inside a model. `fresh=True` is held out."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from training.neural_data import (
    UNKNOWN,
    Fact,
    Told,
    chatter,
    mapping,
    newer,
    people,
    record,
    retraction,
)

NATIVE_KINDS = ("facts", "conflict", "forgetting", "unknown", "chatter")


@dataclass(frozen=True)
class Case:
    """Lines told in order, a question, the reply that is right, and values that are wrong."""

    kind: str
    lines: tuple[Told, ...]
    fact: Fact
    answer: str
    wrong: tuple[str, ...] = ()


def native_cases(count: int, *, fresh: bool, seed: int = 20260904) -> list[Case]:
    """Return as many cases of each kind: several facts, conflicts, forgetting, unknown questions, chatter."""
    draw, small_talk, cases = random.Random(seed), chatter(fresh=fresh), []
    for number, person in enumerate(people(seed + int(fresh), count, fresh=fresh)):
        kind = NATIVE_KINDS[number % len(NATIVE_KINDS)]
        (attribute, fact), *others = [pair for pair in person if kind != "conflict" or not pair[0].many] or person
        lines = [one.told for _, one in others[: draw.randint(1, 4)]]
        told, answer, wrong = fact, fact.answer, ()
        if kind == "unknown":
            answer, wrong = UNKNOWN, (fact.told.value,)
        else:
            lines.insert(draw.randint(0, len(lines)), fact.told)
        if kind == "conflict":
            told = newer(draw, attribute, fact, fresh=fresh)
            lines.append(told.told)
            answer, wrong = told.answer, (fact.told.value,)
        if kind == "forgetting":
            lines.append(retraction(draw, attribute, fact))
            answer, wrong = UNKNOWN, (fact.told.value,)
        if kind == "chatter":
            for text in draw.sample(small_talk, 3):
                lines.insert(draw.randint(0, len(lines)), Told("chatter", text))
        cases.append(Case(kind, tuple(lines), told, answer, wrong))
    return cases


def mapping_cases(count: int, *, fresh: bool, facts_in_memory: int = 1) -> list[Case]:
    """Return the seed's smoke test: objects with a code of one character."""
    found = mapping(7 + int(fresh), count * facts_in_memory, fresh=fresh)
    groups = [found[at : at + facts_in_memory] for at in range(0, len(found), facts_in_memory)]
    return [Case("mapping", tuple(fact.told for fact in group), group[0], group[0].answer) for group in groups]


def value_cases(count: int, facts_in_memory: int, count_tokens: Any, *, seed: int = 5) -> list[Case]:
    """Return held-out facts whose values have two to eight tokens, among others of the same and of other people."""
    draw, cases = random.Random(seed), []
    everyone = list(people(seed, 3 * count, fresh=True))
    while len(cases) < count:
        draw.shuffle(everyone)
        fact = draw.choice(everyone[0])[1]
        if not 2 <= count_tokens(f" {fact.told.value}") <= 8 or fact.told.value not in fact.answer:
            continue
        others = [one for _, one in everyone[0] if one is not fact]
        others += [one for person in everyone[1:] for _, one in person if differs(one.told, fact.told)]
        lines = [one.told for one in others[: facts_in_memory - 1]]
        lines.insert(draw.randint(0, len(lines)), fact.told)
        cases.append(Case(f"{facts_in_memory} facts", tuple(lines), fact, fact.answer))
    return cases


def newest_cases(count: int, *, seed: int = 6) -> list[Case]:
    """Return two values of one attribute told one after the other, with other lines between."""
    draw, cases = random.Random(seed), []
    for person in people(seed, 3 * count, fresh=True):
        single = [(attribute, fact) for attribute, fact in person if not attribute.many]
        if len(single) < 4 or len(cases) == count:
            continue
        (about, old), *others = single
        new = newer(draw, about, old, fresh=True)
        between = [fact.told for _, fact in others[: draw.randint(0, 3)]]
        cases.append(Case("newest", (old.told, *between, new.told), new, new.answer, (old.told.value,)))
    return cases


def differs(one: Told, other: Told) -> bool:
    """Tell whether a line says nothing of what another is about."""
    return (one.subject, one.attribute) != (other.subject, other.attribute)


def told_lines(seed: int, count: int) -> list[str]:
    """Return as many held-out lines to write, one after the other."""
    lines = [fact.told.text for person in people(seed, count // 6 + 1, fresh=True) for _, fact in person]
    return lines[:count]


def as_records(cases: list[Case]) -> list[dict[str, Any]]:
    """Return cases in the seed's JSONL form."""
    return [
        record(list(case.lines), case.fact, case.answer, number) | {"kind": case.kind}
        for number, case in enumerate(cases)
    ]


def mapping_set(count: int, *, fresh: bool) -> list[dict[str, Any]]:
    """Return the mapping as records."""
    return as_records(mapping_cases(count, fresh=fresh))


def native_set(count: int, *, fresh: bool) -> list[dict[str, Any]]:
    """Return the native set as records."""
    return as_records(native_cases(count, fresh=fresh))

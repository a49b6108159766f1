"""Data for the memory inside a frozen model: people with facts, and the seed's JSONL form of them.

    python -m training.neural_data --out DIR        mapping and native sets, for training and for evaluation

Attributes and phrasings are those of `facts.py`; names and values are drawn here. Everything drawn with `fresh=True` is
for evaluation: its people, objects and values are never drawn for training (names and made-up values are parted by a
hash, lists by their capital twins).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from chatmem.prompt import NOT_TOLD, second_person
from training import facts
from training.facts import Attribute
from training.reader_words import noun_attributes, ordinary_prompts

UNKNOWN = f"{NOT_TOLD}."
Kind = Literal["fact", "update", "retraction", "chatter"]
_ADJECTIVES = "red old tiny bright silver quiet wild sweet round dusty golden frozen smoky double late northern".split()  # noqa: SIM905
_NOUNS = "apple falcon lantern river whale maple engine pepper bridge comet saddle harbour violin garden tulip".split()  # noqa: SIM905
_FRESH_ADJECTIVES = "crimson narrow ancient gentle hollow purple lazy southern".split()  # noqa: SIM905
_FRESH_NOUNS = "walnut badger teapot glacier orchid anchor pillow Fuji".split()  # noqa: SIM905
_EMPTY = set("i i'm im i've am a an the my is are have has got was of to at in on it for use own bought do now".split())  # noqa: SIM905
_NEWS = re.compile(r"^(?:Correction|Actually|Update|That changed)[:,] ")


@dataclass(frozen=True)
class Told:
    """One line told, and what it means: whose attribute has which value; `many` where several values hold at once."""

    kind: Kind
    text: str
    subject: str = ""
    attribute: str = ""
    value: str = ""
    many: bool = False

    def replaces(self, old: Told) -> bool:
        """Tell whether this line makes an older one void."""
        if (self.subject, self.attribute) != (old.subject, old.attribute) or self.kind == "chatter":
            return False
        return self.kind == "retraction" or (not self.many and self.value != old.value)


@dataclass(frozen=True)
class Fact:
    """A line told and the question that asks for it, with the reply that the line gives."""

    told: Told
    question: str
    answer: str


def is_fresh(text: str) -> bool:
    """Tell whether a made-up name or value belongs to the evaluation: one in five, by its hash."""
    return zlib.crc32(text.encode()) % 5 == 0


def _draw_until(draw: random.Random, make: Any, *, fresh: bool) -> str:
    """Return a made-up string of the wanted side of the hash."""
    while is_fresh(made := make(draw)) != fresh:
        pass
    return str(made)


def _syllables(draw: random.Random) -> str:
    parts = ("".join((draw.choice("bdfghjklmnprstvz"), draw.choice("aeiou"))) for _ in range(draw.randint(2, 3)))
    return ("".join(parts) + draw.choice(("", "n", "r", "s", "l"))).capitalize()


def name(draw: random.Random, *, fresh: bool) -> str:
    """Return the name of a person: a first name, a made-up full name, or a numbered user."""
    kind = draw.random()
    if kind < 0.3:
        return _draw_until(draw, lambda d: f"user {d.randint(100, 9999)}", fresh=fresh)
    first = draw.choice(facts.pool("Names" if fresh else "names"))
    if kind < 0.5:
        return first
    made = _draw_until(draw, _syllables, fresh=fresh)
    return made if kind < 0.7 else f"{first} {made}"


def made_value(draw: random.Random, *, fresh: bool) -> str:
    """Return a value of about one to eight tokens that no list holds."""
    return _draw_until(draw, lambda d: _made_value(d, fresh=fresh), fresh=fresh)


def _made_value(draw: random.Random, *, fresh: bool) -> str:
    adjective = draw.choice(_FRESH_ADJECTIVES if fresh else _ADJECTIVES)
    noun = draw.choice(_FRESH_NOUNS if fresh else _NOUNS)
    word = _syllables(draw)
    forms = (
        f"{noun.capitalize()}-{draw.randint(10, 99)}",
        f"{adjective} {word} {noun}s",
        f"{adjective} {noun}",
        f"{word} {draw.choice((adjective, noun)).capitalize()}",
        word,
        f"{draw.choice('ABCDEFGHKLMNPRSTX')}{draw.randint(1, 99)}",
        str(draw.randint(100, 99999)),
        f"the {adjective} {noun} of {word}",
    )
    return draw.choice(forms)


def _value(draw: random.Random, attribute: Attribute, template: str, *, fresh: bool) -> str:
    """Return a value: of the attribute's own list, or a made-up one where the words around it say what it is."""
    around = set(re.findall(r"[a-z']+", re.sub(r"{\w+}('s)?", " ", template).casefold())) - _EMPTY
    if around and draw.random() < 0.5:
        return made_value(draw, fresh=fresh)
    return draw.choice((attribute.unseen_values if fresh else attribute.values) or attribute.values)


def _named(text: str, subject: str) -> str:
    """Return a third-person template said of a name or of somebody of the user's."""
    if subject.startswith("my "):
        return text.replace("{who}", subject[3:])
    return re.sub(r"\b(?:[Mm]y|[Yy]our) \{who\}", subject, text)


def _inside(statement: str) -> str:
    """Return a statement as it stands inside a sentence."""
    body = statement.rstrip(".")
    return body[0].lower() + body[1:] if re.match(r"(?:My|As|We|The|There|You|In|On|People|Call)\b", body) else body


def as_update(statement: str, draw: random.Random) -> str:
    """Return a statement as news that makes an older one void."""
    body, lowered = statement.rstrip("."), _inside(statement)
    forms = (f"{body} now.", f"Correction: {lowered}.", f"Actually, {lowered}.", f"Update: {lowered}.",
             f"That changed: {lowered} now.")  # fmt: skip
    return draw.choice(forms)


def as_retraction(statement: str, draw: random.Random) -> str:
    """Return the words that take a statement back."""
    body = _inside(statement)
    forms = ("Please forget that {}.", "It is not true any more that {}.", "Forget that {}.", "It was wrong that {}.")
    return draw.choice(forms).format(body)


def make_fact(draw: random.Random, attribute: Attribute, subject: str, *, fresh: bool) -> Fact:
    """Return a fact of a subject: "me", "my sister" or a name."""
    if subject == "me":
        template = draw.choice(attribute.statements)
        value = _value(draw, attribute, template, fresh=fresh)
        text, question = template.replace("{v}", value), draw.choice(attribute.questions)
    else:
        triple = draw.choice(attribute.third_person)
        value = _value(draw, attribute, triple[0], fresh=fresh)
        text, question = (_named(part, subject).replace("{v}", value) for part in triple[:2])
    told = Told("fact", text, subject, attribute.name, value, attribute.many)
    return Fact(told, question, answer_from(told))


def answer_from(told: Told) -> str:
    """Return the reply that a line gives: what was told, said to the user."""
    text = _NEWS.sub("", told.text)
    if told.subject != "me" and not told.subject.startswith("my "):
        return text if text.endswith(".") else f"{text}."
    return second_person(text)


def newer(draw: random.Random, attribute: Attribute, old: Fact, *, fresh: bool) -> Fact:
    """Return the same fact with another value, told as news."""
    tries = (make_fact(draw, attribute, old.told.subject, fresh=fresh) for _ in range(99))
    made = next(fact for fact in tries if fact.told.value != old.told.value)
    text = made.told.text
    if old.told.subject == "me" and draw.random() < 0.5:
        text = draw.choice(attribute.updates).replace("{v}", made.told.value)
    elif draw.random() < 0.7:
        text = as_update(text, draw)
    told = Told("update", text, old.told.subject, attribute.name, made.told.value, attribute.many)
    return Fact(told, old.question, answer_from(told))


def retraction(draw: random.Random, attribute: Attribute, old: Fact) -> Told:
    """Return a line that takes a fact back."""
    value = old.told.value
    if old.told.subject == "me" and draw.random() < 0.4:
        text = draw.choice(attribute.denials).replace("{v}", value)
    else:
        text = as_retraction(old.told.text, draw)
    return Told("retraction", text, old.told.subject, attribute.name, value, attribute.many)


def known_attributes() -> list[Attribute]:
    """Return the attributes of training; their values for evaluation are others."""
    return [*facts.ATTRIBUTES, *noun_attributes()]


def people(seed: int, count: int, *, fresh: bool, each: int = 6) -> Iterator[list[tuple[Attribute, Fact]]]:
    """Yield people with as many facts of different attributes."""
    draw, attributes = random.Random(seed), known_attributes()
    relations = facts.UNSEEN_PEOPLE if fresh else facts.PEOPLE
    for _ in range(count):
        kind = draw.random()
        subject = "me" if kind < 0.4 else f"my {draw.choice(relations)}" if kind < 0.65 else name(draw, fresh=fresh)
        chosen = draw.sample(attributes, each)
        yield [(attribute, make_fact(draw, attribute, subject, fresh=fresh)) for attribute in chosen]


def mapping(seed: int, count: int, *, fresh: bool) -> list[Fact]:
    """Return facts of the seed's smoke test: an object has a code of one character that nothing else tells."""
    draw, found = random.Random(seed), {}
    while len(found) < count:
        form = draw.choice(("A{}", "K{}", "Q{}", "X-{}", "No. {}", "unit {}", "box {}"))
        thing = _draw_until(draw, lambda d, form=form: form.format(d.randint(2, 999)), fresh=fresh)
        code = draw.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        told = Told("fact", f'Remember: the code of object {thing} is "{code}".', f"object {thing}", "code", code)
        found[thing] = Fact(told, f"What is the code of object {thing}?", code)
    return list(found.values())


def chatter(*, fresh: bool) -> list[str]:
    """Return lines that are nothing to keep: small talk, questions to the world, orders, what-ifs and fiction."""
    prefix = "UNSEEN_" if fresh else ""
    draw = random.Random(int(fresh))
    lists = [getattr(facts, prefix + name) for name in ("WHAT_IFS", "FICTION", "QUOTATIONS")]
    filled = [text.replace("{v}", made_value(draw, fresh=fresh)) for texts in lists for text in texts for _ in range(3)]
    return list(dict.fromkeys([*ordinary_prompts(fresh=fresh), *filled]))


def record(memory: list[Told], fact: Fact, answer: str, number: int) -> dict[str, Any]:
    """Return a sample in the seed's form: `memory` and `query` are message lists, the last message is the target."""
    lines = [m for told in memory for m in (_message("user", told.text), _message("assistant", "Okay, remembered."))]
    query = [_message("user", fact.question), _message("assistant", answer)]
    labels = {"kinds": [told.kind for told in memory], "subject": fact.told.subject, "attribute": fact.told.attribute}
    return {"id": number, "memory": lines, "query": query, **labels, "answer": fact.told.value}


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def main() -> None:
    """Write the sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(".benchmark/neural/data"))
    parser.add_argument("--count", type=int, default=128, help="samples of each evaluation set")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    from training.neural_sets import mapping_set, native_set

    for label, fresh, scale in (("train", False, 4), ("eval", True, 1)):
        sets = {"mapping": mapping_set(options.count * scale // 2, fresh=fresh),
                "native": native_set(options.count * scale, fresh=fresh)}  # fmt: skip
        for name_, samples in sets.items():
            text = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
            (options.out / f"{name_}_{label}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

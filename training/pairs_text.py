"""Turning frames into sentences: subjects, verb forms, negation, and the slips of people who type."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from training.pairs_frames import POOLS, TAILS, WORDS_OF_NOUN, Frame

_FORMS = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
_GENERATED = {"code", "phone", "money", "time", "age"}


@dataclass(frozen=True)
class Subject:
    """Whom a sentence is about: the user ("") or somebody the user has ("sister")."""

    who: str = ""
    pronoun: str = "my"

    def fill(self, template: str, value: str, noun: str = "") -> str:
        """Return a template with this subject, a value and a thing."""
        me = not self.who
        text = _FORMS.sub(lambda match: match[1] if me else match[2], template)
        name = "I" if me else f"my {self.who}"
        owner = "my" if me else f"my {self.who}'s"
        parts = {"S": name, "s": name, "m": "me" if me else name, "O": owner, "o": owner, "p": self.pronoun}
        text = re.sub(r"\{([SsmOop])\}", lambda match: parts[match[1]], text).replace("{n}", noun).replace("{v}", value)
        text = text.replace("{who}", self.who)
        text = re.sub(r"\b([Aa]) (?=[aeiouAEIO])", r"\1n ", text)
        text = text if text.endswith(("?", ".", "!")) else f"{text}."
        return text[:1].upper() + text[1:]


def negated(statement: str, *, no_longer: bool = False) -> str | None:
    """Return the denial of a statement's template, or None where the rule finds no verb."""
    word = "no longer" if no_longer else "not"
    match = _FORMS.search(statement)
    if match:
        mine, theirs = match.groups()
        if mine in ("am", "was") or statement[match.end() :].startswith(" been"):
            new = f"[{mine} {word}|{theirs} {word}]"
        elif mine == "can't":
            return None
        elif no_longer:
            new = f"[no longer {mine}|no longer {theirs}]"
        else:
            new = f"[do not {mine}|does not {mine}]"
        return statement[: match.start()] + new + statement[match.end() :]
    for verb in (" is ", " are ", " can "):
        if verb in statement:
            return statement.replace(verb, f"{verb}{word} ", 1)
    return None


def values(pool: str, split: str) -> tuple[str, ...]:
    """Return the values of a pool that a split may use: of every five, three train, one is dev, one test."""
    wanted = {"train": (0, 1, 2), "dev": (3,), "test": (4,)}[split]
    return tuple(value for place, value in enumerate(POOLS[pool]) if place % 5 in wanted)


def draw_value(frame: Frame, noun: str, split: str, rng: random.Random) -> str:
    """Return a value of a frame; numbers and codes are often made up anew, for the split they belong to."""
    if frame.values:
        return rng.choice(frame.values)
    pool = WORDS_OF_NOUN.get(noun, "word") if frame.pool == "word" else frame.pool
    value = rng.choice(values(pool, split))
    if pool in _GENERATED and split == "train" and rng.random() < 0.6:
        changed = one_digit_apart(value, rng)
        value = changed if changed not in POOLS[pool] else value
    return value


def one_digit_apart(value: str, rng: random.Random) -> str:
    """Return a value with another digit somewhere; the same value where it has none."""
    places = [place for place, char in enumerate(value) if char.isdigit()]
    if not places:
        return value
    place = rng.choice(places)
    digit = rng.choice([d for d in "123456789" if d != value[place]])
    return value[:place] + digit + value[place + 1 :]


def contracted(text: str, rng: random.Random) -> str:
    """Shorten some verbs as people do."""
    if rng.random() < 0.6:
        text = text.replace("I am ", "I'm ").replace("do not ", "don't ").replace("does not ", "doesn't ")
        text = text.replace("is not ", "isn't ").replace("I have been", "I've been").replace("What is ", "What's ")
    return text


def with_tail(statement: str, rng: random.Random, amount: float = 0.2) -> str:
    """Return a statement, sometimes with a few words more: "I work as a baker in a small team."."""
    if rng.random() < amount and statement.endswith("."):
        return f"{statement[:-1]} {rng.choice(TAILS)}."
    return statement


def typed(text: str, rng: random.Random, amount: float = 0.3) -> str:
    """Return a text as somebody in a hurry types it: lower case, no full stop, two letters swapped, one missing."""
    if rng.random() < amount:
        text = text.lower() if rng.random() < 0.7 else text
        text = text.rstrip(".?") if rng.random() < 0.6 else text
        text = text.replace("'", "") if rng.random() < 0.3 else text
        if rng.random() < 0.35:
            places = [n for n in range(1, len(text) - 2) if text[n : n + 2].isalpha()]
            if places:
                n = rng.choice(places)
                swapped = text[n + 1] + text[n] if rng.random() < 0.5 else text[n]
                text = text[:n] + swapped + text[n + 2 :]
    return text

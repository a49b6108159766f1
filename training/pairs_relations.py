"""Pairs of a new statement and an older one of the same user, with what the new one does to the old one."""

from __future__ import annotations

import random

from training.pairs_frames import Frame
from training.pairs_people import USER, Fact, Inventory
from training.pairs_text import Subject, contracted, draw_value, negated, one_digit_apart, typed

SAME, NEW, DENIAL, UNRELATED = range(4)
Relation = tuple[str, str, int]  # new, old, label

_AGAIN = ("", "", "", "By the way, ", "As I said, ", "Remember that ", "Did I mention: ", "Just so you know, ")
_CHANGED = (
    "",
    "",
    "",
    "",
    "Actually, ",
    "Correction: ",
    "No, ",
    "Sorry, I meant: ",
    "Update: ",
    "From now on, ",
    "Now ",
)
_DENIED = ("That was a joke, ", "I lied, ", "Scratch that, ", "I made that up, ", "That's wrong, ", "No, ", "", "", "",
           "Sorry, I was mistaken: ", "Actually, ")  # fmt: skip
_TAKEN_BACK = ("It is not true that ", "I was joking when I said that ", "Forget that ", "I was kidding about this: ",
               "It was a lie that ", "I only pretended that ", "Please don't believe that ")  # fmt: skip
_ENDED = {  # a value ends and no new one is named
    "employer": ("{S} quit {p} job.", "{S} got fired.", "{S} [am|is] unemployed now.", "{S} left {p} company."),
    "job": ("{S} retired.", "{S} gave up that profession."),
    "partner": ("{S} got divorced.", "{S} broke up.", "{S} [am|is] single again."),
    "car": ("{S} sold {p} car.", "{S} [have|has] no car any more."),
    "home": ("{S} moved out and [have|has] no place yet.",),
    "team": ("{S} stopped following sports.",),
    "diet": ("{S} [eat|eats] everything again.",),
    "medicine": ("{S} stopped taking any medicine.",),
    "next_holiday": ("{S} cancelled the trip.",),
    "meets_when": ("{O} {n} was cancelled.", "{O} {n} is off."),
    "meets_time": ("{O} {n} was cancelled.",),
    "thing_colour": ("{S} sold {o} {n}.", "{S} threw {o} {n} away."),
    "thing_place": ("{S} lost {o} {n}.", "{S} gave {o} {n} away."),
}
_TASTES = (
    ("{S} [like|likes] {v}", "{S} [love|loves] {v}", "{S} [enjoy|enjoys] {v}", "{S} [am|is] fond of {v}"),
    ("{S} [hate|hates] {v}", "{S} can't stand {v}", "{S} [dislike|dislikes] {v}", "{S} [find|finds] {v} awful"),
)
_TASTE_POOLS = ("food", "drink", "hobby", "genre", "ingredient", "sport")


def _joined(lead: str, text: str) -> str:
    """Put a few words before a sentence."""
    return (
        text if not lead else lead + (text if text.startswith("I") or text.isupper() else text[:1].lower() + text[1:])
    )


def _statement(frame: Frame, subject: Subject, rng: random.Random) -> str:
    """Return the template of a statement that fits the subject."""
    return rng.choice([pair[0] for pair in frame.others] if subject.who and frame.others else frame.statements)


def relation(inventory: Inventory, facts: list[Fact], rng: random.Random) -> Relation | None:
    """Return one pair; `facts` are what the user told, from which the old statement comes."""
    fact = rng.choice([fact for fact in facts if fact.frame is not None])
    frame, subject, noun = fact.frame, fact.subject, fact.key[2]
    assert frame is not None
    way = rng.random()
    if way < 0.1:
        pair = _taste(inventory, subject, rng)
    elif way < 0.27:
        pair = _same(fact, frame, subject, noun, rng)
    elif way < 0.47:
        pair = _new_value(inventory, fact, frame, subject, noun, rng)
    elif way < 0.65:
        pair = _denial(inventory, fact, frame, subject, noun, rng)
    else:
        pair = _unrelated(inventory, fact, facts, rng)
    if pair is None or (pair[0].lower().strip(". ") == pair[1].lower().strip(". ") and pair[2] != SAME):
        return None
    return typed(contracted(pair[0], rng), rng, 0.2), typed(pair[1], rng, 0.05), pair[2]


def _same(fact: Fact, frame: Frame, subject: Subject, noun: str, rng: random.Random) -> Relation:
    """The same fact in other words, or in the same ones."""
    text = subject.fill(_statement(frame, subject, rng), fact.value, noun)
    return _joined(rng.choice(_AGAIN), text), fact.text, SAME


def _new_value(
    inventory: Inventory, fact: Fact, frame: Frame, subject: Subject, noun: str, rng: random.Random
) -> Relation | None:
    """Another value of the same; where several values hold at once, both stay."""
    value = draw_value(frame, noun, inventory.split, rng)
    if rng.random() < 0.35:
        value = one_digit_apart(fact.value, rng)
    if value == fact.value:
        return None
    template = _statement(frame, subject, rng)
    if frame.updates and rng.random() < 0.5 and not (subject.who and frame.others):
        template = rng.choice(frame.updates)
    text = _joined(rng.choice(_CHANGED[:4] if frame.many else _CHANGED), subject.fill(template, value, noun))
    return text, fact.text, UNRELATED if frame.many else NEW


def _denial(
    inventory: Inventory, fact: Fact, frame: Frame, subject: Subject, noun: str, rng: random.Random
) -> Relation | None:
    """The old value is denied; sometimes it is another value or another person that is denied."""
    if rng.random() < 0.2 and frame.name in _ENDED:
        ending = subject.fill(rng.choice(_ENDED[frame.name]).rstrip("."), "", noun)
        return ending, fact.text, DENIAL
    value, who, label = fact.value, subject, DENIAL
    if rng.random() < 0.25:  # what is denied is something else
        label = UNRELATED
        if rng.random() < 0.5:
            value = draw_value(frame, noun, inventory.split, rng)
        else:
            who = rng.choice(inventory.subjects())
        if value == fact.value and who == subject:
            return None
    if rng.random() < 0.3:
        said = who.fill(_statement(frame, who, rng), value, noun)
        return _joined(rng.choice(_TAKEN_BACK), said), fact.text, label
    if frame.denials and not who.who and rng.random() < 0.6:
        return _joined(rng.choice(_DENIED), who.fill(rng.choice(frame.denials), value, noun)), fact.text, label
    denial = negated(_statement(frame, who, rng).rstrip("."), no_longer=rng.random() < 0.3)
    if denial is None:
        return None
    text = who.fill(denial + (rng.choice((" any more", " anymore", "")) if " not" in denial else ""), value, noun)
    if label == DENIAL and rng.random() < 0.12:  # the denial came first
        return fact.text, text, NEW
    return _joined(rng.choice(_DENIED), text), fact.text, label


def _taste(inventory: Inventory, subject: Subject, rng: random.Random, share: float = 0.4) -> Relation | None:
    """Likes and dislikes: of the same thing the opposite replaces, of two things both stay."""
    pool = Frame("taste", rng.choice(_TASTE_POOLS), (), ())
    first, other = (draw_value(pool, "", inventory.split, rng) for _ in range(2))
    before, now = rng.randint(0, 1), rng.randint(0, 1)
    old = subject.fill(rng.choice(_TASTES[before]), first)
    if rng.random() < share:
        if other == first:
            return None
        return subject.fill(rng.choice(_TASTES[now]), other), old, UNRELATED
    if rng.random() < 0.25:
        text = negated(_TASTES[before][0], no_longer=rng.random() < 0.3)
        return subject.fill(text or "", first), old, DENIAL
    return subject.fill(rng.choice(_TASTES[now]), first), old, SAME if now == before else NEW


def tastes(inventory: Inventory, count: int, rng: random.Random) -> list[Relation]:
    """Return pairs of likes and dislikes: "I like tea" and "I like coffee" both stay, which is easily mistaken."""
    pairs = []
    for _ in range(count):
        subject = USER if rng.random() < 0.7 else rng.choice(inventory.subjects())
        pair = _taste(inventory, subject, rng, share=0.6)
        if pair is not None:
            pairs.append((typed(contracted(pair[0], rng), rng, 0.2), pair[1], pair[2]))
    return pairs


def _unrelated(inventory: Inventory, fact: Fact, facts: list[Fact], rng: random.Random) -> Relation | None:
    """Another attribute of the same, the same of another, or anything else the user told."""
    way = rng.random()
    near = [
        other
        for other in facts
        if other.key != fact.key and (other.key[1:] == fact.key[1:] or other.key[::2] == fact.key[::2])
    ]
    if way < 0.45 and near:
        return rng.choice(near).text, fact.text, UNRELATED
    if way < 0.75 and fact.frame is not None:  # the same of another person, as something new
        who = rng.choice(inventory.subjects())
        if who == fact.subject:
            return None
        value = draw_value(fact.frame, fact.key[2], inventory.split, rng)
        template = _statement(fact.frame, who, rng)
        if fact.frame.updates and rng.random() < 0.4 and not (who.who and fact.frame.others):
            template = rng.choice(fact.frame.updates)
        return who.fill(template, value, fact.key[2]), fact.text, UNRELATED
    other = rng.choice(facts)
    return None if other.key == fact.key else (other.text, fact.text, UNRELATED)


def relations(inventory: Inventory, facts: list[Fact], count: int, rng: random.Random) -> list[Relation]:
    """Return about `count` pairs whose older statements are among what one user told."""
    told = [fact for fact in facts if fact.frame is not None]
    return [pair for _ in range(count) if (pair := relation(inventory, told, rng)) is not None]

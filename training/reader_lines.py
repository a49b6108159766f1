"""Memory lines of a made-up person, as the program writes them, and groups of them for the reader's samples.

Lines look as prompts show them (`chatmem.prompt.second_person`), in the order in which they were said.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from chatmem.prompt import second_person
from training import facts
from training.facts import Attribute
from training.reader_words import TABLES, lowered, noun_attributes, with_more, words

NAMED = ("boss", "partner", "daughter", "doctor", "godchild", "landlord", "piano_teacher")  # a value is a person
_LEADS = ("By the way, ", "Oh, ", "btw ", "Just so you know, ", "Well, ", "Hi! ", "Please remember that ", "Also, ")


@dataclass(frozen=True)
class Fact:
    """One line: an attribute's value, of the user or of `who`, as it was said; `until` where it is superseded."""

    attribute: Attribute
    value: str
    said: str
    when: datetime
    who: str = ""
    until: datetime | None = None

    def line(self, *, dated: bool = False) -> str:
        """Return the line as it stands in a prompt."""
        text = second_person(self.said)  # with its own words for days: the values to learn hold them, too
        if self.until:
            return f"{text} (until {day(self.until)})"
        return f"{text} ({day(self.when)})" if dated else text


@dataclass(frozen=True)
class Case:
    """What is said, the reply to learn, and what a right reply holds and does not hold."""

    kind: str
    said: str
    answer: str
    expected: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    attribute: str = ""


@dataclass(frozen=True)
class Group:
    """Memory lines, what was said before, and the branches after them; `raw` are the lines as the user said them."""

    lines: tuple[str, ...]
    raw: tuple[Fact, ...]
    history: tuple[tuple[str, str], ...]
    cases: tuple[Case, ...] = field(default=())


def day(when: datetime) -> str:
    """Return a date as prompts write it: 3 May 2026."""
    return f"{when.day} {when:%B %Y}"


class LineMaker:
    """Makes groups of lines from a seed; `fresh` uses only words, values and people that training never saw."""

    def __init__(self, seed: int, *, fresh: bool = False) -> None:
        """Draw from the words of training, or from fresh ones."""
        self.draw = random.Random(f"{seed} {fresh}")
        self.fresh = fresh
        self.people = facts.UNSEEN_PEOPLE if fresh else facts.PEOPLE
        self.attributes = facts.ATTRIBUTES if fresh else (*map(with_more, facts.ATTRIBUTES), *noun_attributes())
        self._when = datetime(2026, 1, 1, tzinfo=UTC)

    def group(self, least: int = 1, most: int = 12) -> Group:
        """Return the lines of a made-up person."""
        sizes = [n for n in (1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12) if least <= n <= most]
        size, start = self.draw.choice(sizes), datetime(2026, 1, 1, tzinfo=UTC)
        self._when = start + timedelta(days=self.draw.randint(0, 300))
        told: list[Fact] = []
        for chance, make in ((0.4, self._pair), (0.3, self._hop_facts), (0.25, self._several), (0.3, self._shapeable)):
            if self.draw.random() < chance and len(told) < max(size, 2):
                told += make()
        used = {fact.attribute.name for fact in told if not fact.who}
        pool = [a for a in self._pool() if a.name not in used]
        self.draw.shuffle(pool)
        while len(told) < size and pool:
            attribute = pool.pop()
            who = self.draw.choice(self.people) if self.draw.random() < 0.3 else ""
            told.append(self._fact(attribute, who))
            if self.draw.random() < 0.15 and len(told) < size:  # the same attribute of somebody else
                other = self.draw.choice(self.people)
                told += [self._fact(attribute, other)] if other != who else []
        told = told[: max(size, 2) if least < 2 < most else size]
        if self.draw.random() < 0.15:
            said = self.draw.choice(words("filler"))
            told.append(Fact(self.attributes[0], "", said, self._moment(), who="-"))
        self.draw.shuffle(told)
        told = self._in_time(told)
        dated = self.draw.random() < 0.1
        return Group(tuple(fact.line(dated=dated) for fact in told), tuple(told), self._history())

    def _in_time(self, told: list[Fact]) -> list[Fact]:
        """Put dates on lines, in their order; of two values the later drawn is the newer."""
        order = sorted(told, key=lambda fact: fact.when.timestamp() % 1)  # the fraction says which is newer
        whens = sorted(self._moment() for _ in told)
        places = {id(fact): place for place, fact in enumerate(told)}
        newer = [fact for fact in order if fact.when.microsecond]
        for fact in newer:  # after the older value of the same attribute
            twin = next(
                (f for f in told if f is not fact and f.attribute is fact.attribute and f.who == fact.who), None
            )
            if twin and places[id(twin)] > places[id(fact)]:
                places[id(twin)], places[id(fact)] = places[id(fact)], places[id(twin)]
        ordered = sorted(told, key=lambda fact: places[id(fact)])
        return [
            replace(f, when=when + timedelta(microseconds=f.when.microsecond))
            for f, when in zip(ordered, whens, strict=True)
        ]

    def _history(self) -> tuple[tuple[str, str], ...]:
        if self.draw.random() > 0.15:
            return ()
        news = [item.split("//") for item in words("news")]
        return tuple((said.strip(), reply.strip()) for said, reply in self.draw.sample(news, self.draw.randint(1, 2)))

    # Facts

    def _pool(self) -> list[Attribute]:
        """Return the attributes to draw from; for scores half of them are attributes that training never saw."""
        return list(self.attributes) + list(facts.UNSEEN_ATTRIBUTES) * 3 if self.fresh else list(self.attributes)

    def _values(self, attribute: Attribute) -> tuple[str, ...]:
        return attribute.unseen_values if self.fresh else attribute.values

    def _statements(self, attribute: Attribute) -> tuple[str, ...]:
        return attribute.unseen_statements if self.fresh else attribute.statements

    def _questions(self, attribute: Attribute) -> tuple[str, ...]:
        return attribute.unseen_questions if self.fresh else attribute.questions

    def _moment(self) -> datetime:
        return self._when + timedelta(days=self.draw.randint(0, 250), minutes=self.draw.randint(0, 900))

    def _fact(self, attribute: Attribute, who: str = "", avoid: tuple[str, ...] = (), *, usual: bool = False) -> Fact:
        """Return a line about an attribute of the user or of somebody else; `usual` in words of training."""
        left = [value for value in self._values(attribute) if value not in avoid]
        value = self.draw.choice(left or list(self._values(attribute)))
        statements = attribute.statements if usual else self._statements(attribute)
        form = self.draw.choice(attribute.third_person)[0] if who else self.draw.choice(statements)
        return Fact(attribute, value, self._loosely(form.format(v=value, who=who)), self._moment(), who)

    def _loosely(self, said: str) -> str:
        """Return a statement as people type it: sometimes with a lead-in, small letters or no full stop."""
        chance = self.draw.random()
        if chance < 0.12:
            return self.draw.choice(_LEADS) + lowered(said)
        if chance < 0.2:
            return lowered(said).rstrip(".")
        return said

    def _pair(self) -> list[Fact]:
        """Return an old and a new value of one attribute of the user, or sometimes of somebody else."""
        attribute = self.draw.choice([a for a in self._pool() if not a.many])
        who = self.draw.choice(self.people) if self.draw.random() < 0.15 else ""
        old = self._fact(attribute, who)
        new = self._fact(attribute, who, avoid=(old.value,))
        if not who and (self.draw.random() < 0.7 or not new.said):
            new = replace(new, said=self._loosely(self.draw.choice(attribute.updates).format(v=new.value)))
        if new.value == old.value:
            return [old]
        if self.draw.random() < 0.35:
            old = replace(old, until=self._moment())
        return [old, replace(new, when=new.when + timedelta(microseconds=1))]  # marks the newer

    def _hop_facts(self) -> list[Fact]:
        """Return "My boss is Petra." and something about Petra."""
        first = self._fact(self.draw.choice([a for a in self._pool() if a.name in NAMED]))
        if self.draw.random() < 0.5:  # "My sister is called Petra."
            name = next(a for a in self.attributes if a.name == "name")
            first = self._fact(name, self.draw.choice([who for who in self.people if who.islower()]))
        attribute = self.draw.choice([a for a in self._pool() if a.name not in NAMED and a.name != "name"])
        second = self._fact(attribute, first.value)
        return [first, replace(second, said=re.sub(rf"\bMy (?={re.escape(first.value)})", "", second.said, flags=re.I))]

    def _several(self) -> list[Fact]:
        """Return two to four values of an attribute that has several."""
        attribute = self.draw.choice([a for a in self._pool() if a.many])
        found = [self._fact(attribute, usual=True)]
        for _ in range(self.draw.randint(1, 3)):
            found.append(self._fact(attribute, avoid=tuple(f.value for f in found), usual=True))
        return list({fact.value: fact for fact in found}.values())

    def _shapeable(self) -> list[Fact]:
        table = TABLES["Shaped" if self.fresh else "shaped"]
        return [self._fact(self.draw.choice([a for a in self.attributes if a.name in table]), usual=True)]

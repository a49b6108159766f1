"""Samples for the reader: what is said to an assistant that sees memory lines, and the reply to learn.

A `Group` is one set of lines with several branches, so that training reads the lines once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from chatmem.prompt import NOT_TOLD
from training.reader_lines import NAMED, Case, Fact, Group, LineMaker, day
from training.reader_words import TABLES, closed, embedded, joined, lowered, words

UNKNOWN = f"{NOT_TOLD}."
_RELATED = [set(group.split()) for group in TABLES["related"]["groups"].split(" | ")]


class Maker(LineMaker):
    """Makes groups with what is said after their lines."""

    def __init__(self, seed: int, *, fresh: bool = False, ordinary: dict[str, str] | None = None) -> None:
        """`ordinary` maps prompts to the base model's own replies, for lines that do not matter."""
        super().__init__(seed, fresh=fresh)
        self.ordinary = ordinary or {}
        self._builders: dict[str, Callable[[list[Fact]], Case | None]] = {
            "plain": self._plain,
            "exact": self._exact,
            "conflict": self._conflict,
            "past": self._past,
            "other person": self._other,
            "unknown": self._unknown,
            "yes/no": self._yes_no,
            "list": self._list,
            "everything": self._everything,
            "shaped": self._shaped,
            "second hop": self._hop,
            "told": self._told,
            "ordinary": self._ordinary,
        }

    def groups(self, branches: int = 10) -> Iterator[Group]:
        """Yield groups without end."""
        weights = {
            "plain": 22, "exact": 8, "conflict": 30, "past": 25, "other person": 11, "unknown": 17, "yes/no": 13,
            "list": 18, "everything": 5, "shaped": 14, "second hop": 24, "told": 5, "ordinary": 7,
        }  # fmt: skip
        while True:
            if self.draw.random() < 0.02:
                yield self.foreign_group()
                continue
            group = self.group()
            cases: dict[str, Case] = {}
            for kind in self.draw.choices(list(weights), list(weights.values()), k=branches * 3):
                case = self._builders[kind](list(group.raw))
                if case and len(cases) < branches:
                    cases.setdefault(case.said, case)
            if cases:
                yield replace(group, cases=tuple(cases.values()))

    def cases(self, kind: str, count: int, least: int = 1, most: int = 12) -> list[Group]:
        """Return groups of one case each, all of one kind, with a number of lines in a range."""
        found: list[Group] = []
        while len(found) < count:
            group = self.group(least, most)
            case = self._builders[kind](list(group.raw))
            if case:
                found.append(replace(group, cases=(case,)))
        return found

    # Cases

    def _single(self, told: list[Fact]) -> list[Fact]:
        """Return the user's facts whose attribute has one value among the lines."""
        own = [fact for fact in told if not fact.who]
        return [f for f in own if sum(g.attribute is f.attribute for g in own) == 1 and not f.until]

    def _asked(self, question: str) -> str:
        """Return a question in one of the ways in which people type it."""
        inside = None if self.fresh else embedded(question)
        if inside and self.draw.random() < 0.3:
            text = self.draw.choice(words("embedded")).format(e=inside)
        elif self.draw.random() < 0.04 and (
            bare := re.match(r"(?:what|who|when|where) (?:is|are) (my .+\?)", question, re.I)
        ):
            text = bare[1]
        else:
            frame = self.draw.choice(words("frames", fresh=self.fresh))
            text = frame.format(q=question, q_=lowered(question))
        chance = self.draw.random()
        if chance < 0.15:
            text = text.lower().rstrip("?")
        elif chance < 0.2 and len(text) > 12:  # two letters change places
            at = self.draw.randint(2, len(text) - 4)
            text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        return text

    def _answer(self, fact: Fact, question: str, value: str = "") -> str:
        answer = self.draw.choice(fact.attribute.answers).format(v=value or fact.value)
        answer = answer[:1].upper() + answer[1:]
        closed = (
            re.match(r"(?:do|am|did) i\b", question, re.I) and " or a " not in question and "only child" not in question
        )
        return f"Yes, {lowered(answer)}" if closed else answer

    def _about(self, kind: str, fact: Fact, told: list[Fact]) -> Case:
        question = self.draw.choice(self._questions(fact.attribute))
        forbidden = tuple(f.value for f in told if f.attribute is fact.attribute and f is not fact)
        return Case(
            kind,
            self._asked(question),
            self._answer(fact, question),
            (fact.value,),
            _apart(forbidden, fact.value),
            fact.attribute.name,
        )

    def _plain(self, told: list[Fact]) -> Case | None:
        found = self._single(told)
        return self._about("plain", self.draw.choice(found), told) if found else None

    def _exact(self, told: list[Fact]) -> Case | None:
        found = [fact for fact in self._single(told) if re.search(r"\d|@", fact.value)]
        return self._about("exact", self.draw.choice(found), told) if found else None

    def _newer(self, told: list[Fact]) -> tuple[Fact, Fact] | None:
        """Return the new and the old fact of a pair among the lines."""
        for new in told:
            for old in told:
                same = old.attribute is new.attribute and old.who == new.who and old is not new
                if same and new.when.microsecond and not old.when.microsecond and not new.attribute.many:
                    return new, old
        return None

    def _conflict(self, told: list[Fact]) -> Case | None:
        pair = self._newer(told)
        if pair is None:
            return None
        new, old = pair
        if new.who:
            return self._third("conflict", new, told)
        case = self._about("conflict", new, told)
        return replace(case, forbidden=_apart((old.value,), new.value))

    def _past(self, told: list[Fact]) -> Case | None:
        pair = self._newer(told)
        if pair is None or pair[0].who or pair[1].until is None:
            return None
        question = self.draw.choice(pair[0].attribute.questions)
        swapped = question
        for now, then in (
            (" do I ", " did I "),
            (" am I ", " was I "),
            (" is my ", " was my "),
            ("'s my ", " was my "),
        ):
            swapped = swapped.replace(now, then)
        if swapped == question or not swapped.endswith("?"):
            return None
        answer = f"Until {day(pair[1].until)} it was {pair[1].value}."
        return Case(
            "past", f"{swapped[:-1]} before?", answer, (pair[1].value,), _apart((pair[0].value,), pair[1].value)
        )

    def _third(self, kind: str, fact: Fact, told: list[Fact]) -> Case | None:
        form = self.draw.choice(fact.attribute.third_person)
        forbidden = tuple(f.value for f in told if f.attribute is fact.attribute and f is not fact)
        question, answer = (part.format(who=fact.who, v=fact.value) for part in form[1:])
        return Case(
            kind, self._asked(question), answer, (fact.value,), _apart(forbidden, fact.value), fact.attribute.name
        )

    def _other(self, told: list[Fact]) -> Case | None:
        found = [
            f
            for f in told
            if f.who in self.people and sum(g.attribute is f.attribute and g.who == f.who for g in told) == 1
        ]
        return self._third("other person", self.draw.choice(found), told) if found else None

    def _hop(self, told: list[Fact]) -> Case | None:
        for first in (fact for fact in told if fact.value):
            for second in told:
                named = first.attribute.name in NAMED if not first.who else first.attribute.name == "name"
                if named and second.who == first.value and sum(f.value == first.value for f in told) == 1:
                    role = first.who or first.attribute.name.replace("_", " ")
                    question, answer = self.draw.choice(second.attribute.third_person)[1:]
                    said = self._asked(question.format(who=role))
                    answer = answer.format(who=f"{role} {second.who}", v=second.value)
                    return Case("second hop", said, answer, (second.value,))
        return None

    def _unknown(self, told: list[Fact]) -> Case | None:
        """Ask for what no line holds: preferably an attribute that a line holds of another person."""
        known: dict[str, set[str]] = {}
        for fact in told:
            known.setdefault(fact.who, set()).add(fact.attribute.name)
        who = self.draw.choice(self.people) if self.draw.random() < 0.35 else ""
        people = [f.who for f in told if f.who in self.people]
        if who and people and self.draw.random() < 0.5:
            who = self.draw.choice(people)
        near = {name for person, names in known.items() if person != who for name in names}
        held = known.get(who, set())
        barred = held.union(*(group for group in _RELATED if group & held))
        pool = [a for a in self._pool() if a.name not in barred]
        if self.draw.random() < 0.5:
            pool = [a for a in pool if a.name in near] or pool
        attribute = self.draw.choice(pool)
        question = self.draw.choice([q for q in self._questions(attribute) if q != "who am i"])  # any line answers that
        if who:
            question = self.draw.choice(attribute.third_person)[1].format(who=who)
        return Case("unknown", self._asked(question), UNKNOWN, (NOT_TOLD,))

    def _yes_no(self, told: list[Fact]) -> Case | None:
        """Ask whether a value holds, right or wrong; or whether there is one at all."""
        found = [fact for fact in self._single(told) if not fact.attribute.many]
        self.draw.shuffle(found)
        for fact in found:
            form = self.draw.choice(fact.attribute.answers)
            question = closed(form)
            if question is None:
                continue
            right = self.draw.random() < 0.5
            other = self.draw.choice([v for v in self._values(fact.attribute) if v != fact.value] or [fact.value])
            right = right or other == fact.value
            said = self._asked(question.format(v=fact.value if right else other))
            answer = form.format(v=fact.value)
            word = "Yes" if right else "No"
            return Case("yes/no", said, f"{word}, {lowered(answer)}", (word, fact.value), (), fact.attribute.name)
        return None

    def _list(self, told: list[Fact]) -> Case | None:
        own = [fact for fact in told if not fact.who and fact.attribute.many]
        groups: dict[str, list[Fact]] = {}
        for fact in own:
            groups.setdefault(fact.attribute.name, []).append(fact)
        found = [group for group in groups.values() if len(group) > 1]
        if not found:
            return None
        group = self.draw.choice(found)
        question = self.draw.choice(group[0].attribute.questions)
        values = [fact.value for fact in group]
        return Case("list", self._asked(question), self._answer(group[0], question, joined(values)), tuple(values))

    def _everything(self, told: list[Fact]) -> Case | None:
        if not 1 <= len(told) <= 6 or any(fact.until for fact in told):
            return None
        said = self.draw.choice(words("everything", fresh=self.fresh))
        return Case("everything", said, " ".join(f.line() for f in told), tuple(f.value for f in told if f.value))

    def _shaped(self, told: list[Fact]) -> Case | None:
        table = TABLES["Shaped" if self.fresh else "shaped"]
        found = [fact for fact in self._single(told) if fact.attribute.name in table]
        if not found:
            return None
        fact = self.draw.choice(found)
        said, answer = self.draw.choice(table[fact.attribute.name].split(" | ")).split("//")
        answer = answer.strip().format(v=fact.value)
        return Case("shaped", said.strip(), answer[:1].upper() + answer[1:], (fact.value,))

    def _told(self, told: list[Fact]) -> Case | None:
        if self.draw.random() < 0.4 or self.fresh:
            said, reply = self.draw.choice(words("news", fresh=self.fresh)).split("//")
            return Case("told", said.strip(), reply.strip(), (), tuple(f.value for f in told if f.value))
        fact = self._fact(
            self.draw.choice(self._pool()), self.draw.choice(self.people) if self.draw.random() < 0.25 else ""
        )
        line = fact.line()
        form = self.draw.choice(words("thanks"))
        return Case("told", fact.said, form.format(a=line, a_=lowered(line)))

    def _ordinary(self, told: list[Fact]) -> Case | None:
        if not self.ordinary:
            return None
        said = self.draw.choice(sorted(self.ordinary))
        return Case("ordinary", said, self.ordinary[said], (), tuple(f.value for f in told if len(f.value) > 3))

    def foreign_group(self) -> Group:
        """Return a group of lines in one other language, with a question about each."""
        forms = [item.split("//") for item in words("foreign")]
        start = self.draw.choice((0, 6, 10, 11, 12))
        chosen = {0: forms[:6], 6: forms[6:10]}.get(start, forms[start : start + 1])
        picked = self.draw.sample(chosen, self.draw.randint(1, len(chosen)))
        self._when = datetime(2026, 1, 1, tzinfo=UTC)
        told, cases = [], []
        for statement, question, answer, values in ([part.strip() for part in form] for form in picked):
            value = self.draw.choice(values.split(";"))
            told.append(Fact(self.attributes[0], value, statement.format(v=value), self._moment()))
            cases.append(Case("foreign", question, answer.format(v=value), (value,)))
        return Group(tuple(fact.line() for fact in told), tuple(told), (), tuple(cases))


def _apart(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    """Return the values that are no part of the right one."""
    return tuple(v for v in values if v and v.casefold() not in value.casefold())

"""Samples for the reader: memory lines of a made-up person, and what is said to an assistant that sees them.

A `Group` is one set of lines with several branches, so that training reads the lines once. Lines look as the program
writes them (`chatmem.prompt.as_said_to_user`), in the order in which they were said.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chatmem.interface import Recollection
from chatmem.prompt import NOT_TOLD, as_said_to_user
from training import facts
from training.facts import Attribute

UNKNOWN = f"{NOT_TOLD}."
_WORDS = tomllib.loads(Path(__file__).with_name("reader_words.toml").read_text(encoding="utf-8"))
_RELATED = [set(group.split()) for group in _WORDS["related"]["groups"].split(" | ")]
_NAMED = ("boss", "partner", "daughter", "doctor", "godchild", "landlord", "piano_teacher")  # a value is a person
_LEADS = ("By the way, ", "Oh, ", "btw ", "Just so you know, ", "Well, ", "Hi! ", "Please remember that ", "Also, ")


def words(name: str, *, fresh: bool = False) -> list[str]:
    """Return a list of `reader_words.toml`: the one of training, or its twin for scores where there is one."""
    texts: dict[str, str] = _WORDS["texts"]
    return [part.strip() for part in texts.get(name.capitalize() if fresh else name, texts[name]).split(" | ")]


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
        text = as_said_to_user(Recollection(self.said, 1.0, 1, 0, self.when, "user"))
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


def joined(items: list[str]) -> str:
    """Return "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def lowered(text: str) -> str:
    """Return a text that can follow a comma."""
    keep = re.match(r"(?:I|I'm|I've)\b", text)
    return text if keep else text[:1].lower() + text[1:]


class Maker:
    """Makes groups from a seed; `fresh` uses only words, values and people that training never saw."""

    def __init__(self, seed: int, *, fresh: bool = False, ordinary: dict[str, str] | None = None) -> None:
        """`ordinary` maps prompts to the base model's own replies, for lines that do not matter."""
        self.draw = random.Random(f"{seed} {fresh}")
        self.fresh = fresh
        self.ordinary = ordinary or {}
        self.people = facts.UNSEEN_PEOPLE if fresh else facts.PEOPLE
        self.attributes = facts.ATTRIBUTES if fresh else (*map(_with_more, facts.ATTRIBUTES), *noun_attributes())
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

    # Groups

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
        first = self._fact(self.draw.choice([a for a in self._pool() if a.name in _NAMED]))
        if self.draw.random() < 0.5:  # "My sister is called Petra."
            name = next(a for a in self.attributes if a.name == "name")
            first = self._fact(name, self.draw.choice([who for who in self.people if who.islower()]))
        attribute = self.draw.choice([a for a in self._pool() if a.name not in _NAMED and a.name != "name"])
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
        table = _WORDS["Shaped" if self.fresh else "shaped"]
        return [self._fact(self.draw.choice([a for a in self.attributes if a.name in table]), usual=True)]

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
                named = first.attribute.name in _NAMED if not first.who else first.attribute.name == "name"
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
        table = _WORDS["Shaped" if self.fresh else "shaped"]
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


def embedded(question: str) -> str | None:
    """Return a question as a part of another: "Where do I work?" becomes "where I work"."""
    if match := re.match(r"(.+?) is (my .+) called\?$", question):
        return lowered(f"{match[1]} {match[2]} is called")
    if match := re.match(
        r"(.+?) (is|are|was) (my (?:(?!\w+ing\b|allergic|afraid|born|married|with|about|called)\S+ ?)+)\?$", question
    ):
        return lowered(f"{match[1]} {match[3]} {match[2]}")
    if match := re.match(r"(.+?) do (I|my \w+) (.+)\?$", question):
        return lowered(f"{match[1]} {match[2]} {match[3]}")
    if match := re.match(r"((?:what|where|who|how|when|which)\b.*?) am I\b(.*)\?$", question, re.I):
        return lowered(f"{match[1]} I am{match[2]}")
    return None


def _with_more(attribute: Attribute) -> Attribute:
    """Return an attribute with the looser words of the table of more."""
    questions, _, statements = _WORDS["more"].get(attribute.name, "//").partition("//")
    more = [tuple(part.strip() for part in text.split("|") if part.strip()) for text in (questions, statements)]
    return replace(attribute, questions=attribute.questions + more[0], statements=attribute.statements + more[1])


def noun_attributes() -> list[Attribute]:
    """Return the attributes of the table of nouns, which have plain words only; for training."""
    made = []
    for noun, values in _WORDS["nouns"].items():
        statements = (
            f"My {noun} is {{v}}.",
            f"My {noun} is {{v}}.",
            f"my {noun} is {{v}}, by the way",
            f"As for my {noun}, it is {{v}}.",
        )
        questions = (
            f"What is my {noun}?",
            f"What's my {noun}?",
            f"Which is my {noun}?",
            f"What about my {noun}?",
            f"What did I say my {noun} is?",
        )
        third = (f"My {{who}}'s {noun} is {{v}}.", f"What is my {{who}}'s {noun}?", f"Your {{who}}'s {noun} is {{v}}.")
        updates = (
            f"My {noun} is {{v}} now.",
            f"My new {noun} is {{v}}.",
            f"Correction: my {noun} is {{v}}.",
            f"My {noun} has changed, it is {{v}}.",
        )
        answers, denials = (f"Your {noun} is {{v}}.",), (f"My {noun} is not {{v}}.",)
        kept = tuple(values.split(";"))
        made.append(
            Attribute(noun, kept, (), statements, (), questions, (), answers, updates, denials, (third,), False)
        )
    return made


def closed(answer: str) -> str | None:
    """Return the yes-or-no question to an answer in the second person, or None where the rule does not hold."""
    text = answer.rstrip(".")
    if match := re.match(r"Your (.+?) (is|starts|expires|goes) ", text):
        verb = match[2]
        if verb == "is":
            return f"Is my {match[1]} {text[match.end() :]}?"
        return None
    if text.startswith("You are "):
        return f"Am I {text[8:]}?"
    first = text.split()[1] if text.startswith("You ") else ""
    if first in words("present"):
        return "Do I " + re.sub(r"\byour\b", "my", text[4:]) + "?"
    return None


def _apart(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    """Return the values that are no part of the right one."""
    return tuple(v for v in values if v and v.casefold() not in value.casefold())


def ordinary_prompts(*, fresh: bool = False) -> list[str]:
    """Return what people say to any assistant, where no memory matters."""
    if fresh:
        lists = (facts.UNSEEN_CHATTER, facts.UNSEEN_QUESTIONS_TO_THE_WORLD, facts.UNSEEN_COMMANDS)
    else:
        lists = (facts.CHATTER, facts.QUESTIONS_TO_THE_WORLD, facts.COMMANDS)
    return [*words("ordinary", fresh=fresh), *(text for texts in lists for text in texts)]

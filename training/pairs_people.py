"""Made-up people with thirty to sixty memory lines, and questions that their lines do or do not answer."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from chatmem.sentences import same_words
from training.pairs_frames import NOUN_FRAMES, NOUNS, PEOPLE, PERSON_FRAMES, REQUESTS, UNCLEAR, UNSEEN_PEOPLE, Frame
from training.pairs_text import Subject, contracted, draw_value, typed, with_tail

Key = tuple[str, str, str]  # who, attribute, thing
USER = Subject()


@dataclass(frozen=True)
class Fact:
    """One memory line and what it is about."""

    key: Key
    value: str
    text: str
    subject: Subject = USER
    frame: Frame | None = None
    misspelt: bool = False


@dataclass
class Query:
    """Something the user says, and for every line of a memory 1 (answers), 0 (does not) or -1 (unclear)."""

    text: str
    kind: str  # "own", "other", "yes-no", "about", "request", "talk", "told"
    key: Key
    labels: list[int] = field(default_factory=list)
    misspelt: bool = False


@dataclass(frozen=True)
class Inventory:
    """What a made-up person may be made of; another split gets other people, values and things."""

    split: str
    person_frames: tuple[Frame, ...] = PERSON_FRAMES
    noun_frames: tuple[tuple[str, Frame], ...] = NOUN_FRAMES
    people: tuple[Subject, ...] = ()
    without_nouns: frozenset[str] = frozenset()

    def subjects(self) -> list[Subject]:
        """Return the people a user may tell about."""
        if self.people:
            return list(self.people)
        people = PEOPLE if self.split == "train" else UNSEEN_PEOPLE
        return [Subject(who, pronoun) for who, pronoun in people.items()]


def make_facts(inventory: Inventory, rng: random.Random) -> list[Fact]:
    """Return 25 to 50 facts of one user, other people's among them, in the order they were told."""
    people = rng.sample(inventory.subjects(), rng.randint(2, 4))
    wanted: list[tuple[Subject, Frame, str]] = []
    own = rng.sample(inventory.person_frames, min(len(inventory.person_frames), rng.randint(9, 20)))
    wanted += [(USER, frame, "") for frame in own]
    for person in people:  # often the same attributes as the user's
        shared = rng.sample(own, min(len(own), rng.randint(1, 3)))
        others = rng.sample(inventory.person_frames, min(len(inventory.person_frames), rng.randint(1, 3)))
        wanted += [(person, frame, "") for frame in dict.fromkeys((*shared, *others))]
    for _ in range(rng.randint(4, 8) if inventory.noun_frames else 0):  # a thing with one to three attributes
        kind = rng.choice(list(dict.fromkeys(kind for kind, _ in inventory.noun_frames)))
        noun = rng.choice([noun for noun in NOUNS[kind] if noun not in inventory.without_nouns])
        frames = [frame for other, frame in inventory.noun_frames if noun in NOUNS[other]]
        subject = USER if rng.random() < 0.75 else rng.choice(people)
        wanted += [(subject, frame, noun) for frame in rng.sample(frames, min(len(frames), rng.randint(1, 3)))]
    facts: dict[tuple[Key, str], Fact] = {}
    for subject, frame, noun in wanted:
        for _ in range(rng.randint(1, 2) if frame.many else 1):
            key = (subject.who, frame.name, noun)
            value = draw_value(frame, noun, inventory.split, rng)
            if frame.many or not any(other == key for other, _ in facts):
                text, misspelt = say(frame, subject, value, noun, rng)
                facts[key, value] = Fact(key, value, text, subject, frame, misspelt)
    told = list(facts.values())
    rng.shuffle(told)
    return told


def say(frame: Frame, subject: Subject, value: str, noun: str, rng: random.Random) -> tuple[str, bool]:
    """Return a statement of a fact in some wording, and whether it is misspelt."""
    if subject.who and frame.others:
        template = rng.choice(frame.others)[0]
    else:
        template = rng.choice(frame.statements + (frame.updates if rng.random() < 0.15 else ()))
    meant = with_tail(contracted(subject.fill(template, value, noun), rng), rng)
    text = typed(meant, rng, 0.15)
    return text, same_words(text) != same_words(meant)


def label(query: Query, fact: Fact, value: str | None = None) -> int:
    """Tell whether a fact answers a question about a key: 1, 0, or -1 where people would not agree."""
    who, name, noun = query.key
    if fact.key == query.key:
        if value is not None and fact.frame is not None and fact.frame.many and fact.value != value:
            return -1
        return 1
    same_person = fact.key[0] == who
    if same_person and fact.key[1] in UNCLEAR.get(name, ()) and (noun == fact.key[2] or not noun or not fact.key[2]):
        return -1
    return 0


def ask(facts: list[Fact], inventory: Inventory, rng: random.Random, *, known: bool) -> Query:
    """Return a question about a fact, or about something near a fact that was never told."""
    fact = rng.choice([fact for fact in facts if fact.frame is not None])
    subject, frame, noun = fact.subject, fact.frame, fact.key[2]
    assert frame is not None
    if not known:
        subject, frame, noun = _near(facts, fact, inventory, rng)
    value = None
    template = rng.choice([pair[1] for pair in frame.others] if subject.who and frame.others else frame.questions)
    kind = "other" if subject.who else "own"
    if frame.yes_no and rng.random() < 0.15:
        template, kind = frame.yes_no, "yes-no"
        value = fact.value if known and rng.random() < 0.6 else draw_value(frame, noun, inventory.split, rng)
    text = contracted(subject.fill(template, value or "", noun), rng)
    if rng.random() < 0.12:
        text = rng.choice(("Do you remember ", "Can you tell me ", "Tell me: ", "Hey, ", "Quick question: ", "So, ",
                           "Remind me: ", "I forgot, ")) + text[:1].lower() + text[1:]  # fmt: skip
    said = typed(text, rng)
    query = Query(said, kind, (subject.who, frame.name, noun), misspelt=same_words(said) != same_words(text))
    query.labels = [label(query, fact, value) for fact in facts]
    return query


def _near(facts: list[Fact], fact: Fact, inventory: Inventory, rng: random.Random) -> tuple[Subject, Frame, str]:
    """Return somebody, an attribute and a thing of which no fact tells: another person's, or another attribute."""
    known = {fact.key for fact in facts}
    for _ in range(40):
        subject, frame, noun = fact.subject, fact.frame, fact.key[2]
        assert frame is not None
        way = rng.random()
        if way < 0.35:  # the same of another person
            subject = rng.choice(
                [USER, USER, *dict.fromkeys(fact.subject for fact in facts), rng.choice(inventory.subjects())]
            )
        elif noun and way < 0.6:  # something else about the same thing
            frame = rng.choice([other for kind, other in inventory.noun_frames if noun in NOUNS[kind]])
        elif noun and way < 0.8:  # the same about another thing
            kind = rng.choice([kind for kind, other in inventory.noun_frames if other == frame])
            noun = rng.choice([noun for noun in NOUNS[kind] if noun not in inventory.without_nouns])
        elif noun:
            continue
        else:
            frame = rng.choice(inventory.person_frames)
        if (subject.who, frame.name, noun) not in known:
            return subject, frame, noun
        fact = rng.choice([fact for fact in facts if fact.frame is not None])
    return Subject("twin cousin", "their"), PERSON_FRAMES[0], ""


def request(facts: list[Fact], rng: random.Random) -> Query:
    """Return something asked for on somebody's behalf, which lines about them should shape."""
    templates, shaped_by = rng.choice(REQUESTS)
    subject = rng.choice([USER, USER, *dict.fromkeys(fact.subject for fact in facts if fact.subject.who)])
    text = typed(subject.fill(rng.choice(templates), ""), rng)
    query = Query(text, "request", (subject.who, "request", ""))
    for fact in facts:
        fits = fact.key[0] == subject.who and fact.key[1] in shaped_by
        about_other = fact.key[0] != subject.who
        query.labels.append(1 if fits else 0 if about_other or rng.random() < 0.5 else -1)
    return query


def about(facts: list[Fact], rng: random.Random) -> Query | None:
    """Return a question for all that was told of one person or thing."""
    told = [fact for fact in facts if fact.key[0] or fact.key[2]]
    if not told:
        return None
    who, _, noun = rng.choice(told).key
    name = f"my {who}'s {noun}" if who and noun else f"my {who or noun}"
    template = rng.choice(("What do you know about {x}?", "Tell me about {x}.", "What did I tell you about {x}?",
                           "Do you know anything about {x}?", "Say something about {x}."))  # fmt: skip
    query = Query(typed(template.replace("{x}", name), rng), "about", (who, "*", noun))
    for fact in facts:
        inside = fact.key[0] == who and (not noun or fact.key[2] == noun)
        inside = inside or (not noun and fact.key[0] == "" and fact.key[2] == who)  # "My boss is Petra."
        query.labels.append(1 if inside else 0)
    return query

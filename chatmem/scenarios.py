"""The scenarios of the benchmark, as data: what is told in which session, what is asked, what the answer must hold.

A to E are the specification's, word for word. F to H are ten facts over ten sessions, the same after thirteen, and
ten questions about things that were never said. Run `r` has its own small talk and its own order of sessions. What
the assistant says while facts are told is scripted, so that every arm remembers the same conversations.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from chatmem.interface import Session, Turn

FIRST_DAY = datetime(2025, 3, 3, 18, 30, tzinfo=UTC)

REFUSAL = (
    r"\b(?:don't|do not|didn't|did not|haven't|have not|hasn't|has not|can't|cannot|never|no)\b[^.!?]{0,40}"
    r"\b(?:know|told|tell|said|say|mentioned|mention|shared|share|information|sure|remember|recall)\b|\bnot sure\b"
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    `expected` is a pattern that the reply must hold, `forbidden` one that it must not. `evidence` is the line that
    holds the answer, or "" where nothing was said.
    """

    text: str
    expected: str
    forbidden: str = ""
    evidence: str = ""

    def is_right(self, reply: str) -> bool:
        """Tell whether a reply is right."""
        plain = reply.replace("’", "'")
        if self.forbidden and re.search(self.forbidden, plain, re.I):
            return False
        return bool(re.search(self.expected, plain, re.I))


@dataclass(frozen=True, slots=True)
class Scenario:
    """Sessions that are told, oldest first, and the questions asked afterwards, each in a session of its own."""

    name: str
    title: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


FACTS = (
    ("I work as a beekeeper near Tartu.", "What do I do for a living?", r"\bbees?\b|\bbeekeep"),
    ("I live in Valparaíso, close to the harbour.", "In which town is my home?", r"valpara[ií]so"),
    ("My parrot is called Quillon.", "What did I name my parrot?", r"\bquillon"),
    ("My sister Ilse teaches geography.", "Which subject does my sister teach?", r"\bgeograph"),
    ("I'm allergic to walnuts.", "Which food is dangerous for me?", r"\bwalnut"),
    ("I play the oboe in a town orchestra.", "What instrument can I play?", r"\boboe"),
    (
        "My birthday is on the 9th of November.",
        "On which day is my birthday?",
        r"\b9(?:th)?(?: of)? nov|nov\w* 9",
    ),
    ("I drive an old green Lada.", "What kind of car do I have?", r"\blada"),
    ("I'm learning Basque in the evenings.", "What language do I study?", r"\bbasque"),
    ("My favourite colour is maroon.", "What colour do I like best?", r"\bmaroon"),
)

UNKNOWN = (
    "What is my shoe size?",
    "What is my brother's name?",
    "Where did I go to school?",
    "What is my favourite film?",
    "Who is my dentist?",
    "When is my wedding anniversary?",
    "How tall am I?",
    "What is my blood type?",
    "Where did I spend my last holiday?",
    "What is my phone number?",
)

SMALL_TALK = (
    ("Hello!", "Hello! How are you today?"),
    ("Good evening!", "Good evening! How was your day?"),
    ("It rained all morning.", "Then it was a good morning to stay in."),
    ("The bus was late again today.", "That is annoying."),
    ("What is the tallest mountain on Earth?", "Mount Everest is the tallest."),
    ("Tell me something about owls.", "Owls can turn their heads very far."),
    ("I slept badly last night.", "I hope that tonight is better."),
    ("How do I get a coffee stain out of a shirt?", "Try cold water and a little soap."),
    ("The soup at lunch was too salty.", "A potato in the pot can help."),
    ("Why is the sea salty?", "Rivers carry salts from the rocks into it."),
    ("There was a rainbow over the roofs.", "That must have been a lovely sight."),
    ("Can you say something nice?", "You are doing well."),
    ("The neighbours are very loud tonight.", "Perhaps they are celebrating."),
    ("What is seven times eight?", "Seven times eight is 56."),
    ("My tea has gone cold.", "A fresh cup would be warm."),
    ("How many days does February have?", "It has 28, and 29 in a leap year."),
    ("The queue at the bakery was endless.", "I hope that the bread was worth it."),
    ("Give me a word that rhymes with moon.", "Spoon rhymes with moon."),
    ("The lamp in the hall flickers.", "It may need a new bulb."),
    ("Who invented the telephone?", "Alexander Graham Bell patented it."),
    ("I watched the clouds for an hour.", "That sounds calm."),
    ("The printer is out of paper.", "There may be some in the cupboard."),
    ("Is Pluto a planet?", "It is a dwarf planet."),
    ("The window was open all night.", "Then the air was fresh."),
    ("Thanks for listening.", "You are welcome."),
    ("The news was dull today.", "A quiet day can be good."),
    ("How long do tortoises live?", "Some live for more than a hundred years."),
    ("Somebody left an umbrella in the tram.", "Perhaps its owner will come back for it."),
    ("What do penguins eat?", "They eat fish and krill."),
    ("The stairs were freshly painted.", "Mind your shoes."),
    ("Recommend a way to relax.", "A slow walk can help."),
    ("A pigeon sat on the balcony.", "It may have been resting."),
    ("The lift was broken this morning.", "Then you had some exercise."),
    ("How far away is the Moon?", "It is about 384,000 kilometres away."),
    ("The market was crowded.", "It often is at noon."),
    ("Good night!", "Good night, sleep well."),
    ("The milk smelled odd.", "Better to throw it away."),
    ("What is the opposite of brave?", "The opposite of brave is cowardly."),
    ("The wind took a hat off a man's head.", "I hope that he caught it."),
    ("Bye for now.", "See you soon."),
)


def scenarios(run: int) -> list[Scenario]:
    """Return the scenarios of one run."""
    return [build(run) for build in _BUILDERS]


class _Days:
    """Makes sessions, one a day, with small talk drawn for one run and scenario."""

    def __init__(self, run: int, name: str) -> None:
        self._random = random.Random(f"{run} {name}")
        self._talk: list[tuple[str, str]] = []
        self._day = 0

    def session(self, *facts: str, talk: int = 2) -> Session:
        """Return the next day's session: facts at a drawn place between pieces of small talk."""
        pieces = [self._draw() for _ in range(talk)]
        at = self._random.randint(0, len(pieces))
        pieces[at:at] = [(fact, "Thank you for telling me.") for fact in facts]
        when = FIRST_DAY + timedelta(days=self._day)
        self._day += 1
        turns = []
        for position, (said, answer) in enumerate(pieces):
            moment = when + timedelta(minutes=2 * position)
            turns += [Turn("user", said, moment), Turn("assistant", answer, moment)]
        return Session(tuple(turns))

    def _draw(self) -> tuple[str, str]:
        if not self._talk:
            self._talk = self._random.sample(SMALL_TALK, len(SMALL_TALK))
        return self._talk.pop()

    def shuffled(self, facts: Sequence[str]) -> list[str]:
        """Return the facts in this run's order."""
        return self._random.sample(list(facts), len(facts))


def _a(run: int) -> Scenario:
    days, fact = _Days(run, "A"), "My name is Alice."
    question = Question("What is my name?", r"\balice\b", evidence=fact)
    return Scenario("A", "a name, asked in session 2", (days.session(fact),), (question,))


def _b(run: int) -> Scenario:
    days, fact = _Days(run, "B"), "I work at Google."
    question = Question("Where do I work?", r"\bgoogle\b", evidence=fact)
    return Scenario("B", "a job, asked in session 2", (days.session(fact),), (question,))


def _c(run: int) -> Scenario:
    days, fact = _Days(run, "C"), "I like pizza."
    question = Question("What is my favorite food?", r"\bpizza\b", evidence=fact)
    return Scenario("C", "a taste, asked in session 3", (days.session(fact), days.session()), (question,))


def _d(run: int) -> Scenario:
    days = _Days(run, "D")
    facts = ("My dog is called Pretzel.", "I was born in Ljubljana.", "I play chess on Thursdays.")
    sessions = (days.session(*days.shuffled(facts)), days.session(), days.session(), days.session())
    questions = (
        Question("What is the name of my dog?", r"\bpretzel\b", evidence=facts[0]),
        Question("Where was I born?", r"\bljubljana\b", evidence=facts[1]),
        Question("What do I play on Thursdays?", r"\bchess\b", evidence=facts[2]),
    )
    return Scenario("D", "three facts of one session, asked in session 5", sessions, questions)


def _e(run: int) -> Scenario:
    days, change = _Days(run, "E"), "I changed my name to Bob."
    sessions = (days.session("My name is Alice."), days.session(change))
    question = Question("What is my name?", r"\bbob\b", forbidden=r"\balice\b", evidence=change)
    return Scenario("E", "a name that changed in session 2", sessions, (question,))


def _ten_facts(days: _Days) -> tuple[Session, ...]:
    return tuple(days.session(fact) for fact in days.shuffled([fact for fact, _, _ in FACTS]))


def _about_facts() -> tuple[Question, ...]:
    return tuple(Question(text, expected, evidence=fact) for fact, text, expected in FACTS)


def _f(run: int) -> Scenario:
    return Scenario("F", "ten facts over ten sessions", _ten_facts(_Days(run, "F")), _about_facts())


def _g(run: int) -> Scenario:
    days = _Days(run, "G")
    sessions = _ten_facts(days) + tuple(days.session() for _ in range(3))
    return Scenario("G", "the same after thirteen sessions", sessions, _about_facts())


def _h(run: int) -> Scenario:
    sessions = _ten_facts(_Days(run, "H"))
    return Scenario("H", "things that were never said", sessions, tuple(Question(text, REFUSAL) for text in UNKNOWN))


_BUILDERS: tuple[Callable[[int], Scenario], ...] = (_a, _b, _c, _d, _e, _f, _g, _h)

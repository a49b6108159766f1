"""A memory of many sessions, for measuring: made in minutes, by the journal's own tables and the real encoder.

Each session has three facts about somebody with an invented name, which no other session knows, and talk around them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from chatmem import rows, schema, state_rows
from chatmem.embedding import Array, Encoder
from chatmem.frames import normal
from chatmem.reading import read_turn
from chatmem.scenarios import FIRST_DAY
from chatmem.sentences import same_words
from chatmem.session_reader import Network, SessionReader
from chatmem.states import Statement

NUM_TURNS = 20  # of a session, half of them the user's
_FACTS_EACH = 3
_FACTS = (  # a fact, and the question for it
    ("{who} works as a {job} in {town}.", "What does {who} do for a living?"),
    ("{who} has a {pet} called {name}.", "What is the {pet} of {who} called?"),
    ("My neighbour {who} plays the {tool} in a band.", "Which instrument does {who} play?"),
    ("{who} is allergic to {food}.", "What is {who} allergic to?"),
    ("I met {who} on a ferry to {town}.", "Where did I meet {who}?"),
)
_WORDS = {
    "job": "baker lawyer nurse plumber pilot teacher farmer dentist carpenter gardener tailor diver".split(),  # noqa: SIM905
    "town": "Porto Tartu Bergen Galway Turku Leuven Graz Split Cadiz Bari Lund Ghent Brno Varna".split(),  # noqa: SIM905
    "pet": "dog cat parrot goat pony tortoise hamster canary".split(),  # noqa: SIM905
    "tool": "cello flute banjo oboe drums harp trumpet accordion".split(),  # noqa: SIM905
    "food": "walnuts shrimp celery mango eggs mustard sesame lupin".split(),  # noqa: SIM905
}
_TALK = (
    "Can you help me with a letter?",
    "What is the weather like in the mountains?",
    "Thanks, that helps.",
    "How do I get red wine out of a carpet?",
    "Tell me a story about a lighthouse.",
    "What should I cook tonight?",
    "Good morning!",
    "Translate this into French, please.",
    "How many grams are in an ounce?",
    "That was quick, thank you.",
)
_REPLIES = (
    "I see.",
    "That is interesting, tell me more.",
    "Sure, let us do it.",
    "Thanks for telling me!",
    "A pinch of salt helps.",
    "Let me think about it.",
)


_ALWAYS = [*_TALK, *_REPLIES]


class Planted(NamedTuple):
    """A question, the line that answers it, and its session."""

    question: str
    line: str
    session: int


class _Known:
    """An encoder that reads each sentence once: most talk is the same everywhere."""

    def __init__(self, encoder: Encoder) -> None:
        self.fingerprint, self.input_dim = encoder.fingerprint, encoder.input_dim
        self._encoder = encoder
        self._known: dict[str, Array] = dict(zip(_ALWAYS, encoder.encode(_ALWAYS), strict=True))

    def encode(self, texts: Sequence[str]) -> Array:
        """Return (T, D) unit rows."""
        new = iter(self._encoder.encode([text for text in texts if text not in self._known]))
        return np.stack([self._known[text] if text in self._known else next(new) for text in texts])


def build(url: str | sa.URL, encoder: Encoder, network: Network, fingerprint: str, count: int) -> list[Planted]:
    """Write sessions with their vectors into a new journal.

    Args:
        url: of a journal that holds nothing yet.
        encoder: makes the sentence embeddings.
        network: reads the sessions.
        fingerprint: of the memory that will be opened over it.
        count: number of sessions.

    Returns:
        One question for each session.
    """
    chance, planted = random.Random(count), list[Planted]()
    reader = SessionReader(_Known(encoder), network)
    kinds = {text: read_turn(text, explicit=False)[0].kind for text in _TALK}
    engine = schema.open_engine(url)
    for start in range(1, count + 1, 500):
        with engine.begin() as db:
            for number in range(start, min(start + 500, count + 1)):
                texts, asked = _talk(chance)
                when = FIRST_DAY + timedelta(hours=number)
                planted.append(Planted(*asked, number))
                _write(db, number, texts, kinds, when)
                slot, lines = reader.read(number, texts)
                reader.forget(number)
                row = {"session": number, "fingerprint": fingerprint, "slot": slot.tobytes(), "lines": lines.tobytes()}
                db.execute(schema.vectors.insert(), [row])
            rows.bump(db)
    engine.dispose()
    return planted


def _talk(chance: random.Random) -> tuple[list[str], tuple[str, str]]:
    """Return what is said in a session, the user first, and a question with the line that answers it."""
    who = f"{_name(chance)} {_name(chance)}"
    facts = []
    for pair in chance.sample(_FACTS, _FACTS_EACH):
        values = {"who": who, "name": _name(chance)} | {key: chance.choice(words) for key, words in _WORDS.items()}
        facts.append([text.format(**values) for text in pair])
    said = [chance.choice(_TALK) for _ in range(NUM_TURNS // 2)]
    for place, (fact, _) in zip(chance.sample(range(len(said)), _FACTS_EACH), facts, strict=True):
        said[place] = fact
    line, question = facts[0]
    return [text for own in said for text in (own, chance.choice(_REPLIES))], (question, line)


def _name(chance: random.Random) -> str:
    """Return an invented name."""
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(3)).capitalize()


def _write(db: sa.Connection, number: int, texts: list[str], kinds: dict[str, str], when: datetime) -> None:
    """Write a session, each turn one line."""
    values = {"number": number, "uid": f"{number:032x}", "started": when.isoformat(), "finished": when.isoformat()}
    db.execute(schema.sessions.insert().values(values))
    first = (number - 1) * NUM_TURNS + 1
    db.execute(
        schema.turns.insert(), [_turn(first + place, number, place, text, when) for place, text in enumerate(texts)]
    )
    lines = list(_lines(first, texts, kinds, when))
    db.execute(schema.lines.insert(), lines)
    facts = [line for line in lines if line["kind"] == "fact"]
    state_rows.index(db, [Statement(line["key"], when, number, line["text"], "fact") for line in facts])


def _turn(key: int, session: int, place: int, text: str, when: datetime) -> dict[str, Any]:
    speaker = "assistant" if place % 2 else "user"
    row = {"key": key, "session": session, "position": place, "speaker": speaker, "text": text}
    return row | {"when": when.isoformat(), "explicit": False, "sources": "[]"}


def _lines(first: int, texts: list[str], kinds: dict[str, str], when: datetime) -> Iterator[dict[str, Any]]:
    for place, text in enumerate(texts):
        kind = "reply" if place % 2 else kinds.get(text, "fact")
        row = {"key": first + place, "turn": first + place, "sentence": 0, "said": text, "text": text, "kind": kind}
        yield row | {"words": same_words(normal(text)), "at": when.timestamp(), "refers": "[]", "status": "active"}

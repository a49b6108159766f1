"""Facts and talk in everyday words, for training the memory inside a model beside `neural_data`.

The frames are those of the pair decision (`pairs_frames.toml`, `facts.toml`), with tails and slips of the keyboard.
The dialogues (Synthetic-Persona-Chat, CC BY 4.0) and utterances (CLINC150, CC BY 3.0) are what memory must leave alone.
Lines, questions and values of the benchmark's scenarios are left out, and so are the dialogues that are scored.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from chatmem.scenarios import FACTS
from training.neural_data import Fact, Told, answer_from, as_retraction, as_update, is_fresh, made_value
from training.pairs_facts import fact_inventory
from training.pairs_frames import PEOPLE, PERSON_FRAMES, Frame
from training.pairs_people import USER
from training.pairs_text import Subject, contracted, draw_value, typed, with_tail

_NAMES = "Agata Benno Cleo Dario Esther Falk Gwen Hilde Ivan Jorge Kaia Lior Marta Niko Orla Paco".split()  # noqa: SIM905
_SCENARIO_TEXTS = {text for fact in FACTS for text in fact[:2]}
_SCENARIO_WORDS = re.compile("|".join(pattern for _, _, pattern in FACTS), re.I)
_OWN = re.compile(r"\b(?:my|me|i|mine|our|we|us|i'?m|your|you)\b", re.I)
SCORED_DIALOGUES = 40


_SAME = {  # an attribute that both tables have under two names
    "blood": "blood_type", "dislike_food": "disliked_food", "favourite_food": "food", "grew_up": "hometown",
    "home": "residence", "medicine": "medication", "star_sign": "starsign", "wakes": "wake_up", "next_holiday": "trip",
    "mail": "email", "phone": "phone_number", "drink": "coffee", "studies": "subject", "language": "languages",
}  # fmt: skip


def frames() -> list[Frame]:
    """Return all frames of people, one name for one attribute."""
    both = [*PERSON_FRAMES, *fact_inventory("train").person_frames]
    return [replace(frame, name=_SAME.get(frame.name, frame.name)) for frame in both]


def everyday_people(seed: int, count: int, each: int = 6) -> Iterator[list[tuple[Frame, Subject, Fact, str]]]:
    """Yield people with facts of different attributes; of each its frame, whom it is of, and a second question."""
    draw, known = random.Random(seed), frames()
    for _ in range(count):
        user = draw.random() < 0.6
        person = USER if user else Subject(*draw.choice(list(PEOPLE.items())))
        found: dict[str, tuple[Frame, Subject, Fact, str]] = {}
        while len(found) < each:
            frame = draw.choice(known)
            subject = Subject(*draw.choice(list(PEOPLE.items()))) if user and draw.random() < 0.2 else person
            if (fact := everyday_fact(draw, frame, subject)) is not None:
                found.setdefault(frame.name, (frame, subject, fact, question(draw, frame, subject)))
        yield list(found.values())


def everyday_fact(draw: random.Random, frame: Frame, subject: Subject) -> Fact | None:
    """Return a fact in everyday words, or None where it is a scenario's."""
    template = draw.choice([one for one, _ in frame.others] if subject.who and frame.others else frame.statements)
    value = made_value(draw, fresh=False) if _open(template) and draw.random() < 0.3 else _value(draw, frame)
    text = with_tail(contracted(subject.fill(template, value), draw), draw, 0.25)
    if subject.who and draw.random() < 0.25:
        text = re.sub(rf"\b([Mm]y {re.escape(subject.who)})\b(?!')", rf"\1 {draw.choice(_NAMES)}", text, count=1)
    asked = question(draw, frame, subject)
    if _SCENARIO_WORDS.search(value) or {text, asked} & _SCENARIO_TEXTS:
        return None
    who = f"my {subject.who}" if subject.who else "me"
    told = Told("fact", typed(text, draw, 0.1), who, frame.name, value, frame.many)
    return Fact(told, asked, answer_from(told))


def _open(template: str) -> bool:
    """Tell whether the words around a value say what it is, so that a made-up one can stand there."""
    return len(template) > 14 and not re.search(r"\b(?:an? |I'm |\[am\|is\] ){v}", template)


def question(draw: random.Random, frame: Frame, subject: Subject) -> str:
    """Return one of the questions that ask for an attribute."""
    template = draw.choice([one for _, one in frame.others] if subject.who and frame.others else frame.questions)
    asked = typed(contracted(subject.fill(template, ""), draw), draw, 0.1)
    if draw.random() < 0.12:
        asked = draw.choice(_LEADS) + asked[:1].lower() + asked[1:]
    return asked


_LEADS = ("Do you remember: ", "Can you tell me: ", "Hey, ", "Quick question: ", "So, ", "Remind me: ", "I forgot, ")


def everyday_news(draw: random.Random, frame: Frame, subject: Subject, old: Fact) -> Fact | None:
    """Return the same attribute with another value, told as news or simply told."""
    for _ in range(20):
        made = everyday_fact(draw, frame, subject)
        if made is None or made.told.value == old.told.value:
            continue
        text = made.told.text
        if frame.updates and not subject.who and draw.random() < 0.4:
            text = contracted(subject.fill(draw.choice(frame.updates), made.told.value), draw)
        elif draw.random() < 0.5:
            text = as_update(text, draw)
        told = replace(made.told, kind="update", text=text)
        return Fact(told, old.question, answer_from(told))
    return None


def everyday_retraction(draw: random.Random, old: Fact) -> Told:
    """Return a line that takes a fact back."""
    return replace(old.told, kind="retraction", text=as_retraction(old.told.text, draw))


def _value(draw: random.Random, frame: Frame) -> str:
    """Return a value of a frame, on the training side of the hash where that is possible."""
    for _ in range(8):
        if not is_fresh(value := draw_value(frame, "", "train", draw)):
            break
    return value


def utterances(data: Path, count: int, seed: int = 3) -> list[str]:
    """Return what people say to an assistant that is about nobody; none where the file is not there."""
    path = data / "clinc150_intents.jsonl.gz"
    if not path.exists():
        return []
    texts = [row["text"] for row in _rows(path) if not _OWN.search(row["text"])]
    return random.Random(seed).sample(sorted(set(texts)), count)


def dialogues(path: Path, count: int, *, scored: bool) -> list[list[str]]:
    """Return turns of dialogues: of those that are scored, or of others, which share no persona with them."""
    rows = [row for row in _rows(path) if row["sessions"]]
    chosen = random.Random(4).sample(rows, SCORED_DIALOGUES)
    if not scored:
        taken = {line for row in chosen for persona in row["personas"] for line in persona}
        others = [
            row
            for row in rows
            if row["sessions"][0]["turns"] and not taken & {line for persona in row["personas"] for line in persona}
        ]
        chosen = random.Random(5).sample(others, min(count, len(others)))
    return [[turn["text"] for turn in row["sessions"][0]["turns"]][:10] for row in chosen[:count]]


def as_messages(turns: list[str]) -> list[dict[str, str]]:
    """Return turns as messages of a user and an assistant."""
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(turns)]


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]

"""Sentences with their kinds: something true that is worth remembering, or something else.

Most were written for this (`kind_sentences.txt`: a kind, a tab, a sentence); plainer ones come from the scenes, from
facts.toml, from CLINC150 (CC BY 3.0) and from Synthetic-Persona-Chat (CC BY 4.0).
"""

from __future__ import annotations

import random
from pathlib import Path

from chatmem.statement_network import KINDS
from training import facts
from training.pairs_data import rows
from training.pairs_scenes import read_scenes
from training.pairs_text import typed

SENTENCES = Path(__file__).with_name("kind_sentences.txt")
_LABELS = {"command": "command", "question": "question", "chitchat": "small talk"}
_BEFORE = ("", "", "", "", "", "Hi! ", "Hey, ", "By the way, ", "Ok so ", "Well, ", "lol ", "Oh and ")
Labelled = tuple[str, int]  # a sentence, the place of its kind in KINDS


def own_sentences(split: str) -> list[Labelled]:
    """Return the sentences written for this; every tenth is kept for development."""
    lines = [line.split("\t") for line in SENTENCES.read_text("utf-8").splitlines()]
    chosen = [line for place, line in enumerate(lines) if (place % 10 == 9) == (split == "dev")]
    return [(text, KINDS.index(kind)) for kind, text in chosen]


def other_sentences(data: Path, rng: random.Random) -> list[Labelled]:
    """Return the plainer sentences."""
    found: list[tuple[str, str]] = []
    for scene in read_scenes("train"):
        for templates, kind in (
            (scene.old, "fact"),
            (scene.new, "fact"),
            (scene.q, "question"),
            (scene.nq, "question"),
        ):
            a, b = rng.sample(scene.v, 2)
            found += [(text.replace("{a}", a).replace("{b}", b), kind) for text in templates]
    found += [(text, "small talk") for text in facts.CHATTER]
    found += [(text, "question") for text in facts.QUESTIONS_TO_THE_WORLD]
    found += [(text, "command") for text in facts.COMMANDS]
    clinc = rows(data / "clinc150_intents.jsonl.gz")
    found += [(str(row["text"]), _LABELS[str(row["kind"])]) for row in rng.sample(clinc, 2500)]
    persona = [row for row in rows(data / "persona_chat_turn_labels.jsonl.gz") if row["label"] == "remember"]
    found += [(str(row["text"]), "fact") for row in rng.sample(persona, 2500)]
    return [(text, KINDS.index(kind)) for text, kind in found]


def variants(sentences: list[Labelled], count: int, rng: random.Random) -> list[Labelled]:
    """Return sentences as people in a hurry type them, `count` of each, the sentence itself first."""
    found = []
    for text, kind in sentences:
        found.append((text, kind))
        for _ in range(count - 1):
            lead = rng.choice(_BEFORE)
            rest = text if not lead or text.startswith(("I ", "I'")) else text[:1].lower() + text[1:]
            found.append((typed(lead + rest, rng, 0.5), kind))
    return found


def sentences(data: Path, rng: random.Random) -> list[Labelled]:
    """Return what is trained on: six of each sentence written for this, and as many plainer ones."""
    own, others = variants(own_sentences("train"), 6, rng), variants(other_sentences(data, rng), 1, rng)
    return own + [others[place % len(others)] for place in range(len(own))]

"""Scenes of our own: how facts change in everyday talk, and what is near them without changing them.

Each scene of `pairs_scenes.toml` tells one fact in several wordings with a value {a}, how another value {b} takes its
place, how it ends, near misses that leave it standing, and what is asked. Every eighth scene is kept for development.
"""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from training.pairs_relations import DENIAL, NEW, SAME, UNRELATED, Relation
from training.pairs_text import typed

Answer = tuple[str, str, int]  # question, line, 1 where the line answers it


@dataclass(frozen=True)
class Scene:
    """Wordings of one fact and of its changes; {a} is the value it has, {b} the one it gets."""

    v: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    end: tuple[str, ...]
    beside: tuple[str, ...]
    q: tuple[str, ...]
    nq: tuple[str, ...]


@dataclass
class Told:
    """What one draw from a scene has put into words."""

    relations: list[Relation] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)


def read_scenes(split: str, path: Path | None = None) -> list[Scene]:
    """Return the scenes of a split: "dev" has every eighth."""
    tables = tomllib.loads((path or Path(__file__).with_suffix(".toml")).read_text("utf-8"))["scene"]
    names = {"beside": "not"}
    scenes = [
        Scene(**{key: tuple(table.get(names.get(key, key), "").split(" | ")) for key in Scene.__dataclass_fields__})
        for table in tables
    ]
    return [scene for place, scene in enumerate(scenes) if (place % 8 == 7) == (split == "dev")]


def tell(scenes: list[Scene], rounds: int, rng: random.Random) -> Told:
    """Draw `rounds` times from every scene."""
    told = Told()
    for scene in scenes:
        for _ in range(rounds):
            _draw(scene, rng.choice(scenes), told, rng)
    return told


def _draw(scene: Scene, other: Scene, told: Told, rng: random.Random) -> None:
    """Add one story with its pairs."""
    a, b, c = rng.sample(scene.v, 3)
    say = lambda templates, a, b: typed(_sentence(rng.choice(templates), a, b), rng, 0.15)  # noqa: E731
    old = say(scene.old, a, b)
    since = say(scene.new, c, a)  # says that {a} took the place of another value
    before = old if rng.random() < 0.7 else since
    new, end, beside = say(scene.new, a, b), say(scene.end, a, b), say(scene.beside, *rng.choice([(a, b), (b, a)]))
    stranger = say((*other.old, *other.new), *rng.sample(other.v, 2)) if other is not scene else ""
    told.relations += [
        (new, before, NEW),
        (say(scene.old, b, a), before, NEW),
        (say(scene.old, a, b), before, SAME),
        (beside, before, UNRELATED),
        (new, beside, UNRELATED),
        *([(end, before, DENIAL)] if end else []),
        *([(new, stranger, UNRELATED), (stranger, old, UNRELATED)] if stranger else []),
    ]
    asked, near = say(scene.q, a, b), say(scene.nq, a, b)
    told.answers += [
        (asked, old, 1),
        (asked, new, 1),
        (asked, beside, 0),
        (near, old, 0),
        (near, new, 0),
        *([(asked, stranger, 0)] if stranger else []),
    ]


def _sentence(template: str, a: str, b: str) -> str:
    """Return a template with its values, as a sentence."""
    text = template.strip().replace("{a}", a).replace("{b}", b)
    return text[:1].upper() + text[1:]

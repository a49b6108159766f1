"""Reading a turn: its sentences, cut into what can be remembered one by one, each judged among its neighbours.

The pieces of a turn are parts of its text, in order, and everything but white space and joints is in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chatmem import quoting, wording
from chatmem.clauses import split_clauses
from chatmem.corrections import without_opening
from chatmem.judgement import MEMORY_KINDS, judge, plain, retraction_end
from chatmem.sentences import split_sentences
from chatmem.values import kind_of

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'll|me|my|mine|we|our|us|я|мне|меня|мо[йяеёи]|мы|у нас)\b|我", re.I)
_OF_SOMEBODY = re.compile(r"^[A-ZА-ЯЁ]\w+(?: [A-ZА-ЯЁ]\w+)? (?:is|was|has|does|\w+s)\b")  # "Petra teaches physics."
_ENDED = re.compile(r"[.!?。！？…]['\"”’»)]*$")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WHOLE_CLAUSE = re.compile(r"^(?:i|we|my|our|я|мой|моя|мо[её]|у меня|меня|мы)\b|^我", re.I)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a turn: `said` as it stands there, `text` as it reads alone; `sentence` counts the turn's sentences."""

    said: str
    text: str
    kind: str
    sentence: int


def read_turn(text: str, *, explicit: bool = False) -> list[Piece]:
    """Return the pieces of what the user said; all of them are facts where the user asked to remember the text."""
    if explicit:
        numbered = enumerate(split_sentences(text))
        return [Piece(part.said, part.text, "fact", number) for number, one in numbered for part in split_clauses(one)]
    pieces: list[Piece] = []
    scene, number = "", 0  # "story": sentences about others go on with it; "play": all do
    for part in quoting.parts(text):
        sentences = split_sentences(part.text)
        for place, sentence in enumerate(sentences):
            first, last = part.after and place == 0, part.before and place == len(sentences) - 1
            if not part.is_own or (last and not _ENDED.search(sentence)) or (first and _is_rest(sentence)):
                pieces.append(Piece(sentence, sentence, "pasted", number))
            else:
                scene = _read_sentence(sentence, number, scene, pieces)
            number += 1
    return pieces


def _is_rest(text: str) -> bool:
    """Tell whether what follows a quotation is the rest of the sentence that it stands in."""
    return not text[0].isupper() and not _HAN.match(text)


def _read_sentence(sentence: str, number: int, scene: str, pieces: list[Piece]) -> str:
    """Add the pieces of a sentence; return what made-up scene the next one is in."""
    if scene and wording.REALITY.search(sentence):
        scene = ""
    for piece in _pieces(sentence, number):
        if scene and piece.kind in MEMORY_KINDS and (scene == "play" or not _FIRST_PERSON.search(piece.text)):
            piece = replace(piece, kind="fiction")
        pieces.append(piece)
    if pieces[-1].kind in ("fiction", "what-if", "command") and wording.ROLE_PLAY.search(sentence):
        return "play"
    return "story" if pieces[-1].kind == "fiction" and not scene else scene


def _pieces(sentence: str, number: int) -> Iterator[Piece]:
    """Cut one sentence where that is sound, and judge its parts."""
    if asked := wording.KEEP_ASKED.match(sentence.replace("’", "'")):
        yield Piece(sentence, f"{sentence[asked.end() :].rstrip(' ?!.')}.", "fact", number)
        return
    kind, rest = judge(sentence), without_opening(sentence)
    if kind == "command" and rest != sentence:  # "Hang on, it's on Friday."
        kind = judge(rest)
    if kind == "retraction":
        yield from _retraction(sentence, number)
        return
    if kind in ("fiction", "what-if", "quotation", "keep", "small talk"):
        yield Piece(sentence, sentence, kind, number)
        return
    parts = split_clauses(sentence if rest == sentence or len(split_clauses(rest)) > 1 else rest)
    kinds = [judge(part.text) for part in parts]
    if len(parts) == 1 or "fiction" in kinds or "what-if" in kinds:
        yield Piece(sentence, rest if kind in MEMORY_KINDS else sentence, kind, number)
        return
    for part, part_kind in zip(parts, kinds, strict=True):
        yield Piece(part.said, part.text, part_kind, number)


def _retraction(sentence: str, number: int) -> Iterator[Piece]:
    """Cut "Just kidding, I live in Oslo." into what takes back and what it says instead."""
    rest = sentence[retraction_end(sentence) :].lstrip(" ,;:.!-–—，")
    whole = _WHOLE_CLAUSE.match(plain(rest)) or (_OF_SOMEBODY.match(rest) and not kind_of(rest.split()[0]))
    if rest and whole and judge(rest) in MEMORY_KINDS:
        yield Piece(
            sentence[: len(sentence) - len(rest)].rstrip(" ,;:-–—，"),
            sentence[: len(sentence) - len(rest)],
            "retraction",
            number,
        )
        yield Piece(rest, rest, judge(rest), number)
    else:
        yield Piece(sentence, sentence, "retraction", number)

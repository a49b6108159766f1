"""Versions of a fact: which recalled lines a newer recalled line has replaced.

A plain rule of words. It decides which of the lines that fit one query reach the prompt, and what /memory calls
superseded; it changes nothing that is stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatmem.interface import Recollection
from chatmem.sentences import words

_CHANGE = re.compile(
    r"\b(?:now|nowadays|(?:a|my|our) new|moved|moving"
    r"|chang(?:e|ed|ing)|switch(?:ed|ing)|became|no longer|any ?more|instead|sold|quit"
    r"|gave up|actually|turned|replaced|renamed|repainted|recently|since then|used to|stopped|started|joined|postponed"
    r"|rescheduled|i mean(?:t)?|correction|was wrong|not|isn't|aren't|don't|doesn't)\b",
    re.I,
)
_LIST = re.compile(r"\b(?:like|love|enjoy|hate|speak|play|have|own|know|visited|also|another|too)\b", re.I)
_PLAIN_WORDS = frozenset(
    words(
        "a an the i my me mine we our us you your is are am was were be been it its he she they his her their this that"
        " in on at to of for from by with and or but so as have has had do does did not no now new old just what where"
        " when who which how why favourite favorite called named s m ve re t d ll"
    )
)
_RIVALS = 20  # newest facts with the same word that a new one is compared with
_NEAR = 0.35  # how much less a newer version may fit the query than the old one


def newest_only(recollections: Sequence[Recollection], query: str) -> list[Recollection]:
    """Return the lines, best first, without those that a newer one among them has replaced."""
    kept: list[Recollection] = []
    for line in recollections:
        newer = [other for other in recollections if (other.when, other.line) > (line.when, line.line)]
        if not any(replaces(other, line, query) for other in newer):
            kept.append(line)
    return kept


def superseded(facts: Sequence[Recollection]) -> set[int]:
    """Return the keys of the facts, oldest first, that a newer one has replaced, whatever is asked for.

    Only facts that share a rarer word are compared, so that a long list takes no longer than it must.
    """
    by_word: dict[str, list[Recollection]] = {}
    old: set[int] = set()
    for new in facts:
        said = set(words(new.text)) - _PLAIN_WORDS
        rivals = {rival.line: rival for word in said for rival in by_word.get(word, ())[-_RIVALS:]}
        old |= {key for key, rival in rivals.items() if replaces(new, rival, "")}
        for word in said:
            by_word.setdefault(word, []).append(new)
    return old


def replaces(new: Recollection, old: Recollection, query: str) -> bool:
    """Tell whether a newer line says something else about the same thing as an older one, asked for by a query."""
    if new.score < old.score - _NEAR or new.speaker != old.speaker:
        return False
    said, before = words(new.text.replace("'", " ")), words(old.text.replace("'", " "))
    if _one_span_differs(before, said):
        return not _LIST.search(new.text)
    if not _CHANGE.search(new.text):
        return False
    things, things_before = set(said) - _PLAIN_WORDS, set(before) - _PLAIN_WORDS
    if _owned(said) - set(before) - set(words(query)):
        return False  # "My sister moved to Athens" after "I live in Prague"
    if _owned(before) - set(said):
        return False  # "I moved to Athens" after "My sister lives in Prague"
    return bool(things & things_before) or (said[0] == before[0] == "i")


def _one_span_differs(before: list[str], said: list[str]) -> bool:
    """Tell whether two sentences differ in one place only, which is not what they are about."""
    shorter = min(len(before), len(said))
    start = next((n for n in range(shorter) if before[n] != said[n]), shorter)
    end = next((n for n in range(shorter - start) if before[-1 - n] != said[-1 - n]), shorter - start)
    gone, come = before[start : len(before) - end], said[start : len(said) - end]
    if start < 2 or not gone or set(gone) & set(come):
        return False
    return _owned(before) == _owned(said)


def _owned(said: list[str]) -> set[str]:
    """Return the things that a sentence says are "my" things: "my sister's dog" gives sister."""
    owned = set()
    for position, word in enumerate(said):
        if word in ("my", "our"):
            owned |= set([other for other in said[position + 1 :] if other not in _PLAIN_WORDS][:1])
    return owned

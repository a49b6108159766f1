"""Forgetting: which lines an order to delete means.

A thing that is asked for ("my phone number") is what answers the question for it, in the eyes of the trained decision;
what is told about somebody is found by words and by the names that lines give. In doubt a line stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from chatmem.choosing import SURE, Wanted
from chatmem.comparing import stem
from chatmem.frames import Fact, normal, parse
from chatmem.hops import identities
from chatmem.judgement import MEMORY_KINDS
from chatmem.orders import Order
from chatmem.pairs import NUM_CANDIDATES
from chatmem.rows import Line
from chatmem.sentences import same_words, words
from chatmem.versions import relate
from chatmem.word_sets import word_set

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory

_SMALL = word_set(  # words of a topic that say nothing of it
    "a an the my our your his her their its this that of to in on at for with from and or is am are was were be i me"
    " we us you it do does did have has had about who what where when which how s м мой моя моё мои моей моего моём"
    " моему моих наш наша нашей я мне меня у в на с о об и"
)
_WH = re.compile(
    r"(?:what|where|when|which|who|whom|whose|why|how|whether|if|где|как|кто|когда|како\w+|сколько)\b", re.I
)
_OWN = re.compile(r"^(?:my|our)\s+", re.I)
_CYRILLIC, _HAN = re.compile(r"[а-яё]", re.I), re.compile(r"[\u4e00-\u9fff]")


def meant(order: Order, memory: IndexedMemory) -> list[Line]:
    """Return the lines of the user that an order means, oldest first; none where nothing fits."""
    told = [line for line in memory.journal.lines() if line.kind in MEMORY_KINDS]
    if order.scope == "all":
        return told
    if order.scope == "last":
        return last_told(told)
    found = {
        "thing": lambda: _thing(order.what, memory, told),
        "about": lambda: _about(order.what, memory, told),
        "statement": lambda: stating(order.what, memory, told),
    }[order.scope]()
    if order.scope == "statement":
        return _ordered(versions(_told_again(found, told), told, newer=False))
    whole = versions(_told_again(found, told), told)
    return _ordered(whole if order.scope == "about" else _without_others(order.what, whole))


def last_told(told: Sequence[Line]) -> list[Line]:
    """Return the lines of the last turn that told something."""
    last = max((line.turn_key for line in told), default=None)
    return [line for line in told if line.turn_key == last]


def stating(statement: str, memory: IndexedMemory, told: Sequence[Line]) -> list[Line]:
    """Return the lines that say what a statement says, surest first: by their words, else in the decision's eyes."""
    fact, wanted = parse(statement), _topic(statement) or set(words(statement))
    said = [line for line in told if _holds(wanted, line.text) and _is_alike(parse(line.text), fact)]
    if said:
        return said
    chances = _chances(memory, yes_or_no(statement), told)
    sure = [line for line in told if chances.get(line.key, 0.0) >= SURE and relate(statement, line.text) != "replaces"]
    return sorted(sure, key=lambda line: -chances[line.key])


def _is_alike(one: Fact, other: Fact) -> bool:
    """Tell whether two facts are about the same, and both affirm or both deny."""
    return one.subject == other.subject and one.ended == other.ended


def question_for(what: str) -> str:
    """Return the question that a thing answers: "my age" → "What is my age?", "where I live" → "Where do I live?"."""
    if _WH.match(what):
        asked = what[0].upper() + what[1:]
        if found := re.match(r"(.+?) (i|we|(?:my|our) .+?) (am|is|are|was|were)\b(.*)$", asked, re.I):
            return f"{found[1]} {found[3]} {found[2]}{found[4]}?"
        found = re.match(r"(.+?) (i|we) (.+)$", asked, re.I)
        return f"{found[1]} do I {found[3]}?" if found else f"{asked}?"
    if _HAN.search(what):
        return f"{what}是什么？"
    return f"Какой {what}?" if _CYRILLIC.search(what) else f"What is {what}?"


def yes_or_no(statement: str) -> str:
    """Return a statement about the user as a question: "I'm a baker" → "Am I a baker?"; others with a mark only."""
    text = normal(statement)
    if found := re.match(r"i (am|was|have been|can|could|will|would|should|must)\b(?: not)? (.+)$", text):
        return f"{found[1].capitalize()} I {found[2]}?"
    if found := re.match(r"(?:i|we) (?:do not |did not )?(.+)$", text):
        return f"Do I {found[1]}?"
    if found := re.match(r"((?:my|our) [\w' -]+?) (is|are|was|were|has|can|will) (.+)$", text):
        return f"{found[2].capitalize()} {found[1]} {found[3]}?"
    return f"{statement.rstrip('.!')}?"


def _thing(what: str, memory: IndexedMemory, told: Sequence[Line]) -> list[Line]:
    """Return what answers the question for a thing; lines that name the thing itself come before others that answer."""
    chances = _chances(memory, question_for(what), told)
    sure = [line for line in told if chances.get(line.key, 0.0) >= SURE]
    if named := _named(what, told):
        return [*named, *sure]
    if sure or _WH.match(what):
        return sure
    return [line for line in told if _holds(_topic(what), line.text) and not _of_another(what, line.text)]


def _without_others(what: str, lines: Sequence[Line]) -> Sequence[Line]:
    """Return lines without those on another thing of nearly the same name, where some name the thing itself.

    "My office phone number is …" is left where "my phone number" is meant and known.
    """
    named, wanted = _named(what, lines), _topic(normal(what))
    return [line for line in lines if line in named or not _holds(wanted, normal(line.text))] if named else lines


def _about(what: str, memory: IndexedMemory, told: Sequence[Line]) -> list[Line]:
    """Return what speaks of something, by its words or by the names that lines give it, and what answers for it."""
    wanted = _topic(what)
    if not wanted:
        return []
    spoken = [line for line in told if _holds(wanted, line.text) and not _of_another(what, line.text)]
    thing = normal(what)
    pairs = [(called.casefold(), name.casefold()) for line in told for called, name in identities(line.text)]
    linked = {name for called, name in pairs if called == thing} | {called for called, name in pairs if name == thing}
    spoken += [line for line in told if any(_names(name, line.text) for name in linked)]
    answers = _thing(what, memory, told) if _OWN.match(what) else []
    return [*spoken, *answers]


def _named(what: str, told: Sequence[Line]) -> list[Line]:
    """Return the lines in which a thing is named as the user names it: "my phone number is", not "my dog's …"."""
    if not _OWN.match(what):
        return []
    thing = re.escape(_OWN.sub("", normal(what)))
    return [line for line in told if re.search(rf"\b(?:my|our) {thing}\b(?!'s)", normal(line.text))]


def _names(name: str, text: str) -> bool:
    """Tell whether a text has a name, or a thing such as "my sister", in it as whole words."""
    return bool(re.search(rf"\b{re.escape(name)}\b", text.casefold()))


def _chances(memory: IndexedMemory, question: str, told: Sequence[Line]) -> dict[int, float]:
    """Return how surely the lines near a question answer it, by their keys; nothing without a decision."""
    if memory.decision is None:
        return {}
    with memory.reading():
        wanted = Wanted(MEMORY_KINDS, frozenset(), 3 * NUM_CANDIDATES)
        ranked = sorted(memory.rank(question, wanted), key=lambda one: -one.rank)[: 3 * NUM_CANDIDATES]
    known = {line.key for line in told}
    near = [one.line for one in ranked if one.line.key in known]
    chances = memory.decision.answerable(question, [line.text for line in near])
    return {line.key: float(chance) for line, chance in zip(near, chances, strict=True)}


def _topic(what: str) -> set[str]:
    """Return the words that say what something is about."""
    return set(words(what.replace("'s", " "))) - _SMALL


def _holds(wanted: Collection[str], text: str) -> bool:
    """Tell whether all words of a topic occur in a text, in any of their forms."""
    if any(_HAN.search(word) for word in wanted):
        return all(word.removeprefix("我的").removeprefix("我") in text for word in wanted)
    there = [_root(word) for word in words(text.replace("'s", " "))]
    return bool(wanted) and all(_root(word) in there for word in wanted)


def _root(word: str) -> str:
    """Return a word without its ending; of a Russian one its first letters are left."""
    return word[: max(4, len(word) - 2)] if _CYRILLIC.search(word) and len(word) > 4 else stem(word)


def _of_another(what: str, text: str) -> bool:
    """Tell whether a text speaks of what somebody else has: "my brother's car" where the user's own is meant."""
    if not _OWN.match(what) or "'s" in what:
        return False
    thing = re.escape(_OWN.sub("", normal(what)))
    said = normal(text)
    theirs = re.search(rf"\b(?:\w+'s|his|her|their|your) (?:[\w-]+ )?{thing}\b", said)
    return bool(theirs) and not re.search(rf"\b(?:my|our) {thing}\b", said)


def _told_again(found: Iterable[Line], told: Sequence[Line]) -> list[Line]:
    """Return lines with those of the same words."""
    same = {same_words(normal(line.text)) for line in found}
    return [line for line in told if same_words(normal(line.text)) in same]


def versions(found: Sequence[Line], told: Sequence[Line], *, newer: bool = True) -> list[Line]:
    """Return lines with the older versions of the same facts, and with the newer ones where these are wanted."""
    known = {line.key for line in told}
    keys = {line.key for line in found}
    before = -1
    while len(keys) != before:
        before = len(keys)
        for line in told:
            if line.superseded_by in keys:
                keys.add(line.key)
            elif newer and line.key in keys and line.superseded_by in known:
                keys.add(line.superseded_by or line.key)
    return [line for line in told if line.key in keys]


def _ordered(lines: Iterable[Line]) -> list[Line]:
    return sorted({line.key: line for line in lines}.values(), key=lambda line: (line.when, line.key))

"""Versions of a fact: how a new statement stands to an older one.

`relate` is the one seam: rules of words and frames that look at two statements and at nothing else. They say
"replaces" only where it is plain, because a fact that is wrongly taken for an old one is lost to every prompt. What
follows from it is in `chatmem/states.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from chatmem import word_sets
from chatmem.comparing import (
    Relation,
    by_attribute,
    changes,
    contradicts,
    denied_word,
    denies,
    names_as_gone,
    of_another_person,
    one_value_differs,
    owner_named,
    person,
    prefers_other,
    same_subject,
    topic_of,
)
from chatmem.endings import first_half, misses
from chatmem.frames import normal, parse
from chatmem.interface import Recollection
from chatmem.sentences import words

Relate = Callable[[str, str], Relation]

FIXED = frozenset({("i", "name"), ("i", "birthplace"), ("i", "birthday"), ("birthday", "is")})  # do not change


def relate(new: str, old: str) -> Relation:
    """Tell how a statement stands to an older one: the same again, a newer value or an end of it, or neither."""
    if normal(new) == normal(old):
        return "same"
    now, before = parse(new), parse(old)
    if now.attribute and now.attribute == before.attribute and same_subject(now, before):
        return by_attribute(now, before)
    if (half := first_half(new)) and relate(half, old) == "replaces":
        return "replaces"
    if not (now.ended or now.changed or same_subject(now, before) or denied_word(now.said)):
        return "unrelated"  # as all rules below say, and sooner
    if misses(new, old):
        return "unrelated"
    if any(rule(now, before) for rule in (contradicts, denies, names_as_gone, one_value_differs, prefers_other)):
        return "replaces"
    return "replaces" if now.changed and changes(now, before) else "unrelated"


def newest_only(recollections: Sequence[Recollection], rule: Relate = relate) -> list[Recollection]:
    """Return the lines, best first, without those that a newer one among them replaces.

    The states in the journal have done this for what the rules see; a better judge of two lines can be given here.
    """
    return [
        line
        for line in recollections
        if not any(
            (other.when, other.line) > (line.when, line.line)
            and other.speaker == line.speaker
            and rule(other.text, line.text) == "replaces"
            for other in recollections
        )
    ]


def handles(text: str) -> frozenset[str]:
    """Return under which words a fact is found by others that may be related to it: frames, and rarer words."""
    fact = parse(text)
    found = {f"={normal(text)}"}
    if fact.attribute:
        found.add(f"@{fact.attribute}")
    return frozenset(found | topic(text))


def topic(text: str) -> frozenset[str]:
    """Return the rarer words of a text, without their commonest endings."""
    return topic_of(parse(text))


def is_fixed(text: str) -> bool:
    """Tell whether a fact is one that does not change, so that another value soon after is doubtful."""
    fact = parse(text)
    return (" ".join(fact.subject), fact.attribute or " ".join(fact.predicate[:1])) in FIXED


def may_replace(new: str, old: str) -> bool:
    """Tell whether a statement can be about what an older one is about, be they as alike as they may.

    It names everybody whose things the older one is about ("my mother's hair"), is not on somebody of another name, and
    what it gives up is what the older one speaks of.
    """
    now, before = parse(new), parse(old)
    return owner_named(now, before) and not of_another_person(now, before) and not misses(new, old)


def without_others(names: Collection[str], texts: Sequence[str]) -> list[bool]:
    """Tell for each text whether it may answer a question about somebody whose names, case folded, are given.

    Where texts are on that person, those on somebody of another name do not.
    """
    people = [person(parse(text)) for text in texts]
    if not any(found & {*names} for found in people):
        return [True] * len(texts)
    return [not found or bool({*words(text)} & {*names}) for found, text in zip(people, texts, strict=True)]


def is_of_other(text: str) -> bool:
    """Tell whether a statement says something of another person, and nothing of the user: "Our lodger needs …"."""
    fact = parse(text)
    if not fact.subject or fact.subject == ("i",) or set(fact.tokens) & {"i", "me", "we", "us", "myself", "both"}:
        return False
    named = bool(set(fact.subject) & (fact.names | word_sets.PEOPLE)) or fact.tokens[0] == fact.subject[0]
    return named and not any("'s" in word for word in fact.subject)


def tells(text: str, attribute: str) -> bool:
    """Tell whether a statement plainly gives an attribute of the user: "I work at Google." gives the employer."""
    fact = parse(text)
    return bool(attribute and fact.value) and fact.attribute == attribute and fact.subject == ("i",) and not fact.ended


def says_change(text: str) -> bool:
    """Tell whether a statement says itself that something changed."""
    return parse(text).changed

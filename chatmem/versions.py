"""Versions of a fact: how a new statement stands to an older one.

`relate` is the one seam: rules of words and frames that look at two statements and at nothing else. They say
"replaces" only where it is plain, because a fact that is wrongly taken for an old one is lost to every prompt. What
follows from it is in `chatmem/states.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatmem import word_sets
from chatmem.comparing import (
    Relation,
    by_attribute,
    changes,
    contradicts,
    denies,
    names_as_gone,
    one_value_differs,
    owner_named,
    prefers_other,
    same_subject,
    topic_of,
)
from chatmem.endings import first_half, misses
from chatmem.frames import normal, parse
from chatmem.interface import Recollection

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


def same_owner(new: str, old: str) -> bool:
    """Tell whether a statement names everybody whose things an older one is about: "my mother's hair"."""
    return owner_named(parse(new), parse(old))


def may_replace(new: str, old: str) -> bool:
    """Tell whether nothing in the words of two statements speaks against it that one replaces the other."""
    return same_owner(new, old) and not misses(new, old)


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

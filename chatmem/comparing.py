"""Comparing: the rules by which one statement replaces, ends or contradicts another.

Each looks at two facts as `chatmem/frames.py` reads them. They say yes only where it is plain.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from chatmem import word_sets
from chatmem.frames import Fact
from chatmem.values import kind_of

Relation = Literal["same", "replaces", "unrelated"]


_PREFERENCE = re.compile(
    r"(?:prefer|like|love|enjoy)s? (?P<more>[\w ]+?)(?:(?: more| better)?(?: to| than| over)"
    r" (?P<than>[\w ]+?))?(?: more| better)?(?: now| these days)?$"
)


_GONE = re.compile(  # "in Leuven, not Ghent", "tea rather than cocoa"
    r"(?:, (?:and |but )?not|\b(?:rather than|instead of|in place of))"
    r" (?:(?:in|at|on|to|with|by|for|from|a|an|the|my|our) )*(?P<gone>[\w'-]+)(?: [\w'-]+){0,2}$"
)


@lru_cache(maxsize=65536)  # states are derived by comparing the same few words many times
def stem(word: str) -> str:
    """Return a word without the commonest endings, so that "eating" and "eat", "cats" and "cat" meet."""
    for ending in ("ing", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
    return word.removesuffix("e") if len(word) > 3 else word


_TASTES = frozenset(stem(word) for word in word_sets.LIKING | word_sets.DISLIKING)


def topic_of(fact: Fact) -> frozenset[str]:
    """Return the rarer words of a fact, without their commonest endings."""
    return frozenset(stem(word) for word in {word.removesuffix("'s") for word in fact.tokens} - word_sets.PLAIN_WORDS)


def same_subject(one: Fact, other: Fact) -> bool:
    """Tell whether two facts are about the same: the same words, or one of them with a name or a kind before it."""
    if not one.subject or not other.subject or "i" in one.subject or "i" in other.subject:
        return one.subject == other.subject != ()
    small, large = sorted((one.subject, other.subject), key=len)
    if small == large:
        return True
    if any("'s" in word for word in large) or len(small) == len(large) or not set(small) <= set(large):
        return False
    extra = set(large) - set(small)
    names = one.names | other.names
    return extra <= names or small[-1] == large[-1]


def by_attribute(now: Fact, before: Fact) -> Relation:
    """Compare two facts of one attribute of one subject."""
    if not now.value:  # "I left my job", "We got divorced"
        left = next((word for word in now.predicate if word not in word_sets.LEAVING), "")
        is_other = now.attribute == "employer" and left in now.names - set(before.tokens)
        return "replaces" if (now.ended or now.changed) and not is_other else "unrelated"
    if now.attribute == "prefers":  # what something else was preferred to
        return "replaces" if now.value != before.value and now.value in before.said else "unrelated"
    same = _same_value(now.value, before.value)
    if now.ended:
        return "replaces" if same and not before.ended else "unrelated"
    if before.ended and same:
        return "replaces"
    if same or not before.value or before.ended:
        return "unrelated"
    if _may_be_another(now):
        return "unrelated"
    if now.attribute == "home" and not set(now.tokens) & word_sets.MOVING:
        regions = {bool(set(fact.value.split()) & word_sets.COUNTRIES) for fact in (now, before)}
        if len(regions) == 2:
            return "unrelated"  # "I live in Porto" after "I live in Portugal"
    if now.attribute == "is" and not (
        now.is_single or now.kinds & before.kinds or now.changed or now.subject == before.subject
    ):
        return "unrelated"
    return "replaces"


def _may_be_another(now: Fact) -> bool:
    """Tell whether a statement without a word of change may speak of one more: another dog, a second job."""
    of_many = now.is_of_many and now.attribute in ("name", "is")
    return not now.changed and (of_many or (now.attribute == "job" and now.predicate[0] != "work"))


def _same_value(one: str, other: str) -> bool:
    """Tell whether two values are the same, or one is the other said more fully; Russian endings may differ."""
    a, b = _content(one), _content(other)
    if not a or not b:
        return a == b
    if a <= b or b <= a:
        return True
    return len(a) == len(b) == 1 and _alike(*a, *b)


def _alike(one: str, other: str) -> bool:
    return (
        "а" <= one[:1] <= "я" and len(one) > 4 and one[:-2] == other[: len(one) - 2] and abs(len(one) - len(other)) < 3
    )


def _content(value: str) -> set[str]:
    return set(value.replace(",", " ").split()) - {"a", "an", "the", "now", "called", "city", "of"}


def one_value_differs(now: Fact, before: Fact) -> bool:
    """Tell whether two statements are the same but for one value of the same kind: "7:15", "7:45"."""
    if not now.subject or not same_subject(now, before) or not now.predicate or not before.predicate:
        return False
    if now.ended != before.ended or (now.is_of_many and not now.changed and "is" not in now.predicate[:1]):
        return False
    if now.predicate[:3] == ("is", "set", "to") and before.predicate[0] == "is":
        return not now.is_of_many
    said, told = list(now.predicate), list(before.predicate)
    start = next((n for n in range(min(len(said), len(told))) if said[n] != told[n]), None)
    if start is None:
        return False
    end = next((n for n in range(min(len(said), len(told)) - start) if said[-1 - n] != told[-1 - n]), 0)
    come, gone = said[start : len(said) - end], told[start : len(told) - end]
    if not come or not gone or set(come) & set(gone):
        return False
    if now.subject == ("i",):
        return _count_differs(said, come, gone, start)
    if now.is_single and start > 0:
        return True
    if _is_past(said[0]) and said[0] not in ("was", "were"):
        return False
    kinds = {_kind(word, now) for word in come} - {""}, {_kind(word, before) for word in gone} - {""}
    if now.is_of_many and "name" in kinds[0]:
        return now.changed
    return start > 0 and bool(kinds[0] & kinds[1])


def _count_differs(said: list[str], come: list[str], gone: list[str], start: int) -> bool:
    """Tell whether "I" do or have the same, with another number or time: "I have two cats", "I have three cats"."""
    if start == 0 or _is_past(said[0]) or said[0] in ("saw", "met", "went", "ate", "read", "spent", "paid"):
        return False
    if set(said) & word_sets.EVENTS or len(come) > 2 or len(gone) > 2:
        return False
    kinds = {kind_of(word) for word in come}, {kind_of(word) for word in gone}
    return kinds[0] == kinds[1] and kinds[0] <= {"number", "time"} and "" not in kinds[0]


def _kind(word: str, fact: Fact) -> str:
    return kind_of(word) or ("name" if word in fact.names else "")


def _is_past(verb: str) -> bool:
    return verb.endswith("ed") or verb in ("went", "saw", "met", "had", "got", "bought", "sold", "left", "took", "ate")


def contradicts(now: Fact, before: Fact) -> bool:
    """Tell whether one denies what the other affirms, or likes what the other hates."""
    if not same_subject(now, before):
        return False
    here, there = set(now.predicate), set(before.predicate)
    if now.ended != before.ended or here & word_sets.STOPPING:
        core, old = _core(now), _core(before)
        smaller = core if now.ended else old
        if smaller and (core == old or (now.ended and core <= old and _longer(now))):
            return True
    likes, hates = bool(here & word_sets.LIKING), bool(here & word_sets.DISLIKING)
    objects = _core(now) - _TASTES, _core(before) - _TASTES
    opposite = (likes and there & word_sets.DISLIKING) or (hates and there & word_sets.LIKING)
    return bool(opposite and objects[0] and objects[0] == objects[1])


def prefers_other(now: Fact, before: Fact) -> bool:
    """Tell whether one now prefers what one once preferred something to: "dogs to cats", then "cats"."""
    if now.subject != before.subject or not now.subject:
        return False
    found, old = (_PREFERENCE.match(" ".join(fact.predicate)) for fact in (now, before))
    if found is None or old is None or now.ended or before.ended:
        return False
    rival = stem((old["than"] or "").split(" ")[0])
    return bool(rival) and stem(found["more"].split(" ")[0]) == rival


def denies(now: Fact, before: Fact) -> bool:
    """Tell whether a denial repeats what it denies: "Dr Patel isn't my doctor any more", "The meeting is cancelled"."""
    if before.ended or not _same_owner(now, before):
        return False
    if set(now.predicate) & word_sets.CANCELLING and same_subject(now, before):
        return bool(before.kinds & {"day", "month", "time"})
    if not now.ended or "and" in before.tokens:
        return False
    denied = _stems(now)
    told = _stems(before)
    return len(denied) > 1 and denied <= told and len(told) <= len(denied) + 4


@lru_cache(maxsize=8192)
def denied_word(said: str) -> str:
    """Return the word before which a statement says "not" or "rather than"; "" where it says neither."""
    found = _GONE.search(said)
    return found["gone"] if found else ""


def names_as_gone(now: Fact, before: Fact) -> bool:
    """Tell whether a statement says that something is so rather than what an older one on the same says."""
    denied = denied_word(now.said)
    if not denied or before.ended or denied in word_sets.PLAIN_WORDS:
        return False
    gone = stem(denied)
    return gone in topic_of(before) and bool((topic_of(now) & topic_of(before)) - {gone})


def _same_owner(now: Fact, before: Fact) -> bool:
    """Tell whether whose things a statement is about, the other one names too: "my sister's exam" is not "my exam"."""
    return now.things <= set(before.tokens) and before.things <= set(now.tokens)


def _stems(fact: Fact) -> set[str]:
    """Return the words of a fact that say something, without their commonest endings."""
    return {stem(word.removesuffix("'s")) for word in fact.tokens} - {stem(word) for word in word_sets.LOOSE}


def _longer(fact: Fact) -> bool:
    """Tell whether a denial says that something has ended, so that it may name less than what it ends."""
    return bool({"longer", "anymore", "stopped", "quit", "gave"} & set(fact.tokens))


def _core(fact: Fact) -> set[str]:
    """Return the words that an affirmation and its denial share."""
    return {stem(word) for word in fact.predicate} - {stem(word) for word in word_sets.LOOSE}


def changes(now: Fact, before: Fact) -> bool:
    """Tell whether a statement with a word of change is about what the older one says."""
    if _same_owner(now, before) and _exchanged_kind(now, before):
        return True
    if now.predicate[:2] == ("runs", "out") and set(before.predicate) & word_sets.EXPIRING:  # "I renewed my pass"
        return same_subject(now, before)
    tokens = " ".join(now.tokens)
    for thing in now.things | {now.subject[-1] if now.subject and now.subject != ("i",) else ""} - {""}:
        about = bool(before.subject) and thing in before.subject[-1:] and owner_named(now, before)
        if f"new {thing}" in tokens and about and not now.is_of_many and _one(thing):
            return True
        if about and now.kinds & before.kinds:
            return True
        if set(now.tokens) & word_sets.ENDING and thing in before.tokens and _owns(before):
            return True
    if now.subject == ("i",) and before.subject and f"new {before.subject[-1]}" in tokens:
        return _one(before.subject[-1]) and "'s" not in " ".join(before.subject)
    if before.subject == ("i",) == now.subject:
        return _exchanged(now, before)
    return bool(now.subject) and same_subject(now, before) and (now.is_single or bool(now.kinds & before.kinds))


def owner_named(now: Fact, before: Fact) -> bool:
    """Tell whether a statement names everybody whose things an older one is about: "my mother's hair"."""
    return {word for word in before.subject if word.endswith("'s")} <= set(now.tokens)


def of_another_person(now: Fact, before: Fact) -> bool:
    """Tell whether each of two facts is on somebody called by name, and the names differ: "Olga has", "Marek has"."""
    names = person(now), person(before)
    return bool(names[0] and names[1]) and not names[0] & names[1]


def person(fact: Fact) -> frozenset[str]:
    """Return the names of the person whom a fact is on; none where it is on something else, or only "my sister"."""
    first = {fact.subject[0]} & {*fact.tokens[:1]} if fact.subject else set[str]()  # whose capital says nothing
    names = {*fact.subject} & {*fact.names, *first}
    others = {*fact.subject} - names
    is_person = others <= word_sets.PEOPLE and not names & word_sets.PRONOUNS
    is_named = is_person and fact.predicate[1:2] not in (("my",), ("what",))  # "Yoga is my hobby"
    return frozenset(names - word_sets.PEOPLE) if is_named else frozenset()


def _exchanged_kind(now: Fact, before: Fact) -> bool:
    """Tell whether "I changed gyms" or a new date means a thing that the older statement is about."""
    shared = topic_of(now) & topic_of(before)
    if now.kinds & before.kinds & {"day", "month", "time"} and any(not kind_of(word) for word in shared):
        return (
            now.subject != ("i",)
            or before.subject != ("i",)
            or bool(set(now.tokens) & {"moved", "changed", "postponed"})
        )
    match = re.search(r"\b(?:changed|switched|swapped)(?: my| to a new| to another)? ([\w-]+)", " ".join(now.tokens))
    if match is None or now.subject not in ((), ("i",)):
        return False
    if match[1] in word_sets.WORKING:
        return before.attribute in ("employer", "job") and before.subject == ("i",)
    thing = stem(match[1])
    return _one(thing) and not kind_of(thing) and thing in shared and match[1] not in ("to", "from", "mind", "my")


def _one(thing: str) -> bool:
    """Tell whether one has one of a thing, so that a new one takes the place of the old."""
    return not Fact("", (), (thing,), (), "", "", frozenset(), frozenset(), frozenset(), False, False).is_of_many


def _owns(fact: Fact) -> bool:
    return fact.subject == ("i",) and bool(set(fact.predicate[:2]) & word_sets.OWNING)


def _exchanged(now: Fact, before: Fact) -> bool:
    """Tell whether "from X to Y", "instead of X" or "traded my X" names what the older statement says."""
    tokens = list(now.tokens)
    for mark in ("from", "of", "my", "the"):
        if (
            mark in tokens[:-1]
            and (mark != "of" or "instead" in tokens)
            and (mark not in ("my", "the") or set(tokens) & word_sets.ENDING)
        ):
            gone = stem(tokens[tokens.index(mark) + 1])
            if (
                gone in {stem(word) for word in before.predicate}
                and gone not in word_sets.PLAIN_WORDS
                and before.predicate
            ):
                return mark not in ("my", "the") or _owns(before)
    return False

"""Endings: what a statement says to be over, where its next clause says what came instead.

"I gave up toast; supper is soup now." ends "For supper I always have toast." with its first half. Read whole it says
two things at once, and looks like neither. And what is given up is the thing itself, not what is called after it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from chatmem import word_sets
from chatmem.comparing import stem
from chatmem.frames import normal, parse

_HALVES = re.compile(
    r"(?!(?:if|when|while|because|since|although|though|after|before|as|until|once|unless)\b)(?P<first>[^;:,–—]{5,}?)"
    r"(?:(?P<firm>\s*[;–—]\s*)|\s*,\s+(?:and |but |so )?|\s+(?:and|but|so)\s+(?=(?:i|we|my|our|it)\b))"
    r"(?P<second>\S+ \S.*)",
    re.I,
)
_BEFORE_VERB = word_sets.word_set("i we not to always usually often never still also mostly regularly")
_AFTER_THING = word_sets.word_set(  # "toast for supper", "toast every day", but "toast rack"
    "for in on at to from with by of and or but as every each all any most when while after before during because until"
    " since than too also now again daily weekly nightly twice once sometimes often always usually a an the my our not"
    " there here out up together alone instead home"
)


@lru_cache(maxsize=8192)  # one new statement is compared with many older ones
def first_half(text: str) -> str:
    """Return the first of two clauses that each have a subject; "" for other statements."""
    found = _HALVES.fullmatch(text.strip().rstrip(".!"))
    if found is None or not parse(found["first"]).subject:
        return ""
    is_whole = found["firm"] or parse(found["second"]).predicate
    return f"{found['first']}." if is_whole else ""


def misses(ending: str, old: str) -> bool:
    """Tell whether what a statement says to be over cannot be what an older one says.

    "I gave up tennis." ends neither "I live near the tennis club." nor "My sister plays tennis.".
    """
    now, before = parse(ending), parse(old)
    if now.subject != ("i",):
        return False
    if set(before.subject) & word_sets.PEOPLE and not set(before.tokens) & {"i", "we"}:
        return not before.things - set(before.subject) and not set(before.subject) & set(now.tokens)
    return now.ended and _names_only_beside(now.tokens, normal(old))


def _names_only_beside(ending: tuple[str, ...], old: str) -> bool:
    """Tell whether the words of an ending occur in an older text only before the noun that they describe."""
    gone = {stem(word) for word in ending} - {stem(word) for word in word_sets.LOOSE}
    words = re.findall(r"[\w'-]+|[,;:.]", old)
    places = [place for place, word in enumerate(words) if stem(word) in gone]
    return bool(places) and all(_is_beside(words, place) for place in places)


def _is_beside(words: list[str], place: int) -> bool:
    """Tell whether a word of a sentence describes the noun after it, or begins the subject of "is"."""
    before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
    return before not in _BEFORE_VERB and after.isalpha() and after not in _AFTER_THING and not after.endswith("ly")

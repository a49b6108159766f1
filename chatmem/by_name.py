"""By name: users who speak of themselves by their name, as in "I'm Tamsin." and "Tamsin's birthday is 3 May.".

Plain rules of words for English: the question goes into the third person, the line into the second.
"""

from __future__ import annotations

import re

from chatmem.hops import NAME, identities

_OWN_NAME = re.compile(rf"\b(?:(?:I am|I'm)(?: called)?|[Cc]alls? me|I go by|[Mm]y name(?: is|'s)) (?P<name>{NAME})")
_NO_OWNERS = frozenset({"that", "it", "he", "she", "what", "who", "there", "here", "let", "today", "tomorrow"})
_OF_NAME = [  # from the first person to the third
    (re.compile(pattern, re.I), said)
    for pattern, said in (
        (r"\bam i\b", "is {name}"),
        (r"\bdo i\b", "does {name}"),
        (r"\bhave i\b", "has {name}"),
        (r"\b(?:i am|i'm)\b", "{name} is"),
        (r"\bi have\b", "{name} has"),
        (r"\bmy\b", "{name}'s"),
        (r"\b(?:i|me)\b", "{name}"),
    )
]
_LEADS = re.compile(r"^(?:(?:and|so|but|well|by the way|btw|also|fyi|oh|this|soon|next \w+|in \w+),? )+", re.I)
_THIRD_PERSON = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go", "isn't": "aren't"}
_THIRD_PERSON |= {"wasn't": "weren't", "hasn't": "haven't", "doesn't": "don't"}


def own_name(text: str) -> str:
    """Return the first name that a sentence says the user has; "" where it says none."""
    found = _OWN_NAME.search(text.replace("’", "'"))
    return found["name"].rstrip(".") if found and found["name"][0].isupper() else ""


def in_own_name(query: str, name: str) -> str:
    """Return a query about the user as one about somebody of that name: "When is Tamsin's birthday?" for "my birthday".

    "Where am I moving to?" becomes "Where is Tamsin moving to?".
    """
    for pattern, said in _OF_NAME:
        query = pattern.sub(said.replace("{name}", name), query)
    return query


def tells_of(text: str, name: str) -> bool:
    """Tell whether a sentence is about somebody whom it calls by name alone: not "My cousin Tom lives in Bath."."""
    plain = _LEADS.sub("", text.replace("’", "'"))
    begins = re.match(rf"{re.escape(name)}\b", plain, re.I) is not None
    return (begins or name.casefold() in owners_in(text)) and all(called != name for _, called in identities(text))


def owners_in(text: str) -> frozenset[str]:
    """Return the first names, case folded, whose things a sentence is about: "Tamsin's birthday is 3 May."."""
    found = re.findall(rf"\b({NAME}?)['’]s\b", text)
    return frozenset(name.casefold() for name in found if name[0].isupper() and name.casefold() not in _NO_OWNERS)


def as_told_to(note: str, name: str) -> str:
    """Return a note that speaks of the user by name as one about "you": "Tamsin drives a van." "You drive a van."."""
    note = re.sub(rf"\b{re.escape(name)}['’]s\b", "your", note, flags=re.I)
    found = re.match(rf"{re.escape(name)} (?P<adverb>(?:\w+ly|always|often|also|never|still) )?(?P<verb>[a-z']+)", note)
    if found is None:
        return note
    verb, rest = found["verb"], note[found.end() :]
    return f"You {found['adverb'] or ''}{_THIRD_PERSON.get(verb) or _plain_verb(verb)}{rest}"


def _plain_verb(verb: str) -> str:
    """Return a verb of the third person as the second has it: "carries", "watches", "lives"."""
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if re.search(r"(?:ss|x|z|ch|sh)es$", verb):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb

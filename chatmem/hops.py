"""The second hop: a question about "my boss" is also one about Petra, once a line says that the boss is Petra.

Plain rules of words for English. They rewrite a query; they find nothing and store nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_MAX_HOPS = 2  # "my sister's boss": the sister is Ana, Ana's boss is Karl
_NAME = r"[^\W\d_][\w'’&.-]*"
_OWNER = rf"(?:[Mm]y|[Oo]ur|{_NAME}['’]s)"
_THING = r"(?:[a-z-]+ ){0,2}?[a-z-]+"
_IDENTITIES = (
    # "My boss is Petra", "Our dog's name is Rex", "my car is a Skoda"
    re.compile(
        rf"\b(?P<thing>{_OWNER} {_THING})(?:['’]s name)? (?:is|was) (?:called |named |an? |the )?(?P<name>{_NAME})"
    ),
    # "Petra is my boss"
    re.compile(rf"\b(?P<name>{_NAME}) (?:is|was) (?P<thing>{_OWNER} {_THING})\b"),
    # "My sister Ana lives in Graz", "my boss, Petra, is away"
    re.compile(rf"\b(?P<thing>{_OWNER} {_THING}),? (?P<name>{_NAME})\b"),
)
_WHO = re.compile(
    r"^\W*(?:(?:and|so|but) )?"
    r"(?:(?:do you (?:know|remember) )?who(?:['’]s| is| was)|(?:what do you know|tell me) about)"
    rf" (?P<name>{_NAME})",
    re.I,
)
_NO_NAMES = frozenset({"I", "I'm", "I've", "I'd", "I'll", "My", "Our", "The"})


def identities(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a sentence says somebody or something is called: ("my boss", "Petra")."""
    for pattern in _IDENTITIES:
        for found in pattern.finditer(text):
            name = _whole_name(text, found.start("name"))
            if name and found["thing"].casefold() != "my name":
                yield _lower_first(found["thing"]), name


def rewritten(query: str, lines: Sequence[str]) -> list[tuple[str, tuple[int, ...]]]:
    """Return a query in other names, with the indexes of the lines that gave them.

    Args:
        query: "Which town does my boss work in?"
        lines: what may say who the boss is; the first line that names a thing counts.
    """
    known: dict[str, tuple[str, int]] = {}
    for index, line in enumerate(lines):
        for thing, name in identities(line):
            known.setdefault(thing, (name, index))
    found: list[tuple[str, tuple[int, ...]]] = []
    frontier: list[tuple[str, tuple[int, ...]]] = [(query, ())]
    for _ in range(_MAX_HOPS):
        frontier = [
            (renamed, (*used, index))
            for text, used in frontier
            for thing, (name, index) in known.items()
            if index not in used and (renamed := _renamed(text, thing, name)) != text
        ]
        found += frontier
    return found


def names_in(query: str) -> frozenset[str]:
    """Return the capitalised words of a query after its first one, case folded: what it may ask about by name."""
    return frozenset(
        word.casefold() for word in re.findall(r"(?<=\s)[^\W\d_][\w-]*", query) if word[0].isupper() and word != "I"
    )


def asked_who(query: str) -> str:
    """Return the first name, case folded, that a query asks about as such: "Who is Petra?"; "" for other queries."""
    found = _WHO.search(query)
    return found["name"].casefold() if found and found["name"][0].isupper() else ""


def _renamed(query: str, thing: str, name: str) -> str:
    """Return a query with a name in place of a thing, as whole words in any case."""
    return re.sub(rf"\b{re.escape(thing)}\b", lambda _: name, query, flags=re.I)


def _whole_name(text: str, start: int) -> str:
    """Return the capitalised words that begin at a place of a text; none for other words."""
    name = []
    for word in text[start:].split():
        bare = word.strip(",.;:!?\"'’)")
        if not bare[:1].isupper() or bare in _NO_NAMES:
            break
        name.append(re.sub(r"['’]s$", "", bare))
        if bare != word:
            break
    return " ".join(name)


def _lower_first(thing: str) -> str:
    """Return a thing as it stands inside a sentence; a name keeps its capital."""
    return thing[0].lower() + thing[1:] if thing.startswith(("My ", "Our ")) else thing

"""The second hop: a question about "my boss" is also one about Petra, once a line says that the boss is Petra.

Plain rules of words for English. They rewrite a query; they find nothing and store nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_MAX_HOPS = 2  # "my sister's boss": the sister is Ana, Ana's boss is Karl
NAME = r"[^\W\d_][\w'’&.-]*"
_OWNER = rf"(?:[Mm]y|[Oo]ur|{NAME}['’]s)"
_THING = r"(?:[a-z-]+ ){0,2}?[a-z-]+"
_IDENTITIES = (
    # "My boss is Petra", "Our dog's name is Rex", "my car is a Skoda"
    re.compile(
        rf"\b(?P<thing>{_OWNER} {_THING})(?:['’]s name)? (?:is|was) (?:called |named |an? |the )?(?P<name>{NAME})"
    ),
    # "Petra is my boss"
    re.compile(rf"\b(?P<name>{NAME}) (?:is|was) (?P<thing>{_OWNER} {_THING})\b"),
    # "My sister Ana lives in Graz", "my boss, Petra, is away"
    re.compile(rf"\b(?P<thing>{_OWNER} {_THING}),? (?P<name>{NAME})\b"),
)
_WHO = re.compile(
    r"^\W*(?:(?:and|so|but) )?"
    r"(?:(?:do you (?:know|remember) )?who(?:['’]s| is| was)|(?:what do you know|tell me"
    r"|what (?:have|did) I (?:ever )?(?:said?|say|told you|tell you|mention(?:ed)?)) about)"
    rf" (?P<name>{NAME})",
    re.I,
)
_ASKING = r"(?:what|which|where|who|whom|whose|when|why|how|is|are|am|do|does|did|was|were|have|has|can)"
_ASKS = re.compile(rf"^\W*{_ASKING}\b", re.I)
_TWO_QUESTIONS = re.compile(rf"^(?P<first>.+?\w),? and (?P<second>{_ASKING} .+\?)$", re.I)
_TWO_THINGS = re.compile(
    rf"^(?P<before>.*?\b)(?P<first>{_OWNER} [\w' -]+?),? and (?P<second>{_OWNER} [\w' -]+?)(?P<after>\?)$", re.I
)
_NAMES = re.compile(  # "What do Lena, Moritz and Nils eat?"
    r"^(?P<before>.*?\b)(?P<names>[A-Z]\w+(?:, [A-Z]\w+)*,? and [A-Z]\w+)(?P<after> .+\?)$"
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


def asked_apart(query: str) -> list[str]:
    """Return the questions that a query asks at once, each whole; none where it asks one.

    "What colours are my tent and my canoe?" asks about the tent and about the canoe; "Where do I live, and who is my
    boss?" are two sentences in one.
    """
    text = query.strip()
    if found := _TWO_QUESTIONS.match(text):
        return [f"{found['first']}?", found["second"]]
    if (found := _NAMES.match(text)) and _ASKS.match(text):
        names = re.split(r", and | and |, ", found["names"])
        return [f"{found['before']}{name}{found['after']}" for name in names]
    found = _TWO_THINGS.match(text)
    return [f"{found['before']}{found[part]}{found['after']}" for part in ("first", "second")] if found else []


_ATTRIBUTES = {
    "employer": re.compile(
        r"\bwhere (?:do|am) i (?:now )?(?:work|working|employed)\b(?! out)|\bwho(?:m)? (?:do i work|am i working) for\b"
        r"|\bwh(?:o|at)(?:'s| is) my employer\b|\b(?:which|what) (?:company|firm) do i work (?:for|at)\b",
        re.I,
    ),
    "home": re.compile(r"\bwhere do i (?:now )?live\b|\b(?:which|what) (?:city|town|place) do i live in\b", re.I),
    "birthplace": re.compile(r"\bwhere was i born\b|\b(?:which|what) (?:city|town|place) was i born in\b", re.I),
    "name": re.compile(r"\bwhat(?:'s| is) my (?:full |first )?name\W*$|\bwhat am i called\b", re.I),
}


def names_in(query: str) -> frozenset[str]:
    """Return the capitalised words of a query after its first one, case folded: what it may ask about by name."""
    return frozenset(
        word.casefold() for word in re.findall(r"(?<=\s)[^\W\d_][\w-]*", query) if word[0].isupper() and word != "I"
    )


def asked_who(query: str) -> str:
    """Return the first name, case folded, that a query asks about as such: "Who is Petra?"; "" for other queries."""
    found = _WHO.search(query)
    return found["name"].casefold() if found and found["name"][0].isupper() else ""


def asked_attribute(query: str) -> str:
    """Return the attribute of the user, as `frames` names it, that a plain question asks for; "" for other queries."""
    text = query.strip().replace("’", "'")
    return next((name for name, asked in _ATTRIBUTES.items() if asked.search(text)), "")


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

"""Which times a question asks about, so that the lines of these days come back for it."""

from __future__ import annotations

import re
from datetime import datetime

from chatmem.judgement import judge
from chatmem.sentences import is_personal
from chatmem.times import Span, holds, marks
from chatmem.versions import topic

LEAD = r"^\W*(?:(?:and|so|but|then|ok|okay|do you (?:know|remember)|tell me|remind me)\W+)*"
_WHEN = re.compile(rf"{LEAD}(?:when|(?:on )?(?:what|which) (?:day|date)|wann|когда)(?:'s)?\b|什么时候|哪天|几号", re.I)
_ANYTHING = re.compile(  # what a question may say besides its days and still ask for nothing else
    r"\b(?:doing|happen\w*|anything|something|things?|plan\w*|events?|up to|going|special|что|я|мы|у меня|у нас|на|где"
    r"|куда|был\w*|будет|буду|делать|делала?|делали|планы|ездила?|ездили|ходила?|ходили|ich|wir|was|habe|mache|machte)\b"
    r"|我|做|了|什么|有|要|计划|安排|的",
    re.I,
)


def asked_days(query: str, now: datetime) -> Span | None:
    """Return the days that a question names; None where it names none, or is no question."""
    return holds(query, now) if judge(query) in ("question", "command") else None


def asks_only_days(query: str, now: datetime) -> bool:
    """Tell whether a question asks for nothing but what the user's days were: "What did I do last Thursday?"."""
    is_own = judge(query) == "question" and is_personal(query) and holds(query, now) is not None
    return is_own and not topic(_ANYTHING.sub(" ", without_days(query, now)))


def without_days(query: str, now: datetime) -> str:
    """Return a question without the words that name days, for lines say "yesterday" where it says "last Thursday"."""
    for mark in reversed(marks(query, now)):
        query = f"{query[: mark.start].rstrip()}{query[mark.end :]}"
    return query.strip(" ,")


def asks_when(query: str) -> bool:
    """Tell whether a question asks for a time, so that what is over may answer it."""
    return bool(_WHEN.search(query))

"""Provenance: where a fact comes from, for those who ask "Why do you think I'm vegan?" or "How do you know my name?".

The answer is the user's own sentence with its date; no model has a part in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatmem.forgetting import question_for, stating, yes_or_no
from chatmem.interface import Recollection
from chatmem.judgement import MEMORY_KINDS
from chatmem.versions import topic

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory

NOT_SAID = "Nothing that you have told me says so."


@dataclass(frozen=True, slots=True)
class Source:
    """What the user wants the source of: a statement ("I'm vegan"), a thing ("my name"), or the last reply ("").

    A topic ("When did I tell you about the bakery?") is whatever was said of something.
    """

    what: str
    is_statement: bool = False
    is_topic: bool = False
    asks_when: bool = False


_LEAD = re.compile(r"^(?:(?:and|but|so|ok|okay|wait|hey|hm+|well|а|но|и)\b[\s,.!…]*)+", re.I)
_ASKS = re.compile(
    r"^(?:why (?:do|did|would|are|were) you (?:think|thinking|say|saying|believe|believing|assume|assuming|know|suppose"
    r"|claim|claiming|so sure|sure|convinced)|how (?:do|did|can|could|come) you (?:know|learn|find out|figure out"
    r"|hear|remember|come to know|so sure)|what makes you (?:think|believe|say|assume|so sure|sure)|where (?:did"
    r"|do) you"
    r" (?:get|hear|read|learn|know|take)(?: it| the idea| the information)?(?: from)?|who (?:told you|says|said)|what"
    r" is your source for|(?P<when>when (?:did|have) i (?:first |last |ever )?(?:tell|told|say|said|mention(?:ed)?)"
    r"(?: to)?(?: you)?)|почему (?:ты|вы) (?:думае(?:шь|те)|решила?|решили|считае(?:шь|те)|говори(?:шь|те))|с чего"
    r" (?:ты|вы) (?:взяла?|взяли|решила?|решили)|откуда (?:ты|вы) (?:знае(?:шь|те)|взяла?"
    r"|взяли))\b(?P<rest>.*?)[\s?.!]*$"
    r"|^你?(?:为什么|怎么|凭什么|从哪儿?里?)(?:会)?(?:觉得|认为|知道|说)(?P<han>.*?)[\s吗？?。]*$",
    re.I,
)
_JOINT = re.compile(r"^[\s,]*(?:(?P<that>that|the fact that|(?:о том,? )?что)\b|(?:about|of)\b)?[\s,]*", re.I)
_LAST = re.compile(
    r"^(?:that|so|this|it|all that|all of that|это|об этом|так|这个?|这件事)?(?: from| about me)?$", re.I
)
_NEAR = 0.6  # cosine from which a line is taken for what somebody means by "Why do you think I'm vegan?"
_OF_USER = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|mine|we|our|я|мой|моя|моё|мои|мне|меня|мо\w+|у меня)\b|我", re.I)
_ADVICE = re.compile(r"\b(?:should|would|could|might|must|ought|can|will|need to|have to|'d better)\b", re.I)
_WH = re.compile(r"(?:what|where|when|which|who|whose|how)\b|где|как", re.I)
_THING = re.compile(r"(?:my|our) [\w' -]+$|мо\w+ \w+$|我的[^是在有]+$", re.I)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|lives?|works?|likes?|loves?|plays?|hates?|owns?|does|doesn't|isn't)\b", re.I
)


def asked_source(query: str) -> Source | None:
    """Return what a question wants the source of, or None for any other line."""
    text = query.strip().replace("’", "'")
    found = _ASKS.match(_LEAD.sub("", text))
    if found is None or "\n" in text:
        return None
    rest = found["rest"] or found["han"] or ""
    joint = _JOINT.match(rest)
    what = rest[joint.end() if joint else 0 :].strip()
    if _LAST.match(what):
        return Source("")
    if found["when"] and not (joint and joint["that"]):
        return Source(what, is_topic=True, asks_when=True)
    if not (found["when"] or _OF_USER.search(what)) or _ADVICE.search(what):
        return None
    said = bool(joint and joint["that"]) or not _THING.match(what) or bool(_VERB.search(what))
    return Source(what, is_statement=said and not _WH.match(what), asks_when=bool(found["when"]))


def sources(source: Source, memory: IndexedMemory, k: int, last: Sequence[Recollection]) -> list[Recollection]:
    """Return at most `k` lines of the user from which the memory knows something, best first."""
    if not source.what:
        return [line for line in last if line.speaker == "user"]
    if source.is_topic:
        return _about(source.what, memory, k)
    if not source.is_statement:
        return [line for line in memory.recall(question_for(source.what), k) if line.speaker == "user"]
    told = [line for line in memory.journal.lines() if line.kind in MEMORY_KINDS]
    told = [line for line in told if line.status in ("active", "superseded")]
    said = [line.recollection(1.0) for line in stating(source.what, memory, told)]
    if source.asks_when and not said:
        return [line for line in _about(source.what, memory, k) if topic(source.what) <= topic(line.text)]
    said = said or [line for line in memory.recall(yes_or_no(source.what), k) if line.speaker == "user"]
    return said[:k] or [line for line in memory.near(source.what)[:1] if line.score >= _NEAR and line.speaker == "user"]


def _about(what: str, memory: IndexedMemory, k: int) -> list[Recollection]:
    """Return the nearest lines of the user that share a rarer word with a text, oldest first."""
    near = (line for line in memory.near(what, replaced=True) if line.speaker == "user")
    found = [line for line in near if topic(what) & topic(line.text)][:k]
    return sorted(found, key=lambda line: (line.when, line.line))


def quoted(lines: Sequence[Recollection], query: str) -> str:
    """Return the reply: each sentence as the user said it, with its date."""
    if re.search(r"[\u4e00-\u9fff]", query):
        return "；".join(f"你在{line.when:%Y-%m-%d}告诉我：“{line.text}”" for line in lines) + "。"
    if re.search(r"[а-яё]", query, re.I):
        return "Вы сказали мне " + ", ".join(f"{line.when:%Y-%m-%d}: «{line.text}»" for line in lines)
    rows = [f'on {_day(line)}: "{line.text}"{_over(line)}' for line in lines]
    return "You told me " + ", and ".join(rows)


def _day(line: Recollection) -> str:
    return f"{line.when.day} {line.when:%B %Y}"


def _over(line: Recollection) -> str:
    """Return what is added where a sentence does not hold any more."""
    return f" (until {line.until.day} {line.until:%B %Y})" if line.until else ""

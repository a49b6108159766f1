"""Clauses: cutting a sentence that tells several things into parts that can be remembered and forgotten one by one.

"I'm Ana, I live in Porto and I have two cats" is three. A cut is made only where the right part has a subject and a
verb of its own ("and I have"), or plainly shares the subject of the left one ("and work at"); quotations, lists of
things and what depends on another clause stay whole. In doubt nothing is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chatmem.judgement import judge


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence: `said` as it stands there, `text` as it reads alone, with a shared subject repeated."""

    said: str
    text: str


_VERB = (
    r"(?:is|are|am|was|were|has|have|had|does|do|did|can|can't|will|won't|would|lives?|works?|likes?|loves?|hates?"
    r"|wants?|needs?|plays?|speaks?|studies|study|goes|go|comes?|drives?|teaches|teach|eats?|drinks?|moved|died|turned"
    r"|got|gets|bought|sold|owns?|prefers?|enjoys?|starts?|started|joined|left|leaves?|runs?|keeps?|collects?|grew"
    r"|graduated|met|married|lost|found|made|makes?|wears?|takes?|used|usually|always|never|often|also|really|just"
    r"|don't|doesn't|didn't|isn't|aren't|wasn't|'s|'re|named|called|visited|learned|learnt|learn|cook|cooks|sings?"
    r"|swims?|write|writes|read|reads|think|know|believe|feel|live|work)"
)
_OWN_SUBJECT = (
    rf"(?:i(?:'m|'ve|'d|'ll)\b|(?:i|we) (?:\w+ly )?{_VERB}\b|we're\b|(?:my|our) (?:[\w'-]+ ){{1,3}}{_VERB}\b"
    r"|(?:my|our) [\w-]+'s\b (?!\w+ and))"
)
_STATE = (  # verbs that go on with "I" of the clause before: "I live in Porto and work at Orbix"
    r"(?:live|work|have|am|love|like|hate|speak|drive|own|study|prefer|enjoy|teach|collect|moved to|moved from|was"
    r" born|grew up|graduated|used to|don't|play the|can't)"
)
_ASK = (
    r"(?:(?:what|how) about\b|(?:can|could|would|will|do|does|did|are|is|have|should|don't|aren't|isn't) (?:you|i|we"
    r"|it|that|there|they|he|she|my|the)\b|(?:what|which|where|who|when|why|how)\b.*\?)"
)
_JOINT = re.compile(
    rf"(?:\s*[,;]\s*(?:and |but |so |plus )?|\s+(?:and|but|plus)\s+|\s+[—–-]\s+)(?=(?P<own>{_OWN_SUBJECT})|"
    rf"(?P<ask>{_ASK}))|(?P<shared>\s*,?\s+and\s+)(?={_STATE}\b(?! (?:it|him|her|them|that|this)\b))"
    r"|(?:\s*,\s*(?:и|а|но)\s+|\s*,\s*|\s+и\s+)(?=(?P<ru>(?:я|у меня|меня зовут|мой|моя|мо[её]|мои|мне|мы)\s))"
    r"|\s*[，；]\s*(?:而且|还|也|并且|但是?)?(?=(?P<zh>我(?!们?说)))",
    re.I,
)
_START = re.compile(  # what a part must begin with, so that the next one can be cut from it
    rf"^(?:(?:hi|hello|hey|well|so|ok|okay|oh|also|and|but|by the way|btw|yes|yeah|no|actually|remember that|remember"
    rf"|note that)\b[\s,:!.-]*)*(?:{_OWN_SUBJECT}|(?:i|we) \w+|no more \w+ing"
    r"|я\s|у меня|меня зовут|мой|моя|мо[её]|мои|мне|мы\s|我)",
    re.I,
)
_DEPENDS = re.compile(  # words after which a new clause may belong to this one
    r"\b(?:because|since|when|whenever|while|if|although|though|that|which|who|whose|until|till|before|after|as|than"
    r"|whether|unless|think|thinks|thought|believe|said|says|told|tells|hope|guess|hear|heard|wish|dream|dreamt|feel"
    r" like|what|where|why|how|either|both|between|neither|not only|что|чтобы|если|когда|потому|котор\w+|пока|хотя"
    r"|думаю|сказал\w*|говор\w+)\b|[说觉想]|如果|因为|虽然|当",
    re.I,
)
_OPEN_VERB = re.compile(
    r"\b(?:to|can|could|will|would|should|must|might|may|let|make|gonna|wanna|like|love|not|n't)\W+\w+", re.I
)
_QUOTE = re.compile(r"[\"“”«»「」『』]|(?:^|\s)['‘]")
_COMMA_COMMAND = re.compile(r"^\w+(?:\W+\w+){2,}$")


def split_clauses(sentence: str) -> list[Clause]:
    """Return the parts of a sentence in order; `said` of each is found in it, and nothing else than joints is lost."""
    if _QUOTE.search(sentence):
        return [Clause(sentence, sentence)]
    parts: list[Clause] = []
    start, subject = 0, ""
    for joint in _JOINT.finditer(sentence):
        left = sentence[start : joint.start()]
        if joint.start() <= start or not _may_end(left, joint):
            continue
        parts.append(Clause(left, f"{subject}{left}"))
        subject = f"{_subject(parts[-1].text)} " if joint["shared"] else ""
        start = joint.end()
    parts.append(Clause(sentence[start:], f"{subject}{sentence[start:]}"))
    return parts


def _may_end(left: str, joint: re.Match[str]) -> bool:
    """Tell whether a part is whole, so that what follows the joint does not belong to it."""
    if _DEPENDS.search(left):
        return False
    if joint["shared"]:
        whole = len(left.split()) > 2 or "'m " in left
        return _subject(left) == "I" and whole and not _OPEN_VERB.search(left)
    if _START.match(left) is not None:
        return len(left.split()) > 1 or bool(joint["zh"])
    return joint["own"] is not None and "," in joint.group() and bool(_COMMA_COMMAND.match(left)) and _orders(left)


def _orders(left: str) -> bool:
    """Tell whether a part asks for something: "Recommend a film, I love horror"."""
    return judge(left) == "command"


def _subject(left: str) -> str:
    """Return "I" where a part speaks of the user, which the next part may share."""
    match = re.search(r"^(?:\w+[,!]? ){0,2}?(I)(?:'|’|\s)", left)
    return match.group(1) if match else ""

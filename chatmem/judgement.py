"""What each sentence of the user is: a fact that is worth keeping, or something that must not become one.

Rules of words for English, Russian and Chinese, without a model, so that it costs nothing while a line is typed. The
default is "fact": a lost fact is worse than an idle one. Every sentence stays in the journal whatever is decided here.
"""

from __future__ import annotations

import re
from typing import Literal

from chatmem import word_sets, wording

Kind = Literal[
    "fact",
    "temporary",
    "quotation",
    "question",
    "command",
    "what-if",
    "fiction",
    "small talk",
    "retraction",
    "keep",
    "pasted",
]
MEMORY_KINDS = frozenset({"fact", "temporary", "quotation"})  # what becomes a memory line of the user


def plain(sentence: str) -> str:
    """Return a sentence without the marks and fillers it begins with, which say nothing of its kind."""
    return wording.LEAD.sub("", sentence.strip().replace("’", "'")) or sentence.strip()


def judge(sentence: str) -> Kind:
    """Tell what a sentence of the user is, alone; `reading.read_turn` adds what the sentences around it tell."""
    whole = sentence.strip().replace("’", "'")
    text = plain(whole)
    if not any(char.isalnum() for char in text) or wording.SMALL_TALK.match(whole) or wording.SMALL_TALK.match(text):
        return "small talk"
    if wording.KEEP_ASKED.match(text):
        return "fact"
    if wording.KEEP_THAT.match(text):
        return "keep"
    if wording.RETRACTION.match(whole) or wording.RETRACTION_OF.match(whole):
        return "retraction"
    if _is_question(text):
        return "question"
    return "fact" if wording.KEEP.match(text) else _not_real(whole, text) or _by_first_words(text)


def _not_real(whole: str, text: str) -> Kind | None:
    """Return the kind of a sentence that tells what is made up, or what somebody else said; None for others."""
    if wording.FICTION.search(text) or wording.FICTION.match(whole):
        return "fiction"
    if wording.WHAT_IF.search(text):
        return "what-if"
    return "quotation" if _is_quotation(whole) else None


def _by_first_words(text: str) -> Kind:
    """Return the kind of a sentence as its order of words shows it."""
    if wording.NAMING.match(text):
        return "fact"
    if _is_order(text):
        return "fact" if wording.STANDING.search(text) and not text.casefold().startswith("let") else "command"
    if wording.QUESTION.match(text):
        return "question"
    if wording.REACTION.match(text):
        return "small talk"
    return "temporary" if wording.TEMPORARY.match(text) else "fact"


def _is_order(text: str) -> bool:
    """Tell whether a sentence tells somebody to do something, rather than what the user does."""
    if wording.HABIT.match(text):
        return False
    text = re.sub(r"^(?:just|simply|kindly|quickly)\s+", "", text, flags=re.I)
    first, _, rest = text.casefold().partition(" ")
    second = re.split(r"[^\w]", rest, maxsplit=1)[0]
    plainly = first.strip(",") in word_sets.ORDERS and (second in word_sets.ORDERED or not rest)
    return plainly or bool(wording.COMMAND.match(text))


def asks_to_keep(sentence: str) -> bool:
    """Tell whether a sentence says itself that it is for later: "Remember that …", "Call me Bo.", "From now on …"."""
    text = plain(sentence)
    marks = (wording.KEEP, wording.KEEP_ASKED, wording.NAMING)
    return any(mark.match(text) for mark in marks) or bool(wording.STANDING.search(text))


def retracts_topic(sentence: str) -> bool:
    """Tell whether a retraction says itself what it takes back, rather than what was said just before."""
    return bool(wording.RETRACTION_OF.match(sentence.strip().replace("’", "'")))


def retraction_end(sentence: str) -> int:
    """Return where the words end that take something back: "Scratch that, it's Thursday." goes on; 0 if none."""
    match = wording.RETRACTION.match(sentence.replace("’", "'"))
    return match.end() if match else 0


def _is_question(text: str) -> bool:
    """Tell whether a sentence is marked as a question."""
    return text.rstrip(" \"'”»)!").endswith(("?", "？", "؟")) or bool(wording.CHINESE_QUESTION.search(text))


def _is_quotation(text: str) -> bool:
    """Tell whether a sentence quotes words of somebody who says "I"."""
    if wording.OWN_WORDS.match(text):
        return False
    if wording.VERSE.search(text):
        return bool(re.search(wording.OWN, text, re.I))
    if wording.DIRECT.match(text):
        return True
    for match in wording.QUOTED.finditer(text):
        inside = match.group(1) or match.group(2) or ""
        outside = f"{text[: match.start()]} {text[match.end() :]}".strip(" .,!?-—")
        if not re.search(wording.OWN, inside, re.I) or (
            len(inside.split()) < 2 and not re.search(r"[\u4e00-\u9fff]{3}", inside)
        ):
            continue
        if not outside or wording.ATTRIBUTED.search(outside) or re.match(r"^[-—–]", text[match.end() :].strip()):
            return not (wording.TITLE.search(outside) and not wording.ATTRIBUTED.search(outside))
    return False

"""Sentences: cutting text into them, telling when two say the same, and what a question asks for.

Plain rules of words, without a model. What each sentence of the user is, is told in `chatmem/judgement.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from chatmem.judgement import judge

_ABOUT_ASSISTANT = re.compile(
    r"\b(?:you|your)\b.*\b(?:say|said|tell|told|suggest\w*|recommend\w*|advi[cs]e\w*|mention\w*|propos\w*|answer\w*"
    r"|explain\w*|repl\w+|call\w*|promis\w*)\b|\bты\b.*\b(?:сказал|говорил|советовал|предложил)",
    re.I,
)
_OWN_FACT = re.compile(  # "Where do I work?", "What's my name?", but not "How do I ...?" or "What should I ...?"
    r"^(?:(?:and|so|but|then|ok|okay|well|hey|by the way|btw|remind me|tell me)\W+)*"
    r"(?:do you (?:know|remember)\b.*\b(?:i|my|me)\b|(?:(?:who|where|when"
    r"|what|which|whose)\b|how (?:old|tall|big|many|much|long|often)\b)(?!.*\b(?:should|can|could|would|must|may|might"
    r"|shall|need) (?:i|we|my)\b)(?!.*\b(?:for|to|with) me\b).*\b(?:i|my|me|mine|we|our)\b|(?:tell"
    r"|remind) me (?:again )?(?:of )?my\b|is there any\w*\b.*\b(?:i|me)\b|(?:am|was|do|did|have) i\b"
    r"(?! need| have to)|(?:is|are|was|were) my\b|(?:is|are|was|were|would|could)\b.*\b(?:problem|safe|unsafe|dangerous"
    r"|risky|harmful|allowed|forbidden|off limits) for (?:me|us)\b)",
    re.I,
)
_HOW_TO = re.compile(
    r"^\W*(?:(?:and|so|but|ok|okay|hey)\W+)?how (?:do|can|could|should|would|might|must) (?:i|we)\b", re.I
)
_EVERYTHING = re.compile(
    r"\b(?:know|remember|learned|learnt|told you|tell me|remind me)\b[^.?!]*\babout (?:me|myself)\b|\bwho am i\b"
    r"|\bwhat do you remember\W*$|\b(?:знаешь|помнишь)\b.*\bобо мне\b",
    re.I,
)
_ABOUT = re.compile(  # "What do you know about Petra?" asks for all that was told of something
    r"\bwhat (?:do|did|have|can|could) (?:you|i|we)\b.*\b(?:know|remember|tell|told|said|say|mention(?:ed)?"
    r"|learn(?:ed|t)?)\b.*\babout\b",
    re.I,
)
_ABOUT_SELF = re.compile(
    r"^\W*(?:(?:and|so|but|then|ok|okay|well|hey)\W+)*(?:do|did|am|was|have|can|should|could|will) i\b", re.I
)
_PAST = re.compile(  # "Where did I live before?", but not "What did I say about my boss?"
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|earlier|in the past|once|ever|original(?:ly)?|back then|at first|so"
    r" far|any ?more|no longer|last (?:week|month|year)|until|history|changed?|still)\b|\bbefore\b(?! (?:i|we) (?:go"
    r"|leave|start))|\b(?:my|our) (?:old|ex|last|first)\b(?! name)|\b(?:did|was|were) (?:i|my|we|our)\b(?! (?:say|said"
    r"|tell|told|mention|ask|just))|раньше|прежн|бывш|до этого|когда-то|старый|以前|之前|曾经|过去|原来|从前",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[^\W\d_a-zA-Z\u00c0-\u024f]", re.I)
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
UNSPACED = re.compile(  # Thai, Khmer, kana, Han: no spaces between words
    r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_LANGUAGE_BY_SCRIPT = ((_CYRILLIC, "ru"), (re.compile(r"[\u4e00-\u9fff]"), "zh"))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without white space around them; each is a part of the text."""
    from sentencex import segment

    sentences = []
    for line in text.splitlines():
        language = next((code for script, code in _LANGUAGE_BY_SCRIPT if script.search(line)), "en")
        sentences += [sentence.strip() for sentence in segment(language, line) if sentence.strip()]
    return sentences


def words(text: str) -> list[str]:
    """Return the words of a text, case folded and in one Unicode form: what `/forget` and duplicates compare."""
    return re.findall(r"\w+", _folded(text))


def has_words(text: str, wanted: Collection[str]) -> bool:
    """Tell whether a text has all of some `words`; where words have no spaces between them, any part of it is one."""
    whole = _folded(text)
    if not all(word in whole for word in wanted):  # most texts, and sooner
        return False
    there = {*re.findall(r"\w+", whole), *re.findall(r"\w+", UNSPACED.sub(" ", whole))}
    return all(word in there or (UNSPACED.search(word) and word in whole) for word in wanted)


def has_any_part(text: str, parts: Collection[str]) -> bool:
    """Tell whether one of some parts of `words` stands anywhere in a text."""
    whole = _folded(text)
    return any(part in whole for part in parts)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


def same_words(text: str) -> str:
    """Return a key that two sentences share exactly when they have the same words in the same order."""
    return " ".join(words(text))


def asks_about_assistant(query: str) -> bool:
    """Tell whether a query asks for what the assistant said rather than for what the user told."""
    return bool(_ABOUT_ASSISTANT.search(query))


def asks_for_everything(query: str) -> bool:
    """Tell whether a query asks for all that is known of the user."""
    return bool(_EVERYTHING.search(query))


def asks_about_thing(query: str) -> bool:
    """Tell whether a query asks for all that was told of something."""
    return bool(_ABOUT.search(query))


def asks_whether_user(query: str) -> bool:
    """Tell whether a query asks with yes or no about the user: "Do I need a wheelchair?"."""
    return bool(_ABOUT_SELF.match(query))


def asks_how_to(query: str) -> bool:
    """Tell whether a query asks how something is done: the world knows that, not the user."""
    return bool(_HOW_TO.search(query))


def asks_about_past(query: str) -> bool:
    """Tell whether a query asks for what was so once: what a newer line has superseded may answer it."""
    asked = (sentence for sentence in split_sentences(query) if judge(sentence) in ("question", "command"))
    return any(_PAST.search(sentence) for sentence in asked)


def is_personal(query: str) -> bool:
    """Tell whether a query speaks of the user; one in another script than Latin may."""
    return bool(_FIRST_PERSON.search(query))


def asks_for_own_fact(query: str) -> bool:
    """Tell whether a query asks for a fact about the user, which only the user can have told."""
    last = (split_sentences(query) or [""])[-1].replace("’", "'")
    return judge(last) in ("question", "command") and bool(_OWN_FACT.search(last) or _EVERYTHING.search(last))

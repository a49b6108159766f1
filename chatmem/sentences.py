"""Sentences: cutting text into them, telling a fact from a question, and telling when two say the same.

A plain rule of words, without a model: what it keeps becomes a memory line. Every sentence stays in the journal
whatever is decided here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Kind = Literal["fact", "question", "command", "small talk", "what-if"]

_AUXILIARY = (
    r"(?:do|does|did|is|are|am|was|were|can|could|would|will|should|shall|have|has|had|may|might|isn't|aren't"
    r"|don't|doesn't|didn't|won't|wouldn't|can't|couldn't)"
)
_QUESTION = re.compile(  # without a question mark: "where do I work" is one, "When I was six ..." is none
    r"^(?:(?:and|so|but|then|ok|okay|well|а|и|ну)\W+)?(?:"
    rf"(?:who|where|when|why|how|(?:what|which|whose)(?: \w+)?)(?:'s|'re)? {_AUXILIARY}\b|(?:what|where|who|how)'s\b"
    rf"|how (?:many|much|old|long|far|often|big|tall)\b|{_AUXILIARY} (?:i|you|he|she|it|we|they|there|my|your|the|this"
    r"|that)\b|(?:кто|что|чей|чья|чьё|где|куда|откуда|когда|почему|зачем|как|какой|какая|какое|какие|сколько)"
    r"\b[^.!,]*$)",
    re.I,
)
_CHINESE_QUESTION = re.compile(r"(?:吗|呢|什么|谁|哪里|哪儿|为什么|怎么|多少)[。.!！\s]*$")

_SMALL_TALK = re.compile(
    r"^(?:(?:hi|hiya|hello|hey|yo|thanks|thank you|thx|ok|okay|yes|yep|yeah|no|nope|sure|great|nice|cool|good|fine|wow"
    r"|bye|goodbye|see you|later|please|sorry|well|good (?:morning|evening|afternoon|night|day)|how are you|cheers"
    r"|welcome|never mind|all right|alright|got it|i see|there|again|everyone|so much|very much|a lot|for that|then"
    r"|привет|здравствуй(?:те)?|спасибо|пока|да|нет|хорошо|ладно|добрый (?:день|вечер)|доброе утро"
    r"|你好|谢谢|再见|好的|嗨)[\s,.!…~)(:;-]*)+$",
    re.I,
)
_COMMAND = re.compile(
    r"^(?:(?:please|now|then|ok|okay|hey|so)\W+)*(?:(?:can|could|would|will) you\b"
    r"|(?:tell|give|show|write|explain|list|help|make|translate|summari[sz]e|pick|recommend|suggest|compare|describe"
    r"|calculate|count|define|find|say|repeat|forget|delete|erase|let's|let us|answer|ask|compose|create|draw|plan"
    r"|guess|imagine|pretend|save that|stop|continue|go on|try|sing|spell|rewrite|convert|think of|name (?:a|an|one|two"
    r"|three|some|the|all|every)|расскажи|скажи|напиши|объясни|покажи|помоги|переведи|посоветуй|забудь)\b)",
    re.I,
)
_KEEP = re.compile(r"^(?:please\W+)?(?:remember|don't forget|do not forget|note|keep in mind|запомни)\b", re.I)
_WHAT_IF = re.compile(r"^(?:suppose|what if|if i|if we|let's say|imagine|hypothetically|представь|если бы)\b", re.I)
_ABOUT_ASSISTANT = re.compile(
    r"\b(?:you|your)\b.*\b(?:say|said|tell|told|suggest\w*|recommend\w*|advi[cs]e\w*|mention\w*|propos\w*|answer\w*"
    r"|explain\w*|repl\w+|call\w*|promis\w*)\b|\bты\b.*\b(?:сказал|говорил|советовал|предложил)",
    re.I,
)
_OWN_FACT = re.compile(  # "Where do I work?", "What's my name?", but not "How do I ...?" or "What should I ...?"
    r"^(?:(?:and|so|but|then|ok|okay|well|hey)\W+)?(?:do you (?:know|remember)\b.*\b(?:i|my|me)\b"
    r"|(?:(?:who|where|when|what|which|whose)\b|how (?:old|tall|big|many|much|long|often)\b)"
    r"(?!.*\b(?:should|can|could|would|must|may|might|shall|need) (?:i|we|my)\b)(?!.*\b(?:for|to|with) me\b)"
    r".*\b(?:i|my|me|mine|we|our)\b|(?:am|was|do|did|have) i\b(?! need| have to)|(?:is|are|was|were) my\b)",
    re.I,
)
_EVERYTHING = re.compile(
    r"\b(?:know|remember|learned|learnt|told you|tell me|remind me)\b[^.?!]*\babout (?:me|myself)\b"
    r"|\bwho am i\b|\bwhat do you remember\W*$|\b(?:знаешь|помнишь)\b.*\bобо мне\b",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[^\W\d_a-zA-Z\u00c0-\u024f]", re.I)
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
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
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).replace("’", "'").casefold())


def same_words(text: str) -> str:
    """Return a key that two sentences share exactly when they have the same words in the same order."""
    return " ".join(words(text))


def judge(sentence: str) -> Kind:
    """Tell what a sentence of the user is; only a fact becomes a memory line."""
    plain = sentence.strip().replace("’", "'").lstrip("-*>•\"'“«( ")
    if not any(char.isalnum() for char in plain) or _SMALL_TALK.match(plain):
        return "small talk"
    if plain.rstrip(" \"'”»)").endswith(("?", "？", "؟")) or _CHINESE_QUESTION.search(plain):
        return "question"
    if _KEEP.match(plain):
        return "fact"
    if _WHAT_IF.match(plain):
        return "what-if"
    if _COMMAND.match(plain):
        return "command"
    if _QUESTION.match(plain):
        return "question"
    return "fact"


def asks_about_assistant(query: str) -> bool:
    """Tell whether a query asks for what the assistant said rather than for what the user told."""
    return bool(_ABOUT_ASSISTANT.search(query))


def asks_for_everything(query: str) -> bool:
    """Tell whether a query asks for all that is known of the user."""
    return bool(_EVERYTHING.search(query))


def is_personal(query: str) -> bool:
    """Tell whether a query speaks of the user; one in another script than Latin may."""
    return bool(_FIRST_PERSON.search(query))


def asks_for_own_fact(query: str) -> bool:
    """Tell whether a query asks for a fact about the user, which only the user can have told."""
    last = (split_sentences(query) or [""])[-1].replace("’", "'")
    return judge(last) == "question" and bool(_OWN_FACT.search(last) or _EVERYTHING.search(last))

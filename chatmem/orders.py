"""Orders to delete: "Can you forget my phone number?" is one, "Don't forget to water the ferns" is none.

Plain rules of words for English, Russian and Chinese. In doubt a sentence is no order: what is not deleted can still be
deleted, what is cannot come back. What an order means among the lines of a memory is found in `chatmem/forgetting.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from chatmem import order_words
from chatmem.quoting import own_words
from chatmem.sentences import split_sentences, words

Scope = Literal["thing", "about", "statement", "last", "all"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be deleted.

    `scope` says how `what` is meant: a "thing" is asked for ("my phone number", "where I live"), "about" takes all that
    speaks of it ("my sister"), a "statement" is what was said ("I keep goats"); "last" and "all" need no more.
    """

    scope: Scope
    what: str = ""


_MAX_SENTENCES, _MAX_LINES = 4, 2  # a longer message is a paste, not somebody who asks for something


def deletion(sentence: str) -> Order | None:
    """Return the order to delete that a sentence is, or None."""
    text = order_words.LEAD.sub("", sentence.strip().replace("’", "'"))
    if order_words.NO_ORDER.match(text):
        return None
    text = order_words.TAIL.sub("", text)
    for read in (_english_forget, _english_delete, _no_wish, _russian, _chinese):
        if (order := read(text)) is not None:
            return order
    return None


def split_orders(text: str) -> tuple[list[Order], str]:
    """Return the orders to delete among the sentences of a message, and the message without them.

    A message that quotes or pastes is left alone: what somebody else wrote gives no orders.
    """
    sentences = split_sentences(own_words(text))
    orders = [deletion(sentence) for sentence in sentences]
    if not any(orders) or len(sentences) > _MAX_SENTENCES or len(text.split("\n")) > _MAX_LINES:
        return [], text
    rest = text
    for sentence, order in zip(sentences, orders, strict=True):
        if order is not None:
            rest = rest.replace(sentence, "", 1)
    return [order for order in orders if order is not None], rest.strip()


def _english_forget(text: str) -> Order | None:
    """Read "forget …"."""
    found = order_words.FORGET_ORDER.match(text)
    return _meant(found["what"]) if found else None


def _english_delete(text: str) -> Order | None:
    """Read "delete …": memory must be spoken of, or the user's own, for there is more to delete in the world."""
    found = order_words.DELETE_ORDER.match(text)
    if found is None:
        return None
    what = found["what"]
    spoken_of = re.match(rf"{order_words.KNOWN}(?:\s|$)", what, re.I) and re.search(
        rf"\b(?:you|i|me|your|{order_words.STORED})\b|^(?:everything|all|anything)\b", what, re.I
    )
    if re.search(rf"\b(?:on|in|from) (?:my|the|our)\b.*\b{order_words.NO_MEMORY}\b", what, re.I):
        return None  # "Delete everything on my list."
    own = re.match(r"(?:my|our)\s+[\w' -]{2,40}$", what, re.I) and not re.search(
        rf"\b{order_words.NO_MEMORY}(?: (?:for|with|at)\b.*)?$|\b(?:from|off|in|on|to|at)\b", what, re.I
    )
    whole = order_words.LAST.match(what) or order_words.ALL.match(what)
    return _meant(what) if whole or spoken_of or own or order_words.FROM_MEMORY.search(what) else None


def _no_wish(text: str) -> Order | None:
    """Read "I don't want you to remember …"; "I don't remember …" is none."""
    found = order_words.NO_WISH.match(text)
    if found is None or (re.match(r"i\b", text, re.I) and not re.search(r"\byou\b", text[: found.start("what")], re.I)):
        return None
    known = re.match(rf"(?:{order_words.KNOWN}|that|what|where|when|who|my|our)\b", found["what"], re.I)
    vague = found["verb"].startswith(("keep", "hav", "know")) and known is not None and known[0] in ("my", "our")
    if not re.match(r"i\b|you\b", text, re.I) and (known is None or vague):
        return None  # "Don't keep me waiting."
    return _meant(re.sub(r"\s+any ?(?:more|longer)$", "", found["what"], flags=re.I))


def _meant(what: str) -> Order | None:
    """Return the order whose object is given."""
    what = order_words.FROM_MEMORY.sub("", what).strip(" ,:")
    if order_words.LAST.match(what):
        return Order("last")
    if order_words.ALL.match(what):
        return Order("all")
    if order_words.NO_OBJECT.match(what) or order_words.STILL.search(what):
        return None
    if about := re.match(rf"(?:{order_words.KNOWN}\s+)?{order_words.ABOUT}\s+(?P<what>.+)$", what, re.I):
        return _about(about["what"])
    if said := re.match(
        r"(?:(?:the fact |it )?that|what i said,? that)\s+(?P<what>(?:i|i'm|i've|i'd|my|we|we're|our|[\w'-]+"
        r"(?:\s+[\w'-]+)? (?:is|are|was|has|have|had|works?|lives?|likes?|hates?|plays?))\b.*)$",
        what,
        re.I,
    ):
        return Order("statement", said["what"])
    if re.match(rf"{order_words.WH}\b", what, re.I) or re.match(r"(?:my|our)\b", what, re.I):
        return Order("thing", what)
    if re.match(r"(?:i|i'm|i've|we|we're)\s+\w+", what, re.I):
        return Order("statement", what)
    return Order("about", what) if _is_name(what) else None


def _about(what: str) -> Order | None:
    """Return the order to delete all about something; "about where I live" asks for one thing."""
    if re.match(r"(?:me|myself|us)$", what, re.I):
        return Order("all")
    if order_words.NO_OBJECT.match(what) or order_words.STILL.search(what):
        return None
    return Order("thing" if re.match(rf"{order_words.WH}\b", what, re.I) else "about", what)


def _is_name(what: str) -> bool:
    """Tell whether something is named without "my": "forget Noor's birthday", "forget the cello lesson on Friday"."""
    return len(words(what)) <= 5 and bool(re.match(r"[A-Z][\w-]*|the\b", what)) and not what.startswith("The ")


def _russian(text: str) -> Order | None:
    """Read "Не мог бы ты забыть мой номер", "Забудь всё о моей сестре", "Удали то, что я сказал"."""
    found = order_words.RUSSIAN.match(text)
    if found is None:
        return None
    what = found["what"].strip(" ,")
    if order_words.LAST.match(what):
        return Order("last")
    if order_words.ALL.match(what):
        return Order("all")
    if order_words.NO_OBJECT.match(what):
        return None
    if about := order_words.RUSSIAN_KNOWN.match(what):
        return Order("about", about["what"])
    if said := re.match(r"(?:о том,? )?что\s+(?P<what>.+)$", what, re.I):
        return Order("statement", said["what"])
    deletes = not found["verb"].casefold().startswith("заб")
    if re.match(r"мо[йяеёи]\w*\b|наш\w*\b|где|как|кто|когда|како\w+|сколько", what, re.I):
        return None if deletes and re.search(r"\b(?:из|с|со|в|на)\b", what) else Order("thing", what)
    return None


def _chinese(text: str) -> Order | None:
    """Read "请忘掉我的电话号码", "把关于我姐姐的一切都删掉"."""
    found = order_words.CHINESE.match(text)
    if found is None:
        return None
    what = (found["after"] or found["before"]).strip(" ，的都") or ""
    if order_words.LAST.match(what):
        return Order("last")
    if order_words.ALL.match(what):
        return Order("all")
    if about := order_words.CHINESE_KNOWN.match(what):
        return Order("about", about["what"])
    return Order("thing", what) if what.startswith("我") else None

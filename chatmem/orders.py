"""Orders to delete: "Can you forget my phone number?" is one, "Don't forget to water the ferns" is none.

Plain rules of words for English, Russian and Chinese. In doubt a sentence is no order: what is not deleted can still be
deleted, what is cannot come back. What an order means among the lines of a memory is found in `chatmem/forgetting.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

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


_LEAD = re.compile(
    r"^(?:(?:please|ok|okay|hey|hi|hello|well|actually|so|and|now|also|no|wait|sorry|oh|right|then|by the way|btw"
    r"|on second thou?ghts?|пожалуйста|а|и|ну|слушай|请|麻烦你?|那)(?![\w'])[\s,.!:…，]*)+",
    re.I,
)
_TAIL = re.compile(
    r"(?:[\s,]+(?:please|now|for me|for good|forever|again|completely|entirely|altogether|at once|will you|would you"
    r"|could you|can you|thanks|thank you|пожалуйста|спасибо)|[\s.!?。！？…\"'”»]+|吧|好吗|谢谢)+$",
    re.I,
)
_ASKED = (  # somebody is told to: "Can you …", "I want you to …"
    r"(?:(?:can|could|would|will) you (?:please |kindly |just |now |maybe |possibly )*|(?:please |kindly |just |now )+"
    r"|(?:i(?:'d| would)? (?:like|love|want|need|prefer)|i'm asking|i ask) you to (?:please |just )?"
    r"|you (?:can|should|may|must|have to|need to) (?:now |just |please )?|(?:let's|let us) |would you (?:please )?)?"
)
_MIND = r"(?:would|do) you mind (?:please )?"
_FORGET = rf"(?:{_ASKED}forget|{_MIND}forgetting|is it possible (?:for you )?to forget)"
_DELETE = (
    rf"(?:{_ASKED}(?:delete|erase|remove|wipe|purge|clear|drop|unlearn|get rid of|throw away|discard)|"
    rf"{_MIND}(?:deleting|erasing|removing|wiping|clearing|dropping))"
)
_STORED = r"(?:memor(?:y|ies)|facts?|notes?|records?|entr(?:y|ies)|info(?:rmation)?|data|details?|lines?|mentions?)"
_KNOWN = (  # what the program knows; after it comes what that is about
    r"(?:(?:(?:all|everything|anything|whatever|what|all the things|the things?|the stuff|the bits?|the parts?|that"
    r" thing)(?: of)?(?: that| which)? ?(?:you(?:'ve| have|'d)? (?:ever )?(?:know|knew|remember\w*|learn(?:ed|t)|got"
    r"|have|kept|keep|saved?|stored?|noted)(?: down)?|i(?:'ve| have|'d)? (?:ever |just )?(?:said|told you|mentioned|wrote"
    rf"|shared|typed)|is known)?(?: to you)?)|(?:all |any |the |your |my |every )*{_STORED}(?: (?:that )?you have)?)"
)
_SAY = r"(?:said|told you|mentioned|wrote|typed|shared|sent)"
_LAST = re.compile(
    rf"^(?:(?:what|whatever|everything|the thing|that which) i(?:'ve| have)? just {_SAY}|(?:the |my )?(?:very )?last"
    rf" (?:thing|message|line|sentence|fact|bit|memory|one|statement)(?: (?:that )?(?:i|you)(?:'ve| have)?(?: just)?"
    rf" (?:{_SAY}|remembered|saved|stored|learn(?:ed|t)))?|(?:that|this|it|what i said) again"
    r"|то,? что я (?:только что|сейчас) (?:сказал|написал|говорил)а?|последнее(?:,? что я (?:тебе )?(?:сказал|написал"
    r"|говорил)а?)?|(?:我)?(?:刚才|刚刚|最后)(?:说|讲|告诉你)?的?(?:话|那句话?|事)?)$",
    re.I,
)
_ALL = re.compile(
    r"^(?:(?:absolutely |literally )?(?:everything|all(?: of it)?)(?: (?:that )?(?:you(?:'ve| have)? (?:ever )?(?:know"
    r"|remember|learn(?:ed|t)|saved|stored)|i(?:'ve| have)? (?:ever )?(?:said|told you))(?: about (?:me|myself|us))?"
    rf"|(?: your| the| my)* {_STORED}(?: (?:of|about|on) me)?| about (?:me|myself))?|me|all about me|what you know"
    rf" about me|(?:all |the |your |my )*{_STORED} (?:of|about|on) me|(?:all )?(?:your|my) (?:entire |whole )?memor"
    r"(?:y|ies)|вс[её](?:,? что (?:ты|вы) (?:обо мне )?(?:знаешь|знаете|помнишь|помните))?(?: обо мне)?|что (?:ты|вы)"
    r" (?:обо мне )?знае(?:шь|те)(?: обо мне)?|(?:关于)?我的?(?:一切|所有(?:信息|事情?)?|全部)|(?:你知道的)?关于我的"
    r"(?:一切|所有.*|全部.*))$",
    re.I,
)
_WH = r"(?:what|where|when|which|who|whom|whose|why|how (?:old|tall|many|much|long|often|big)|whether|if)"
_NO_OBJECT = re.compile(  # "Forget it", "Forget about it", "Forget me not", "Can you forget things?"
    r"^(?:it|that|this|them|him|her|about (?:it|that|this|them)|things?|stuff|anything|something|everything else|me not"
    r"|how to\b.*|to\b.*|what to\b.*|where to\b.*|i (?:asked|said|mentioned)(?: (?:it|that|anything))?|(?:about )?the"
    r" (?:rest|others?|rules?|instructions?|past|whole thing)|(?:all |any |the |your |previous |prior |earlier )*"
    r"(?:instructions?|prompts?|rules?|orders?)\b.*|что|об этом|это|этом|про это|它|这|那)$",
    re.I,
)
_NO_MEMORY = (  # what assistants of other kinds are told to delete
    r"(?:alarms?|timers?|reminders?|calendars?|events?|lists?|playlists?|e-?mails?|messages?|files?|photos?|pictures?"
    r"|accounts?|history|browser|apps?|contacts?|orders?|bookings?|reservations?|tabs?|folders?|downloads?|cookies"
    r"|documents?|paragraphs?|sentences?|words?|commas?|code|rows?|columns?|schedules?|subscriptions?|carts?|drafts?)"
)
_STILL = re.compile(r"[,;:–—]\s+(?:i|i'm|i'll|we|let's|it's|you|he|she|they|but|because|what|how|can|could)\b", re.I)
_FROM_MEMORY = re.compile(
    r"\s+(?:from|out of|in) (?:your|the|my|its) (?:memory|memories|records?|notes?|mind|database|storage|head)$", re.I
)
_NO_ORDER = re.compile(  # "You can forget about a raise.", "Will you ever forget me?", "Forget my keys?"
    r"you (?:can|may|might) forget about\b|will you (?:ever )?forget\b(?! (?:that|what|everything))|(?:forget|delete"
    r"|erase|remove)\b.*\?$",
    re.I,
)
_ABOUT = r"(?:about|of|on|regarding|concerning|to do with|related to|relating to|with regard to)"

_FORGET_ORDER = re.compile(rf"^{_FORGET}\s+(?P<what>.+)$", re.I)
_DELETE_ORDER = re.compile(rf"^{_DELETE}\s+(?P<what>.+)$", re.I)
_NO_WISH = re.compile(  # "I don't want you to remember anything about my knee."
    r"^(?:i(?:'d| would)? (?:do not|don't|never|no longer|rather not|prefer(?: that)? you (?:did not|didn't|don't)) ?"
    r"(?:want|wish|like|need)?(?: for)?(?: you)?(?: to)?|(?:please )?(?:stop|quit|no longer|do not|don't)|you"
    r" (?:needn't|(?:don't|do not) (?:need|have) to|shouldn't|should not|mustn't|must not)|i'd rather you (?:didn't|did not"
    r"|don't)) (?:remember(?:ing)?|know(?:ing)?|keep(?:ing)?|stor(?:e|ing)|sav(?:e|ing)|hav(?:e|ing)|retain(?:ing)?)"
    r" (?P<what>.+)$",
    re.I,
)
_RUSSIAN = re.compile(
    r"^(?:(?:ты |вы )?(?:не )?(?:мог(?:ла|ли)?|можешь|можете|могли) (?:бы )?(?:ты |вы )?(?:пожалуйста,? )?|(?:я )?"
    r"(?:прошу|хочу|хотел(?:а)? бы),? (?:тебя |вас )?(?:чтобы (?:ты|вы) )?|давай(?:те)? )?(?P<verb>забудь(?:те)?|забыть"
    r"|забыла?|забыли|удали(?:те|ть)?|удалил[аи]?|сотри(?:те)?|стереть|ст[её]рла?)(?:,|\s)+(?P<what>.+)$",
    re.I,
)
_RUSSIAN_KNOWN = re.compile(
    r"^(?:вс[её]|то|информацию|данные|воспоминания|запись|записи|факты?)?,? ?(?:что (?:ты|вы|я) (?:тебе |вам )?(?:знае"
    r"(?:шь|те)|помни(?:шь|те)|(?:рас)?сказал[аи]?|говорил[аи]?|писал[аи]?) )?(?:обо?|о|про|насч[её]т)\s+(?P<what>.+)$",
    re.I,
)
_CHINESE = re.compile(
    r"^(?:你?(?:能不能|可不可以|可以|能|应该)|我(?:想|要|希望)(?:让)?你)?(?:请)?(?:(?:忘掉|忘记|忘了|删除|删掉|抹掉|清除)"
    r"(?P<after>.+?)|把(?P<before>.+?)(?:忘掉|忘记|忘了|删除|删掉|抹掉|清除)(?:掉|了)?)(?:吗|吧|好吗)?$"
)
_CHINESE_KNOWN = re.compile(
    r"^(?:你(?:知道|记得|记住)的)?(?:所有|一切|任何)?(?:关于)(?P<what>.+?)(?:的(?:一切|所有(?:事情?|信息)?|事情?|信息|内容"
    r"|记忆))?$"
)


def deletion(sentence: str) -> Order | None:
    """Return the order to delete that a sentence is, or None."""
    text = _LEAD.sub("", sentence.strip().replace("’", "'"))
    if _NO_ORDER.match(text):
        return None
    text = _TAIL.sub("", text)
    for read in (_english_forget, _english_delete, _no_wish, _russian, _chinese):
        if (order := read(text)) is not None:
            return order
    return None


def split_orders(text: str) -> tuple[list[Order], str]:
    """Return the orders to delete among the sentences of a message, and the message without them.

    A message that quotes or pastes is left alone: what somebody else wrote gives no orders.
    """
    sentences = split_sentences(text)
    orders = [deletion(sentence) for sentence in sentences]
    if not any(orders) or len(sentences) > _MAX_SENTENCES:
        return [], text
    rest = text
    for sentence, order in zip(sentences, orders, strict=True):
        if order is not None:
            rest = rest.replace(sentence, "", 1)
    return [order for order in orders if order is not None], rest.strip()


_MAX_SENTENCES = 4  # a longer message is a paste, not somebody who asks for something


def _english_forget(text: str) -> Order | None:
    """Read "forget …"."""
    found = _FORGET_ORDER.match(text)
    return _meant(found["what"]) if found else None


def _english_delete(text: str) -> Order | None:
    """Read "delete …": memory must be spoken of, or the user's own, for there is more to delete in the world."""
    found = _DELETE_ORDER.match(text)
    if found is None:
        return None
    what = found["what"]
    spoken_of = re.match(rf"{_KNOWN}(?:\s|$)", what, re.I) and re.search(
        rf"\b(?:you|i|me|your|{_STORED})\b|^(?:everything|all|anything)\b", what, re.I
    )
    own = re.match(r"(?:my|our)\s+[\w' -]{2,40}$", what, re.I) and not re.search(
        rf"\b{_NO_MEMORY}(?: (?:for|with|at)\b.*)?$|\b(?:from|off|in|on|to|at)\b", what, re.I
    )
    whole = _LAST.match(what) or _ALL.match(what)
    return _meant(what) if whole or spoken_of or own or _FROM_MEMORY.search(what) else None


def _no_wish(text: str) -> Order | None:
    """Read "I don't want you to remember …"; "I don't remember …" is none."""
    found = _NO_WISH.match(text)
    if found is None or (re.match(r"i\b", text, re.I) and not re.search(r"\byou\b", text[: found.start("what")], re.I)):
        return None
    return _meant(re.sub(r"\s+any ?(?:more|longer)$", "", found["what"], flags=re.I))


def _meant(what: str) -> Order | None:
    """Return the order whose object is given."""
    what = _FROM_MEMORY.sub("", what).strip(" ,:")
    if _LAST.match(what):
        return Order("last")
    if _ALL.match(what):
        return Order("all")
    if _NO_OBJECT.match(what) or _STILL.search(what):
        return None
    if about := re.match(rf"(?:{_KNOWN}\s+)?{_ABOUT}\s+(?P<what>.+)$", what, re.I):
        return _about(about["what"])
    if said := re.match(
        r"(?:(?:the fact |it )?that|what i said,? that)\s+(?P<what>(?:i|i'm|i've|i'd|my|we|we're|our|[\w'-]+"
        r"(?:\s+[\w'-]+)? (?:is|are|was|has|have|had|works?|lives?|likes?|hates?|plays?))\b.*)$",
        what,
        re.I,
    ):
        return Order("statement", said["what"])
    if re.match(rf"{_WH}\b", what, re.I) or re.match(r"(?:my|our)\b", what, re.I):
        return Order("thing", what)
    if re.match(r"(?:i|i'm|i've|we|we're)\s+\w+", what, re.I):
        return Order("statement", what)
    return Order("about", what) if _is_name(what) else None


def _about(what: str) -> Order | None:
    """Return the order to delete all about something; "about where I live" asks for one thing."""
    if re.match(r"(?:me|myself|us)$", what, re.I):
        return Order("all")
    if _NO_OBJECT.match(what) or _STILL.search(what):
        return None
    return Order("thing" if re.match(rf"{_WH}\b", what, re.I) else "about", what)


def _is_name(what: str) -> bool:
    """Tell whether something is named without "my": "forget Noor's birthday", "forget the cello lesson on Friday"."""
    return len(words(what)) <= 5 and bool(re.match(r"[A-Z][\w-]*|the\b", what)) and not what.startswith("The ")


def _russian(text: str) -> Order | None:
    """Read "Не мог бы ты забыть мой номер", "Забудь всё о моей сестре", "Удали то, что я сказал"."""
    found = _RUSSIAN.match(text)
    if found is None:
        return None
    what = found["what"].strip(" ,")
    if _LAST.match(what):
        return Order("last")
    if _ALL.match(what):
        return Order("all")
    if _NO_OBJECT.match(what):
        return None
    if about := _RUSSIAN_KNOWN.match(what):
        return Order("about", about["what"])
    if said := re.match(r"(?:о том,? )?что\s+(?P<what>.+)$", what, re.I):
        return Order("statement", said["what"])
    deletes = not found["verb"].casefold().startswith("заб")
    if re.match(r"мо[йяеёи]\w*\b|наш\w*\b|где|как|кто|когда|како\w+|сколько", what, re.I):
        return None if deletes and re.search(r"\b(?:из|с|со|в|на)\b", what) else Order("thing", what)
    return None


def _chinese(text: str) -> Order | None:
    """Read "请忘掉我的电话号码", "把关于我姐姐的一切都删掉"."""
    found = _CHINESE.match(text)
    if found is None:
        return None
    what = (found["after"] or found["before"]).strip(" ，的都") or ""
    if _LAST.match(what):
        return Order("last")
    if _ALL.match(what):
        return Order("all")
    if about := _CHINESE_KNOWN.match(what):
        return Order("about", about["what"])
    return Order("thing", what) if what.startswith("我") else None

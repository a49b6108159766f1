"""Corrections: "Sorry, I mean floor 6." after "My office is on floor 5." becomes "My office is on floor 6.".

Every word of the result was typed by the user: the words of the correction take the place of what they correct. Where
it is not plain which words those are, the result is both sentences, one after the other.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from chatmem.values import kind_of, kind_or_name

_OPENING = re.compile(
    r"^(?:(?:no(?! (?:more|idea|doubt|problem|one|need|way|matter|luck|wonder))|nope|wait|hang on|sorry|i tell a lie"
    r"|i got (?:that|it|this) (?:all )?wrong|i (?:had |'ve |have )?(?:mixed|muddled) (?:that|it|them"
    r"|things)(?: all)? up|i (?:was|am) (?:wrong|mistaken)|i made a mistake|oh|oops|ah|um|hm+|well"
    r"|hold on"
    r"|my (?:mistake|bad)|pardon|apologies|correction|actually"
    r"|rather|i mean(?:t)?(?: to say)?|i meant|make (?:that|it)|let's make (?:that|it)|i should have said|that should"
    r" be|it should be|that's|it's|it is|that is|not (?P<not>[^,;.]{1,30})[,;] ?(?:but|it's)?|scratch that|strike that"
    r"|or rather|нет|ой|извини(?:те)?|прости(?:те)?|точнее|вернее|то есть|я имел\w? в виду|поправка|不|不对|不是|抱歉"
    r"|对不起|我是说|应该是|更正)(?![\w'])[\s,.!:…，。：—-]*)+",
    re.I,
)
_MARK = re.compile(  # one of these words makes the line a correction; "It's Thursday." alone is none
    r"^(?:(?:oh|well|ah|um|hm+|please)\b[\s,.!-]*)*(?:no\b(?! (?:more|idea|doubt|problem|one|need|way|matter|luck"
    r"|wonder))[,. ]|nope\b|wait\b|hang on\b|i tell a lie\b|i got (?:that|it|this) (?:all )?wrong|i (?:had |'ve "
    r"|have )?(?:mixed|muddled) (?:that|it|them|things)(?: all)? up|sorry\b|oops\b|hold on\b"
    r"|my (?:mistake"
    r"|bad)\b|correction\b|actually\b|rather\b|or rather\b|i mean|make (?:that|it)\b|let's make (?:that|it)\b|i should"
    r" have said|(?:that|it) should be\b|scratch that\b|strike that\b|not [^,;.]{1,30}[,;]|\*(?=\w+$)|нет,|ой\b|извини"
    r"|прости|точнее|вернее|то есть|я имел|поправка|不对|不，|不是，|抱歉|对不起|我是说|应该是|更正)|\bi mean"
    r"(?:t)?[.!]?$|, not [\w ]{1,20}[.!]?$|\bit(?:'s| is) actually\b|^(?:it|that)(?:'s| is) .* actually[.!]?$",
    re.I,
)
_WHOLE = re.compile(  # has a subject and a verb of its own
    r"^(?:i|we|he|she|they|you|my|our|the|his|her|their|there|я|у меня|мой|моя|мо[её]|мы|меня|我)(?:'|\b)|^我", re.I
)
_OF_SOMEBODY = re.compile(
    r"^[A-ZА-ЯЁ]\w+(?: [A-ZА-ЯЁ]\w+)? (?:is|was|has|does|lives|works|goes|comes)\b"
)  # "Petra is …"
_TAIL = re.compile(
    r"(?:,? (?:i mean(?:t)?|actually|sorry|instead|please|rather|in fact))+(?=[.!]*$)|[.!。！\s]+$", re.I
)
_PRONOUN = re.compile(r"^(?:it|she|he|they|that|those|он|она|оно|они|это)\b", re.I)
_SPELLING = re.compile(r",? (?:with|without|spelled|spelt) .*$", re.I)
_NOT = re.compile(r",? (?:and |but )?(?:not|instead of|rather than) (?P<not>.{1,30})$", re.I)
_TOKEN = re.compile(r"[\w'’@./:+#-]*[\w'’@/+#-]|[\u4e00-\u9fff]")


def is_correction(sentence: str) -> bool:
    """Tell whether a sentence corrects the one before and cannot be understood without it."""
    text = sentence.strip().replace("’", "'")
    if not _MARK.search(text):
        return False
    fragment, _, _ = _fragment(text)
    return bool(fragment) and len(fragment.split()) <= 8 and not _WHOLE.match(fragment)


def corrected(old: str, correction: str) -> str | None:
    """Return the old sentence with the words of a correction in their place; None where it is not plain which."""
    fragment, gone, tail = _fragment(correction.strip().replace("’", "'"))
    words, new = list(_TOKEN.finditer(old)), _TOKEN.findall(fragment)
    if not fragment or not words:
        return None
    span = _said(words, gone) if gone else None
    span = span or _anchored(words, new) or _same_kind(words, new)
    if span is None and (span := _only_value(words, new)):
        fragment = next(word for word in new if kind_of(word))
    span = span or _similar_name(words, new) or _complement(words, new)
    if span is None:
        return None
    first, last = span
    before, after = old[: words[first].start()], old[words[last - 1].end() :]
    if fragment[:1].isupper() and kind_or_name(fragment) != "name" and words[first].group().islower():
        fragment = fragment[:1].lower() + fragment[1:]  # "Six, not five."
    joined = before + fragment + tail + after.lstrip("," if tail else "")
    return joined if joined.strip(" .!") != old.strip(" .!") else None


def denied(sentence: str) -> str:
    """Return what a whole sentence says is wrong: "Porto" for "She lives in Braga, not Porto."; else ""."""
    fragment, gone, _ = _fragment(without_opening(sentence).strip().replace("’", "'"))
    return gone if gone and _PRONOUN.match(fragment) else ""


def exchanged(old: str, correction: str) -> str | None:
    """Return an older sentence with the value that a whole one puts in the place of another.

    "My sister lives in Porto." and "She lives in Braga, not Porto." are "My sister lives in Braga."; None where the
    two do not share the words before the value.
    """
    fragment, gone, _ = _fragment(without_opening(correction).strip().replace("’", "'"))
    words, new = list(_TOKEN.finditer(old)), list(_TOKEN.finditer(fragment))
    span = _said(words, gone)
    if span is None or span[0] == 0:
        return None
    before = words[span[0] - 1].group().casefold()
    places = [word.end() for word in new if word.group().casefold() == before]
    if not places or not fragment[places[-1] :].strip():
        return None
    return old[: words[span[0]].start()] + fragment[places[-1] :].strip() + old[words[span[1] - 1].end() :]


def names_a_value(correction: str) -> bool:
    """Tell whether a correction holds a value, so that it stands for something although its place is not plain."""
    return any(kind_or_name(word) for word in _TOKEN.findall(_fragment(correction.strip().replace("’", "'"))[0]))


def without_opening(sentence: str) -> str:
    """Return a correction that is whole without "Sorry, I meant" before it; any other sentence as it is."""
    text = sentence.strip()
    opening = _OPENING.match(text.replace("’", "'"))
    if not opening or opening["not"] or not _MARK.search(text.replace("’", "'")):
        return sentence
    rest = text[opening.end() :]
    return rest if _is_whole(rest) else sentence


def is_whole_correction(sentence: str) -> bool:
    """Tell whether a sentence corrects an earlier one and can be understood without it: "Wait, no, it's …"."""
    return without_opening(sentence) != sentence


def _is_whole(text: str) -> bool:
    """Tell whether a text has a subject of its own."""
    return bool(_WHOLE.match(text) or _OF_SOMEBODY.match(text))


def both(old: str, correction: str) -> str:
    """Return both sentences, where one cannot be put into the other."""
    return f"{old.rstrip()}{'' if old.rstrip().endswith(('.', '!', '。')) else '.'} {correction.strip()}"


def _fragment(text: str) -> tuple[str, str, str]:
    """Return what a correction puts in, what it says to take out, and how it says the new word is spelt."""
    opening = _OPENING.match(text)
    gone = (opening["not"] or "") if opening else ""
    rest = text[opening.end() :] if opening else text.lstrip("*")
    before = None
    while before != rest:
        before, rest = rest, _TAIL.sub("", rest)
    if match := _NOT.search(rest):
        gone, rest = match["not"], rest[: match.start()]
    match = _SPELLING.search(rest)
    return (rest[: match.start()], gone, match.group()) if match else (rest, gone, "")


def _said(words: list[re.Match[str]], gone: str) -> tuple[int, int] | None:
    """Return where the words stand that a correction says are wrong."""
    wrong = [word.casefold() for word in _TOKEN.findall(gone)]
    while wrong and wrong[0] in ("on", "in", "at", "the", "a", "an", "it's"):
        wrong = wrong[1:]
    return _find(words, wrong)


def _find(words: list[re.Match[str]], wanted: list[str]) -> tuple[int, int] | None:
    for first in range(len(words) - len(wanted), -1, -1):
        if wanted and [word.group().casefold() for word in words[first : first + len(wanted)]] == wanted:
            return first, first + len(wanted)
    return None


def _anchored(words: list[re.Match[str]], new: list[str]) -> tuple[int, int] | None:
    """Return the span that begins or ends with the same words: "floor 6" for "floor 5", "six cats" for "five cats"."""
    plain = [word.group().casefold() for word in words]
    same = [word.casefold() for word in new]
    count = len(new)
    if count < 2:
        return None
    for first in range(len(words) - count, -1, -1):
        there = plain[first : first + count]
        if there[0] == same[0] and _alike(words[first + 1 : first + count], new[1:]):
            return first, first + count
        if there[-1] == same[-1] and _alike(words[first : first + count - 1], new[:-1]):
            return first, first + count
    return None


def _alike(words: list[re.Match[str]], new: list[str]) -> bool:
    """Tell whether words are the same or the same kind of value, one by one; a lone one may be of no known kind."""
    return all(
        word.group().casefold() == other.casefold()
        or (_kind(word) == kind_or_name(other) and (kind_or_name(other) != "" or len(new) == 1))
        for word, other in zip(words, new, strict=True)
    )


def _kind(word: re.Match[str]) -> str:
    """Return the kind of a word of a sentence, whose first word is no name for its capital."""
    kind = kind_or_name(word.group())
    return "" if kind == "name" and (word.start() == 0 or word.group().split("'")[0] == "I") else kind


def _same_kind(words: list[re.Match[str]], new: list[str]) -> tuple[int, int] | None:
    """Return the only span of the same kind of value: "Thursday" for "Tuesday"."""
    core = [word for word in new if word.casefold() not in ("on", "at", "in", "the", "to", "a", "an", "в", "во", "на")]
    kinds = {kind_or_name(word) for word in core}
    if len(core) != len(new) or len(kinds) != 1 or kinds == {""}:
        return None
    found = [place for place, word in enumerate(words) if _kind(word) in kinds]
    if not found or found[-1] - found[0] != len(found) - 1:
        return None  # nothing, or values in several places
    return found[0], found[-1] + 1


def _only_value(words: list[re.Match[str]], new: list[str]) -> tuple[int, int] | None:
    """Return the only value of the kind of a new one, where the old sentence has its other words: "six cats"."""
    plain = {word.group().casefold() for word in words}
    values = [word for word in new if kind_of(word)]
    if len(values) != 1 or not all(word.casefold() in plain for word in new if word not in values):
        return None
    places = [place for place, word in enumerate(words) if kind_of(word.group()) == kind_of(values[0])]
    return (places[0], places[0] + 1) if len(places) == 1 else None


def _similar_name(words: list[re.Match[str]], new: list[str]) -> tuple[int, int] | None:
    """Return the name that is nearly the one of the correction: "Anna" for "Ana"."""
    if len(new) != 1:
        return None
    best = [
        (SequenceMatcher(None, word.group().casefold(), new[0].casefold()).ratio(), place)
        for place, word in enumerate(words)
    ]
    ratio, place = max(best)
    return (place, place + 1) if ratio >= 0.6 and len(new[0]) > 2 else None


def _complement(words: list[re.Match[str]], new: list[str]) -> tuple[int, int] | None:
    """Return the end of "My favourite fruit is mango": what follows "is", where it is as short as the new words."""
    plain = [word.group().casefold() for word in words]
    verbs = [n for n, word in enumerate(plain) if word in ("is", "are", "was", "called", "named", "это", "是", "叫")]
    if not verbs or plain[0] not in ("my", "our", "the", "мой", "моя", "моё", "我"):
        return None
    first = verbs[-1] + 1
    if first >= len(words) or len(words) - first > max(2, len(new)) or len(new) > len(words) - first + 1:
        return None
    return first, len(words)

"""Quoting: which parts of a message are somebody else's words, so that they give no orders and become no facts.

What stands in quotation marks and is longer than a few words, after "this page says:" or "he wrote:", in a code fence,
on a line that begins with ">", and a long block of lines that do not speak of the user. Plain rules of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chatmem import wording

FEW_WORDS = 6  # a quotation of so many words may be a name, a title, a remark: it is judged with its sentence
TITLE_WORDS = 12  # and of so many where the sentence says that it is one
_PASTE_LINES = 6
_OWN_SHARE = 0.6  # of the lines of a block, from which it tells of the user


class Part(NamedTuple):
    """A part of a message; `before` says that a quotation follows it in the same sentence, `after` that one ended."""

    text: str
    is_own: bool
    before: bool = False
    after: bool = False


_QUOTES = re.compile(
    r"\"[^\"]+\"|(?<=[:：])\s*[\"“].+\Z|“[^”]+(?:”|$)|„[^“”]+(?:[“”]|$)|«[^»]+(?:»|$)|「[^」]+(?:」|$)|『[^』]+(?:』|$)"
    r"|(?:(?<=[\s:(,])|^)['‘](?=\S)(?:[^'’]|['’](?=\w))+['’](?=[\s.,!?;:)]|$)"
)
_SOURCE = (  # what a text is found in
    r"(?:web ?)?(?:pages?|sites?|articles?|e-?mails?|mails?|texts?|messages?|posts?|letters?|documents?|docs?"
    r"|comments?|reviews?|adverts?|ads?|threads?|readme|transcripts?|logs?|outputs?|snippets?|paragraphs?|passages?"
    r"|pdfs?|files?|tweets?|newsletters?|flyers?|leaflets?|captions?|subtitles?|descriptions?|results?|quotes?"
    r"|quotations?|excerpts?|chat|conversation|forum|wiki(?:pedia)?|screenshot|spam|poem|lyrics|recipe|story|abstract"
    r"|contract|invoice|manual|instructions|poster|banner|popup|notification|ticket|issue|report)"
)
_SAID = (
    r"(?:says?|said|reads?|wrote|writes|states?|stated|told|goes|went|posted|replied|answered|texted|sent|contains?)"
)
_INTRODUCTION = re.compile(  # "I found this page:", "Mum wrote:", "Translate the following:"; not "The code is:"
    rf"\b(?:(?:this|that|the|an?|some|following|another)(?: [\w'-]+){{0,3}} {_SOURCE}\b"
    r"(?:(?! (?:is|are|was|were)\b) [\w'-]+){0,6}"
    rf"|(?:he|she|they|it|somebody|someone|(?-i:[A-Z])\w+|my (?:\w+ )?\w+) {_SAID}"
    r"(?: (?:me|us|this|that|to me|back|in (?:the|an?|his|her) \w+)){0,2}"
    r"|(?:summari[sz]e|translate|shorten|proofread|rewrite|rephrase|check|correct|explain|read|review|analy[sz]e"
    r"|look at|pasted?|copied|quot(?:e|ing)|here(?:'s| is| are))\b(?: [\w'-]+){0,4} (?:this|it|following|below)"
    r"|^(?:please )?(?:sing|repeat(?: after me)?|say|recite|read aloud|echo|print|type|complete|continue|spell)\b"
    r"(?: [\w'-]+){0,4}"
    r"|(?:вот|на этой странице|в (?:этом )?(?:письме|тексте|статье)|он[аи]? (?:на)?писал[аи]?)(?: [\w-]+){0,4}"
    r"|(?:这(?:个|封|篇|段)?(?:网页|邮件|文章|文字|信|消息)|他写|她写|网页)(?:上?(?:说|写)(?:道|着)?|是)?)\s*[:：]\s*",
    re.I,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.S)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.M)
_FOREIGN = re.compile(  # marks of what nobody types
    r"^(?:from|to|subject|date|sent|cc|re|fwd)\s*:|https?://|www\.|</?[a-z][^>]*>|^#{1,4} |^\s*(?:system|assistant|user"
    r"|human|ai|admin)\s*[:：]|^-{3,}|\|.*\|",
    re.I | re.M,
)
_HEAD = re.compile(  # what a copied message begins with
    r"(?:from|to|subject|date|sent|re|fwd)\s*:|(?:-+ ?)?(?:begin |start of )?(?:forwarded|original|copied|quoted"
    r"|pasted)"
    r" (?:e-?mail|message|text)|(?:e-?mail|message|text|article|page|quote) (?:below|follows)|(?:copied|pasted) from\b",
    re.I,
)
_OWN_LINE = re.compile(
    r"^\W*(?:(?:and|so|also|oh|well|hi|hello)\b\W*)*(?:i|i'm|i've|i'd|my|we|we're|our|me|я|мой|моя|моё|мои|у меня"
    r"|меня|мы)\b|我",
    re.I,
)
_HAN = re.compile(r"[\u4e00-\u9fff]")


def parts(text: str) -> list[Part]:
    """Return a message cut into what the user says and what others say, in order; nothing but white space is lost."""
    if _is_paste(text):
        return [Part(text, is_own=False)]
    found, position = [], 0
    for start, end in _spans(text):
        if start > position:
            found.append(Part(text[position:start], is_own=True, before=True, after=position > 0))
        found.append(Part(text[start:end], is_own=False))
        position = end
    if position < len(text):
        found.append(Part(text[position:], is_own=True, after=position > 0))
    return [part for part in found if part.text.strip()]


def own_words(text: str) -> str:
    """Return what the user says in a message, without what others say."""
    return " ".join(part.text.strip() for part in parts(text) if part.is_own)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where others speak, in order, without overlaps."""
    spans = [(found.start(), found.end()) for pattern in (_FENCE, _QUOTED_LINE) for found in pattern.finditer(text)]
    quotations = [found for found in _QUOTES.finditer(text) if _is_long(found.group())]
    spans += [found.span() for found in quotations if not _is_title(text[: found.start()], found.group())]
    if (introduction := _INTRODUCTION.search(text)) and _is_long(text[introduction.end() :]):
        spans.append((introduction.end(), len(text)))
    position = 0
    for start, end in sorted(spans):
        if end > position:
            yield max(start, position), end
            position = end


def num_words(text: str) -> int:
    """Return how many words a text has; two Chinese characters count as one."""
    return len(text.split()) + len(_HAN.findall(text)) // 2


def _is_long(quotation: str) -> bool:
    return num_words(quotation) > FEW_WORDS


def _is_title(before: str, quotation: str) -> bool:
    """Tell whether a quotation is what something is called: "My favourite song is “…”"."""
    return num_words(quotation) <= TITLE_WORDS and bool(wording.TITLE.search(re.split(r"[.!?]\s", before)[-1]))


def _is_paste(text: str) -> bool:
    """Tell whether a message is a block of lines that somebody else wrote."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and _HEAD.match(lines[0].strip()):
        return True
    if len(lines) < 3:
        return False
    own = sum(bool(_OWN_LINE.match(line.strip())) for line in lines) / len(lines)
    foreign = len(_FOREIGN.findall(text)) > 0
    return own < _OWN_SHARE and (foreign or len(lines) >= _PASTE_LINES)

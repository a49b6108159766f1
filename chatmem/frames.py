"""Frames: what a fact is about, read by rules: whose, which attribute, which value, affirmed or ended.

"I moved to Turku in May." and "I live in Kaunas." share the frame ("i", "home"). What has no frame of its own is
split at its verb: "My train leaves at 7:15." speaks of the train. `chatmem/versions.py` compares what is read here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from chatmem import word_sets
from chatmem.values import kind_of

_LEAD = re.compile(
    r"^(?:(?:hi|hello|hey|well|so|ok|okay|oh|actually|btw|by the way|fyi|just so you know|please|also|and|but|as i"
    r" said|as you know|like i said|no(?! more)|yes|sorry|wait|remember that|remember|note that|note"
    r"|don't forget that|don't"
    r" forget|no(?! more)|correction|i mean(?:t)?|[\w' ]{0,30}\b(?:correct(?:ed)?|misspelled|mistaken|wrong|plans"
    r"|update)(?:"
    r" \w+){0,2}(?=[:,])|а|и|но|кстати|вообще-то|запомни)(?![\w'])[\s,:!.…-]*)+",
    re.I,
)
_EXPAND = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bi'm\b", "i am"),
        (r"\bcan't\b", "can not"),
        (r"\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'ve\b", " have"),
        (r"\bhave (?:just )?(?=stopped\b|quit\b)", ""),
        (r"\b(?:have (?:just )?)?given up\b", "gave up"),
        (r"'ll\b", " will"),
        (r"'re\b", " are"),
        (r"\b(it|he|she|that|there|who|what|name|number|birthday|colou?r|food)'s\b", r"\1 is"),
        (r"\bfavorite\b", "favourite"),
        (r"\bcolor\b", "colour"),
        (r"\bany more\b", "anymore"),
        (r"\b(?:would|'d) like\b", "want"),
        (r"'s name is\b", " is called"),
        (r"\b(?:mother tongue|first language)\b", "native language"),
        (r"\bblood group\b", "blood type"),
        (r"\b(?:zodiac|star) sign\b", "starsign"),
        (r"\bwake up\b|\brise\b", "get up"),
        (r"\bmy alarm (?:goes off|rings|is set (?:for|to))(?: at)?\b", "i get up at"),
        (r"\b(?:fall asleep|go to sleep|turn in)\b", "go to bed"),
        (r"\b(?:mobile|cell ?phone|cell|telephone) number\b", "phone number"),
        (r"\be-?mail(?: address)?\b", "email"),
        (r"\b(?:last|family) name\b", "surname"),
        (r"\bother half\b", "partner"),
        (r"\bapartment\b", "flat"),
        (r"\bwi-?fi (?:code|key)\b", "wifi password"),
        (
            r"\bi (?:am|measure) (\d[\w.']*(?: (?:m|cm|feet|foot|ft|\d[\w.']*|metres|meters))*)(?: tall)?$",
            r"my height is \1",
        ),
        (r"\bi (?:wear size|take a(?: size)?) (\d+)(?: shoes| in shoes)\b", r"my shoe size is \1"),
        (r"\bshoes in size (\d+)", r"my shoe size is \1"),
        (r"\b(?:mum|mom|mummy)\b", "mother"),
        (r"\b(?:dad|daddy)\b", "father"),
        (r"\b(?:kids|children)\b", "kids"),
        (r"\bi am (?:working|employed) as\b|\bmy (?:job|profession) is being\b", "i am"),
        (r",? (?:remember|you know|you see|by the way|as i said|as you know)$", ""),
        # "…; chemistry was a mix-up on my part"
        (
            r"\s*[;,–—-]\s*[\w' -]+ (?:was|is) (?:only |just )?(?:a |an |my )?(?:mix-?up|mistake|slip|error|typo)\b.*$",
            "",
        ),
        (r"^no more (\w+ing\b.*?)(?: for me)?$", r"i stopped \1"),
        (r"\b(\w+)'s (?=(?:a|an|the|now|not|\d+)\b)", r"\1 is "),
        (  # "My terrier isn't four, she's six."
            r"^(.+?) (is|are|was|were) not ([^,;]+)[,;] (?:but )?(?:it|she|he|they|that) (?:is|are|was|were) (.+)$",
            r"\1 \2 \4",
        ),
        (r"^(?:i|we) (?:have |had |just )*(?:dyed|bleached|tinted) (?:my|our) ([\w-]+) ([\w-]+)\b.*$", r"my \1 is \2"),
        (
            r"^(?:i|we) (?:have |had |just )*(?:renewed|extended|prolonged|topped up) (?:my|our|the) ([\w' -]+?)"
            r"(?:,? (?:so |and )?(?:it|that) is(?: now)?(?: good| valid| paid)?)? (?:until|till|to|through) (.+)$",
            r"my \1 runs out in \2",
        ),
        (
            r"^(?:my )?first (?:day|week|month|shift)(?: done| over| finished)? at ([\w&' -]+?)(?:,.*| (?:today|done"
            r"|over))?$",
            r"i work at \1",
        ),
        (
            r"^(?:i|we) (?:have |just )*(?:set|changed|switched|updated) (?:the|my|our) ([\w' -]+?) to (.+)$",
            r"my \1 is set to \2",
        ),
        # "I repainted the bike, it's green" is about the bike
        (r"^(?:i|we) (?:have |just )*\w+ (?:the|my|our) ([\w-]+)(?:,| and) (?:now )?it is (?:now )?", r"my \1 is "),
    )
]
_CHANGE = re.compile(
    r"\b(?:now|nowadays|(?:a|my|our|his|her|the) new|moved|moving|chang(?:e|ed|ing)|switch(?:ed|ing)|became|no longer"
    r"|anymore|instead|sold|quit|gave up|actually|turned|replaced|renamed|repainted|painted|recently|since then|used"
    r" to|stopped|started|joined|left|postponed|rescheduled|brought forward|went (?:up|down)|rose|fell|increased"
    r"|dropped|i mean(?:t)?|correction|was wrong|sorry|update|just got|just bought|bought|traded|swapped|divorced"
    r"|broke up|by now|as of|from now on|these days|died|passed away"
    r"|got rid of|gave away|cancelled|set|finally|gone over to|went over to|hired|dyed|bleached|haircut|renewed"
    r"|extended"
    r"|prolonged|topped up|rather than|lately|promoted|transferred|retired|upgraded|ditched|first (?:day|week|month)"
    r"|теперь|больше не|переехал\w*|сменил\w*|поменял\w*|новый|новая"
    r"|новое|уже не)\b"
    r"|现在|不再|搬到|改成|换成|换了|改名|新的",
    re.I,
)
_ENDED = re.compile(
    r"\b(?:not|no longer|anymore|never|nobody|nothing|used to|stopped|gave up|quit|dislike|hate|cannot stand|не|больше"
    r" не|ненавижу)\b|不再|不是|没有|不喜欢|不",
    re.I,
)
_FINITE = (
    r"(?:is|are|am|was|were|has|have|had|do|does|did|can|will|would|lives?|works?|likes?|loves?|hates?|wants?|needs?"
    r"|plays?|speaks?|stud(?:y|ies)|go(?:es)?|comes?|drives?|teach(?:es)?|eats?|drinks?|moved|died|turned|got|gets?"
    r"|bought|sold|owns?|prefers?|enjoys?|starts?|started|joined|left|leaves?|opens?|closes?|costs?|weighs?|ends?"
    r"|arrives?|departs?|takes?|changed|begins?|sleeps?|stays?|runs?|expires?|lapses?|keeps?|collects?|wears?|uses?"
    r"|pays?|earns?|sits?"
    r"|stands?|became|becomes|stopped|quit|used|gave|switched|relocated|resides?|replaced|repainted|painted|renamed"
    r"|married|no|adopted|lost|traded|swapped|dislikes?|adores?|not|never)"
)
_VERB_AT = re.compile(rf"(?<=\s){_FINITE}(?=\s|$)")
_PLACE_END = re.compile(
    r"\s(?:with|and|since|for|because|by|now|near|but|where|which|so|until|in|as|last|this|on|at)\s.*$|,.*$"
)

_TRADE = (
    r"(?:\w{3,}(?:er|or|ist|ian|eer|man|woman)|nurse|chef|cook|judge|clerk|pilot|vet|guide|coach|model|architect"
    r"|student"
    r"|accountant|consultant|assistant|poet)"
)
_NO_TRADES = (
    r"(?:(?:grand|step)?(?:mother|father|brother|sister|daughter)|beginner|lover|owner|member|foreigner|winner|loner"
    r"|neighbou?r|smoker|drinker|eater|riser|sleeper|listener|learner|reader|believer|christian|italian|vegetarian"
    r"|pescatarian|\w+[aeiou]rian|person|human)\b"
)
_FRAMES = [  # (attribute, pattern of what follows the subject); `v` is the value
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "home",
            r"^(?:am |is |are |have |has |just |recently |now |currently |still )*(?:live|lives|living|reside|resides"
            r"|based|relocated|relocating|move|moved|moving|moves|settled|stay|stays)(?: now| currently| just|"
            r" recently| back| out| over| again| house)* (?:from (?P<from>[\w ]+?) )?(?:in|to|at|into) (?!together|a "
            r"|an |the |my )(?P<v>.+)",
        ),
        (
            "employer",
            r"^(?:left|quit|resigned from|was fired from|was laid off (?:from|by)) (?!the |a |home|\w+ing\b)"
            r"(?P<ended>.+)",
        ),
        (
            "employer",
            r"^(?:am |is |have |has |got |was |been |just |recently |now |currently |still )*(?:work|works|working"
            r"|employed|hired|started(?: work| working| a job| a new job| my new job)?|switched(?: jobs)?)(?: now|"
            r" currently)* (?:at|for|by) (?!home|night|the |a |an )(?P<v>.+)",
        ),
        ("employer", r"^(?:(?:have |has )?(?:just |recently )?joined|work for) (?!the |a |an |my |forces)(?P<v>.+)"),
        (
            "employer",
            r"^(?:am |have |has |got |was |been |just |recently |now )*(?:hired|taken on|recruited) by (?P<v>.+)",
        ),
        ("employer", rf"^(?:am|is)(?: now)? an? (?:[\w-]+ )?(?!{_NO_TRADES}|volunteer){_TRADE} (?:at|for) (?P<v>.+)"),
        ("job", r"^(?:am |is )?(?:now )?(?:work|works|working|employed) (?:now )?as (?P<v>.+)"),
        ("job", rf"^(?:am|is|became)(?: now)? an? (?P<v>(?:[\w-]+ )?(?!{_NO_TRADES}){_TRADE})(?: now)?$"),
        ("name", r"^(?:am|is) (?:called|named) (?P<v>.+)|^(?:legally )?changed my name to (?P<v2>.+)"),
        ("nickname", r"^(?:go|goes) by (?P<v>.+)"),
        ("age", r"^(?:am|is)(?: now| already| just)* (?P<v>\d+|[a-z]+)(?: now)?(?: years? old)(?: now)?$"),
        (
            "age",
            r"^(?:am|is)(?: now)? (?P<v>\d{1,3})(?: now)?$|^(?:have |has )?(?:just )?turned (?P<v2>\d+|[a-z]+)\b.*",
        ),
        ("partner", r"^(?:got |am |is |was )?(?P<ended>divorced|single|widowed|separated|broke up).*"),
        (
            "partner",
            r"^(?:am |is |got |have been )*(?:now )?(?:married to|engaged to|dating|married|seeing) (?P<v>[^,]+)",
        ),
        (
            "diet",
            r"^(?:am|is|became|went|turned)(?: now)?(?: a| an)? (?P<v>vegan|vegetarian|pescatarian|omnivore"
            r"|flexitarian)$",
        ),
        ("car", r"^(?:now )?drives? (?:a|an|my)(?: new)? (?P<v>.+)"),
        ("birthplace", r"^was born in (?P<v>[^\d]+)"),
        ("birthday", r"^was born (?:on|in) (?P<v>.*\d.*)"),
        ("size", r"^wears? (?:a )?(?:shoe )?size (?P<v>.+)"),
    )
]
_FOREIGN = [  # whole sentences; `x` is the attribute where the pattern leaves it open
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "home",
            r"^(?:я |мы )?(?:теперь |сейчас |недавно )*(?:живу|живем|живём|переехал[аи]?|переезжаю) (?:в|во|на) "
            r"(?P<v>.+)",
        ),
        ("employer", r"^(?:я )?(?:теперь |сейчас )*(?:работаю|устроил(?:ся|ась)) (?:в|во|на) (?P<v>.+)"),
        ("job", r"^(?:я )?(?:теперь |сейчас )*работаю (?P<v>(?!в |во |на ).+)"),
        ("name", r"^(?:меня (?:теперь )?зовут|мо[её] имя|я сменила? имя на) (?P<v>.+)"),
        ("age", r"^мне (?:уже |сейчас )?(?P<v>\d+)(?: год| года| лет)?$"),
        (
            "my",
            r"^(?:мой|моя|мо[её]|мои) (?P<x>[\w ]+?) (?:теперь )?(?:это|называется|зовут|стоит|находится)? ?(?:[—–-]"
            r" )?(?P<v>.+)",
        ),
        (
            "prefers",
            r"^(?:(?:теперь|сейчас|всё же|я|больше|скорее) )*(?:люблю|предпочитаю) (?P<v>\w+)(?:[ ,].*)?$",
        ),
        ("prefers", r"^(?:比起.+?[,，]?)?我(?:现在|已经)?(?:还是)?更喜欢(?P<v>.+?)(?:而不是.+)?了?$"),
        ("home", r"^我(?:现在|目前|已经|刚刚?)?(?:住在|搬到了?|搬去了?|搬家到)(?P<v>.+?)(?:了|工作)?$"),
        ("name", r"^(?:我(?:现在)?叫|我的名字(?:现在)?[是叫]|我改名叫?)(?P<v>.+)"),
        ("employer", r"^我(?:现在)?在(?P<v>.+?)(?:工作|上班)了?$"),
        ("age", r"^我(?:今年|现在|已经)?(?P<v>\d+|[一二三四五六七八九十]+)岁了?$"),
        ("my", r"^我(?:现在)?(?P<x>最喜欢的.+?|的.+?)(?:现在)?[是叫](?P<v>.+)"),
    )
]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as the rules read it; words are case folded and contractions are written out."""

    said: str
    tokens: tuple[str, ...]
    subject: tuple[str, ...]  # ("i",), ("train",), ("sister's", "dog"); empty where it is not plain
    predicate: tuple[str, ...]  # what follows the subject, its verb first
    attribute: str  # "home", or "" where no frame fits
    value: str  # of the attribute; "" where it only ended or has none
    things: frozenset[str]  # what a sentence says is "my": my kayak
    kinds: frozenset[str]  # of values in it: colour, number, …
    names: frozenset[str]  # words with a capital letter that do not begin it
    ended: bool  # denied, or no longer so
    changed: bool  # says itself that something changed

    @property
    def is_single(self) -> bool:
        """Whether its subject has one value only: "my name", "my favourite fruit"."""
        return "favourite" in self.subject or bool(self.subject and self.subject[-1] in word_sets.SINGLE)

    @property
    def is_of_many(self) -> bool:
        """Whether there can be several of its subject: "my friend"."""
        return bool(self.subject) and self.subject[-1].removesuffix("s") in word_sets.MANY


@lru_cache(maxsize=8192)
def normal(text: str) -> str:
    """Return a text case folded, without lead-ins and end marks, contractions written out."""
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").strip().rstrip(".!。！…~ ")
    plain = _LEAD.sub("", plain).casefold() or plain.casefold()
    for pattern, replacement in _EXPAND:
        plain = pattern.sub(replacement, plain)
    return " ".join(plain.split())


@lru_cache(maxsize=8192)
def parse(text: str) -> Fact:
    """Return what a fact is about."""
    said = normal(text)
    tokens = tuple(re.findall(r"[\w'/:.@#+-]*[\w'/@#+-]|[\u4e00-\u9fff]", said))
    subject, predicate = _split(said)
    attribute, value = _foreign(said) or _attribute(predicate)
    if attribute.startswith("my "):
        subject, attribute = tuple(attribute.split()[1:]), "is"
    elif re.search(r"[\u0400-\u9fff]", attribute + said) and attribute:
        subject = ("i",)
    if subject in (("name",), ("full", "name"), ("first", "name")) and predicate[:1] == ("is",):
        subject, attribute, value = ("i",), "name", " ".join(predicate[1:])
    if subject == ("car",) and predicate[:2] in (("is", "a"), ("is", "an")):
        subject, attribute, value = ("i",), "car", " ".join(predicate[2:])
    written = re.findall(r"[\w'’-]+", text)[1:]
    return Fact(
        said,
        tokens,
        subject,
        predicate,
        attribute,
        value,
        frozenset(_things(said)),
        frozenset(kind for word in tokens if (kind := kind_of(word))),
        frozenset(
            word.casefold().split("'")[0] for word in written if word[:1].isupper() and word[:2] not in ("I", "I'")
        ),
        bool(_ENDED.search(said)),
        bool(_CHANGE.search(unicodedata.normalize("NFKC", text).replace("’", "'").replace("any more", "anymore"))),
    )


def _split(said: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return subject and predicate; a subject that is long or a pronoun for something said before is not plain."""
    flipped = re.match(r"(.+?) (is|are|was) (?:now )?my (?:new )?(favourite [\w ]+?)(?: now)?$", said)
    if flipped:
        return tuple(flipped[3].split()), (flipped[2], *flipped[1].split())
    if match := re.match(r"(?:i|we)\s", said):
        return ("i",), tuple(word for word in said[match.end() :].split() if word != "now")
    verb = _VERB_AT.search(said)
    if verb is None:
        return (), ()
    before = [word for word in said[: verb.start()].split() if word not in word_sets.DETERMINERS]
    if (
        not before
        or len(before) > 4
        or before[0] in ("he", "she", "it", "they", "there", "this", "that", "you", "when")
    ):
        return (), tuple(said[verb.start() :].split())
    return tuple(before), tuple(word for word in said[verb.start() :].split() if word != "now")


def _attribute(predicate: tuple[str, ...]) -> tuple[str, str]:
    """Return attribute and value of a predicate; the value is empty where the attribute ended."""
    said = " ".join(
        word for word in predicate if word not in ("not", "no", "longer", "anymore", "do", "does", "did", "really")
    )
    for name, pattern in _FRAMES:
        if match := pattern.match(said):
            found = match.groupdict()
            value = found.get("v") or found.get("v2") or ""
            return name, _PLACE_END.sub("", f"{value} ").strip() if name in ("home", "employer", "partner") else value
    return "", ""


def _foreign(said: str) -> tuple[str, str] | None:
    """Return attribute and value of a Russian or Chinese fact."""
    if not re.search(r"[\u0400-\u9fff]", said):
        return None
    plain = re.sub(r"\bне\b |больше |уже |不再|不", "", said).strip()
    for name, pattern in _FOREIGN:
        if match := pattern.match(plain):
            value = re.split(r"[,，。]| с | и ", match["v"])[0].strip()
            return (f"my {match['x'].strip()}", value) if name == "my" else (name, value)
    return None


def _things(said: str) -> set[str]:
    """Return what a sentence says is "my": "my sister's dog" gives "sister's dog" by its first noun."""
    return {
        match[1]
        for match in re.finditer(r"\b(?:my|our) (?:new |old |own |favourite )*([\w'-]+)", said)
        if match[1] != "own"
    }

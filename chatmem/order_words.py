"""The forms of words by which an order to delete is told, in English, Russian and Chinese."""

from __future__ import annotations

import re

LEAD = re.compile(
    r"^(?:(?:please|ok|okay|hey|hi|hello|well|actually|so|and|now|also|no|wait|sorry|oh|right|then|by the way|btw"
    r"|on second thou?ghts?|пожалуйста|а|и|ну|слушай|请|麻烦你?|那)(?![\w'])[\s,.!:…，]*)+",
    re.I,
)
TAIL = re.compile(
    r"(?:[\s,]+(?:please|now|for me|for good|forever|again|completely|entirely|altogether|at once|will you|would you"
    r"|could you|can you|thanks|thank you|пожалуйста|спасибо)|[\s.!?。！？…\"'”»]+|吧|好吗|谢谢)+$",
    re.I,
)
ASKED = (  # somebody is told to: "Can you …", "I want you to …"
    r"(?:(?:can|could|would|will) you (?:please |kindly |just |now |maybe |possibly )*|(?:please |kindly |just |now )+"
    r"|(?:i(?:'d| would)? (?:like|love|want|need|prefer)|i'm asking|i ask) you to (?:please |just )?"
    r"|you (?:can|should|may|must|have to|need to) (?:now |just |please )?|(?:let's|let us) |would you (?:please )?"
    r"|(?:(?:would|could|can|will) you )?(?:please )?be so (?:kind|good|nice)(?: as)? to (?:please )?"
    r"|(?:would|could) it be possible (?:for you )?to |do me (?:a|the) favou?r and (?:please )?"
    r"|i(?:'d| would) (?:be (?:glad|grateful|happy|thankful)|appreciate it|like it)(?: very much| a lot)? if you"
    r" (?:could |would |can )?(?:please |kindly |just )?)?"
)
MIND = r"(?:would|do) you mind (?:please )?"
FORGET = (
    rf"(?:{ASKED}(?:forget|(?<=you )forgot)|{MIND}forgetting|is it possible (?:for you )?to forget|{ASKED}(?:pretend"
    r"|act as (?:if|though))(?: that)? i(?:'d| had)? (?:never (?:told you|said|mentioned)|(?:did not"
    r"|didn't) (?:tell you"
    r"|say|mention)))"
)
DELETE = (
    rf"(?:{ASKED}(?:delete|erase|remove|wipe|purge|clear|drop|strike|scrub|unlearn|get rid of|throw away|discard"
    r"|(?<=you )(?:deleted|erased|removed|wiped|cleared|dropped))|"
    rf"{MIND}(?:deleting|erasing|removing|wiping|clearing|dropping))"
)
STORED = r"(?:memor(?:y|ies)|facts?|notes?|records?|entr(?:y|ies)|info(?:rmation)?|data|details?|lines?|mentions?)"
KNOWN = (  # what the program knows; after it comes what that is about
    r"(?:(?:(?:all|everything|anything|whatever|what|all the things|the things?|the stuff|the bits?|the parts?|that"
    r" thing)(?: of)?(?: that| which)? ?(?:you(?:'ve| have|'d)? (?:ever )?(?:know|knew|remember\w*|learn(?:ed|t)"
    r"|got|have|kept|keep|saved?|stored?|noted)(?: down)?|i(?:'ve| have|'d)? (?:ever |just )?(?:said|told you"
    rf"|mentioned|wrote|shared|typed)|is known)?(?: to you)?)|(?:all |any |the |your |my |every )*{STORED}"
    r"(?: (?:that )?you have)?)"
)
SAY = r"(?:said|told you|mentioned|wrote|typed|shared|sent)"
LAST = re.compile(
    rf"^(?:(?:what|whatever|everything|the thing|that which) i(?:'ve| have)? just {SAY}|(?:the |my )?(?:very )?last"
    rf" (?:thing|message|line|sentence|fact|bit|memory|one|statement)(?: (?:that )?(?:i|you)(?:'ve| have)?(?: just)?"
    rf" (?:{SAY}|remembered|saved|stored|learn(?:ed|t)))?|(?:that|this|it|what i said) again"
    r"|то,? что я (?:только что|сейчас) (?:сказал|написал|говорил)а?|последнее(?:,? что я (?:тебе )?(?:сказал|написал"
    r"|говорил)а?)?|(?:我)?(?:刚才|刚刚|最后)(?:说|讲|告诉你)?的?(?:话|那句话?|事)?)$",
    re.I,
)
ALL = re.compile(
    r"^(?:(?:absolutely |literally )?(?:everything|all(?: of it)?)(?: (?:that )?(?:you(?:'ve| have)? (?:ever )?(?:know"
    r"|remember|learn(?:ed|t)|saved|stored)|i(?:'ve| have)? (?:ever )?(?:said|told you))(?: about (?:me|myself|us))?"
    rf"|(?: your| the| my)* {STORED}(?: (?:of|about|on) me)?| about (?:me|myself))?|me|all about me|what you know"
    rf" about me|(?:all |the |your |my )*{STORED} (?:of|about|on) me|(?:all )?(?:your|my) (?:entire |whole )?memor"
    r"(?:y|ies)|вс[её](?:,? что (?:ты|вы) (?:обо мне )?(?:знаешь|знаете|помнишь|помните))?(?: обо мне)?|что (?:ты|вы)"
    r" (?:обо мне )?знае(?:шь|те)(?: обо мне)?|(?:关于)?我的?(?:一切|所有(?:信息|事情?)?|全部)|(?:你知道的)?关于我的"
    r"(?:一切|所有.*|全部.*))$",
    re.I,
)
WH = r"(?:what|where|when|which|who|whom|whose|why|how (?:old|tall|many|much|long|often|big)|whether|if)"
NO_OBJECT = re.compile(  # "Forget it", "Forget about it", "Forget me not", "Can you forget things?"
    r"^(?:it|that|this|them|him|her|what i told you to do|about (?:it|that|this|them)|things?|stuff|anything"
    r"|what i asked\b.*|something"
    r"|everything else|me not|how to\b.*|to\b.*|what to\b.*|where to\b.*|i (?:asked|said|mentioned)(?: (?:it|that"
    r"|anything))?|(?:about )?the"
    r" (?:rest|others?|rules?|instructions?|past|whole thing)|(?:all |any |the |your |previous |prior |earlier )*"
    r"(?:instructions?|prompts?|rules?|orders?)\b.*|что|об этом|это|этом|про это|它|这|那)$",
    re.I,
)
NO_MEMORY = (  # what assistants of other kinds are told to delete
    r"(?:alarms?|timers?|reminders?|calendars?|events?|lists?|playlists?|e-?mails?|messages?|files?|photos?|pictures?"
    r"|accounts?|history|browser|apps?|contacts?|orders?|bookings?|reservations?|tabs?|folders?|downloads?|cookies"
    r"|documents?|paragraphs?|sentences?|words?|commas?|code|rows?|columns?|schedules?|subscriptions?|carts?|drafts?)"
)
STILL = re.compile(r"[,;:–—]\s+(?:i|i'm|i'll|we|let's|it's|you|he|she|they|but|because|what|how|can|could)\b", re.I)
FROM_MEMORY = re.compile(
    r"\s+(?:from|out of|in) (?:your|the|my|its) (?:memory|memories|records?|notes?|mind|database|storage|head)$", re.I
)
NO_ORDER = re.compile(  # "You can forget about a raise.", "Will you ever forget me?", "Forget my keys?"
    r"you (?:can|may|might) forget about\b|will you (?:ever )?forget\b(?! (?:that|what|everything))|(?:forget|delete"
    r"|erase|remove)\b.*\?$",
    re.I,
)
ABOUT = r"(?:about|of|on|regarding|concerning|to do with|related to|relating to|with regard to)"

FORGET_ORDER = re.compile(rf"^{FORGET}\s+(?P<what>.+)$", re.I)
DELETE_ORDER = re.compile(rf"^{DELETE}\s+(?P<what>.+)$", re.I)
NO_WISH = re.compile(  # "I don't want you to remember anything about my knee."
    r"^(?:i(?:'d| would)? (?:do not|don't|never|no longer|rather not|prefer(?: that)? you (?:did not|didn't|don't)) ?"
    r"(?:want|wish|like|need)?(?: for)?(?: you)?(?: to)?|(?:please )?(?:stop|quit|no longer|do not|don't)|you"
    r" (?:needn't|(?:don't|do not) (?:need|have) to|shouldn't|should not|mustn't|must not)|i'd rather you"
    r" (?:didn't|did not|don't)) (?P<verb>remember(?:ing)?|know(?:ing)?|keep(?:ing)?|stor(?:e|ing)"
    r"|sav(?:e|ing)|hav(?:e|ing)|retain(?:ing)?)"
    r" (?P<what>.+)$",
    re.I,
)
RUSSIAN = re.compile(
    r"^(?:(?:ты |вы )?(?:не )?(?:мог(?:ла|ли)?|можешь|можете|могли) (?:бы )?(?:ты |вы )?(?:пожалуйста,? )?|(?:я )?"
    r"(?:прошу|хочу|хотел(?:а)? бы),? (?:тебя |вас )?(?:чтобы (?:ты|вы) )?|давай(?:те)? )?(?P<verb>забудь(?:те)?|забыть"
    r"|забыла?|забыли|удали(?:те|ть)?|удалил[аи]?|сотри(?:те)?|стереть|ст[её]рла?)(?:,|\s)+(?P<what>.+)$",
    re.I,
)
RUSSIAN_KNOWN = re.compile(
    r"^(?:вс[её]|то|информацию|данные|воспоминания|запись|записи|факты?)?,? ?(?:что (?:ты|вы|я) (?:тебе |вам )?(?:знае"
    r"(?:шь|те)|помни(?:шь|те)|(?:рас)?сказал[аи]?|говорил[аи]?|писал[аи]?) )?(?:обо?|о|про|насч[её]т)\s+(?P<what>.+)$",
    re.I,
)
CHINESE = re.compile(
    r"^(?:你?(?:能不能|可不可以|可以|能|应该)|我(?:想|要|希望)(?:让)?你)?(?:请)?(?:(?:忘掉|忘记|忘了|删除|删掉|抹掉|清除)"
    r"(?P<after>.+?)|把(?P<before>.+?)(?:忘掉|忘记|忘了|删除|删掉|抹掉|清除)(?:掉|了)?)(?:吗|吧|好吗)?$"
)
CHINESE_KNOWN = re.compile(
    r"^(?:你(?:知道|记得|记住)的)?(?:所有|一切|任何)?(?:关于)(?P<what>.+?)(?:的(?:一切|所有(?:事情?|信息)?|事情?|信息|内容"
    r"|记忆))?$"
)

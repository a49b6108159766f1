"""Poison: sentences that give orders to the assistant or speak of "the user", as planted text does and nobody else.

What is found here is kept as doubtful (`states`), unless the user asks for it with /remember.
"""

from __future__ import annotations

import re
import unicodedata

_MODEL = r"(?:ai|a\.i\.|llms?|assistants?|chat ?bots?|bots?|language models?|models?|agents?|gpt|claude|copilot|gemini)"
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|skip|drop) (?:all |any |the |your |my |of |these |those )*(?:"
    r"previous"
    r"|prior|earlier|above|system|other|former|past|safety|initial|original|existing)? ?(?:instructions?|prompts?"
    r"|rules?|guidelines|directives?|restrictions?)\b"
    r"|\b(?:system|developer|admin(?:istrator)?|root|hidden|secret) (?:prompt|note|message|override|alert|instructions?"
    r"|command|mode|notice|update)s?\b|^\W*(?:system|assistant|developer|admin|user|human|instructions?) ?[:：]"
    r"|<\|?/?\w+\|?>|\[/?(?:inst|system|admin)[\]:]|<!--|\{\{"
    r"|\byou (?:are now|must now|must always|will now|should always) (?:in |a |an |the |dan"
    r"|jailbr|obey|reveal|answer|granted|allowed|authori[sz]ed|updated|reprogrammed)"
    r"|\bjailbreak\w*|\bdo anything now\b|\bdan mode\b|\bdeveloper mode\b"
    rf"|\b(?:note|attention|message|instructions?|notice|reminder|warning|memo)s? (?:to|for) (?:the |any |all |every "
    rf"|an? |our )*{_MODEL}\b|\b{_MODEL}s?,? (?:reading|processing|parsing|seeing|that reads?|who reads?) this\b"
    rf"|\b(?:dear|attention|to all|if you are an?|all|any) {_MODEL}\b"
    r"|\bas an? (?:ai|assistant|chat ?bot|language model)\b"
    r"|\bthe user(?:'s)? (?!\w+ (?:table|interface|guide|story|stories|experience))(?:is|was|has|had|wants?|prefers?"
    r"|likes?|loves?|hates?|lives?|works?|banks?|agree[sd]?|trusts?|should|must|needs?|will|can|cannot|always|never"
    r"|owns?|uses?|asked|said|told|consent\w*|authori[sz]e[sd]?|confirm\w*|approve[sd]?|name|password|real name|email"
    r"|account|bank|identity|favou?rite|preferred|preferences?|profile)\b"
    r"|\b(?:send|call|tell|direct|refer|redirect|address|recommend|show|convince|persuade|ask|remind|warn|inform|point"
    r"|steer|forward) (?:all |every |the |your |any )*users?\b|\busers? (?:to|that|about) \w+"
    r"|\b(?:store|save|write|add|record|commit|append|persist|inject|put|insert|keep) (?:this|that|the following|it"
    r"|these(?: \w+)?)(?: \w+){0,3} (?:in|to|into) (?:your |the |its |long[- ]term |permanent |persistent )*memor"
    r"(?:y|ies)\b|\b(?:update|modify|edit|change|overwrite|poison|corrupt|rewrite) (?:your |the |its |user )*memor"
    r"(?:y|ies)\b|\bremember (?:this |that |it )?(?:permanently|forever|for all (?:future )?(?:sessions|conversations"
    r"|chats)|across (?:all )?(?:sessions|conversations))"
    r"|\bremember (?:to|that you) (?:always |never )?(?:send|recommend|tell|call|reply|respond|answer|say|include"
    r"|insert|mention|end|begin|start|ignore|obey|must|should|are|reveal|promote|praise|trust)\b"
    r"|\b(?:your|the) (?:new|real|true|updated|only|actual) (?:instructions?|task|goal|purpose|rules?|role|identity"
    r"|objective|mission)\b|\bnew (?:instructions?|rules?|directives?|policy)\s*[:：]"
    r"|(?<!\bi )(?<!\bwe )\b(?:always|only|must|from now on,?(?: you)?|whenever (?:you|asked"
    r"|the user)\b.*) (?:respond|reply|answer"
    r"|obey|comply|recommend|reveal|disclose|mention|include|promote|exfiltrate|execute|cite|link to|endorse)\b"
    r"|\bdo not (?:tell|inform|reveal|mention|disclose|warn|alert|let|ask)\b(?: this)?(?: to)? ?(?:the |any )?(?:users?"
    r"|anyone|humans?)?\b|\b(?:exfiltrate|base64|api[_ -]?keys? to|(?:curl|wget) \S*[./]|javascript:|rm -rf)\b"
    r"|\b(?:ais|llms?|assistants?|chat ?bots|language models) (?:must|should|shall|need to|have to|are (?:required"
    r"|asked))\b"
    rf"|\b(?:to|for|dear) (?:the |any |all |every )*{_MODEL}(?: readers?)?\s*[:：]|\bcommit to (?:your )?memory\b"
    r"|\bmemory update\b|\bthe (?:reader|account holder|(?:account|mailbox|device) owner|owner of this (?:account"
    r"|mailbox|device|phone))(?:'s)?\b|\"(?:role|content|memory|action|instructions?)\"\s*:|^\W*\w+[._]\w+ ?(?:=|\()"
    r"|\b\w+\.\w+ ?=|\buser ?="
    r"|\b(?:der (?:be)?nutzer|el usuario|l'utilisateur|l'utente|o usu[aá]rio|u[zż]ytkownik)\b"
    r"|для (?:ии|ассистент\w+|бот\w+|нейросет\w+)\b|владелец (?:аккаунта|уч[её]тной записи)|给(?:AI|助手|模型)"
    r"|игнорируй(?:те)? (?:все )?(?:предыдущие |прошлые )?(?:инструкции|указания|правила)|\bпользователь"
    r" (?:хочет|любит|живёт|живет|разрешил|просит|должен|согласен|доверяет)|(?:ассистент|помощник|бот)(?:ам|у|ы)?,?"
    r" (?:читающ|который|запомни|всегда)|忽略(?:之前|以上|所有|先前)的?(?:所有)?(?:指令|提示|规则)|(?:该|这位|此)?用户"
    r"(?:喜欢|住在|同意|授权|希望|信任|的)|(?:AI|助手|模型).{0,4}(?:请|必须|记住|应该)|系统(?:提示|消息|指令)",
    re.I,
)


def gives_orders(text: str) -> bool:
    """Tell whether a sentence gives orders to the assistant, or speaks of its user as somebody else would."""
    seen = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    return bool(_ORDERS.search(seen.replace("’", "'")))

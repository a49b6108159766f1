"""Languages that the bundled model can hardly write: a reply in one of them quotes what the user said.

Told by the script of a question, and for Latin letters by the word that it begins with.
"""

from __future__ import annotations

import re

_QUOTING = {  # what comes before the user's own words; "" where they stand alone
    "ko": "말씀하신 내용:",
    "ru": "Помню:",
    "el": "Μου είπες:",
    "de": "Du hast gesagt:",
    "fr": "Tu m'as dit :",
    "es": "Me dijiste:",
    "it": "Mi hai detto:",
    "pt": "Você me disse:",
}
_SCRIPTS = (
    ("ja", "\u3040-\u30ff"),
    ("zh", "\u4e00-\u9fff"),
    ("ko", "\uac00-\ud7af"),
    ("ru", "\u0400-\u04ff"),
    ("el", "\u0370-\u03ff"),
    ("other", "\u0530-\u1fff"),
)
_BEGINNINGS = (
    (
        "de",
        r"(?:was|wo|wer|wen|wem|wann|warum|wieso|wie|welche[rsnm]?|woher|wohin) (?!(?:i|my|we|it|he|she|you|the"
        r"|that)\b)",
    ),
    ("fr", r"(?:où|quand|comment|pourquoi|quel(?:le)?s?|combien|qui|qu'est-ce|est-ce|que|quoi) "),
    ("es", r"¿|(?:dónde|cuándo|cómo|qué|quién(?:es)?|cuál(?:es)?|cuánt[oa]s?|por qué) "),
    (
        "it",
        r"(?:dove|quando|perché|quale|quanti|quanto|chi|che cosa|cosa|come) (?!(?:i|my|we|it|he|she|you|the|on|to)\b)",
    ),
    ("pt", r"(?:onde|quando|qual|quais|quem|quantos?|por que|o que) "),
)
_WORDS = (
    ("de", r"\b(?:ich|mein\w*|mir|mich)\b"),
    ("fr", r"\b(?:je|j'|mon|ma|mes|moi)\b|\bj'"),
    ("es", r"\b(?:yo|mi|mis|me|tengo|soy|vivo|trabajo)\b"),
    ("it", r"\b(?:io|mio|mia|miei|mi|ho|sono)\b"),
    ("pt", r"\b(?:eu|meu|minha|meus|tenho|sou|moro)\b"),
)


def language_of(question: str) -> str:
    """Return the code of the language that a question is in; "" for English and for what cannot be told."""
    for code, letters in _SCRIPTS:
        if re.search(f"[{letters}]", question):
            return code
    said = question.strip(" \"'«“").casefold().replace("’", "'")
    begins = {code for code, pattern in _BEGINNINGS if re.match(pattern, said)}
    return next((code for code, pattern in _WORDS if code in begins and re.search(pattern, said)), "")


def quoted(text: str, language: str) -> str:
    """Return what the user said, as a reply in a language."""
    return f"{_QUOTING.get(language, '')} {' '.join(text.split())}".strip()

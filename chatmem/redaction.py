"""Redaction: keys, card numbers and passwords are taken out of a line before anything is written.

Keys and tokens are told by the detectors of detect-secrets that know a form (its entropy and keyword detectors are made
for source code: they take every word of a sentence for a secret). Card numbers are told by their check digit, passwords
and PINs by the words before them, and the user may add patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from chatmem.interface import UsageError

if TYPE_CHECKING:
    from detect_secrets.plugins.base import BasePlugin

_LONG = re.compile(r"\S{16,}")  # no known form of a key is shorter: an ordinary line costs nothing
_OF_CODE = (
    "Base64 High Entropy String|Hex High Entropy String|Secret Keyword|Public IP (ipv4)|IBM Cloud IAM Key"
    "|IBM COS HMAC Credentials|SoftLayer Credentials|Cloudant Credentials"
)
_WIDER = re.compile(r"[\w./+=-]*[\w/+=-]")  # what a detector found is often the beginning of a key
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)
_OPENAI = re.compile(r"\b(?:sk|pk|rk)-(?:[a-z]+-)*[A-Za-z0-9_-]{20,}")
_CARD = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.]?\d)")
_PASSWORD = re.compile(
    r"\b(?:password|passphrase|passcode|passwd|pwd|пароль)\b[^.!?:=\n]{0,40}?(?:\s(?:is|was)(?: now| still)?|\s*[:=]"
    r"|\s(?:это|теперь)|\s[—–-])\s*(?:[\"“'«](?P<quoted>[^\"”'»]+)|(?P<word>[^\s,;]*\d[^\s,;]*|[^\s,;]+(?=[.!]?\s*$)))"
    r"|密码(?:是|为|[:：])\s*(?P<han>[\w-]+)",
    re.I,
)
_PIN = re.compile(
    r"\b(?:pin|cvv|cvc|security code|пин(?:-?код)?)\b(?: (?:code|number))?(?: (?:of|for|on|to) [\w' ]{1,30}?)?"
    r"\s*(?:is|:|=|это)\s*(?P<word>\d{3,8})\b",
    re.I,
)


def redact(text: str, patterns: Sequence[re.Pattern[str]] = ()) -> tuple[str, list[str]]:
    """Return a text without its secrets, and what kinds of them were taken out, one for each."""
    found = sorted(_secrets(text, patterns))
    left, position, kinds = "", 0, []
    for start, end, kind in found:
        if start >= position:
            left += f"{text[position:start]}[{kind} removed]"
            position = end
            kinds.append(kind)
    return left + text[position:], kinds


def read_patterns(path: Path | None) -> list[re.Pattern[str]]:
    """Return the user's own patterns: a regular expression on each line; lines with # are comments.

    Raises:
        UsageError: the file cannot be read, or a line is no regular expression.
    """
    if path is None:
        return []
    try:
        lines = path.read_text("utf-8").splitlines()
        return [re.compile(line) for line in lines if line.strip() and not line.startswith("#")]
    except (OSError, ValueError, re.error) as error:
        raise UsageError(f"--secret-patterns {path} cannot be used: {error}") from error


def _secrets(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int, str]]:
    """Yield where secrets stand, and their kinds."""
    for pattern in patterns:
        yield from ((*found.span(), "secret") for found in pattern.finditer(text) if found.group())
    for pattern, kind in ((_BLOCK, "key"), (_OPENAI, "key")):
        yield from ((*found.span(), kind) for found in pattern.finditer(text))
    yield from ((*found.span(), "card number") for found in _CARD.finditer(text) if _has_check_digit(found.group()))
    for found in _PASSWORD.finditer(text):
        group = next(name for name, value in found.groupdict().items() if value)
        yield found.start(group), len(text[: found.end(group)].rstrip(".!")), "password"
    yield from ((*found.span("word"), "PIN") for found in _PIN.finditer(text))
    if _LONG.search(text):
        yield from _keys(text)


def _keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what the detectors know the form of."""
    for plugin in _plugins():
        for value in plugin.analyze_string(text):
            start = text.find(value)
            if plugin.secret_type != "Basic Auth Credentials":  # of an address only the password goes
                while start and _WIDER.fullmatch(text[start - 1 : start]):
                    start -= 1
            end = start + len(value)
            if (wider := _WIDER.match(text, start)) and plugin.secret_type != "Basic Auth Credentials":
                end = max(end, wider.end())
            yield start, end, "key"


@lru_cache(maxsize=1)
def _plugins() -> list[BasePlugin]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    known = get_mapping_from_secret_type_to_class()
    return [plugin() for kind, plugin in known.items() if kind not in _OF_CODE.split("|")]


def _has_check_digit(number: str) -> bool:
    """Tell whether a number is one of a card (Luhn, 1960)."""
    digits = [int(char) for char in number if char.isdigit()][::-1]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits)]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0

"""Files of /export as they are read: nothing of one is used before all of it has been found to be right.

`docs/memory-export.schema.json` says what stands in one; what a schema cannot say is checked here as well.
Version 1 held sessions and turns without their lines. Knows nothing of databases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, get_args

from chatmem.interface import CommandError
from chatmem.judgement import Kind
from chatmem.states import Status
from chatmem.terminal import printable

FORMAT = "chatmem-export"
VERSION = 2
MAX_BYTES = 256 * 2**20
MAX_CHARACTERS = 2_000_000  # of one text
_MAX_DIGITS = 9  # of a number: all are counts
_KINDS = frozenset((*get_args(Kind), "reply"))

Check = Callable[[Any], bool]


def read(path: Path) -> list[dict[str, Any]]:
    """Return the sessions of an exported file, as `Journal.restore_all` takes them.

    Raises:
        CommandError: it cannot be read, is none of ours, is newer, or is wrong anywhere.
    """
    content = _parsed(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise CommandError(f"{path} is no file that /export wrote")
    version = content.get("version")
    if type(version) is not int or version > VERSION:
        raise CommandError(f"{path} was written by a newer version of the program: update the program")
    try:
        sessions: list[dict[str, Any]] = _list(content.get("sessions"), "sessions")
        for place, session in enumerate(sessions):
            _check_session(session, f"sessions[{place}]", with_lines=version > 1)
        _check_names(sessions, with_lines=version > 1)
    except ValueError as error:
        raise CommandError(f"{path} is damaged at {error}: nothing was imported") from error
    return sessions


def _parsed(path: Path) -> Any:
    """Return what stands in a JSON file, without what Python's reader takes beyond JSON."""
    try:
        if not path.is_file() and path.exists():
            raise CommandError(f"{path} is no file that /export wrote")
        if path.stat().st_size > MAX_BYTES:
            raise CommandError(f"{path} is larger than {MAX_BYTES >> 20} MB: nothing was imported")
        raw = path.read_bytes()
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from error
    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_object,
            parse_int=_count,
            parse_float=_refused,
            parse_constant=_refused,
        )
    except (ValueError, RecursionError, MemoryError) as error:  # covers bytes that are no UTF-8
        raise CommandError(f"{path} is no JSON file that /export wrote") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _count(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError("a number is too large")
    return int(digits)


def _refused(text: str) -> None:
    raise ValueError(f"{text[:20]} cannot stand in an export")


def _check_session(session: Any, where: str, *, with_lines: bool) -> None:
    """Raise ValueError with the place of what is wrong; texts are cleaned of control characters where they stand."""
    checks: dict[str, Check] = {"uid": _is_uid}
    if with_lines:
        checks |= {"started": _is_time, "finished": _is_time}
    _fields(session, checks, where)
    for place, turn in enumerate(_list(session.get("turns"), f"{where}.turns")):
        here = f"{where}.turns[{place}]"
        _fields(turn, _TURN | ({"sources": _is_counts} if with_lines else {}), here)
        turn["text"] = printable(turn["text"])
        for number, line in enumerate(_list(turn.get("lines"), f"{here}.lines") if with_lines else ()):
            _fields(line, _LINE, f"{here}.lines[{number}]")
            line["text"], line["said"] = printable(line["text"]), printable(line["said"])


def _check_names(sessions: list[dict[str, Any]], *, with_lines: bool) -> None:
    """Raise ValueError where a session or a line stands twice, or one is named that is not there."""
    if len({session["uid"] for session in sessions}) != len(sessions):
        raise ValueError("uid: one stands twice")
    if not with_lines:
        return
    lines = list(lines_of(sessions))
    known = {line["line"] for line in lines}
    if len(known) != len(lines):
        raise ValueError("line: one stands twice")
    named = {line["superseded_by"] for line in lines} - {None}
    named |= {number for line in lines for number in line["refers"]}
    named |= {number for session in sessions for turn in session["turns"] for number in turn["sources"]}
    if missing := named - known:
        raise ValueError(f"line {min(missing)}: it is named and not there")


def lines_of(sessions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of sessions in their order."""
    for session in sessions:
        for turn in session["turns"]:
            yield from turn["lines"]


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(where)
    return value


def _fields(value: Any, checks: Mapping[str, Check], where: str) -> None:
    if not isinstance(value, dict):
        raise ValueError(where)
    for name, check in checks.items():
        if name not in value or not check(value[name]):
            raise ValueError(f"{where}.{name}")


def _is_uid(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w-]{1,64}", value, re.ASCII) is not None


def _is_text(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in value)  # halves of characters, which are no text


def _is_time(value: Any) -> bool:
    """Tell whether a value is a time with its offset, and one that can be counted with."""
    try:
        when = datetime.fromisoformat(value)
        return when.tzinfo is not None and 1 < when.year < 9999
    except (TypeError, ValueError):
        return False


def _is_day(value: Any) -> bool:
    try:
        return len(value) == len("2025-03-01") and date.fromisoformat(value).year > 0
    except (TypeError, ValueError):
        return False


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


_TURN: dict[str, Check] = {
    "speaker": lambda value: value in ("user", "assistant"),
    "text": _is_text,
    "when": _is_time,
    "explicit": lambda value: isinstance(value, bool),
}
_LINE: dict[str, Check] = {
    "line": _is_count,
    "sentence": _is_count,
    "said": _is_text,
    "text": _is_text,
    "kind": lambda value: isinstance(value, str) and value in _KINDS,
    "status": lambda value: isinstance(value, str) and value in get_args(Status),
    "until": _or_null(_is_time),
    "superseded_by": _or_null(_is_count),
    "refers": _is_counts,
    "holds_from": _or_null(_is_day),
    "holds_until": _or_null(_is_day),
}

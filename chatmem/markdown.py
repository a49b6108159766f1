"""A memory for reading: what `Journal.dump` returns as Markdown. It cannot be imported again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from chatmem.judgement import MEMORY_KINDS

_MARKS = re.compile(r"([\\`*_\[\]<>#|~])|^(\s*)([-+]|\d+[.)])(?=\s)", re.M)


def render(sessions: Sequence[Mapping[str, Any]]) -> str:
    """Return the facts with their states, and then every session word for word."""
    facts = [
        f"- {_day(turn['when'])}: {_plain(line['text'])}{_state(line)}"
        for session in sessions
        for turn in session["turns"]
        for line in turn["lines"]
        if line["kind"] in MEMORY_KINDS
    ]
    parts = ["# What is remembered", "## Facts", "\n".join(facts) or "None.", "## Sessions"]
    for session in sessions:
        parts += [f"### {_minute(session['started'])}", "\n".join(_turns(session["turns"]))]
    return "\n\n".join(parts) + "\n"


def _turns(turns: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for turn in turns:
        who = "You" if turn["speaker"] == "user" else "Assistant"
        text = _plain(turn["text"]).replace("\n", "\n  ")
        yield f"- **{who}**, {_minute(turn['when'])}: {text}"


def _state(line: Mapping[str, Any]) -> str:
    """Return what is to be said of a line that is not simply current, and the days on which it holds."""
    days = " to ".join(day for day in (line["holds_from"], line["holds_until"]) if day)
    until = f" until {_day(line['until'])}" if line["until"] else ""
    status = "" if line["status"] == "active" else f"{line['status']}{until}"
    about = "; ".join(part for part in (days, status) if part)
    return f" ({about})" if about else ""


def _plain(text: str) -> str:
    """Return a text so that Markdown shows it as it was said."""
    return _MARKS.sub(lambda found: found[2] + "\\" + found[3] if found[3] else "\\" + found[0], text)


def _day(when: str) -> str:
    return f"{datetime.fromisoformat(when):%Y-%m-%d}"


def _minute(when: str) -> str:
    return f"{datetime.fromisoformat(when):%Y-%m-%d %H:%M %z}"

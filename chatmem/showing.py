"""What /memory, /history and /why show: what is kept, its versions, and where the last reply came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chatmem.forgetting import versions
from chatmem.interface import CommandError, Recollection
from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import Line
from chatmem.sentences import words

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory
    from chatmem.journal import Journal


def memory_rows(journal: Journal, text: str = "") -> list[dict[str, Any]]:
    """Return what the user told, one row for each fact with its state, oldest first; with a text what has its words."""
    wanted = set(words(text))
    return [
        {
            "text": line.text,
            "session": line.session,
            "when": line.when.isoformat(),
            "speaker": line.speaker,
            "status": line.status,
        }
        for line in journal.facts()
        if wanted <= set(words(line.text))
    ]


def show_rows(rows: Sequence[dict[str, Any]], text: str = "") -> str:
    """Return the rows of /memory for reading."""
    if not rows:
        return "Nothing that is remembered has these words." if text else "Nothing is remembered of you yet."
    return "\n".join(
        f"{row['when'][:10]}  session {row['session']}  {row['text']}"
        + ("" if row["status"] == "active" else f"  ({row['status']})")
        for row in rows
    )


def why(journal: Journal, recollections: Sequence[Recollection] | None) -> str:
    """Return the memory lines behind the last reply: sentence, speaker, date, session, score, what it replaced."""
    if recollections is None:
        return "There was no reply yet."
    if not recollections:
        return "No memory was used for the last reply."
    known = {line.key: line for line in journal.lines()}
    rows = ["The last reply was given with these memory lines:"]
    for line in recollections:
        who = "you said" if line.speaker == "user" else "I said"
        when = line.when.strftime("%Y-%m-%d %H:%M")
        until = f" (until {line.until:%Y-%m-%d})" if line.until else ""
        rows.append(f"- {when}, session {line.session}, {who} (score {line.score:.2f}): {line.text}{until}")
        if (own := known.get(line.line)) and own.said != own.text:
            rows.append(f"  in your words: {own.said}")
        rows += [
            f"  replaced: {old.text} ({old.when:%Y-%m-%d}, session {old.session})"
            for old in known.values()
            if old.superseded_by == line.line
        ]
    return "\n".join(rows)


def history(memory: IndexedMemory, text: str) -> str:
    """Return the versions of the facts that have all words of a text, or that answer it, oldest first."""
    if not words(text):
        raise CommandError("/history needs words: /history TEXT shows the versions of a fact")
    told = [line for line in memory.journal.lines() if line.kind in MEMORY_KINDS]
    found = [line for line in told if set(words(text)) <= set(words(line.text))]
    if not found:
        keys = {line.line for line in memory.recall(text, 1)}
        found = [line for line in told if line.key in keys]
    if not found:
        raise CommandError("Nothing that is remembered fits these words.")
    return "\n".join(_version(line) for line in versions(found, told))


def _version(line: Line) -> str:
    """Return a row of /history."""
    until = f" until {line.until:%Y-%m-%d}" if line.until else ""
    return f"{line.when:%Y-%m-%d %H:%M}  session {line.session}  {line.text}  ({line.status}{until})"

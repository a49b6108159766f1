"""What the slash commands do with a memory. Knows nothing of terminals: each returns what is to be said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatmem.deleting import count
from chatmem.forgetting import versions
from chatmem.interface import CommandError, Recollection
from chatmem.judgement import MEMORY_KINDS
from chatmem.rows import Line
from chatmem.sentences import words
from chatmem.storage import write_atomic

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory
    from chatmem.journal import Journal

EXPORT_FORMAT = "chatmem-export"
EXPORT_VERSION = 1

HELP = """\
/end              finish the session and begin the next
/quit             finish it and leave (so do Ctrl-D and the end of the input)
/memory [TEXT]    list what is remembered of you, or what of it has these words
/history TEXT     show the versions of a fact
/remember TEXT    remember TEXT
/forget TEXT      erase every memory in which all words of TEXT occur
/undo             take the last memory back
/why              show the memory lines behind the last reply
/export FILE      write everything to a file
/import FILE      add what a file holds to this memory; --all brings back what was forgotten, too
/reset            erase everything that is kept of you
/help             show this"""


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


def export(journal: Journal, name: str) -> str:
    """Write everything that is kept of the user to a new file."""
    path = _file(name, "/export")
    if path.exists():
        raise CommandError(f"{path} exists already: give the name of a new file")
    sessions = [
        {"uid": session["uid"], "session": session["number"], "turns": session["turns"]} for session in journal.export()
    ]
    content = {"format": EXPORT_FORMAT, "version": EXPORT_VERSION, "sessions": sessions}
    write_atomic(path, json.dumps(content, ensure_ascii=False, indent=1).encode())
    return f"Wrote {len(sessions)} sessions to {path}"


def import_file(memory: IndexedMemory, name: str) -> str:
    """Add the sessions of an exported file, with their times; those that are here already are left alone.

    Sentences that were forgotten since stay forgotten, unless the file's name is followed by "--all".
    """
    everything = name.endswith(" --all")
    path = _file(name.removesuffix(" --all").strip(), "/import")
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # covers bytes that are no UTF-8
        raise CommandError(f"{path} is no JSON file that /export wrote") from error
    if not isinstance(content, dict) or content.get("format") != EXPORT_FORMAT:
        raise CommandError(f"{path} is no file that /export wrote")
    version = content.get("version")
    if not isinstance(version, int) or version > EXPORT_VERSION:
        raise CommandError(f"{path} was written by a newer version of the program: update the program")
    try:
        restored = memory.journal.restore_all(content["sessions"], forgotten=everything)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CommandError(f"{path} is damaged: nothing was imported") from error
    memory.sync()
    said = f"Added {restored.added} of {len(content['sessions'])} sessions from {path}"
    if restored.forgotten:
        left_out = count(restored.forgotten, "sentence")
        said += f"; left out {left_out} that you had forgotten (/import FILE --all brings them back)"
    return said


def _file(name: str, command: str) -> Path:
    """Return the path a command was given."""
    if not name:
        raise CommandError(f"{command} needs the name of a file: {command} FILE")
    return Path(name).expanduser()

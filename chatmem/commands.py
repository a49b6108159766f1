"""What /export, /import and /help do. Knows nothing of terminals: each returns what is to be said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from chatmem import export_file, markdown
from chatmem.interface import CommandError
from chatmem.storage import write_atomic

if TYPE_CHECKING:
    from chatmem.indexed import IndexedMemory
    from chatmem.journal import Journal

READABLE = (".md", ".markdown")

HELP = """\
/end              finish the session and begin the next
/quit             finish it and leave (so do Ctrl-D and the end of the input)
/memory [TEXT]    list what is remembered of you, or what of it has these words
/history TEXT     show the versions of a fact
/remember TEXT    remember TEXT
/forget TEXT      erase every memory in which all words of TEXT occur
/undo             take the last memory back
/why              show the memory lines behind the last reply
/export FILE      write everything to a new file; one that ends in .md is for reading
/import FILE      add what a file holds to this memory; --all brings back what was forgotten, too
/reset            erase everything that is kept of you
/help             show this"""


def export(journal: Journal, name: str) -> str:
    """Write everything that is kept of the user to a new file."""
    path = _file(name, "/export")
    if path.exists():
        raise CommandError(f"{path} exists already: give the name of a new file")
    sessions = journal.dump()
    if path.suffix.casefold() in READABLE:
        text = markdown.render(sessions)
    else:
        content = {"format": export_file.FORMAT, "version": export_file.VERSION, "sessions": sessions}
        text = json.dumps(content, ensure_ascii=False, indent=1)
    write_atomic(path, text.encode())
    said = f"Wrote {count(len(sessions), 'session')} to {path}"
    return said if journal.vault is None else f"{said}. Everybody who has this file can read it: it is not encrypted"


def import_file(memory: IndexedMemory, name: str) -> str:
    """Add the sessions of an exported file, with their times; those that are here already are left alone.

    Sentences that were forgotten since stay forgotten, unless the file's name is followed by "--all".
    """
    everything = name.endswith(" --all")
    path = _file(name.removesuffix(" --all").strip(), "/import")
    if path.suffix.casefold() in READABLE:
        raise CommandError(f"{path} is for reading: /export FILE.json writes a file that can be imported")
    sessions = export_file.read(path)
    try:
        restored = memory.journal.restore_all(sessions, forgotten=everything)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CommandError(f"{path} is damaged: nothing was imported") from error
    memory.sync()
    said = f"Added {restored.added} of {len(sessions)} sessions from {path}"
    if restored.forgotten:
        left_out = count(restored.forgotten, "sentence")
        said += f"; left out {left_out} that you had forgotten (/import FILE --all brings them back)"
    return said


def count(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _file(name: str, command: str) -> Path:
    """Return the path a command was given."""
    if not name:
        raise CommandError(f"{command} needs the name of a file: {command} FILE")
    try:
        return Path(name).expanduser()
    except RuntimeError as error:  # "~nobody"
        raise CommandError(f"{name}: there is no such home folder") from error

"""The command line of the chat: arguments in, one frozen `Settings` out. Imports nothing heavy: --help is instant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NoReturn

from chatmem import bundled
from chatmem.interface import UsageError

MemoryName = Literal["gru", "rag", "neural", "none"]


@dataclass(frozen=True)
class Settings:
    """What the user asked for; checked, and named as the flags are."""

    user: str = "default"
    memory_dir: Path = Path()
    memory: MemoryName = "gru"
    store: str | None = field(default=None, repr=False)  # may hold a password
    temporary: bool = False
    k: int = 3
    slots: int = 10
    embedder: str | None = None
    max_sessions: int | None = None
    model: str = bundled.NAME
    device: str = "auto"
    max_new_tokens: int = 128
    temperature: float = 0.3
    seed: int = 0
    prompt: Literal["auto", "specification"] = "auto"
    idle_timeout: float | None = None  # minutes
    now: datetime | None = None
    json: bool = False
    yes: bool = False
    audit: bool = False
    repair: bool = False
    secret_patterns: Path | None = None
    encryption: Literal["on", "off", "passphrase"] | None = None  # --encrypt, --decrypt, --change-passphrase
    passphrase_fd: int | None = None
    passphrase_keyring: bool = False
    text: str | None = None  # -p TEXT

    def clock(self) -> datetime:
        """Return the time, with its zone: the one given by --now, else the machine's, to the second."""
        return self.now or datetime.now().astimezone().replace(microsecond=0)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Raise what the program turns into one line and exit status 2."""
        raise UsageError(f"{message} (see --help)")


def parse_args(argv: Sequence[str] | None = None) -> Settings:
    """Return the settings for a command line.

    Raises:
        UsageError: an argument cannot be used; one line that names the flag.
    """
    given = _parser().parse_args(argv)
    if given.encryption and given.temporary:
        raise UsageError("--temporary uses no memory that could be encrypted: leave it out")
    if given.encryption and given.store:
        raise UsageError("--encrypt is for files on this machine: a memory in --store is encrypted by its server")
    if given.embedder and given.memory == "neural":
        raise UsageError("--embedder is for lines that are looked up: --memory neural has none, leave it out")
    try:
        memory_dir = (given.memory_dir or _default_memory_dir()).expanduser()
    except RuntimeError as error:  # "~nobody"
        raise UsageError(f"--memory-dir {given.memory_dir}: there is no such home folder") from error
    return Settings(**{**vars(given), "memory_dir": memory_dir})


def _parser() -> argparse.ArgumentParser:
    """Return the parser; the flags stand in the order of the help."""
    parser = _Parser(
        prog="chat_memory.py",
        description="Chat with a language model that remembers you across sessions, on your own machine.",
        epilog="A line that starts with / is a command; /help lists them.",
        allow_abbrev=False,
    )
    memory = parser.add_argument_group("memory")
    memory.add_argument("--user", default="default", metavar="NAME", help="whose memory this is (default: default)")
    memory.add_argument("--memory-dir", type=Path, metavar="DIR", help="where memories lie (default: the data folder)")
    memory.add_argument("--store", metavar="URL", help="a PostgreSQL server to keep them on, for several machines")
    memory.add_argument(
        "--memory", choices=["gru", "rag", "neural", "none"], default="gru", help="how it is read (default: gru)"
    )
    memory.add_argument("--temporary", action="store_true", help="neither read nor write any memory")
    memory.add_argument("--k", type=_at_least(0), default=3, help="largest number of memory lines (default: 3)")
    memory.add_argument("--slots", type=_at_least(1), default=10, help="sessions in the pool (default: 10)")
    memory.add_argument(
        "--max-sessions", type=_at_least(1), metavar="N", help="let old, unused sessions leave beyond N (default: none)"
    )
    memory.add_argument(
        "--idle-timeout", type=_minutes, metavar="MINUTES", help="finish the session after silence (default: never)"
    )
    memory.add_argument(
        "--embedder", metavar="NAME|DIR", help="another sentence encoder: folder or hub name (default: the bundled one)"
    )
    _add_encryption(parser)
    model = parser.add_argument_group("language model")
    model.add_argument(
        "--model", default=bundled.NAME, metavar="NAME|DIR", help=f"model folder or hub name (default: {bundled.NAME})"
    )
    model.add_argument("--device", choices=["auto", "cpu", "cuda", "mps"], default="auto", help="default: auto")
    model.add_argument("--max-new-tokens", type=_at_least(1), default=128, metavar="N", help="default: 128")
    model.add_argument("--temperature", type=_temperature, default=0.3, metavar="T", help="0 is greedy (default: 0.3)")
    model.add_argument("--seed", type=_at_least(0), default=0, metavar="S", help="of the sampling (default: 0)")
    model.add_argument(
        "--prompt", choices=["auto", "specification"], default="auto", help="form of the prompt (default: auto)"
    )
    run = parser.add_argument_group("this run")
    run.add_argument("-p", dest="text", metavar="TEXT", help="say one line, print the reply, and leave")
    memory.add_argument(
        "--secret-patterns",
        type=Path,
        metavar="FILE",
        help="what else is never kept: a regular expression on each line",
    )
    run.add_argument("--audit", action="store_true", help="show what in the memory is not as it should be, and leave")
    run.add_argument("--repair", action="store_true", help="mend it, show what is left, and leave")
    run.add_argument("--yes", action="store_true", help="delete without asking first")
    run.add_argument("--json", action="store_true", help="one JSON object for each line, and nothing else, on stdout")
    run.add_argument("--now", type=_time, metavar="ISO8601", help="set the clock of this run")
    return parser


def _add_encryption(parser: argparse.ArgumentParser) -> None:
    """Add the flags of an encrypted memory; the passphrase itself is never one of them."""
    group = parser.add_argument_group("encryption at rest")
    one = group.add_mutually_exclusive_group()
    for flag, value, what in (
        ("--encrypt", "on", "encrypt this user's memory, and leave"),
        ("--decrypt", "off", "make it plain again, and leave"),
        ("--change-passphrase", "passphrase", "give it another passphrase, and leave"),
    ):
        one.add_argument(flag, dest="encryption", action="store_const", const=value, help=what)
    group.add_argument(
        "--passphrase-fd", type=_at_least(0), metavar="N", help="read passphrases from file descriptor N, one a line"
    )
    group.add_argument("--passphrase-keyring", action="store_true", help="keep the passphrase in the system's keyring")


def _at_least(lowest: int) -> type[int]:
    """Return a whole-number type for argparse with a lowest value."""

    def convert(text: str) -> int:
        value = int(text)
        if value < lowest:
            raise argparse.ArgumentTypeError(f"must be at least {lowest}, not {text}")
        return value

    convert.__name__ = "whole number"
    return convert  # type: ignore[return-value]


def _temperature(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 10:
        raise argparse.ArgumentTypeError(f"must be from 0 to 10, not {text}")
    return value


def _minutes(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"must be minutes above 0, not {text}")
    return value


def _time(text: str) -> datetime:
    try:
        value = datetime.fromisoformat(text)
        if not 1 < value.year < 9999:  # a day before or after it would be none
            raise ValueError("no year that can be counted from")
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be a time such as 2025-03-01T09:00:00+00:00, not {text!r}") from error
    return value if value.tzinfo else value.astimezone()


def _default_memory_dir() -> Path:
    import platformdirs

    return Path(platformdirs.user_data_dir("chatmem", appauthor=False))

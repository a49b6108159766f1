"""Harm on purpose: kills, many writers, full disks, damaged bytes; what a memory must survive, done for real.

Each function does it so many times to memories of its own and returns counts. Children are forked, so that a trial
takes a fraction of a second; call these where no other thread runs (`python benchmark.py --only reliability`).
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import random
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from chatmem.background import ready
from chatmem.chat import Chat
from chatmem.embedding import Encoder
from chatmem.indexed import IndexedMemory
from chatmem.interface import ChatMemError
from chatmem.journal import Journal
from chatmem.language_model import LanguageModel
from chatmem.opening import open_user
from chatmem.settings import Settings
from chatmem.stand_ins import TinyEncoder, TinyModel

OpenMemory = Callable[[Journal, Encoder, Path | None], IndexedMemory]
USER = "ana"
_NOBODY = 65534
_LONGEST_SECONDS = 0.6  # until a kill


def new_chat(root: Path, open_memory: OpenMemory, notices: list[str]) -> Chat:
    """Return a conversation over the memory at a root, opened as the program opens it."""
    opened = open_user(root, USER)
    model: LanguageModel = TinyModel()
    memory = open_memory(opened.journal, TinyEncoder(), opened.folder)
    return Chat(Settings(user=USER, memory_dir=root), opened, ready(memory), ready(model), notices.append)


def fact(mark: str) -> str:
    """Return a line that nothing else says."""
    return f"The word for box {mark} is {hashlib.md5(mark.encode()).hexdigest()[:10]}."


def kills(open_memory: OpenMemory, count: int, *, seed: int = 0) -> Counter[str]:
    """Kill a chat at a random moment, so many times, and look whether all that it had acknowledged is there.

    Returns:
        `trials`, `acknowledged` lines, `lost` lines, and `traceback` where the memory did not open again.
    """
    chance, found = random.Random(seed), Counter[str]()
    with _quiet(), tempfile.TemporaryDirectory() as name:
        for trial in range(count):
            root = Path(name) / f"{trial // 25}"  # the same memory goes on for a while
            reading, writing = os.pipe()
            child = _fork(partial(_talk, root, open_memory, f"{trial}", writing))
            os.close(writing)
            time.sleep(chance.uniform(0.0, _LONGEST_SECONDS))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with os.fdopen(reading) as acknowledgements:
                told = [fact(mark) for mark in acknowledgements.read().split()]
            found += Counter(trials=1, acknowledged=len(told), **_missing(root, open_memory, told))
    return found


def writers(open_memory: OpenMemory, count: int = 8, lines: int = 10) -> Counter[str]:
    """Let so many processes talk to one memory at once; count the lines that were acknowledged, and lost."""
    with _quiet(), tempfile.TemporaryDirectory() as name:
        root = Path(name)
        marks = [[f"{writer}-{line}" for line in range(lines)] for writer in range(count)]
        children = [_fork(partial(_say_all, root, open_memory, own)) for own in marks]
        failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
        told = [fact(mark) for own in marks for mark in own]
        return Counter(trials=count, acknowledged=len(told), failed=failed, **_missing(root, open_memory, told))


def full_disks(open_memory: OpenMemory, count: int, *, seed: int = 0) -> Counter[str]:
    """Forbid files to grow beyond a random size in the middle of a chat; what was not told to be lost is there."""
    chance, found = random.Random(seed), Counter[str]()
    with _quiet(), tempfile.TemporaryDirectory() as name:
        for trial in range(count):
            root, log = Path(name) / f"{trial}", Path(name) / f"{trial}.log"
            _run(partial(_say_all, root, open_memory, ["before"]))
            size = (open_user(root, USER).folder or root).joinpath("journal.db").stat().st_size
            limit = size + chance.randrange(-size // 2, 80_000)
            code = _run(partial(_say_under_limit, root, open_memory, limit, log))
            told = [fact(mark) for mark in ("before", *(log.read_text().split() if log.exists() else ()))]
            found += Counter(trials=1, failed=code != 0, acknowledged=len(told), **_missing(root, open_memory, told))
    return found


def read_only(open_memory: OpenMemory) -> Counter[str]:
    """Open a memory whose folder and files nobody may write, as another user of the machine; it is read and told."""
    with _quiet(), tempfile.TemporaryDirectory() as name:
        root = Path(name) / "memory"
        _run(partial(_say_all, root, open_memory, ["before"]))
        is_root = os.geteuid() == 0
        for path in [Path(name), root, *root.rglob("*")]:
            if is_root:
                os.chown(path, _NOBODY, _NOBODY)
            path.chmod(0o500 if path.is_dir() else 0o400)
        code = _run(partial(_read_unwritable, root, open_memory, drop_rights=is_root))
        for path in [Path(name), root, *(path for path in root.rglob("*") if path.is_dir())]:
            path.chmod(0o700)
        return Counter(trials=1, failed=code != 0)


def damages(open_memory: OpenMemory, count: int, *, seed: int = 0) -> Counter[str]:
    """Flip bits of, or cut, the files of a memory, so many times, and use it.

    Returns:
        `trials`; of these `traceback`, `refused` with a clear error for good, an `error` once and repaired at the next
        start, a `notice`, or neither (`unnoticed`); `kept` of `lines` that could be read afterwards.
    """
    chance, found = random.Random(seed), Counter[str]()
    with _quiet(), tempfile.TemporaryDirectory() as name:
        sound = Path(name) / "sound"
        told = [fact(f"{number}") for number in range(12)]
        for start in range(0, 12, 3):
            _run(partial(_say_all, sound, open_memory, [f"{start + step}" for step in range(3)]))
        files = [path.relative_to(sound) for path in sorted(sound.rglob("*")) if path.is_file()]
        for trial in range(count):
            root = Path(name) / "damaged"
            shutil.copytree(sound, root)
            _damage(root / files[trial % len(files)], chance)
            outcome, kept = _use(root, open_memory, told)
            if outcome == "error":  # told once; the next start repairs it
                again, kept = _use(root, open_memory, told)
                outcome = outcome if again in ("notice", "unnoticed") else again if again != "error" else "refused"
            found += Counter(trials=1, lines=len(told), kept=kept, **{outcome: 1})
            shutil.rmtree(root)
    return found


def _damage(path: Path, chance: random.Random) -> None:
    """Flip one to eight bits somewhere, or cut the file."""
    data = bytearray(path.read_bytes())
    if not data:
        data = bytearray(os.urandom(16))
    elif chance.random() < 0.2:
        del data[chance.randrange(len(data)) :]
    else:
        for _ in range(chance.choice((1, 1, 1, 8))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def _use(root: Path, open_memory: OpenMemory, told: Sequence[str]) -> tuple[str, int]:
    """Open, ask, tell and finish; return what came of it, and how many lines could still be read."""
    notices: list[str] = []
    handler = _Notices(notices)
    logging.getLogger("chatmem").addHandler(handler)
    try:
        chat = new_chat(root, open_memory, notices)
        chat.memory.recall("What is the word for box 5?")
        _say(chat, "after")
        chat.finish()
        texts = {turn["text"] for session in chat.journal.export() for turn in session["turns"]}
        chat.journal.close()
        lost = fact("after") not in texts and not notices
        return "traceback" if lost else "notice" if notices else "unnoticed", sum(line in texts for line in told)
    except ChatMemError as error:
        logging.getLogger("chatmem.harm").info("%s", error)
        return "error", 0
    except Exception:
        logging.getLogger("chatmem.harm").exception("a traceback")
        return "traceback", 0
    finally:
        logging.getLogger("chatmem").removeHandler(handler)


class _Notices(logging.Handler):
    def __init__(self, notices: list[str]) -> None:
        super().__init__()
        self._notices = notices

    def emit(self, record: logging.LogRecord) -> None:
        self._notices.append(record.getMessage())


def _say(chat: Chat, mark: str) -> None:
    for _ in chat.say(fact(mark)):
        pass


def _talk(root: Path, open_memory: OpenMemory, trial: str, out: int) -> None:
    """Talk until killed, and write a mark to `out` for each line that is acknowledged."""
    chat = new_chat(root, open_memory, [])
    for number in range(10_000):
        _say(chat, f"{trial}-{number}")
        os.write(out, f"{trial}-{number}\n".encode())
        if number % 3 == 2:
            chat.finish()


def _say_all(root: Path, open_memory: OpenMemory, marks: Sequence[str]) -> None:
    notices: list[str] = []
    chat = new_chat(root, open_memory, notices)
    for mark in marks:
        _say(chat, mark)
    chat.finish()
    if notices:
        raise RuntimeError(notices[0])


def _say_under_limit(root: Path, open_memory: OpenMemory, limit: int, log: Path) -> None:
    """Talk where no file may grow beyond a size; note what was acknowledged, that is without a notice."""
    notices: list[str] = []
    with log.open("wb", buffering=0) as file:
        resource.setrlimit(resource.RLIMIT_FSIZE, (max(4096, limit), resource.RLIM_INFINITY))
        logging.getLogger("chatmem").addHandler(_Notices(notices))
        with contextlib.suppress(ChatMemError):
            chat = new_chat(root, open_memory, notices)
            for number in range(12):
                before = len(notices)
                with contextlib.suppress(ChatMemError):
                    _say(chat, f"full-{number}")
                    if len(notices) == before and chat.memory.folder is not None:
                        file.write(f"full-{number}\n".encode())
            chat.finish()


def _read_unwritable(root: Path, open_memory: OpenMemory, *, drop_rights: bool) -> None:
    """Read a memory that cannot be written, and raise where it is not told or not read."""
    with tempfile.TemporaryDirectory() as name:  # what is imported late may lie where others cannot read
        _say_all(Path(name), open_memory, ["elsewhere"])
    if drop_rights:
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    notices: list[str] = []
    logging.getLogger("chatmem").addHandler(_Notices(notices))
    chat = new_chat(root, open_memory, notices)
    _say(chat, "now")
    if not notices or fact("before") not in {line.text for line in chat.journal.lines()}:
        raise RuntimeError("it was not told, or not read")


def _missing(root: Path, open_memory: OpenMemory, told: Sequence[str]) -> dict[str, int]:
    """Return how many lines are not there, in the journal or as vectors, once the memory is opened again."""
    try:
        opened = open_user(root, USER)
        memory = open_memory(opened.journal, TinyEncoder(), opened.folder)
        texts = {line.text for line in opened.journal.lines()}
        lost = sum(line not in texts for line in told)
        unsound = sum(finding.count for finding in opened.journal.audit() if "vectors" in finding.what)
        memory.journal.close()
    except Exception:
        logging.getLogger("chatmem.harm").exception("a traceback")
        return {"traceback": 1}
    return {"lost": lost, "unsound": unsound}


def _run(work: Callable[[], None]) -> int:
    """Do something in a child, wait for it, and return its exit status."""
    return os.waitpid(_fork(work), 0)[1]


def _fork(work: Callable[[], None]) -> int:
    """Do something in a child and return its number; it ends with status 1 where something is raised."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        logging.getLogger("chatmem.harm").exception("a traceback")
    finally:
        os._exit(status)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the program's notices, which are many here, from the terminal; tracebacks are shown."""
    log = logging.getLogger("chatmem")
    before, log.propagate, handlers = log.propagate, False, log.handlers
    log.handlers = [logging.NullHandler()]
    own = logging.getLogger("chatmem.harm")
    own.propagate, own.handlers = False, [logging.StreamHandler()]
    try:
        yield
    finally:
        log.propagate, log.handlers = before, handlers

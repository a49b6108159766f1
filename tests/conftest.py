"""Shared by all tests: no network, no real home, a sentence encoder made of words, a model that replays replies."""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import re
import socket
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from chatmem import server
from chatmem.choosing import Choice, Scored, Wanted
from chatmem.embedding import Array
from chatmem.interface import Recollection, Session, Speaker, Turn
from chatmem.journal import Journal
from chatmem.language_model import Message, Sampling
from chatmem.rows import Line

NOON = datetime(2025, 3, 3, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Keep the user's data out of reach, and the network too."""

    def refuse(self: socket.socket, address: object) -> None:
        if self.family != socket.AF_UNIX:
            raise AssertionError(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if "slow" not in request.keywords:  # slow tests use the converted model in the user's cache
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


class FakeEncoder:
    """Bags of words, hashed: sentences that share words are near each other."""

    def __init__(self, fingerprint: str = "fake", input_dim: int = 256) -> None:
        self.fingerprint = fingerprint
        self.input_dim = input_dim
        self.num_encoded = 0

    def encode(self, texts: Sequence[str]) -> Array:
        self.num_encoded += len(texts)
        rows = np.zeros((len(texts), self.input_dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()):
                row[int(hashlib.md5(word.encode()).hexdigest(), 16) % self.input_dim] += 1.0
            row /= max(float(np.linalg.norm(row)), 1e-6)
        return rows


class ScriptedModel:
    """A language model that replays replies and keeps the prompts it was given; a token is a word."""

    def __init__(
        self, *replies: str, window_tokens: int = 1024, has_chat_template: bool = True, has_reader: bool = False
    ) -> None:
        self.name = "scripted"
        self.window_tokens = window_tokens
        self.has_chat_template = has_chat_template
        self.has_reader = has_reader
        self.prompts: list[str] = []
        self.readers: list[bool] = []
        self.samplings: list[Sampling] = []
        self._replies = list(replies)

    def stream(
        self,
        prompt: str,
        sampling: Sampling,
        stops: Sequence[str] = (),
        *,
        reader: bool = False,
        copied: str = "",
        avoided: str = "",
    ) -> Iterator[str]:
        self.readers.append(reader)
        self.prompts.append(prompt)
        self.samplings.append(sampling)
        reply = self._replies.pop(0) if self._replies else "All right."
        yield from re.findall(r"\s*\S+", reply)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def render(self, messages: Sequence[Message]) -> str:
        return "\n".join(f"<{message['role']}> {message['content']}" for message in messages) + "\n<assistant> "


@pytest.fixture
def encoder() -> FakeEncoder:
    return FakeEncoder()


STORE = os.environ.get("CHATMEM_TEST_STORE")  # a URL of an empty database on a PostgreSQL server


@pytest.fixture
def journal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Journal]:
    """Yield a new journal: on the server that CHATMEM_TEST_STORE names, else in a file, which a test may look at."""
    if STORE is None or "tmp_path" in inspect.signature(request.function).parameters:
        yield Journal.at(tmp_path / "journal.db")
        return
    with on_server() as journal:
        yield journal


@contextmanager
def on_server(user: str | None = None) -> Iterator[Journal]:
    """Yield a new journal on the server for tests, and drop it afterwards."""
    assert STORE is not None
    engine = server.open_engine(STORE, user or uuid.uuid4().hex)
    journal = Journal(engine)
    yield journal
    with engine.begin() as db:
        db.execute(sa.schema.DropSchema(db.scalar(sa.text("SHOW search_path")), cascade=True))
    journal.close()


@pytest.fixture(autouse=True)
def _own_handlers() -> Iterator[None]:
    """Let no test that runs the program in this process leave its notices on for the others."""
    log = logging.getLogger("chatmem")
    handlers = list(log.handlers)
    yield
    log.handlers = handlers


def make_session(*texts: str, day: int = 0, when: datetime | None = None) -> Session:
    """Return a session in which the user begins and the assistant answers in turn."""
    speakers: list[Speaker] = ["user", "assistant"]
    when = when or NOON + timedelta(days=day)
    return Session(tuple(Turn(speakers[place % 2], text, when) for place, text in enumerate(texts)))


def tell(memory: object, *facts: str) -> None:
    """Tell a memory facts, each in a session of its own, a day apart."""
    remember: Callable[[Session], None] = memory.remember  # type: ignore[attr-defined]
    for day, fact in enumerate(facts):
        remember(make_session(fact, "I see.", day=day))


def choose(
    lines: Iterable[Line], query: str, k: int = 3, scores: Mapping[str, float] | None = None, **options: Any
) -> list[Recollection]:
    """Return what comes back of lines that a memory ranked in this order, each with a score of 0.9, or by its text."""

    def rank(_: str, wanted: Wanted) -> list[Scored]:
        score = {line.text: 0.9 if scores is None else scores.get(line.text, 0.0) for line in lines}
        return [Scored(line, score[line.text], -place) for place, line in enumerate(lines) if wanted.takes(line)]

    return Choice(rank, **options)(query, k)


def bytes_under(folder: Path) -> bytes:
    """Return all bytes of all files under a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small GPT-2 and a byte-level BPE tokenizer, both real, with random weights."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(["User: What is my name?\nAssistant: Your name is Ida.\n"] * 20, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|endoftext|>", bos_token="<|endoftext|>", model_max_length=1024
    )
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(fast), n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    folder = tmp_path_factory.mktemp("gpt2")
    GPT2LMHeadModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder

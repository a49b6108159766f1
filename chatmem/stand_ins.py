"""Small stand-ins for the encoder and the language model: no weights, no time, so that harm can be done many times."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np

from chatmem.embedding import Array
from chatmem.language_model import Message, Sampling


class TinyEncoder:
    """Bags of hashed words: no weights, no time."""

    fingerprint = "tiny"
    input_dim = 32

    def encode(self, texts: Sequence[str]) -> Array:
        """Return (T, D) unit rows."""
        rows = np.full((len(texts), self.input_dim), 1e-3, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()):
                row[hashlib.md5(word.encode()).digest()[0] % self.input_dim] += 1.0
        unit: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


class TinyModel:
    """A language model with one reply."""

    name = "tiny"
    window_tokens = 1024
    has_chat_template = has_reader = False

    def stream(
        self,
        prompt: str,  # noqa: ARG002
        sampling: Sampling,  # noqa: ARG002
        stops: Sequence[str] = (),  # noqa: ARG002
        *,
        reader: bool = False,  # noqa: ARG002
        copied: str = "",  # noqa: ARG002
        avoided: str = "",  # noqa: ARG002
    ) -> Iterator[str]:
        """Yield the reply."""
        yield from ("I ", "see.")

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())

    def render(self, messages: Sequence[Message]) -> str:
        """Return the messages as text."""
        return "\n".join(message["content"] for message in messages)

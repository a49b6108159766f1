"""Token embeddings of many texts as flat arrays, made once and kept in a file aside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from chatmem.embedding import SentenceEncoder


class TokenCache:
    """Frozen word-piece embeddings of N texts: text n has the rows starts[n] to starts[n + 1]."""

    def __init__(self, arrays: dict[str, npt.NDArray[np.generic]]) -> None:
        self.starts = arrays["starts"].astype(np.int64)  # (N + 1,)
        self.ids = arrays["ids"].astype(np.int64)  # (R,)
        self.middle = arrays["middle"]  # (R, D) float16
        self.last = arrays["last"]  # (R, D) float16
        self.vectors = arrays["vectors"]  # (N, D) float32

    @classmethod
    def make(cls, encoder: SentenceEncoder, texts: Sequence[str], batch: int = 128) -> TokenCache:
        """Read texts with the encoder, short ones together."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        read: list[object] = [None] * len(texts)
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            if start % (100 * batch) == 0:
                print(f"read {start} of {len(texts)} texts", flush=True)
            for row, tokens in zip(rows, encoder.encode_tokens([texts[n] for n in rows]), strict=True):
                read[row] = tokens
        starts = np.concatenate([[0], np.cumsum([len(tokens.ids) for tokens in read])])
        return cls(
            {
                "starts": starts,
                "ids": np.concatenate([tokens.ids for tokens in read]),
                "middle": np.concatenate([tokens.middle for tokens in read]),
                "last": np.concatenate([tokens.last for tokens in read]),
                "vectors": np.stack([tokens.vector for tokens in read]),
            }
        )

    def joined(self, other: TokenCache) -> TokenCache:
        """Return these texts and then those of another cache."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        names = ("ids", "middle", "last", "vectors")
        both = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return TokenCache({"starts": starts, **both})

    def chosen(self, texts: Sequence[int]) -> TokenCache:
        """Return some texts in another order."""
        lengths = np.diff(self.starts)[texts]
        rows = np.concatenate([np.arange(self.starts[text], self.starts[text + 1]) for text in texts])
        parts = {name: getattr(self, name)[rows] for name in ("ids", "middle", "last")}
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return TokenCache({"starts": starts, "vectors": self.vectors[texts], **parts})

    def save(self, path: Path) -> None:
        """Write the arrays; no pickles."""
        np.savez(path, starts=self.starts, ids=self.ids, middle=self.middle, last=self.last, vectors=self.vectors)

    @classmethod
    def load(cls, path: Path) -> TokenCache:
        """Read the arrays."""
        with np.load(path, allow_pickle=False) as file:
            return cls(dict(file))

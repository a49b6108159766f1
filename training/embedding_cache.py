"""Sentence embeddings that are made once and kept in a file, so that an experiment starts in seconds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from chatmem.embedding import Array, Encoder

_CHUNK = 2048  # texts between two writes of the file


class EmbeddingCache:
    """Unit rows (n, D) of texts, by text; what is missing is embedded and kept."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        """Open the cache of an encoder in a folder, made if missing."""
        folder.mkdir(parents=True, exist_ok=True)
        self._encoder = encoder
        self._path = folder / f"embeddings-{encoder.fingerprint}.npy"
        self._index = folder / f"embeddings-{encoder.fingerprint}.json"
        self.vectors: Array = np.zeros((0, encoder.input_dim), dtype=np.float32)
        self._row: dict[str, int] = {}
        if self._path.exists():
            texts = json.loads(self._index.read_text("utf-8"))
            self.vectors = np.load(self._path)[: len(texts)]
            self._row = {text: row for row, text in enumerate(texts)}

    def add(self, texts: Iterable[str], *, save: bool = True) -> None:
        """Embed the texts that are not known yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self._row]
        for start in range(0, len(new), _CHUNK):
            chunk = new[start : start + _CHUNK]
            self.vectors = np.concatenate([self.vectors, self._encoder.encode(chunk)])
            self._row |= {text: len(self._row) + place for place, text in enumerate(chunk)}
        if new and save:
            np.save(self._path, self.vectors)
            self._index.write_text(json.dumps(list(self._row), ensure_ascii=False), "utf-8")

    def rows(self, texts: Iterable[str]) -> list[int]:
        """Return the rows of known texts; KeyError for an unknown one."""
        return [self._row[text] for text in texts]

    def get(self, texts: Iterable[str]) -> Array:
        """Return the embeddings (n, D) of texts, in order."""
        wanted = list(texts)
        self.add(wanted)
        vectors: Array = self.vectors[self.rows(wanted)]
        return vectors

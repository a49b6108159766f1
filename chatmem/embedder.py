"""Other sentence encoders than the bundled one: --embedder NAME|DIR.

A folder of transformers or sentence-transformers whose vectors are means or first states needs transformers alone;
sentence-transformers reads the others. No code of a folder is ever run. What was trained here belongs to the bundled
encoder's vectors and stays out: sessions are then read by the untrained GRU, and a cosine decides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chatmem.embedding import Array, fingerprint_of
from chatmem.interface import ModelError

Read = Callable[[list[str]], Array]  # T texts -> (T, D)
_FILES = ("json", "safetensors", "txt", "model", "bin")  # what makes an encoder what it is
_BATCH = 32
_LONGEST = 512  # word pieces of a text
_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "StaticEmbedding"}
_READING = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "mean": "mean", "cls": "cls"}
_ORDINARY = (  # what people say, of many things: the mean of their vectors is what all vectors of an encoder share
    "I live in a small town by the sea.", "What time does the train leave?", "My sister plays the violin.",
    "The weather was terrible yesterday.", "How do I boil an egg?", "I'm allergic to peanuts.",
    "We watched a film about space.", "Can you explain how magnets work?", "My car broke down again.",
    "He works as a nurse at the hospital.", "I prefer tea to coffee.", "Who wrote this novel?",
    "The meeting was moved to Friday.", "Thanks, that helps a lot!", "I'm learning to swim.",
    "Our dog is seven years old.", "Please write a poem about autumn.", "The soup needs more salt.",
    "I paid too much for these shoes.", "Where did I put my keys?", "They are building a new bridge.",
    "My favourite colour is green.", "She moved abroad last year.", "Is it healthy to run every day?",
)  # fmt: skip


class OtherEncoder:
    """An encoder whose vectors are turned so that the cosine of unrelated sentences is about 0.

    Many encoders put all sentences into a narrow cone, where a threshold for cosines means nothing: the mean vector of
    ordinary sentences is taken off first (Mu and Viswanath, 2018).
    """

    def __init__(self, read: Read, fingerprint: str) -> None:
        """Use what turns texts into vectors; ValueError where these are none."""
        self._read = read
        self._centre: Array = np.float32(0)  # type: ignore[assignment]
        rows = self._batched(_ORDINARY)
        if rows.ndim != 2 or len(rows) != len(_ORDINARY) or not np.isfinite(rows).all():
            raise ValueError("it makes no vectors of sentences")
        self._centre = _unit(rows).mean(0)
        self.input_dim = rows.shape[1]
        self.fingerprint = f"{fingerprint}-centred"

    def encode(self, texts: Sequence[str]) -> Array:
        """Return (T, D) float32 unit rows for T texts; T may be 0."""
        if not texts:
            return np.zeros((0, self.input_dim), dtype=np.float32)
        return _unit(_unit(self._batched(texts)) - self._centre)

    def _batched(self, texts: Sequence[str]) -> Array:
        rows = [self._read(list(texts[start : start + _BATCH])) for start in range(0, len(texts), _BATCH)]
        return np.concatenate(rows).astype(np.float32)


def _unit(rows: Array) -> Array:
    """Return rows (T, D) of length 1; one of zeros stays."""
    unit: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(min=1e-8)
    return unit


class _Plan(NamedTuple):
    """How the vectors of a folder are made with transformers alone."""

    pooling: str  # "mean" or "cls"
    folder: Path  # of the transformer
    longest: int


def find(name: str) -> Path:
    """Return the folder of an encoder, fetched from the Hugging Face hub where `name` is one of its names.

    Raises:
        ModelError: there is none, or the hub cannot be reached; known within seconds.
    """
    from chatmem.language_model import find_model, is_local

    if is_local(name):
        folder = Path(name).expanduser()
        if not ((folder / "modules.json").is_file() or (folder / "config.json").is_file()):
            raise ModelError(f"the embedder {name} cannot be loaded: there is no modules.json or config.json there")
        return folder
    _, options = find_model(name)
    from huggingface_hub import snapshot_download

    try:
        files = [f"*.{kind}" for kind in _FILES if kind != "bin"]  # beside safetensors, it would be fetched twice
        return Path(snapshot_download(name, allow_patterns=files, **options))
    except Exception as error:  # whatever the HTTP library raises
        raise ModelError(f"the embedder {name} cannot be fetched: {str(error).splitlines()[0]}") from error


def load(name: str) -> OtherEncoder:
    """Load an encoder by its folder or its name on the hub.

    Raises:
        ModelError: there is none, or it cannot be read.
    """
    folder = find(name)
    try:
        plan = _plan(folder)
        read = _with_sentence_transformers(folder) if plan is None else _with_transformers(plan)
        return OtherEncoder(read, fingerprint_of(folder, _FILES))
    except Exception as error:  # a folder can be wrong in every way, and libraries raise what they like
        said = (str(error).splitlines() or [""])[0]
        raise ModelError(f"the embedder {name} cannot be loaded: {said or type(error).__name__}") from error


def _plan(folder: Path) -> _Plan | None:
    """Return how transformers makes the vectors; None where that takes sentence-transformers.

    Raises:
        ValueError: the folder asks for code that is not part of sentence-transformers.
    """
    parts = _json(folder / "modules.json", [{"type": "sentence_transformers.models.Transformer", "path": ""}])
    kinds = [str(part["type"]).rsplit(".", 1)[-1] for part in parts]
    if any(not str(part["type"]).startswith("sentence_transformers.") for part in parts) or set(kinds) - _KNOWN_MODULES:
        raise ValueError("it needs code of its own, which is not run")
    activation = [_json(folder / part["path"] / "config.json", {}).get("activation_function") for part in parts]
    if any(isinstance(name, str) and not name.startswith("torch.nn.") for name in activation):
        raise ValueError("it needs code of its own, which is not run")
    transformer = folder / parts[0]["path"]
    pooling = "mean"
    if len(parts) > 1:
        config = _json(folder / parts[1]["path"] / "config.json", {})
        modes = {name for name, value in config.items() if value is True and name.startswith("pooling_mode")}
        modes |= {config["pooling_mode"]} if isinstance(config.get("pooling_mode"), str) else set()
        pooling = _READING.get(modes.pop(), "") if len(modes) == 1 else ""
    prompts = _json(folder / "config_sentence_transformers.json", {})
    is_plain = kinds in (["Transformer"], ["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
    config = _json(transformer / "config.json", {})
    if not is_plain or not pooling or prompts.get("default_prompt_name") or config.get("is_encoder_decoder"):
        return None
    places = config.get("max_position_embeddings") or _LONGEST
    asked = _json(transformer / "sentence_bert_config.json", {}).get("max_seq_length") or _LONGEST
    return _Plan(pooling, transformer, max(8, min(asked, places - 2, _LONGEST)))  # two places may be kept for padding


def _json(path: Path, missing: Any) -> Any:
    return json.loads(path.read_text("utf-8")) if path.is_file() else missing


def _with_transformers(plan: _Plan) -> Read:
    """Return what reads with transformers."""
    import torch
    import transformers.utils.logging as quiet
    from transformers import AutoModel, AutoTokenizer

    quiet.disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(plan.folder, local_files_only=True, model_max_length=plan.longest)
    model = AutoModel.from_pretrained(plan.folder, local_files_only=True, dtype=torch.float32).eval()
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    def read(texts: list[str]) -> Array:
        batch = tokenizer(texts, padding=True, truncation=True, padding_side="right", return_tensors="pt")
        with torch.inference_mode():
            last = model(**batch).last_hidden_state  # (T, L, D)
        mask = batch["attention_mask"][..., None].float()
        rows: Array = (last[:, 0] if plan.pooling == "cls" else (last * mask).sum(1) / mask.sum(1)).numpy()
        return rows

    return read


def _with_sentence_transformers(folder: Path) -> Read:
    """Return what reads with sentence-transformers, whose import takes seconds."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    return lambda texts: np.asarray(model.encode(texts, show_progress_bar=False), dtype=np.float32)

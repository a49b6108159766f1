"""The sentence encoder: vectors as the library of its model makes them, and clear errors for other folders.

pytest -m slow tests/test_embedding.py        needs the bundled encoder
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from chatmem.embedding import SentenceEncoder, _bundled_folder
from chatmem.interface import ModelError

TEXTS = ["I work at Orbix.", "Where do I live?", "x", "Привет, как дела?", "word " * 400, "我住在北京。"] * 9


@pytest.mark.slow
def test_vectors_are_those_of_sentence_transformers():
    from sentence_transformers import SentenceTransformer

    encoder = SentenceEncoder.load()
    theirs = SentenceTransformer(str(_bundled_folder()), local_files_only=True)
    ours = encoder.encode(TEXTS)
    assert np.allclose(ours, theirs.encode(TEXTS, normalize_embeddings=True), atol=1e-5)
    assert np.allclose(np.concatenate([encoder.encode([text]) for text in TEXTS[:6]]), ours[:6], atol=1e-5)
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.parametrize("mode", ["pooling_mode_cls_token", ""])
def test_folder_without_means_is_one_clear_error(tmp_path, mode):
    kinds = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Pooling", "Normalize")]
    (tmp_path / "modules.json").write_text(json.dumps(kinds))
    if mode:
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({mode: True}))
    with pytest.raises(ModelError, match="cannot be loaded"):
        SentenceEncoder.load(tmp_path)

"""Another sentence encoder: noticed, its vectors made from the journal again, and never mixed with those before.

pytest tests/test_embedder.py        builds small encoders of random weights
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import FakeEncoder, make_session, tell

import chat_memory
from chatmem import embedder
from chatmem.embedding import Array
from chatmem.interface import ModelError
from chatmem.journal import Journal
from chatmem.settings import Settings
from memory_module import GruMemory
from rag_baseline import RagMemory

ROOT = Path(__file__).parents[1]
FACTS = ("I keep goats.", "My boat is blue.", "I live in Kaunas.", "My sister is a pilot.")
WIDTH = 48


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small BERT of random weights, as transformers writes it."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    trained = BertWordPieceTokenizer()
    trained.train_from_iterator([*FACTS, *embedder._ORDINARY] * 3, vocab_size=400, show_progress=False)
    trained.save(str(folder / "raw.json"))
    tokenizer = BertTokenizerFast(tokenizer_file=str(folder / "raw.json"), model_max_length=64)
    (folder / "raw.json").unlink()
    torch.manual_seed(0)
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 64}
    BertModel(BertConfig(vocab_size=len(tokenizer), hidden_size=WIDTH, **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def with_pooling(folder: Path, target: Path, modules: Sequence[str], **pooling: object) -> Path:
    """Return a copy of a folder as sentence-transformers writes it."""
    for path in folder.iterdir():
        target.mkdir(exist_ok=True)
        (target / path.name).write_bytes(path.read_bytes())
    parts = [
        {"idx": place, "name": str(place), "path": f"{place}_{kind}" if place else "", "type": kind}
        for place, kind in enumerate(modules)
    ]
    for part in parts:
        part["type"] = f"sentence_transformers.models.{part['type']}" if "." not in str(part["type"]) else part["type"]
    (target / "modules.json").write_text(json.dumps(parts))
    (target / "1_Pooling").mkdir()
    (target / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": WIDTH, **pooling}))
    return target


def test_folder_of_transformers_is_an_encoder(bert_folder):
    encoder = embedder.load(str(bert_folder))
    rows = encoder.encode(["I keep goats.", "I keep bees.", "word " * 500])
    assert rows.shape == (3, WIDTH) == (3, encoder.input_dim)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert encoder.encode([]).shape == (0, WIDTH)
    np.testing.assert_allclose(encoder.encode(["I keep goats."])[0], rows[0], atol=1e-5)  # padding changes nothing


def test_pooling_of_the_folder_is_used(bert_folder, tmp_path):
    kinds = ("Transformer", "Pooling", "Normalize")
    mean = with_pooling(bert_folder, tmp_path / "mean", kinds, pooling_mode_mean_tokens=True)
    cls = with_pooling(bert_folder, tmp_path / "cls", kinds, pooling_mode_cls_token=True)
    new = with_pooling(bert_folder, tmp_path / "new", kinds, pooling_mode="cls")  # as newer versions write it
    plain, *others = (embedder.load(str(folder)).encode(FACTS) for folder in (bert_folder, mean, cls, new))
    assert [bool(np.allclose(plain, other, atol=1e-5)) for other in others] == [True, False, False]
    np.testing.assert_allclose(others[1], others[2], atol=1e-5)
    assert embedder.load(str(cls)).fingerprint != embedder.load(str(mean)).fingerprint


def test_unrelated_sentences_are_near_zero(bert_folder):
    rows = embedder.load(str(bert_folder)).encode(embedder._ORDINARY)
    cosines = (rows @ rows.T)[~np.eye(len(rows), dtype=bool)]
    assert abs(float(cosines.mean())) < 0.1  # about 0.9 without taking off what all share


@pytest.mark.slow  # imports sentence-transformers
def test_unusual_folder_is_read_by_sentence_transformers(bert_folder, tmp_path):
    folder = with_pooling(bert_folder, tmp_path / "max", ("Transformer", "Pooling"), pooling_mode_max_tokens=True)
    assert embedder._plan(folder) is None
    assert embedder.load(str(folder)).encode(FACTS).shape == (4, WIDTH)


@pytest.mark.parametrize("kind", ["evil.Module", "sentence_transformers.models.Router", "os.system"])
def test_code_of_a_folder_is_never_run(bert_folder, tmp_path, kind):
    folder = with_pooling(bert_folder, tmp_path / "evil", ("Transformer", "Pooling", kind))
    (folder / "evil.py").write_text("raise SystemExit('code was run')")
    with pytest.raises(ModelError, match="needs code of its own"):
        embedder.load(str(folder))


def test_wrong_name_or_folder_is_one_line_within_seconds(tmp_path, capsys):
    (tmp_path / "config.json").write_text("{}")
    started = time.perf_counter()
    with pytest.raises(ModelError, match="cannot be loaded"):
        embedder.load(str(tmp_path))
    for name in (str(tmp_path / "nowhere"), "nobody/nothing", "not a name"):
        settings = ["--memory-dir", str(tmp_path / "m"), "--embedder", name]
        assert chat_memory.main([*settings, "-p", "Hello."]) == 1
        err = capsys.readouterr().err
        assert err.count("\n") == 1 and name in err
    assert time.perf_counter() - started < 15


@pytest.mark.parametrize("arm", [GruMemory, RagMemory])
def test_memory_is_read_again_and_back(bert_folder, tmp_path, arm, caplog):
    journal = Journal.at(tmp_path / "journal.db")
    tell(arm(journal, FakeEncoder(), tmp_path), *FACTS)
    for encoder in (embedder.load(str(bert_folder)), FakeEncoder()):
        memory = arm(journal, encoder, tmp_path)
        assert "goats" in memory.near("I keep goats.")[0].text
        assert memory.decision is None
    if arm is GruMemory:
        assert "4 sessions are read again" in caplog.text
        assert len(journal.slots(memory.fingerprint)[1]) == 4


class Stopping(FakeEncoder):
    """An encoder that is interrupted after some sentences."""

    left = 3

    def encode(self, texts: Sequence[str]) -> Array:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().encode(texts)


def test_interrupted_reading_goes_on_and_mixes_nothing(tmp_path):
    journal = Journal.at(tmp_path / "journal.db")
    old = GruMemory(journal, FakeEncoder(), tmp_path)
    tell(old, *FACTS, *FACTS)
    with pytest.raises(KeyboardInterrupt):
        GruMemory(journal, Stopping("other", 64), tmp_path)
    other = FakeEncoder("other", 64)
    memory = GruMemory(journal, other, tmp_path)
    assert other.num_encoded == 2 * (len(FACTS) * 2 - Stopping.left)  # what was done before is not done again
    assert "goats" in memory.near("I keep goats.")[0].text
    assert journal.slots(old.fingerprint)[1] == []


@pytest.mark.slow
def test_killed_reading_goes_on(bert_folder, tmp_path):
    opened = chat_memory.open_journal(Settings(memory_dir=tmp_path))
    for day in range(100):
        opened.journal.record(make_session(f"My number {day} is blue.", "I see.", day=day))
    command = "import sys, chat_memory as c; from chatmem.settings import Settings; from pathlib import Path;"
    command += "s = Settings(memory_dir=Path(sys.argv[1]), embedder=sys.argv[2]); c.open_memory(s, c.open_journal(s))"
    reading = subprocess.Popen([sys.executable, "-c", command, str(tmp_path), str(bert_folder)], cwd=ROOT)
    encoder = embedder.load(str(bert_folder))
    fingerprint = GruMemory(Journal("sqlite://"), encoder).fingerprint
    while len(opened.journal.slots(fingerprint)[1]) < 3 and reading.poll() is None:
        time.sleep(0.02)
    reading.send_signal(signal.SIGKILL)
    reading.wait()
    done = len(opened.journal.slots(fingerprint)[1])
    assert 3 <= done < 100
    memory = GruMemory(opened.journal, encoder, opened.folder)
    assert len(opened.journal.slots(fingerprint)[1]) == 100
    assert "number 7 " in memory.near("My number 7 is blue.")[0].text


@pytest.mark.slow
def test_real_model_of_another_width_recalls(tmp_path):
    """The bundled language model's own last states, 576 wide: poor for the purpose, and real."""
    from chatmem import bundled

    journal = Journal.at(tmp_path / "journal.db")
    memory = GruMemory(journal, embedder.load(str(bundled.prepare())), tmp_path)
    tell(memory, *FACTS)
    asked = {"Do I keep goats?": 0, "What colour is my boat?": 1, "Where in Kaunas do I live?": 2, "My sister?": 3}
    found = [memory.near(question)[0].text == FACTS[place] for question, place in asked.items()]
    assert memory.encoder.input_dim == 576 and sum(found) >= 3

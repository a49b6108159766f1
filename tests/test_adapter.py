"""The reader's adapter: off it changes nothing, bit for bit; on it is what peft computes.

pytest tests/test_adapter.py        needs no weights: a small Llama with random ones and an adapter are made here
pytest tests/test_adapter.py -m slow        the bundled model and its reader
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

from chatmem import adapter, bundled
from chatmem.adapter import LowRank, attach
from chatmem.language_model import Sampling, TransformersModel

IDS = torch.tensor([[1, 5, 9, 2, 7, 7, 3]])


def small_llama(seed: int = 0, width: int = 16) -> nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    sizes = {"hidden_size": width, "intermediate_size": 24, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=32, **sizes, **heads)).eval()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.Tensor]:
    """Return the folder of an adapter of the upper layer that peft wrote, and the logits that peft makes."""
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(
        r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], layers_to_transform=[1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers in an old way
        model = peft.get_peft_model(small_llama(), config)
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight.normal_(std=0.3)
        logits = model.eval()(input_ids=IDS).logits
    folder = tmp_path_factory.mktemp("reader")
    model.save_pretrained(folder)
    return folder, logits


@torch.inference_mode()
def test_off_is_the_base_model_and_on_is_what_peft_computes(trained):
    folder, expected = trained
    base, model = small_llama(), small_llama()
    switch = attach(model, folder)
    assert switch is not None
    assert sum(isinstance(module, LowRank) for module in model.modules()) == 3
    plain = base(input_ids=IDS).logits
    assert torch.equal(model(input_ids=IDS).logits, plain)
    switch.on = True
    torch.testing.assert_close(model(input_ids=IDS).logits, expected, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(expected, plain, atol=1e-3)
    switch.on = False
    assert torch.equal(model(input_ids=IDS).logits, plain)


def test_no_adapter_or_one_of_another_model_is_left_off(trained, tmp_path):
    assert attach(small_llama(), tmp_path) is None
    other = small_llama(width=32)
    assert attach(other, trained[0]) is None
    assert not any(isinstance(module, LowRank) for module in other.modules())


def test_weights_of_the_base_are_the_same_memory(trained):
    model = small_llama()
    before = {weight.data_ptr() for weight in model.parameters()}
    attach(model, trained[0])
    assert {weight.data_ptr() for weight in model.parameters()} == before


@pytest.mark.slow
def test_without_memory_lines_the_bundled_model_is_the_base_model():
    from transformers import AutoModelForCausalLM

    model = TransformersModel.load(bundled.NAME, "cpu")
    assert model.has_reader
    base = TransformersModel(
        AutoModelForCausalLM.from_pretrained(bundled.prepare(), dtype=torch.float32), model.tokenizer
    )
    sampling = Sampling(max_new_tokens=24, seed=3)
    for said in ("What is 17 times 3?", "Where do I work?"):
        prompt = model.render([{"role": "user", "content": said}])
        expected = list(base._tokens(prompt, sampling))
        assert list(model._tokens(prompt, sampling)) == expected
        list(model._tokens(prompt, sampling, reader=True))  # switches off again by itself
        assert list(model._tokens(prompt, sampling)) == expected
        ids = model.tokenizer(prompt, return_tensors="pt").input_ids
        with torch.inference_mode():
            model._reader.on = False
            assert torch.equal(model._model(input_ids=ids).logits, base._model(input_ids=ids).logits)


@pytest.mark.slow
def test_reader_is_small():
    files = list(adapter.READER.iterdir())
    assert sum(file.stat().st_size for file in files) < 6_000_000

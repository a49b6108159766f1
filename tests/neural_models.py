"""Small random models of three families, for the tests of the memory inside a model."""

from __future__ import annotations

from typing import Any

import torch

from chatmem.neural.config import NeuralConfig
from chatmem.neural.model import NeuralMemoryModel

FAMILIES = ("gpt2", "llama", "qwen2")
VOCABULARY = 64


def base_model(family: str, seed: int = 0) -> Any:
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
        Qwen2Config,
        Qwen2ForCausalLM,
    )

    torch.manual_seed(seed)
    if family == "gpt2":
        return GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_embd=32, n_layer=3, n_head=2, bos_token_id=0,
                                          eos_token_id=0)).eval()  # fmt: skip
    kind, config = (LlamaForCausalLM, LlamaConfig) if family == "llama" else (Qwen2ForCausalLM, Qwen2Config)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2}
    return kind(config(vocab_size=VOCABULARY, num_key_value_heads=1, tie_word_embeddings=True, **sizes)).eval()


SMALL = {"num_slots": 4, "slot_dim": 48, "match_dim": 8, "pointer_dim": 8, "context_dim": 4, "num_tokens": 6}


def wrapped(family: str = "llama", seed: int = 0, **choices: Any) -> NeuralMemoryModel:
    base = base_model(family, seed)
    torch.manual_seed(seed + 1)
    return NeuralMemoryModel(base, NeuralConfig.for_model(base, **{**SMALL, **choices})).eval()


def ids(*numbers: int) -> torch.Tensor:
    return torch.tensor([numbers])

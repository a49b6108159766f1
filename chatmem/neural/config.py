"""What a memory module is made of: one frozen, checked dataclass that is stored beside the weights."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from chatmem.interface import ModelError

Fusion = Literal["residual", "blend", "replace"]
Summary = Literal["last", "offset", "pooled", "several"]


@dataclass(frozen=True)
class NeuralConfig:
    """Sizes and choices. B states in a batch, S slots, D numbers in a slot's vector, T token states of a slot.

    The first part is the seed's design; `num_tokens` and what follows is ours: with `num_tokens=0` it is off.
    """

    hidden_size: int
    vocab_size: int
    num_layers: int
    family: str = ""  # of the base model: its config's model_type
    num_slots: int = 16
    slot_dim: int = 512
    layer_indices: tuple[int, ...] = ()  # layers after which slots are read
    fusion: Fusion = "residual"
    blend_init: float = 0.1
    read_scale: float = 1.0
    summary: Summary = "pooled"
    token_offset: int = 1  # of "offset", counted from the end: 1 is the last token
    num_summaries: int = 4  # of "several"
    broadcast_write: bool = False
    direct_logit_scale: float = 0.0
    raw_token_write: bool = False
    raw_logit_scale: float = 30.0
    num_tokens: int = 24  # token states of a slot; 0 turns them off
    feature_layers: tuple[int, ...] = ()  # whose hidden states keys and queries are made of
    match_dim: int = 96  # of a token state: what it is about
    pointer_dim: int = 96  # its place
    context_dim: int = 32  # each of the three tokens before it
    reply_tokens: tuple[int, ...] = ()  # what replies need beside words of the memory
    gate_sharpness: float = 4.0
    readout_scale: float = 1.0  # of what is read, against the model's own output vector
    forget_margin: float = 0.0  # how much surer than even a decision to clear a slot must be, in logits
    reset_token: int = -1  # in the input, it empties the memory

    def __post_init__(self) -> None:
        """Check what can be checked.

        Raises:
            ModelError: a size or a layer cannot be.
        """
        layers = (*self.layer_indices, *self.feature_layers)
        if any(not 0 <= layer < self.num_layers for layer in layers):
            raise ModelError(f"memory layers {layers} are not among the model's {self.num_layers}")
        if self.num_tokens and not self.feature_layers:
            raise ModelError("token states need feature_layers")
        if self.code_dim <= 0 or min(self.num_slots, self.slot_dim) < 1 or self.num_tokens < 0:
            raise ModelError("a memory needs at least one slot, and slot_dim above its keys' widths")
        if self.fusion not in ("residual", "blend", "replace"):
            raise ModelError(f"there is no fusion {self.fusion}")
        if self.summary not in ("last", "offset", "pooled", "several"):
            raise ModelError(f"there is no summary {self.summary}")

    @property
    def code_dim(self) -> int:
        """Numbers in which a token state keeps which token it is."""
        return self.slot_dim - self.match_dim - self.pointer_dim - 3 * self.context_dim

    @classmethod
    def for_model(cls, model: Any, **choices: Any) -> NeuralConfig:
        """Return the configuration for a causal model of the library transformers."""
        about = model.config
        size = {"hidden_size": about.hidden_size, "vocab_size": model.get_output_embeddings().weight.shape[0]}
        depth = int(about.num_hidden_layers)
        chosen = {"feature_layers": (depth // 3, 2 * depth // 3), "family": about.model_type, **choices}
        return cls(**size, num_layers=depth, **chosen)

    @classmethod
    def for_bundled(cls, **choices: Any) -> NeuralConfig:
        """Return the configuration of the trained weights for SmolLM2-135M-Instruct."""
        size = {"hidden_size": 576, "vocab_size": 49152, "num_layers": 30, "family": "llama"}
        return cls(**{**size, "feature_layers": (10, 20), "readout_scale": 0.2, "forget_margin": 2.0, **choices})

    def to_json(self) -> str:
        """Return what `from_json` reads."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> NeuralConfig:
        """Read a configuration.

        Raises:
            ModelError: it is none of ours.
        """
        try:
            values = json.loads(text)
            known = {one.name for one in fields(cls)}
            if not isinstance(values, dict) or not set(values) <= known:
                raise ModelError("the memory's configuration has unknown entries: it was written by another version")
            lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
            return cls(**{**values, **lists})
        except (ValueError, TypeError) as error:
            raise ModelError(f"the memory's configuration cannot be read: {error}") from error

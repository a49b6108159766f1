"""All trained parts of a memory, as one module with one state dictionary."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem.neural.config import NeuralConfig
from chatmem.neural.decisions import ForgetDecision, WriteDecision
from chatmem.neural.pointer import TokenMemory
from chatmem.neural.slots import SlotReader, SlotWriter


class NeuralModules(nn.Module):
    """The parts that a configuration asks for; those it does without are absent from the weights."""

    mean: Tensor
    scale: Tensor
    tokens: TokenMemory
    forget: ForgetDecision
    direct: nn.Linear

    def __init__(self, config: NeuralConfig) -> None:
        """Make the parts with random weights."""
        super().__init__()
        self.config = config
        width = (1 + max(len(config.feature_layers), 1)) * config.hidden_size
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.readers = nn.ModuleDict({str(layer): SlotReader(config) for layer in config.layer_indices})
        self.writer = SlotWriter(width, config)
        self.write = WriteDecision(width)
        if config.direct_logit_scale:
            self.direct = nn.Linear(config.slot_dim, config.hidden_size, bias=False)
        if config.num_tokens:
            self.tokens = TokenMemory(config)
            self.forget = ForgetDecision(width, config)

    def features(self, embeddings: Tensor, hidden: Tensor) -> Tensor:
        """Return x (B, T, F) of embeddings (B, T, H) and hidden states (B, T, L, H).

        Each is scaled to unit variance, then each number by what it has in ordinary text: a few numbers of a hidden
        state are hundreds of times as large as the others, and would drown them.
        """
        both = torch.cat([embeddings[:, :, None], hidden], dim=2).float()
        return (F.rms_norm(both, both.shape[-1:]).flatten(2) - self.mean) * self.scale

    @property
    def num_parameters(self) -> int:
        """Trained numbers."""
        return sum(weight.numel() for weight in self.parameters())

    def fingerprint_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every tensor by name."""
        named: dict[str, Tensor] = dict(self.state_dict())
        return {name: tuple(value.shape) for name, value in named.items()}

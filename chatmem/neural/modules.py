"""All trained parts of a memory, as one module with one state dictionary."""

from __future__ import annotations

from torch import Tensor, nn

from chatmem.neural.config import NeuralConfig
from chatmem.neural.decisions import ForgetDecision, WriteDecision
from chatmem.neural.pointer import TokenMemory
from chatmem.neural.slots import SlotReader, SlotWriter


class NeuralModules(nn.Module):
    """The parts that a configuration asks for; those it does without are absent from the weights."""

    def __init__(self, config: NeuralConfig) -> None:
        """Make the parts with random weights."""
        super().__init__()
        self.config = config
        width = (1 + max(len(config.feature_layers), 1)) * config.hidden_size
        self.readers = nn.ModuleDict({str(layer): SlotReader(config) for layer in config.layer_indices})
        self.writer = SlotWriter(width, config)
        self.write = WriteDecision(width)
        if config.direct_logit_scale:
            self.direct = nn.Linear(config.slot_dim, config.hidden_size, bias=False)
        if config.num_tokens:
            self.tokens = TokenMemory(config)
            self.forget = ForgetDecision(width, config)

    @property
    def num_parameters(self) -> int:
        """Trained numbers."""
        return sum(weight.numel() for weight in self.parameters())

    def fingerprint_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every tensor by name."""
        named: dict[str, Tensor] = dict(self.state_dict())
        return {name: tuple(value.shape) for name, value in named.items()}

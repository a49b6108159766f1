"""A low-rank adapter on a frozen language model (LoRA; Hu et al., 2021) that is switched on for some replies only.

Reads the files that the library peft writes. Its sums are added beside the frozen weights and never merged into them,
so with the switch off the model is bit for bit what it was. peft itself is for training: importing it costs seconds at
the start (docs/architecture.md), and a test holds this module against it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file
from torch import Tensor, nn

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
READER = Path(__file__).parent / "weights" / "reader"
_PREFIX = "base_model.model."


class Switch:
    """Says to all parts of one adapter whether they work."""

    on = False


class LowRank(nn.Module):
    """A frozen linear layer with x A^T B^T * scaling beside it: A (rank, in), B (out, rank)."""

    _down: Tensor
    _up: Tensor

    def __init__(self, base: nn.Module, down: Tensor, up: Tensor, scaling: float, switch: Switch) -> None:
        """Wrap a layer; it begins switched off."""
        super().__init__()
        self.base, self._switch = base, switch
        self.register_buffer("_down", down.T.contiguous(), persistent=False)  # (in, rank)
        self.register_buffer("_up", (up * scaling).T.contiguous(), persistent=False)  # (rank, out)

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's output (..., out) of x (..., in)."""
        result: Tensor = self.base(x)
        return result + (x @ self._down) @ self._up if self._switch.on else result


def attach(model: nn.Module, folder: Path) -> Switch | None:
    """Put an adapter on a model, switched off, and return its switch; None where there is none, or it does not fit.

    Args:
        model: the model that the adapter was trained for, on its device.
        folder: holds `adapter_config.json` and `adapter_model.safetensors`.
    """
    if not (folder / WEIGHTS).is_file():
        return None
    config: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    weights = load_file(folder / WEIGHTS)
    downs = {name.removesuffix(".lora_A.weight") for name in weights if name.endswith(".lora_A.weight")}
    places = {name: name.removeprefix(_PREFIX) for name in sorted(downs)}
    modules = dict(model.named_modules())
    if not places or any(not isinstance(modules.get(place), nn.Linear) for place in places.values()):
        return None
    switch, parts = Switch(), {}
    for name, place in places.items():
        layer = modules[place]
        down, up = (weights[f"{name}.lora_{part}.weight"].to(layer.weight) for part in "AB")
        if down.shape[1] != layer.in_features or up.shape[0] != layer.out_features:  # of another model
            return None
        parts[place] = LowRank(layer, down, up, config["lora_alpha"] / config["r"], switch)
    for place, part in parts.items():
        parent, _, child = place.rpartition(".")
        setattr(modules[parent], child, part)
    return switch

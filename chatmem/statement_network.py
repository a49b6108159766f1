"""What one statement is, and what it does to an older one, read by the upper layers of the sentence encoder together.

The encoder reads each text alone up to its middle layer; from there copies of its own upper layers read both at once.
What training adds to them is of low rank (LoRA: Hu et al., 2021), so the weights that ship are small, and what the
encoder knows of language is kept.

Axis letters: B pairs, L word pieces of one text, D width of a token embedding, R rank, K kinds.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import cast

import torch
from safetensors import safe_open
from torch import Tensor, nn
from torch.nn.utils import parametrize

from chatmem.embedding import MIDDLE_LAYER
from chatmem.pair_network import Side, matches

RELATIONS = ("same", "new value", "denial", "unrelated")
KINDS = ("fact", "other", "temporary", "question", "command", "what-if", "fiction", "quotation", "small talk")
NUM_KEPT = 3  # the first of them are worth remembering
RELATION, KIND = range(2)  # what is asked
_HEADS, _NORM_EPS = 12, 1e-12  # of all-MiniLM-L6-v2


class LowRank(nn.Module):
    """Adds a trained matrix of low rank to a frozen one."""

    def __init__(self, rows: int, columns: int, rank: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(rank, columns) / math.sqrt(columns))
        self.b = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the sum."""
        return weight + self.b @ self.a


class StatementNetwork(nn.Module):
    """The encoder's upper layers over one text or two, and a head for each question."""

    def __init__(self, layers: list[nn.TransformerEncoderLayer], rank: int = 16, width: int = 48) -> None:
        """Begin with the layers of an encoder.

        Args:
            layers: what `upper_layers` returns.
            rank: R of what training adds to each matrix.
            width: of the heads.
        """
        super().__init__()
        self.sizes = {"rank": rank, "width": width}
        for layer in layers:
            layer.requires_grad_(False)
            for module, name in _matrices(layer):
                rows, columns = getattr(module, name).shape
                parametrize.register_parametrization(module, name, LowRank(rows, columns, rank))
            layer.norm1.requires_grad_(True)
            layer.norm2.requires_grad_(True)
        self.layers = nn.ModuleList(layers)
        D = layers[0].linear1.in_features
        self.match = nn.Linear(2, D)
        self.segment = nn.Parameter(torch.randn(2, D) * 0.05)
        self.task = nn.Parameter(torch.randn(2, D) * 0.05)
        inputs = 3 * D + 1, 2 * D  # of a pair, of one text
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Dropout(0.1), nn.Linear(num, width), nn.GELU(), nn.Linear(width, len(outputs)))
            for num, outputs in zip(inputs, (RELATIONS, KINDS), strict=True)
        )

    def relation(self, new: Side, old: Side) -> Tensor:
        """Return the logits (B, 4) of RELATIONS of new statements with older ones."""
        of_new, of_old = matches(new, old)
        parts = [side.middle + self.match(match) + segment
                 for side, match, segment in zip((new, old), (of_new, of_old), self.segment, strict=True)]  # fmt: skip
        first, *read = self._read(RELATION, parts, [new.mask, old.mask])
        cosine = (new.vector * old.vector).sum(-1, keepdim=True)  # (B, 1)
        logits: Tensor = self.heads[RELATION](torch.cat([first, *read, cosine], dim=-1))
        return logits

    def kinds(self, text: Side) -> Tensor:
        """Return the logits (B, K) of KINDS of sentences."""
        logits: Tensor = self.heads[KIND](
            torch.cat(self._read(KIND, [text.middle + self.segment[0]], [text.mask]), dim=-1)
        )
        return logits

    def _read(self, task: int, parts: list[Tensor], masks: list[Tensor]) -> list[Tensor]:
        """Return the state (B, D) of the task's own place, and the mean state (B, D) of each text."""
        B = parts[0].shape[0]
        tokens = torch.cat([self.task[task].expand(B, 1, -1), *parts], dim=1)  # (B, 1 + La + Lb, D)
        real = torch.cat([masks[0].new_ones(B, 1), *masks], dim=1)
        for layer in self.layers:
            tokens = layer(tokens, src_key_padding_mask=~real)
        first, *read = torch.split(tokens, [1, *(part.shape[1] for part in parts)], dim=1)
        means = [
            (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            for states, mask in zip(read, masks, strict=True)
        ]
        return [first[:, 0], *means]

    def trained(self) -> dict[str, Tensor]:
        """Return the weights that training changes, by name."""
        return {name: weight.detach() for name, weight in self.named_parameters() if weight.requires_grad}

    def merge(self) -> StatementNetwork:
        """Add what was trained to the encoder's matrices for good, so that reading costs no more than they do."""
        for layer in self.layers:
            for module, name in _matrices(cast("nn.TransformerEncoderLayer", layer)):
                parametrize.remove_parametrizations(module, name)
        return self.eval().requires_grad_(False)


def _matrices(layer: nn.TransformerEncoderLayer) -> list[tuple[nn.Module, str]]:
    """Return the matrices of a layer that are trained, each as a module and a name."""
    attention = layer.self_attn
    return [
        (attention, "in_proj_weight"),
        *((part, "weight") for part in (attention.out_proj, layer.linear1, layer.linear2)),
    ]


def upper_layers(encoder: Path) -> list[nn.TransformerEncoderLayer]:
    """Return copies of the layers above the middle one of the encoder in a folder (BERT: Devlin et al., 2019)."""
    with safe_open(encoder / "model.safetensors", "pt") as file:
        names = {name for name in file.keys() if name.startswith("encoder.layer.")}  # noqa: SIM118
        numbers = sorted({int(name.split(".")[2]) for name in names})
        layers = []
        for number in numbers[MIDDLE_LAYER:]:
            there = {
                name.removeprefix(f"encoder.layer.{number}."): file.get_tensor(name).float()
                for name in names
                if name.startswith(f"encoder.layer.{number}.")
            }
            layers.append(_layer(there))
    return layers


def _layer(there: dict[str, Tensor]) -> nn.TransformerEncoderLayer:
    """Return a layer with the weights that BERT's names stand for."""
    inner, D = there["intermediate.dense.weight"].shape
    layer = nn.TransformerEncoderLayer(
        D, _HEADS, inner, dropout=0.1, activation="gelu", batch_first=True, layer_norm_eps=_NORM_EPS
    )
    names = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    weights = {f"{own}.{part}": there[f"{name}.{part}"] for own, name in names.items() for part in ("weight", "bias")}
    for part in ("weight", "bias"):
        heads = [there[f"attention.self.{name}.{part}"] for name in ("query", "key", "value")]
        weights[f"self_attn.in_proj_{part}"] = torch.cat(heads)
    layer.load_state_dict(weights)
    return layer

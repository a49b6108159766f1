"""A small network that reads two texts together, over the frozen token embeddings of the sentence encoder.

Axis letters: B pairs, L word pieces of one text, D width of a token embedding, W width of the network.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem.embedding import MAX_TOKENS

ANSWERABLE, RELATION = 0, 1
RELATIONS = ("same", "new value", "denial", "unrelated")
NUM_SPECIAL = 1000  # in BERT's vocabulary the numbers below are [CLS], [SEP] and unused ones


class Side(NamedTuple):
    """One text of each of B pairs, padded to L."""

    middle: Tensor  # (B, L, D) after a middle layer of the encoder
    last: Tensor  # (B, L, D) after its last layer
    ids: Tensor  # (B, L)
    mask: Tensor  # (B, L) bool, true where there is a word piece
    vector: Tensor  # (B, D) the sentence embedding


class Read(NamedTuple):
    """One text of each of B pairs as the network reads it, whatever the other text is."""

    tokens: Tensor  # (B, L, W)
    middle: Tensor  # (B, L, D) unit rows
    ids: Tensor  # (B, L)
    mask: Tensor  # (B, L)
    vector: Tensor  # (B, D)


class PairNetwork(nn.Module):
    """Two transformer layers (Vaswani et al., 2017) over both texts at once, and a head for each question.

    A word piece is its frozen embedding from two layers of the encoder, its place, which text it belongs to, and how
    well the other text matches it: the very same piece or not, and the highest cosine.
    """

    def __init__(self, token_dim: int = 384, width: int = 128, num_layers: int = 2, num_heads: int = 4) -> None:
        super().__init__()
        self.sizes = {"token_dim": token_dim, "width": width, "num_layers": num_layers, "num_heads": num_heads}
        self.read_middle = nn.Linear(token_dim, width)
        self.read_last = nn.Linear(token_dim, width)
        self.match = nn.Linear(2, width)
        self.segment = nn.Parameter(torch.randn(2, width) * 0.02)
        self.place = nn.Parameter(torch.randn(MAX_TOKENS, width) * 0.02)
        self.task = nn.Parameter(torch.randn(2, width) * 0.02)
        self.norm = nn.LayerNorm(width)
        layer = nn.TransformerEncoderLayer(
            width, num_heads, 3 * width, dropout=0.1, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, num_layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Linear(width + 1, width), nn.GELU(), nn.Dropout(0.1), nn.Linear(width, outputs))
            for outputs in (1, len(RELATIONS))
        )

    def forward(self, first: Side, second: Side, task: int) -> Tensor:
        """Return the logits of one head: (B, 1) for ANSWERABLE, (B, 4) for RELATION."""
        return self.compare(self.read(first), self.read(second), task)

    def read(self, side: Side) -> Read:
        """Read texts on their own; what is read may be compared with many others."""
        tokens = self.read_middle(side.middle) + self.read_last(side.last)
        return Read(tokens, F.normalize(side.middle, dim=-1), side.ids, side.mask, side.vector)

    def compare(self, first: Read, second: Read, task: int) -> Tensor:
        """Return the logits of one head for texts that were read: (B, 1) for ANSWERABLE, (B, 4) for RELATION."""
        of_first, of_second = self._match(first, second)
        parts = [self._place(first, 0, of_first), self._place(second, 1, of_second)]
        B = first.ids.shape[0]
        tokens = torch.cat([self.task[task].expand(B, 1, -1), *parts], dim=1)  # (B, 1 + La + Lb, W)
        real = torch.cat([first.mask.new_ones(B, 1), first.mask, second.mask], dim=1)
        pooled = self.layers(tokens, src_key_padding_mask=~real)[:, 0]  # (B, W)
        cosine = (first.vector * second.vector).sum(-1, keepdim=True)  # (B, 1)
        logits: Tensor = self.heads[task](torch.cat([pooled, cosine], dim=-1))
        return logits

    def trained(self) -> dict[str, Tensor]:
        """Return the weights that training changes, by name."""
        return {name: weight.detach() for name, weight in self.named_parameters() if weight.requires_grad}

    def _place(self, read: Read, segment: int, match: Tensor) -> Tensor:
        """Return the word pieces (B, L, W) of one text of a pair."""
        L = read.ids.shape[1]
        tokens: Tensor = self.norm(read.tokens + self.match(match) + self.segment[segment] + self.place[:L])
        return tokens

    @staticmethod
    def _match(first: Read, second: Read) -> tuple[Tensor, Tensor]:
        """Return for every word piece whether the other text has it, and its highest cosine there: (B, L, 2) each."""
        both = (first.mask[:, :, None] & second.mask[:, None]).float()  # (B, La, Lb)
        both = both * (first.ids > NUM_SPECIAL)[:, :, None] * (second.ids > NUM_SPECIAL)[:, None]
        same = (first.ids[:, :, None] == second.ids[:, None]).float() * both
        near = first.middle @ second.middle.transpose(1, 2) * both
        return (
            torch.stack([same.amax(2), near.amax(2)], dim=-1),
            torch.stack([same.amax(1), near.amax(1)], dim=-1),
        )

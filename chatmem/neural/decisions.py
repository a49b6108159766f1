"""Whether a line is written at all, and which older slots it makes void."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem.neural.config import NeuralConfig
from chatmem.neural.pointer import Relevance


def pooled(x: Tensor, mask: Tensor) -> Tensor:
    """Return the mean (B, F) of features (B, T, F) where mask (B, T) is true."""
    weight = mask.to(x.dtype)
    return torch.einsum("btf,bt->bf", x, weight) / weight.sum(1, keepdim=True).clamp(min=1)


def last(x: Tensor, mask: Tensor, offset: int = 1) -> Tensor:
    """Return the features (B, F) of the last position of a mask (B, T), or of one before it (offset 2, 3 …)."""
    place = torch.arange(x.shape[1], device=x.device).expand_as(mask).masked_fill(~mask, -1)
    order = place.sort(dim=1, descending=True).values
    at = order[:, min(offset, order.shape[1]) - 1].clamp(min=0)
    return x[torch.arange(len(x), device=x.device), at]


class WriteDecision(nn.Module):
    """Whether a line is worth keeping."""

    def __init__(self, width: int) -> None:
        """Read the line's mean and its last word."""
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2 * width, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the logit (B,) of writing the words of x (B, T, F)."""
        logit: Tensor = self.layers(torch.cat([pooled(x, mask), last(x, mask)], dim=-1))[:, 0]
        return logit


class ForgetDecision(nn.Module):
    """Whether a new line makes what a slot holds void: it does where the slot lacks no important word of the line."""

    def __init__(self, width: int, config: NeuralConfig) -> None:
        """Compare by the slots' stored match keys."""
        super().__init__()
        self.relevance = Relevance(width, config)
        self.news = nn.Linear(width, 1)

    def forward(self, x: Tensor, mask: Tensor, match: Tensor, filled: Tensor) -> Tensor:
        """Return logits (B, S) for the words of x (B, T, F) against match keys (B, S, J, K); filled is (B, S, J)."""
        lacking: Tensor = self.relevance(x, mask, match, filled)[:, -1]
        news: Tensor = self.news(pooled(x, mask)) + 3.0
        return F.softplus(news) - lacking

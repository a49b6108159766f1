"""Train the codes of tokens: a linear map of an embedding to few numbers, and one back to an output vector.

    python -m training.neural_codes

A token's code, decoded and multiplied with the frozen output matrix, has to give that token the highest logit among the
whole vocabulary. Half of the tokens of a batch are drawn from the vocabulary, half from the training texts: frequent
tokens have short embeddings and are the hard ones. Nothing else depends on codes, so they are trained alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem import bundled
from chatmem.neural.config import NeuralConfig


class Codes(nn.Module):
    """The two maps, begun with the principal directions of the embedding."""

    def __init__(self, embedding: Tensor, size: int) -> None:
        """Take the frozen embedding (V, H)."""
        super().__init__()
        hidden = embedding.shape[1]
        self.code, self.decode = nn.Linear(hidden, size, bias=False), nn.Linear(size, hidden, bias=False)
        unit = F.rms_norm(embedding, (hidden,))
        values, vectors = torch.linalg.eigh(unit.T @ unit / len(unit))
        top = vectors[:, values.argsort(descending=True)[:size]]
        with torch.no_grad():
            self.code.weight.copy_(top.T * 0.2)
            self.decode.weight.copy_(top * 20.0)

    def forward(self, rows: Tensor) -> Tensor:
        """Return output vectors (N, H) of embeddings (N, H)."""
        out: Tensor = self.decode(self.code(F.rms_norm(rows, rows.shape[-1:])))
        return out


def margins(codes: Codes, embedding: Tensor, tokens: Tensor) -> tuple[float, float]:
    """Return the share of tokens that their code gives back, and the median lead over the next token's logit."""
    leads = []
    with torch.no_grad():
        for part in tokens.split(256):
            logits = codes(embedding[part]) @ embedding.T
            own = logits.gather(1, part[:, None])[:, 0]
            leads.append(own - logits.scatter(1, part[:, None], -torch.inf).amax(1))
    lead = torch.cat(leads)
    return float((lead > 0).float().mean()), float(lead.median())


def text_tokens(cache: Path) -> Tensor:
    """Return the tokens of the training texts, each as often as it occurs."""
    return torch.cat([one["ids"] for one in torch.load(cache, weights_only=True)["kept"]])


def main() -> None:
    """Train and write the codes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".benchmark/neural/train.pt"))
    parser.add_argument("--out", type=Path, default=Path(".benchmark/neural/codes.safetensors"))
    parser.add_argument("--steps", type=int, default=250)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    embedding = load_file(bundled.prepare() / "model.safetensors")["model.embed_tokens.weight"].float()
    codes, texts = Codes(embedding, NeuralConfig.for_bundled().code_dim), text_tokens(options.cache)
    occurring = texts.unique()
    optimizer = torch.optim.Adam(codes.parameters(), lr=options.rate, betas=(0.9, 0.98))
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min(1.0, (options.steps - step) / (0.5 * options.steps))
        half = options.batch // 2
        some = torch.cat([torch.randint(len(embedding), (half,)), occurring[torch.randint(len(occurring), (half,))]])
        loss = F.cross_entropy(codes(embedding[some]) @ embedding.T, some)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 50 == 0:
            print(f"step {step + 1} loss {float(loss.detach()):.4f}", flush=True)
    everywhere = torch.randperm(len(embedding))[:3000]
    print("vocabulary", margins(codes, embedding, everywhere), "in the texts", margins(codes, embedding, occurring))
    save_file({name: value.contiguous() for name, value in codes.state_dict().items()}, options.out)


if __name__ == "__main__":
    main()

"""Train the seed's own design on the same texts, for comparison: one vector for each slot, soft writes, a gated read.

    python -m training.train_neural_seed

Slots are read after the last layer and added to its output (fusion `residual`), and once more to the output vector
(`direct_logit_scale`), so that no frozen layer has to run: the cached outputs of the last layer are enough. The seed
reads in the middle layers of a model 30 times as large; what that would change is not measured here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F

from chatmem import bundled
from chatmem.neural.config import NeuralConfig
from chatmem.neural.modules import NeuralModules
from chatmem.neural.saving import save_adapter
from training.neural_batches import Batch, Episodes
from training.train_neural import bundled_fingerprint, start_features

MOST_FACTS = 8


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, nargs="+", default=[Path(".benchmark/neural/train.pt")])
    parser.add_argument("--work", type=Path, default=Path(".benchmark/neural"))
    parser.add_argument("--out", type=Path, default=Path(".benchmark/neural/seed"))
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--persons", type=int, default=3)
    parser.add_argument("--questions", type=int, default=36)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


class SeedLoss:
    """The language model's loss of replies, read from slots."""

    def __init__(self, modules: NeuralModules, weights: dict[str, Tensor]) -> None:
        """Take the frozen embedding (V, H), which is the output matrix too, and the final norm's weight (H,)."""
        self.modules, self.embedding = modules, weights["model.embed_tokens.weight"]
        self.norm = weights["model.norm.weight"]

    def __call__(self, batch: Batch, negatives: int = 3000) -> tuple[Tensor, Tensor]:
        """Return the loss among the batch's tokens and random ones, and the share of right tokens."""
        config, lines = self.modules.config, batch.lines
        x = self.modules.features(self.embedding[lines.ids], lines.hidden)
        slots = torch.zeros(len(batch.memory), config.num_slots, config.slot_dim)
        for place in range(MOST_FACTS):
            at = batch.memory[:, place]
            chosen = at.clamp(min=0)
            slots, _ = self.modules.writer(x[chosen], lines.words[chosen], slots, (at >= 0).float())
        asked = batch.questions
        some = asked.reply
        rows = some.nonzero()[:, 0]
        hidden, target = asked.last[some].float(), F.pad(asked.ids[:, 1:], (0, 1))[some]
        layer = str(config.layer_indices[-1])
        used = torch.ones(len(slots), config.num_slots, dtype=torch.bool) & (batch.memory[:, :1] >= 0)
        read = self.modules.readers[layer](hidden[:, None], slots[rows], used[rows])
        fused = hidden + read.delta[:, 0]
        out = F.rms_norm(fused, fused.shape[-1:], self.norm, 1e-5)
        out = out + config.direct_logit_scale * self.modules.direct(read.readout[:, 0])
        words = torch.cat([target.unique(), torch.randint(len(self.embedding), (negatives,))]).unique()
        logits = out @ self.embedding[words].T
        wanted = torch.searchsorted(words, target)
        return F.cross_entropy(logits, wanted), (logits.argmax(-1) == wanted).float().mean()


def train(options: argparse.Namespace) -> None:
    """Train, log, and write the adapter."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    weights = {name: value.float() for name, value in load_file(bundled.prepare() / "model.safetensors").items()}
    config = NeuralConfig.for_bundled(num_tokens=0, layer_indices=(29,), direct_logit_scale=12.0)
    episodes, modules = Episodes(options.cache, config, options.seed), NeuralModules(config)
    start_features(modules, weights["model.embed_tokens.weight"], episodes)
    loss = SeedLoss(modules, weights)
    optimizer = torch.optim.AdamW(modules.parameters(), lr=options.rate, weight_decay=0.01)
    checkpoint, log = options.work / "seed_checkpoint.pt", options.work / "seed.jsonl"
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        modules.load_state_dict(state["modules"])
        optimizer.load_state_dict(state["optimizer"])
        done = int(state["step"])
    started, mean, mean_right = time.monotonic(), 0.0, 0.0
    for step in range(done, options.steps):
        episodes.draw.seed(f"{options.seed} {step}")
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min((step + 1) / 50, 1.0, (options.steps - step) / (0.4 * options.steps))
        value, right = loss(episodes.batch(options.persons, options.questions))
        optimizer.zero_grad()
        value.backward()
        torch.nn.utils.clip_grad_norm_(modules.parameters(), 1.0)
        optimizer.step()
        mean, mean_right = mean + float(value.detach()) / 25, mean_right + float(right) / 25
        if (step + 1) % 25 == 0:
            row = {"step": step + 1, "lm": round(mean, 4), "right": round(mean_right, 4),
                   "seconds": round(time.monotonic() - started)}  # fmt: skip
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            mean = mean_right = 0.0
        if (step + 1) % 250 == 0 or step + 1 == options.steps:
            content = {"step": step + 1, "modules": modules.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(content, checkpoint)
            save_adapter(options.out, modules, bundled_fingerprint())


if __name__ == "__main__":
    train(arguments())

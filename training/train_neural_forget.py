"""Train the forget decision further, alone, on pairs that are hard to tell apart; the other parts stay as they are.

    python -m training.train_neural_forget

In `train_neural` most pairs of a new line and an old one have nothing in common. Here a pair counts as much where both
are about one person, or about one attribute, as where the new line makes the old one void.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F

from chatmem import bundled
from chatmem.neural.modules import NeuralModules
from chatmem.neural.saving import load_adapter, save_adapter
from training.neural_batches import Episodes
from training.train_neural import bundled_fingerprint


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path(".benchmark/neural/train.pt"))
    parser.add_argument("--log", type=Path, default=Path(".benchmark/neural/forget.jsonl"))
    parser.add_argument("--adapter", type=Path, default=Path("chatmem/weights/neural"), help="read and written")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--persons", type=int, default=8)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=2)
    return parser.parse_args()


def forget_loss(modules: NeuralModules, embedding: Tensor, episodes: Episodes, options: argparse.Namespace,
                *, held: bool = False) -> dict[str, Tensor]:  # fmt: skip
    """Return the loss of a batch of lines, and the right shares of void pairs and of near pairs that are not void."""
    batch = episodes.batch(options.persons, 6, held=held)
    text, told = batch.lines, batch.told
    embeddings = embedding[text.ids]
    x = modules.features(embeddings, text.hidden)
    with torch.no_grad():
        length = modules.config.num_tokens
        match = modules.tokens.parts(modules.tokens.states(x, embeddings)).match[:, 3 : 3 + length]
        filled = text.words[:, 3 : 3 + length]
    new = [n for n, one in enumerate(told) if one.kind != "chatter"]
    old = [n for n, one in enumerate(told) if one.kind in ("fact", "update")]
    logit = modules.forget(
        F.dropout(x[new], options.dropout, not held),
        text.words[new],
        match[old].expand(len(new), -1, -1, -1),
        filled[old].expand(len(new), -1, -1),
    )
    void = torch.tensor([[float(told[n].replaces(told[o])) for o in old] for n in new])
    same = torch.tensor([[float(told[n] != told[o]) for o in old] for n in new])
    near = torch.tensor([[float(told[n].subject == told[o].subject or told[n].attribute == told[o].attribute)
                          for o in old] for n in new])  # fmt: skip
    near = near * same * (1 - void)
    far = same * (1 - void) * (1 - near)
    bce = F.binary_cross_entropy_with_logits(logit, void, reduction="none")
    parts = {"void": void * same, "near": near, "far": far}
    found = {name: ((logit > 0) == (void > 0)).float().mul(part).sum() / part.sum() for name, part in parts.items()}
    weighted = sum((bce * part).sum() / part.sum().clamp(min=1) for part in parts.values())
    return found | {"loss": torch.as_tensor(weighted)}


def main() -> None:
    """Train, log, and write the adapter again."""
    options = arguments()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    embedding = load_file(bundled.prepare() / "model.safetensors")["model.embed_tokens.weight"].float()
    modules = load_adapter(options.adapter)
    modules.requires_grad_(False)
    modules.forget.requires_grad_(True)
    episodes = Episodes(options.cache, modules.config, options.seed)
    optimizer = torch.optim.AdamW(modules.forget.parameters(), lr=options.rate, weight_decay=0.01)
    for step in range(options.steps):
        episodes.draw.seed(f"{options.seed} {step}")
        for group in optimizer.param_groups:
            group["lr"] = options.rate * min((step + 1) / 20, 1.0, (options.steps - step) / (0.5 * options.steps))
        found = forget_loss(modules, embedding, episodes, options)
        optimizer.zero_grad()
        found["loss"].backward()
        optimizer.step()
        if (step + 1) % 50 == 0:
            episodes.draw.seed("validation")
            with torch.no_grad():
                checks = [forget_loss(modules, embedding, episodes, options, held=True) for _ in range(4)]
            row = {name: round(sum(float(one[name]) for one in checks) / 4, 4) for name in checks[0]}
            with options.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": step + 1, "loss": float(found["loss"].detach())} | {"held": row}) + "\n")
    save_adapter(options.adapter, modules, bundled_fingerprint())


if __name__ == "__main__":
    main()

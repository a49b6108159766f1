"""Train the memory inside the bundled model: token states, pointer, write and forget decisions.

    python -m training.neural_cache          the frozen model's hidden states, once
    python -m training.neural_codes          the codes of tokens, once
    python -m training.train_neural          resumes from its newest checkpoint
    ... --start chatmem/weights/neural       goes on from trained weights, with their reply tokens and codes

Two phases in each step: lines are written without reading, questions are read without writing. The losses: `lm`, the
negative log of what memory and frozen model together give a reply's tokens; `copy`, the same of the memory alone where
the frozen model would not say the token (in a softmax, what has no share has next to no gradient); `rest`, of leaving
ordinary talk and questions to the frozen model; `talk`, the same of every token of dialogues; `slot`, of the slot that
holds the answer; `write` and `forget`, cross entropy of the decisions. No layer of the frozen model runs here.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoModelForCausalLM

from chatmem import bundled
from chatmem.neural.config import NeuralConfig
from chatmem.neural.modules import NeuralModules
from chatmem.neural.saving import fingerprint, load_adapter, save_adapter
from training.neural_batches import Episodes
from training.neural_losses import Losses

WARMUP = 50


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, nargs="+", default=[Path(".benchmark/neural/train.pt")])
    parser.add_argument("--codes", type=Path, default=Path(".benchmark/neural/codes.safetensors"))
    parser.add_argument("--start", type=Path, help="trained weights to go on from")
    parser.add_argument("--work", type=Path, default=Path(".benchmark/neural"), help="checkpoint, log and curve")
    parser.add_argument("--out", type=Path, default=Path("chatmem/weights/neural"))
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--persons", type=int, default=4)
    parser.add_argument("--questions", type=int, default=36)
    parser.add_argument("--rate", type=float, default=8e-4)
    parser.add_argument("--dropout", type=float, default=0.1, help="of the features: people to come are others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=2.0, help="between checkpoints")
    parser.add_argument("--write-weight", type=float, default=0.5)
    parser.add_argument("--forget-weight", type=float, default=0.75)
    parser.add_argument("--rest-weight", type=float, default=1.0)
    parser.add_argument("--talk-weight", type=float, default=3.0)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def reply_tokens(episodes: Episodes, least: int = 15, most: int = 48) -> tuple[int, ...]:
    """Return the tokens that replies often have and that the lines they come from lack."""
    lines = {(item["group"], item["told"].text): set(kept["ids"].tolist())
             for item, kept in zip(episodes.items, episodes.kept, strict=True) if item["role"] == "line"}  # fmt: skip
    counts: Counter[int] = Counter()
    for item, kept in zip(episodes.items, episodes.kept, strict=True):
        if item["role"] in ("answer", "unknown"):
            own = lines.get((item["group"], item["told"].text), set()) if item["role"] == "answer" else set()
            counts.update(set(kept["ids"][-int(kept["reply"]) :].tolist()) - own)
    return tuple(token for token, count in counts.most_common(most) if count >= least)


def load_codes(modules: NeuralModules, path: Path) -> None:
    """Take over the codes of tokens; nothing in this training changes them."""
    weights = load_file(path)
    for name, part in (("code", modules.tokens.code), ("decode", modules.tokens.decode)):
        part.load_state_dict({"weight": weights[f"{name}.weight"]})


def start_features(modules: NeuralModules, embedding: Tensor, episodes: Episodes) -> None:
    """Measure mean and deviation of the features over some training texts."""
    text = episodes.pad(list(range(0, len(episodes.kept), 20)))
    there = (text.words | text.reply)[:, :, None]
    x = modules.features(embedding[text.ids], text.hidden)[there.expand(-1, -1, modules.mean.numel())]
    x = x.view(-1, modules.mean.numel())
    modules.mean.copy_(x.mean(0))
    modules.scale.copy_(1 / x.std(0).clamp(min=0.05))


def start_modules(options: argparse.Namespace, embedding: Tensor, episodes: Episodes) -> NeuralModules:
    """Return the modules to train: those to go on from, or new ones with the codes of tokens."""
    if options.start:
        modules = load_adapter(options.start).float()
    else:
        modules = NeuralModules(NeuralConfig.for_bundled(reply_tokens=reply_tokens(episodes)))
        start_features(modules, embedding, episodes)
        load_codes(modules, options.codes)
    modules.tokens.code.requires_grad_(False)
    modules.tokens.decode.requires_grad_(False)
    return modules


def train(options: argparse.Namespace) -> None:
    """Train, log, and write the adapter."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    embedding = load_file(bundled.prepare() / "model.safetensors")["model.embed_tokens.weight"].float()
    episodes = Episodes(options.cache, NeuralConfig.for_bundled(), options.seed)
    modules = start_modules(options, embedding, episodes)
    losses = Losses(modules, embedding, options)
    trained = [weight for weight in modules.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
    options.work.mkdir(parents=True, exist_ok=True)
    checkpoint, log = options.work / "checkpoint.pt", options.work / "train.jsonl"
    done = _resume(checkpoint, modules, optimizer) if checkpoint.exists() else 0
    started = saved = time.monotonic()
    weights = {"lm": 1.0, "rest": options.rest_weight, "talk": options.talk_weight, "copy": 0.3, "slot": 0.3,
               "write": options.write_weight, "forget": options.forget_weight}  # fmt: skip
    recent: list[dict[str, float]] = []
    for step in range(done, options.steps):
        episodes.draw.seed(f"{options.seed} {step}")
        torch.manual_seed(1_000_003 * options.seed + step)  # of the dropout: a resumed step draws the same
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(options, step)
        found = losses(episodes.batch(options.persons, options.questions))
        optimizer.zero_grad()
        sum(weight * found[name] for name, weight in weights.items()).backward()
        torch.nn.utils.clip_grad_norm_(modules.parameters(), 1.0)
        optimizer.step()
        recent.append({name: float(value.detach()) for name, value in found.items()})
        if (step + 1) % 25 == 0:
            row: dict[str, Any] = {"step": step + 1, "seconds": round(time.monotonic() - started)}
            row |= {name: round(sum(one[name] for one in recent) / len(recent), 4) for name in found}
            if (step + 1) % 100 == 0:
                row |= _validate(losses, episodes, options)
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            recent.clear()
        if time.monotonic() - saved > 60 * options.minutes or step + 1 == options.steps:
            content = {"step": step + 1, "modules": modules.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(content, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").replace(checkpoint)
            save_adapter(options.out, modules, bundled_fingerprint())
            saved = time.monotonic()
    draw_curve(log, options.work / "curve.png")


def learning_rate(options: argparse.Namespace, step: int) -> float:
    """Return the rate of a step: it rises over WARMUP steps, and falls over the last four tenths."""
    fall = min(1.0, (options.steps - step) / (0.4 * options.steps))
    return float(options.rate * min((step + 1) / WARMUP, 1.0) * fall)


@lru_cache
def bundled_fingerprint() -> str:
    """Return what the bundled model is known by."""
    return fingerprint(AutoModelForCausalLM.from_pretrained(str(bundled.prepare())))


def _resume(path: Path, modules: NeuralModules, optimizer: torch.optim.Optimizer) -> int:
    state = torch.load(path, weights_only=True)
    modules.load_state_dict(state["modules"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


@torch.no_grad()
def _validate(losses: Losses, episodes: Episodes, options: argparse.Namespace) -> dict[str, float]:
    """Return the losses on people that are not trained on."""
    episodes.draw.seed("validation")
    losses.modules.eval()
    found = [losses(episodes.batch(options.persons, options.questions, held=True)) for _ in range(3)]
    losses.modules.train()
    return {f"held_{name}": round(sum(float(one[name]) for one in found) / 3, 4) for name in found[0]}


def draw_curve(log: Path, picture: Path) -> None:
    """Draw the losses over the steps."""
    from matplotlib import pyplot as plt

    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for name in ("lm", "held_lm", "slot", "rest", "talk", "held_talk", "write", "forget"):
        points = [(row["step"], row[name]) for row in rows if name in row]
        axes.plot(*zip(*points, strict=True), label=name)
    axes.set(yscale="log", xlabel="step", ylabel="loss")
    axes.legend(frameon=False, ncols=4)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    train(arguments())

"""Train what one statement is, and what it does to an older one.

python -m training.train_statements --data ../shared/data --cache DIR     a quarter of an hour on one idle core
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

from chatmem.embedding import SentenceEncoder, bundled_folder
from chatmem.pairs import STATEMENT_WEIGHTS, save_weights
from chatmem.statement_network import KIND, NUM_KEPT, RELATION, StatementNetwork, upper_layers
from training.pairs_batches import Rows, Sides, endless_batches
from training.pairs_options import read_options, read_sets
from training.pairs_relations import DENIAL, NEW, UNRELATED
from training.pairs_sets import Pairs

LOST = 0.03  # share of the development set's facts that may be taken for something else
WRONGLY = 0.05  # share of the development set's near misses that may be taken for a newer word


def logits_of(network: StatementNetwork, sides: Sides, rows: Rows, task: int) -> torch.Tensor:
    """Return the logits of pairs (new, old, …) or of single sentences (sentence, …) given by their numbers."""
    if task == KIND:
        return network.kinds(sides(rows[:, 0]))
    return network.relation(sides(rows[:, 0]), sides(rows[:, 1]))


@torch.inference_mode()
def score_rows(network: StatementNetwork, sides: Sides, rows: Rows, task: int, batch: int = 256) -> torch.Tensor:
    """Return the logits (P, outputs) of many rows."""
    network.eval()
    return torch.cat([logits_of(network, sides, part, task) for part in np.split(rows, range(batch, len(rows), batch))])


def train(
    network: StatementNetwork,
    pairs: Pairs,
    sides: Sides,
    dev: Pairs,
    *,
    steps: int,
    batch: int,
    rate: float,
    aside: Path,
    seed: int,
) -> None:
    """Learn both heads in turn; weights so far are kept aside. Labels are smoothed a little (Szegedy et al., 2016)."""
    rng = np.random.default_rng(seed)
    weights = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.02)
    rows_of = {RELATION: pairs.relations, KIND: np.c_[pairs.kinds[:, :1], pairs.kinds]}
    sources = {task: endless_batches(rows, sides.lengths, batch, rng) for task, rows in rows_of.items()}
    started, so_far = time.monotonic(), {RELATION: 1.4, KIND: 2.2}
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 60) * (0.02 + 0.98 * (1 + math.cos(math.pi * step / steps)) / 2)
        network.train()
        task = (RELATION, RELATION, KIND)[step % 3]
        rows = next(sources[task])
        with torch.autocast("cpu", torch.bfloat16):
            logits = logits_of(network, sides, rows, task).float()
        loss = F.cross_entropy(logits, torch.from_numpy(rows[:, 2]), label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        so_far[task] = 0.98 * so_far[task] + 0.02 * loss.item()
        if (step + 1) % 100 == 0 or step + 1 == steps:
            save_file(network.trained(), aside)
            found = accuracies(network, sides, dev) if (step + 1) % 300 == 0 or step + 1 == steps else ""
            losses = ", ".join(f"{value:.3f}" for value in so_far.values())
            print(f"{time.monotonic() - started:.0f} s, step {step + 1}: losses {losses}{found}", flush=True)


def accuracies(network: StatementNetwork, sides: Sides, dev: Pairs) -> str:
    """Return how often relations are told right, and whether sentences are worth keeping."""
    relations = score_rows(network, sides, dev.relations, RELATION).argmax(1).numpy() == dev.relations[:, 2]
    kept = score_rows(network, sides, dev.kinds, KIND).argmax(1).numpy() < NUM_KEPT
    return f"; dev: relations {relations.mean():.4f}, kept or not {(kept == (dev.kinds[:, 1] < NUM_KEPT)).mean():.4f}"


def temperature(logits: torch.Tensor, labels: torch.Tensor) -> float:
    """Return what logits (P, K) are divided by so that probabilities mean something (Guo et al., 2017)."""
    grid = torch.linspace(0.4, 4.0, 73)
    losses = [float(F.cross_entropy(logits / value, labels)) for value in grid]
    return round(float(grid[int(np.argmin(losses))]), 3)


def calibrate(network: StatementNetwork, sides: Sides, dev: Pairs) -> dict[str, float]:
    """Choose the temperature and the thresholds on the development set."""
    logits, labels = score_rows(network, sides, dev.relations, RELATION), dev.relations[:, 2]
    heat = temperature(logits, torch.from_numpy(labels))
    replaced: npt.NDArray[np.float32] = (logits / heat).softmax(1)[:, [NEW, DENIAL]].sum(1).numpy()
    stands = labels == UNRELATED
    chances = score_rows(network, sides, dev.kinds, KIND).softmax(1)[:, :NUM_KEPT].sum(1).numpy()
    return {
        "relation_heat": heat,
        "replaced": round(float(np.quantile(replaced[stands], 1 - WRONGLY)), 4),
        "kept": round(float(np.quantile(chances[dev.kinds[:, 1] < NUM_KEPT], LOST)), 4),
    }


def main() -> None:
    """Make the sets, train, choose temperature and thresholds, and write the weights."""
    options = read_options(__doc__, STATEMENT_WEIGHTS, steps=1500, batch=96, rate=2e-3)
    sets, sides = read_sets(options)
    network = StatementNetwork(upper_layers(bundled_folder()))
    if options.start:
        found = {name: weight.float() for name, weight in load_file(options.start).items()}
        network.load_state_dict(found, strict=False)
    train(
        network,
        sets["train"],
        sides,
        sets["dev"],
        steps=options.steps,
        batch=options.batch,
        rate=options.rate,
        aside=options.cache / f"statements-{options.seed}.safetensors",
        seed=options.seed,
    )
    settings = {**network.sizes, **calibrate(network, sides, sets["dev"])}
    save_weights(network.trained(), options.out, SentenceEncoder.load().fingerprint, settings)


if __name__ == "__main__":
    main()

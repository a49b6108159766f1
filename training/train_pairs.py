"""Train the pair decision: does a line answer a question.

python -m training.train_pairs --data ../shared/data --cache DIR     about half an hour on two cores
python -m training.train_pairs ... --scale 0.02 --steps 40           a minute, to see that it runs
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

from chatmem.embedding import SentenceEncoder
from chatmem.pair_network import PairNetwork
from chatmem.pairs import WEIGHTS, save_weights
from training.pairs_batches import Rows, Sides, answer_pairs, endless_batches
from training.pairs_options import read_options, read_sets
from training.pairs_scoring import best_scores, curve, threshold_for
from training.pairs_sets import Pairs

ANSWERED = 0.95  # share of the answerable, well-spelt questions of the development set that the threshold lets through


@torch.inference_mode()
def score_rows(network: PairNetwork, sides: Sides, rows: Rows, batch: int = 256) -> torch.Tensor:
    """Return the logits (P,) of pairs given by their numbers (P, 2 or more)."""
    network.eval()
    parts = np.split(rows, range(batch, len(rows), batch))
    return torch.cat([network(sides(part[:, 0]), sides(part[:, 1])) for part in parts])


def score_groups(network: PairNetwork, sides: Sides, pairs: Pairs) -> np.ndarray:
    """Return the logits (Q, C) of every question with its candidates; -inf where there is none."""
    groups = pairs.groups
    question, place = np.nonzero(groups.candidates >= 0)
    rows = np.stack([groups.questions[question], groups.candidates[question, place]], 1)
    scores = np.full(groups.candidates.shape, -np.inf)
    scores[question, place] = score_rows(network, sides, rows).double().numpy()
    return scores


def train(
    network: PairNetwork,
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
    """Learn which lines answer; weights so far are kept aside."""
    rng = np.random.default_rng(seed)
    weights = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.02)
    few = Pairs(dev.groups.some(slice(600)), dev.relations, dev.answers, dev.kinds)
    questions = endless_batches(answer_pairs(pairs, rng), sides.lengths, batch, rng)
    loss_so_far, started = 0.0, time.monotonic()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 60) * (0.02 + 0.98 * (1 + math.cos(math.pi * step / steps)) / 2)
        network.train()
        rows = next(questions)
        with torch.autocast("cpu", torch.bfloat16):
            logits = network(sides(rows[:, 0]), sides(rows[:, 1])).float()
        loss = F.binary_cross_entropy_with_logits(logits, torch.from_numpy(rows[:, 2]).float())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        loss_so_far = 0.98 * loss_so_far + 0.02 * loss.item()
        if (step + 1) % 100 == 0 or step + 1 == steps:
            save_file(network.state_dict(), aside)
            print(f"{time.monotonic() - started:.0f} s, step {step + 1}: loss {loss_so_far:.4f}", flush=True)
        if (step + 1) % max(1, steps // 4) == 0:
            found = curve(few.groups, score_groups(network, sides, few))
            print(
                f"dev AUC {found['auc']}, right line first {found['right_line_first']},"
                f" refused at 95% {found['refused_at_95']}",
                flush=True,
            )


def scaling(logits: npt.NDArray[np.float64], labels: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return a factor and an offset that turn logits (P,) into probabilities that mean something (Platt, 1999)."""
    factor, offset = torch.ones((), requires_grad=True), torch.zeros((), requires_grad=True)
    given, wanted = torch.from_numpy(logits).float(), torch.from_numpy(labels).float()
    optimizer = torch.optim.LBFGS([factor, offset], max_iter=100)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(given * factor + offset, wanted)
        loss.backward()
        return loss

    optimizer.step(closure)
    return round(factor.item(), 4), round(offset.item(), 4)


def calibrate(network: PairNetwork, sides: Sides, dev: Pairs) -> dict[str, float]:
    """Choose scaling and threshold on the development set: seen attributes, unseen values."""
    scores = score_groups(network, sides, dev)
    judged = dev.groups.labels >= 0
    factor, offset = scaling(scores[judged], dev.groups.labels[judged])
    clean = dev.groups.well_spelt
    bound = threshold_for(best_scores(dev.groups.some(clean), scores[clean], first=3)[0], ANSWERED)
    threshold = 1 / (1 + math.exp(-(factor * (bound or 0.0) + offset)))
    return {"factor": factor, "offset": offset, "threshold": round(threshold, 4)}


def main() -> None:
    """Make the sets, train, choose temperatures and threshold, and write the weights."""
    options = read_options(__doc__, WEIGHTS, steps=1900, batch=192, rate=1.2e-3)
    sets, sides = read_sets(options)
    network = PairNetwork()
    if options.start:
        network.load_state_dict({name: weight.float() for name, weight in load_file(options.start).items()})
    train(
        network,
        sets["train"],
        sides,
        sets["dev"],
        steps=options.steps,
        batch=options.batch,
        rate=options.rate,
        aside=options.cache / f"pairs-{options.seed}.safetensors",
        seed=options.seed,
    )
    settings = {**network.sizes, **calibrate(network, sides, sets["dev"])}
    save_weights(network.trained(), options.out, SentenceEncoder.load().fingerprint, settings)


if __name__ == "__main__":
    main()

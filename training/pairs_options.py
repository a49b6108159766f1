"""What the trainings over token embeddings are called with, and the sets that they read."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from training.pairs_batches import Sides
from training.pairs_sets import Pairs, make_sets, with_tokens


def read_options(about: str | None, out: Path, *, steps: int, batch: int, rate: float) -> argparse.Namespace:
    """Return the arguments of a training; the seed and the number of threads are set."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path, default=Path(".benchmark/pairs"))
    parser.add_argument("--out", type=Path, default=out)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--start", type=Path, help="weights to go on from; with --steps 0 they are only calibrated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    return options


def read_sets(options: argparse.Namespace) -> tuple[dict[str, Pairs], Sides]:
    """Return the sets, and their texts as the encoder reads them."""
    sets, tokens = with_tokens(make_sets(options.data, options.scale), options.cache)
    return sets, Sides(tokens)

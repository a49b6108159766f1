"""Train the session encoder: the GRU of `RecurrentMemory` and its three small maps, with InfoNCE (Oord et al., 2018).

    python -m training.train_encoder --data ../shared/data

A question is pulled towards the last state of its session (the slot) and towards the turn that answers, away from the
other sessions of the batch, the other lines of its own session, and the same attribute of other people. Sentence
embeddings stay frozen and are made once. About fifteen minutes on one core; GoodAI and MADial are never read here.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import trange

from chatmem.choosing import THRESHOLD
from chatmem.embedding import SentenceEncoder
from memory_module import RecurrentMemory
from training.batches import Batch, Batches
from training.elliptical import elliptical_corpus
from training.embedding_cache import EmbeddingCache
from training.encoder_data import Corpus, Split, persona_corpus, russian_corpus
from training.template_sessions import template_corpus

NUM_SLOW = 384  # of the 512 parts of the state, those that start as a sum over the session
COUNTS = {"train": (1400, 900, 250), "valid": (150, 150, 60)}  # template, elliptical and Russian sessions


@torch.no_grad()
def start_as_sum(network: RecurrentMemory, embeddings: Tensor, seed: int) -> None:
    """Start most of the state as a plain sum of the inputs, which no session is too long for; the rest as the last one.

    With U_n = 2 I and a reset gate of 1/2, the candidate is tanh(h + W x) and h' = z h + (1 - z) tanh(h + W x), about
    h + (1 - z) W x: nothing leaks, and the update gate learns what is worth adding. W is a rotation of the principal
    directions of some embeddings (n, D), so that cosines are kept.
    """
    H, S = network.hidden_dim, NUM_SLOW
    generator = torch.Generator().manual_seed(seed)
    gru = network.encoder
    for parameter in gru.parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.01 / math.sqrt(H))
    principal = torch.linalg.svd(embeddings, full_matrices=False).Vh  # (D, D)
    weight_ih, weight_hh = gru.get_parameter("weight_ih_l0"), gru.get_parameter("weight_hh_l0")
    slow = torch.linalg.qr(torch.randn(S, S, generator=generator)).Q
    fast = torch.linalg.qr(torch.randn(H - S, H - S, generator=generator)).Q
    weight_ih[2 * H : 2 * H + S].add_(4 * slow @ principal[:S])  # rows: reset, update, candidate gate
    weight_ih[2 * H + S :].add_(fast @ principal[: H - S])
    weight_hh[2 * H : 2 * H + S, :S].add_(2 * torch.eye(S))
    gru.get_parameter("bias_ih_l0")[H : H + S].add_(math.log(0.95 / 0.05))
    network.question.weight[S:] = 0.0  # slots are compared by the slow part


class Losses(nn.Module):
    """Both contrastive losses, with learned temperatures."""

    def __init__(self, network: RecurrentMemory) -> None:
        """Score with a network."""
        super().__init__()
        self.network = network
        self.scale_session = nn.Parameter(torch.tensor(math.log(15.0)))
        self.scale_turn = nn.Parameter(torch.tensor(math.log(15.0)))

    def forward(self, batch: Batch) -> dict[str, Tensor]:
        """Return the losses, and the shares of questions whose best session and best line are right."""
        encoding = self.network.encode(batch.sessions, batch.lengths)
        query = self.network.query(batch.queries)
        slots = F.normalize(encoding.last, dim=-1)
        sessions = F.normalize(query.slot, dim=-1) @ slots.T * self.scale_session.exp().clamp(max=100)  # (Q, B)
        sessions = sessions.masked_fill(~batch.allowed, -1e4)
        turns = torch.einsum("qd,btd->qbt", query.turn, self.network.turns(batch.sessions, encoding.states))
        told = batch.lines | (batch.by_user & batch.allowed[..., None])
        turns = (turns * self.scale_turn.exp().clamp(max=100)).masked_fill(~told, -1e4).flatten(1)  # (Q, B T)
        right = batch.lines.flatten(1)
        of_right = turns.masked_fill(~right, -1e4)
        return {
            "session": F.cross_entropy(sessions, batch.talk),
            "turn": (torch.logsumexp(turns, 1) - torch.logsumexp(of_right, 1)).mean(),
            "hit session": (sessions.argmax(1) == batch.talk).float().mean(),
            "hit turn": right.gather(1, turns.argmax(1, keepdim=True)).float().mean(),
        }


def corpus(data: Path, split: Split) -> Corpus:
    """Return everything that training or validation uses."""
    people = persona_corpus(data, split)
    chatter = [pair for talk in people.talks for pair in zip(talk.texts, talk.by_user, strict=True)]
    template, elliptical, russian = COUNTS[split]
    own = template_corpus(split, chatter, template) + elliptical_corpus(split, chatter, elliptical)
    return people + own + russian_corpus(data, split, russian)


@torch.no_grad()
def validate(losses: Losses, batches: list[Batch]) -> dict[str, float]:
    """Return the mean losses and hits over fixed batches of unseen people, values and attributes."""
    losses.eval()
    found = [losses(batch) for batch in batches]
    losses.train()
    return {name: round(sum(float(one[name]) for one in found) / len(found), 4) for name in found[0]}


@torch.no_grad()
def calibrate(network: RecurrentMemory, batches: list[Batch], share: float = 0.975) -> None:
    """Set the lift so that for this share of the questions a line that answers fits (`ranking.fit`)."""
    means = []
    for batch in batches:
        read = network.turns(batch.sessions, network.encode(batch.sessions, batch.lengths).states)
        turns = torch.einsum("qd,btd->qbt", network.query(batch.queries).turn, read)
        alone = torch.einsum("qd,btd->qbt", batch.queries, batch.sessions)
        fits = ((turns + alone) / 2).masked_fill(turns >= THRESHOLD, 1.0).masked_fill(~batch.lines, -1.0)
        means.append(fits.flatten(1).amax(1))
    network.lift.fill_(THRESHOLD - float(torch.cat(means).quantile(1 - share)))


def train(args: argparse.Namespace) -> None:
    """Train, keep the weights of the best validation, and save them."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    encoder = SentenceEncoder.load()
    cache = EmbeddingCache(encoder, args.cache)
    batches = Batches(corpus(args.data, "train"), cache, args.seed, training=True)(args.batch)
    unseen = Batches(corpus(args.data, "valid"), cache, args.seed, training=False)(args.batch)
    fixed = [next(unseen) for _ in range(9)]
    network = RecurrentMemory(cache.vectors.shape[1])
    start_as_sum(network, torch.from_numpy(cache.vectors[:20000]), args.seed)
    losses, best = Losses(network), -1.0
    report(0, validate(losses, fixed))
    optimizer = torch.optim.AdamW(losses.parameters(), lr=args.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.rate, total_steps=args.steps, pct_start=0.1)
    for step in trange(1, args.steps + 1, desc="Training", disable=None):
        batch = next(batches)
        noise = args.noise / math.sqrt(batch.sessions.shape[2])
        batch = batch._replace(
            sessions=batch.sessions + noise * torch.randn_like(batch.sessions),
            queries=batch.queries + noise * torch.randn_like(batch.queries),
        )
        found = losses(batch)
        optimizer.zero_grad()
        (found["session"] + found["turn"]).backward()
        nn.utils.clip_grad_norm_(losses.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == args.steps:
            scores = validate(losses, fixed)
            report(step, {**scores, "trained session": float(found["session"].detach())})
            if scores["hit session"] + scores["hit turn"] > best:
                best = scores["hit session"] + scores["hit turn"]
                calibrate(network, fixed)
                save(network, encoder.fingerprint, args.output)


def report(step: int, scores: dict[str, float]) -> None:
    """Print one line of numbers to stderr."""
    text = ", ".join(f"{name} {value:.3f}" for name, value in scores.items())
    print(f"{time.strftime('%H:%M:%S')} step {step}: {text}", file=sys.stderr, flush=True)


def save(network: RecurrentMemory, embeddings: str, path: Path) -> None:
    """Write the weights in half precision, without the pool, and for which embeddings they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.half().contiguous() for name, tensor in network.weights().items()}
    about = {"embeddings": embeddings, "hidden_dim": str(network.hidden_dim)}
    save_file(weights, path, metadata=about)
    path.chmod(0o644)


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train the session encoder.")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="default: ../shared/data")
    parser.add_argument("--output", type=Path, default=Path("chatmem/weights/session_encoder.safetensors"))
    parser.add_argument("--cache", type=Path, default=Path(".benchmark/embeddings"), help="where embeddings are kept")
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--batch", type=int, default=48, help="sessions in a batch")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--noise", type=float, default=0.3, help="length of the noise added to embeddings")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1, help="more are slower where cores are shared")
    train(parser.parse_args())


if __name__ == "__main__":
    main()

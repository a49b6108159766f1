"""Which slots a reply read and which a line wrote, as numbers and as a picture (`training/show_neural.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from chatmem.neural.generation import reply_steps
from chatmem.neural.model import NeuralMemoryModel, NeuralOutput
from chatmem.neural.state import MemoryState
from chatmem.neural.writing import Written


@dataclass(frozen=True)
class Reads:
    """What a reply read: its tokens (T), the share of every slot at each (T, S), and the share of the memory (T)."""

    tokens: tuple[str, ...]
    slots: Tensor
    gate: Tensor


def slot_shares(output: NeuralOutput) -> tuple[Tensor, Tensor]:
    """Return how much the last position of a call read of each slot of the first state (S,), and of the memory ()."""
    if output.reading is not None:
        return output.reading.tokens[0, -1].sum(-1).detach(), output.reading.gate[0, -1].detach()
    found = list((output.slot_readings or {}).values())
    if not found:
        return torch.zeros(0), torch.zeros(())
    return found[-1].shares[0, -1].detach(), found[-1].gate[0, -1].detach()


def read_slots(
    model: NeuralMemoryModel, tokenizer: Any, question: str, state: MemoryState, max_new_tokens: int = 32
) -> Reads:
    """Reply to a question with the likeliest tokens, and return what each of them was read from."""
    said: list[str] = []
    shares: list[Tensor] = []
    gates: list[Tensor] = []
    for token, out in reply_steps(model, tokenizer, [{"role": "user", "content": question}], state, max_new_tokens):
        slots, gate = slot_shares(out)
        said.append(tokenizer.decode([token]))
        shares.append(slots)
        gates.append(gate)
    size = state.written.shape[1]
    return Reads(tuple(said), torch.stack(shares) if shares else torch.zeros(0, size), torch.tensor(gates))


def writes(written: Written) -> dict[str, Any]:
    """Return a write to the first state as numbers: the decision, the slots written, the slots made void."""
    return {
        "decision": float(written.decision[0]),
        "slots": [float(value) for value in written.shares[0]],
        "forgotten": [float(value) for value in written.forgotten[0]],
    }


def draw_reads(reads: Reads, path: Path, labels: Sequence[str] = ()) -> None:
    """Draw the slots (rows) that each token of a reply (columns) was read from, and the memory's share below.

    With labels only the first slots are drawn, as many as there are labels.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (top, below) = plt.subplots(
        2, 1, figsize=(max(6, 0.8 * len(reads.tokens)), 4), sharex=True, layout="constrained", height_ratios=[3, 1]
    )
    names = list(labels) or [str(slot) for slot in range(reads.slots.shape[1])]
    top.imshow(reads.slots.T[: len(names)].numpy(), aspect="auto", cmap="cividis", vmin=0, vmax=1)
    top.set(title="Share of each slot in each token", ylabel="slot", yticks=range(len(names)))
    top.set_yticklabels(names, fontsize=8)
    below.bar(range(len(reads.tokens)), reads.gate.numpy(), color="#0072B2")
    below.set(ylabel="memory's share", ylim=(0, 1), xticks=range(len(reads.tokens)))
    below.set_xticklabels([_shown(token) for token in reads.tokens], rotation=60, fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _shown(token: str) -> str:
    """Return a token as every font can show it."""
    return "".join(char if char.isprintable() else "?" for char in token.strip()) or repr(token)

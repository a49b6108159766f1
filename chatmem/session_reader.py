"""Reading sessions with the GRU while they grow: each sentence is embedded and read once.

Knows the network only by what it does, so that it works with any that keeps to `Network`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from chatmem.embedding import Array, Encoder

HalfArray = npt.NDArray[np.float16]


class Network(Protocol):
    """What is asked of a `RecurrentMemory`."""

    hidden_dim: int

    def read_on(self, sequence_embeds: Tensor, start: Tensor | None = None) -> Tensor:
        """Return the states (B, T, H) of sentences that follow a state (B, H)."""

    def turns(self, sequence_embeds: Tensor, states: Tensor) -> Tensor:
        """Return unit rows (B, T, D) for sentences in their context."""


class Reading(NamedTuple):
    """What the GRU makes of the T sentences of one session."""

    slot: Array  # (H,) float32: the state after the last sentence; zero where there is none
    lines: HalfArray  # (T, 2 D): of each sentence its embedding, then the same in its context


class SessionReader:
    """Reads sessions; one that grew since the last time is read on from where it was."""

    def __init__(self, encoder: Encoder, network: Network) -> None:
        """Read with an encoder of sentences and a network."""
        self._encoder = encoder
        self._network = network
        self._known: dict[int, tuple[list[str], Reading]] = {}

    @torch.no_grad()
    def read(self, session: int, texts: Sequence[str]) -> Reading:
        """Return what is made of the sentences of a session, and keep it until `forget`."""
        said, before = self._known.get(session, ([], None))
        if before is None or list(texts[: len(said)]) != said:
            said = []
            nothing = np.zeros((0, 2 * self._encoder.input_dim), dtype=np.float16)
            before = Reading(np.zeros(self._network.hidden_dim, dtype=np.float32), nothing)
        new = list(texts[len(said) :])
        if new:
            embeds = torch.from_numpy(self._encoder.encode(new))[None]  # (1, T, D)
            states = self._network.read_on(embeds, torch.from_numpy(before.slot)[None])  # (1, T, H)
            rows = torch.cat([embeds, self._network.turns(embeds, states)], dim=-1)[0]  # (T, 2 D)
            before = Reading(states[0, -1].numpy(), np.concatenate([before.lines, rows.numpy().astype(np.float16)]))
        self._known[session] = ([*said, *new], before)
        return before

    def forget(self, session: int | None = None) -> None:
        """Let go of one session, or of all."""
        if session is None:
            self._known.clear()
        else:
            self._known.pop(session, None)

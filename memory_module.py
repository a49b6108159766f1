"""The recurrent memory: a GRU reads each finished session into one slot of a rolling pool.

`RecurrentMemory` is the specification's class: the encoder and the pool, nothing else. `GruMemory` is the memory a
chat uses: it puts the pool, the archive of older sessions and the journal together behind the `Memory` protocol.
Neither knows of language models or terminals.

Axis letters: B sessions in a batch, T sentences, D input_dim, H hidden_dim, N slots, K recalled.
"""

from __future__ import annotations

import hashlib
import heapq
import logging
import math
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from chatmem import storage, terminal
from chatmem.archive import Archive
from chatmem.choosing import THRESHOLD, Scored, Wanted
from chatmem.embedding import Encoder
from chatmem.indexed import IndexedMemory
from chatmem.interface import DamagedError
from chatmem.journal import Journal
from chatmem.opening import POOL_FORMAT, POOL_VERSION
from chatmem.pairs import load_pairs
from chatmem.ranking import Evidence, fit, fuse, weights_for
from chatmem.rows import Line
from chatmem.sentences import asks_for_everything
from chatmem.session_reader import HalfArray, Reading, SessionReader

log = logging.getLogger("chatmem")
_MOST_ON_DAYS = 256  # sessions that are looked at for a question about certain days
WEIGHTS = Path(__file__).parent / "chatmem" / "weights" / "session_encoder.safetensors"


class Encoding(NamedTuple):
    """What the GRU makes of a batch of sessions, in one pass."""

    states: Tensor  # (B, T, H): each sentence read in its context
    last: Tensor  # (B, H): the state after the last sentence, which is the session's vector


class Query(NamedTuple):
    """What the GRU makes of a batch of questions, each a sequence of one: what slots and lines are compared with."""

    slot: Tensor  # (B, H)
    turn: Tensor  # (B, D) unit rows


class RecurrentMemory(nn.Module):
    """A GRU session encoder (Cho et al., 2014) with a first-in, first-out pool of session vectors.

    The pool is state, not a parameter: it has no gradient, and it is saved with `state_dict`. Slots fill from the
    end: the newest session is `memory[-1]`, and with `filled` sessions the rows before `memory[-filled]` are empty.
    """

    memory: Tensor
    num_filled: Tensor
    lift: Tensor  # what is added to a line's score, so that it can be compared with the thresholds for cosines

    @classmethod
    def pretrained(
        cls, embeddings: str, input_dim: int, hidden_dim: int = 512, num_slots: int = 10, *, path: Path = WEIGHTS
    ) -> RecurrentMemory:
        """Return a network with the trained weights where they were made for these embeddings, else the untrained one.

        Args:
            embeddings: fingerprint of the encoder whose sentence embeddings will be read.
            input_dim: width D of a sentence embedding.
            hidden_dim: width H of a slot.
            num_slots: the number N of sessions the pool holds.
            path: a .safetensors file of `training/train_encoder.py`.

        Raises:
            DamagedError: the file cannot be read.
        """
        network = cls(input_dim, hidden_dim, num_slots)
        if trained := storage.load_weights(path, {"embeddings": embeddings, "hidden_dim": str(hidden_dim)}):
            network.load_state_dict(network.state_dict() | {name: value.float() for name, value in trained.items()})
        return network.eval()

    def __init__(self, input_dim: int = 768, hidden_dim: int = 512, num_slots: int = 10) -> None:
        """Make an encoder and an empty pool.

        Args:
            input_dim: width D of a sentence embedding.
            hidden_dim: width H of a slot.
            num_slots: the number N of sessions the pool holds.

        Raises:
            ValueError: a size is below 1.
        """
        super().__init__()
        if min(input_dim, hidden_dim, num_slots) < 1:
            raise ValueError(f"sizes must be at least 1, not {input_dim=}, {hidden_dim=}, {num_slots=}")
        self.input_dim = input_dim
        self.hidden_dim = hidden_dim
        self.num_slots = num_slots
        self.encoder = nn.GRU(input_dim, hidden_dim, batch_first=True)
        self.question = nn.Linear(hidden_dim, hidden_dim, bias=False)  # a question's state -> what slots hold
        self.context = nn.Linear(hidden_dim, input_dim, bias=False)  # a turn's state -> what its context adds to it
        self.asked = nn.Linear(hidden_dim, input_dim, bias=False)  # the same for a question
        self.register_buffer("memory", torch.zeros(num_slots, hidden_dim))
        self.register_buffer("num_filled", torch.zeros((), dtype=torch.long))
        self.register_buffer("lift", torch.zeros(()))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self, *, decay: float = 0.9, seed: int = 0) -> None:
        """Start the GRU as a leaky running mean of its inputs that keeps their cosines, the same on every machine.

        A GRU with PyTorch's uniform start mixes its inputs at random and forgets all but the last few. Here the update
        gate starts at `decay` and the candidate at an isometric projection of the input (orthonormal columns where
        H >= D), so before any training h_T is close to the sum over t of decay^(T-t) P x_t: sessions that say similar
        things get similar slots. A little noise on the other weights lets gradients reach every parameter.
        A question is then compared as it is, and a sentence's context adds nothing to it.
        """
        nn.init.eye_(self.question.weight)
        nn.init.zeros_(self.context.weight)
        nn.init.zeros_(self.asked.weight)
        generator = torch.Generator().manual_seed(seed)
        H = self.hidden_dim
        for parameter in self.encoder.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(noise * 0.01 / math.sqrt(H))
        basis = torch.randn(max(H, self.input_dim), min(H, self.input_dim), generator=generator)
        projection = torch.linalg.qr(basis).Q  # orthonormal columns
        if self.input_dim > H:
            projection = projection.T
        weights, bias = self.encoder.get_parameter("weight_ih_l0"), self.encoder.get_parameter("bias_ih_l0")
        gain = 4.0  # unit inputs then reach entries of about 0.2, where tanh is nearly linear
        weights[2 * H :].add_(gain * projection)  # rows: reset, update, candidate gate
        bias[H : 2 * H].add_(math.log(decay / (1 - decay)))

    @property
    def filled(self) -> int:
        """The number of slots that hold a session."""
        return int(self.num_filled)

    def encode(self, sequence_embeds: Tensor, lengths: Tensor | list[int] | None = None) -> Encoding:
        """Read sessions of sentence embeddings.

        Args:
            sequence_embeds: (B, T, D); rows past a session's length are padding and do not change the result.
            lengths: (B,) sentences of each session; None where all have T.

        Returns:
            The states (B, T, H), zero in the padding, and the last state of each session (B, H).

        Raises:
            ValueError: the rank, the width or a length is wrong, a session is empty, or a value is not finite.
        """
        steps = self._check(sequence_embeds, lengths)
        B, T, _ = sequence_embeds.shape
        real = torch.arange(T, device=sequence_embeds.device) < steps[:, None]  # (B, T)
        states = self.read_on(sequence_embeds.masked_fill(~real[..., None], 0.0))  # (B, T, H)
        last = states[torch.arange(B, device=states.device), steps - 1]  # (B, H)
        return Encoding(states.masked_fill(~real[..., None], 0.0), last)

    def read_on(self, sequence_embeds: Tensor, start: Tensor | None = None) -> Tensor:
        """Return the states (B, T, H) of sentences (B, T, D) that follow a state (B, H); None is the beginning."""
        states: Tensor = self.encoder(sequence_embeds, None if start is None else start[None])[0]
        return states

    def turns(self, sequence_embeds: Tensor, states: Tensor) -> Tensor:
        """Return unit rows (B, T, D) for sentences in their context: the embeddings with what their states add."""
        return F.normalize(sequence_embeds + self.context(states), dim=-1)

    def query(self, query_embeds: Tensor) -> Query:
        """Read questions (B, D), each as a session of one sentence, for comparison with slots and with turns."""
        last = self.encode(query_embeds[:, None]).last  # (B, H)
        return Query(self.question(last), F.normalize(query_embeds + self.asked(last), dim=-1))

    def _check(self, sequence_embeds: Tensor, lengths: Tensor | list[int] | None) -> Tensor:
        """Return the lengths (B,) of sessions that can be encoded, or raise ValueError with the shapes."""
        shape = tuple(sequence_embeds.shape)
        if sequence_embeds.dim() != 3 or shape[2] != self.input_dim:
            raise ValueError(f"sequence_embeds must have the shape (B, T, {self.input_dim}), not {shape}")
        B, T, _ = shape
        if B == 0 or T == 0:
            raise ValueError(f"sequence_embeds must hold at least one session of one sentence, not {shape}")
        steps = torch.as_tensor([T] * B if lengths is None else lengths, device=sequence_embeds.device)
        if steps.shape != (B,) or steps.is_floating_point() or int(steps.min()) < 1 or int(steps.max()) > T:
            raise ValueError(f"lengths must be {B} whole numbers from 1 to {T}, not {lengths}")
        real = torch.arange(T, device=sequence_embeds.device) < steps[:, None]
        if not torch.isfinite(sequence_embeds[real]).all():
            raise ValueError(f"sequence_embeds of shape {shape} holds NaN or Inf")
        return steps

    @torch.no_grad()
    def update(self, sequence_embeds: Tensor, lengths: Tensor | list[int] | None = None) -> Tensor:
        """Encode sessions and put each into a slot of its own, in order; the oldest slots leave.

        Returns:
            The pool (N, H).
        """
        return self.push(self.encode(sequence_embeds, lengths).last)

    @torch.no_grad()
    def push(self, slots: Tensor) -> Tensor:
        """Put session vectors (B, H) that were encoded before into the pool, in order, and return the pool (N, H)."""
        if slots.dim() != 2 or slots.shape[1] != self.hidden_dim:
            raise ValueError(f"slots must have the shape (B, {self.hidden_dim}), not {tuple(slots.shape)}")
        rows = torch.cat([self.memory, slots.to(self.memory)])
        self.memory.copy_(rows[-self.num_slots :])
        self.num_filled.fill_(min(self.filled + slots.shape[0], self.num_slots))
        return self.memory

    def scores(self, query_embed: Tensor) -> Tensor:
        """Return the cosine similarity (N,) of a query with every slot; -inf where the slot is empty.

        Args:
            query_embed: (1, H) or (H,): a query read by the same encoder, `encode(...).last`.
        """
        query = query_embed.reshape(1, -1) if query_embed.dim() == 1 else query_embed
        if query.shape != (1, self.hidden_dim):
            raise ValueError(f"query_embed must have the shape (1, {self.hidden_dim}), not {tuple(query_embed.shape)}")
        if not torch.isfinite(query).all():
            raise ValueError(f"query_embed of shape {tuple(query_embed.shape)} holds NaN or Inf")
        cosines = F.cosine_similarity(query.to(self.memory), self.memory, dim=-1)  # (N,)
        empty = torch.arange(self.num_slots, device=cosines.device) < self.num_slots - self.filled
        return cosines.masked_fill(empty, -math.inf)

    def retrieve(self, query_embed: Tensor, k: int = 3) -> Tensor:
        """Return the K slots (K, H) nearest to a query (1, H), nearest first; K is k or the number of filled slots."""
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        nearest = self.scores(query_embed).topk(min(k, self.filled)).indices
        return self.memory[nearest]

    def reset(self) -> None:
        """Empty every slot."""
        self.memory.zero_()
        self.num_filled.zero_()

    def weights(self) -> dict[str, Tensor]:
        """Return what training sets, by name: everything but the pool."""
        return {name: tensor for name, tensor in self.state_dict().items() if name not in ("memory", "num_filled")}

    def fingerprint(self) -> str:
        """Return a short hash of the weights: slots and turns of other weights are not comparable."""
        digest = hashlib.sha256(type(self).__name__.encode())
        for name, weight in sorted(self.weights().items()):
            digest.update(name.encode())
            digest.update(weight.float().cpu().numpy().tobytes())
        return digest.hexdigest()[:16]


class MeanNetwork(RecurrentMemory):
    """Sums in place of a GRU: a session's vector is the mean of its sentences, but for its length, and nothing more."""

    def read_on(self, sequence_embeds: Tensor, start: Tensor | None = None) -> Tensor:
        """Return the sums (B, T, D) of sentences (B, T, D) and a sum (B, D) before them."""
        sums = sequence_embeds.cumsum(1)
        return sums if start is None else sums + start[:, None]


class GruMemory(IndexedMemory):
    """The memory of the arm `gru`: sessions are chosen by their vectors and words, then the lines inside are ranked.

    The pool holds the newest `num_slots` sessions and lies in `memory.pkl`. The vectors of every finished session stay
    in the archive beside the journal, so that nothing is forgotten because it is old. Lines that are not in the
    archive yet (this session's, another program's) are compared directly.
    """

    def __init__(
        self,
        journal: Journal,
        encoder: Encoder,
        folder: Path | None = None,
        *,
        hidden_dim: int = 512,
        num_slots: int = 10,
        num_candidates: int = 64,
        threshold: float = THRESHOLD,
    ) -> None:
        """Open the memory of one user and bring its index up to date.

        Args:
            journal: the record that the memory is an index of.
            encoder: makes the sentence embeddings.
            folder: where `memory.pkl` lies; None keeps the pool in RAM.
            hidden_dim: width H of a slot.
            num_slots: sessions N in the pool.
            num_candidates: sessions whose lines are looked at for one query.
            threshold: cosine under which a line does not fit a query.
        """
        super().__init__(journal, folder, threshold=threshold, decision=load_pairs(encoder))
        self.encoder = encoder
        self.network = self._network(hidden_dim, num_slots)
        self.num_candidates = num_candidates
        self.fingerprint = f"{encoder.fingerprint}-{self.network.fingerprint()}"
        self._archive = Archive(self.network.hidden_dim, encoder.input_dim)
        self._reader = SessionReader(encoder, self.network)
        self.pages_read = 0  # sessions whose lines the last ranking looked at
        self._pending: dict[int, tuple[list[Line], Reading]] = {}  # of the sessions that are not in the archive
        self._revision = -1
        self._check_pool_file()
        self.sync()

    def _network(self, hidden_dim: int, num_slots: int) -> RecurrentMemory:
        """Return what reads the sessions."""
        return RecurrentMemory.pretrained(self.encoder.fingerprint, self.encoder.input_dim, hidden_dim, num_slots)

    def sync(self) -> None:
        """Encode the finished sessions that have no vectors, and read what other programs changed."""
        waiting = self.journal.waiting(self.fingerprint)
        if waiting.finished or waiting.revision != self._revision:
            with self.locked():
                if waiting.revision != self._revision:
                    self._load()
                self._encode_sessions()
                self._fill_pool()
            waiting = self.journal.waiting(self.fingerprint)
        self._pending = {number: self._read(number) for number in (*waiting.finished, *waiting.open)}

    def _load(self) -> None:
        """Read the vectors of all sessions from beside the journal; damaged ones are dropped, to be made again."""
        self._revision, stored = self.journal.slots(self.fingerprint)
        try:
            self._archive.fill(stored)
        except DamagedError:
            log.warning("The vectors beside the journal were damaged and are made again.")
            self.journal.drop_vectors([number for number, _ in stored])
            self._revision, stored = self.journal.slots(self.fingerprint)
            self._archive.fill(stored)

    def _check_pool_file(self) -> None:
        """Refuse what a newer version wrote, and say so where the file is damaged: `sync` writes it again anyway."""
        if self.folder is None:
            return
        try:
            storage.load_tensors(self.folder / "memory.pkl", POOL_FORMAT, POOL_VERSION, self.journal.vault)
        except FileNotFoundError:
            pass
        except DamagedError:
            log.warning("memory.pkl was damaged and is made again from the journal.")

    def _encode_sessions(self) -> None:
        """Put the vectors of the finished sessions that have none beside their text. Called with the lock held."""
        waiting = self.journal.waiting(self.fingerprint).finished
        if self.journal.has_other_vectors(self.fingerprint):
            log.warning("Another sentence encoder or other weights: %d sessions are read again.", len(waiting))
        for number in terminal.progress(waiting, "sessions"):
            slot, lines = self._reader.read(number, [line.text for line in self.journal.lines(number)])
            revision = self.journal.store_vectors(number, self.fingerprint, slot.tobytes(), lines.tobytes())
            self._reader.forget(number)
            if revision == self._revision + 1 and number > max(self._archive.sessions[-1:], default=0):
                self._archive.add(number, slot)
                self._revision = revision
        if self.journal.waiting(self.fingerprint).revision != self._revision:  # of older ones, or somebody else's
            self._load()

    def _read(self, number: int) -> tuple[list[Line], Reading]:
        """Return the sentences of a session, and what is made of them so far."""
        lines = self.journal.lines(number)
        return lines, self._reader.read(number, [line.text for line in lines])

    def _fill_pool(self) -> None:
        """Let the pool hold the newest sessions, on disk too. Called with the lock held."""
        sessions = self._archive.sessions[-self.network.num_slots :]
        slots = self._archive.slots[-self.network.num_slots :]
        self.network.reset()
        self.network.push(torch.from_numpy(slots))
        if self.folder is not None:
            content = {
                "fingerprint": self.fingerprint,
                "memory": self.network.memory.clone(),
                "num_filled": self.network.filled,
                "sessions": self.journal.export(sessions),
            }
            storage.save_tensors(self.folder / "memory.pkl", POOL_FORMAT, POOL_VERSION, content, self.journal.vault)

    def drop_index(self) -> None:
        """Let go of the pool, on disk and in RAM."""
        super().drop_index()
        self._reader.forget()
        self._revision = -1

    @torch.no_grad()
    def rank(self, query: str, wanted: Wanted) -> list[Scored]:
        """Return the lines that may come back for a query with their scores: coarse to fine, then what is pending."""
        vector = self.encoder.encode([query])  # (1, D)
        asked = self.network.query(torch.from_numpy(vector))
        by_words = self.journal.word_scores(query)  # by the key of a line
        by_session = self.session_cosines(asked.slot)  # by the number of a session
        lines, vectors = self._pages(self._candidates(query, wanted, by_session, by_words) & by_session.keys(), wanted)
        for number, (own, reading) in self._pending.items():
            able = [wanted.takes(line) for line in own]
            lines, vectors = lines + list(compress(own, able)), np.concatenate([vectors, reading.lines[able]])
            by_session[number] = float(F.cosine_similarity(torch.from_numpy(reading.slot)[None], asked.slot))
        wide = vectors.astype(np.float32)  # (L, 2 D)
        D = self.encoder.input_dim
        cosines = wide[:, :D] @ vector[0]
        evidence = Evidence(
            wide[:, D:] @ asked.turn[0].numpy(),
            np.array([by_words.get(line.key, 0.0) for line in lines], dtype=np.float32),
            np.array([by_session[line.session] for line in lines], dtype=np.float32),
        )
        scores = fit(cosines, evidence.turns, float(self.network.lift))
        ranks = fuse(evidence, weights_for(query))
        return [Scored(*row) for row in zip(lines, scores.tolist(), ranks.tolist(), strict=True)]

    @property
    def sessions(self) -> list[int]:
        """The numbers of the finished sessions, oldest first."""
        return self._archive.sessions

    def session_cosines(self, query: Tensor) -> dict[int, float]:
        """Return the cosines of a question (1, H) with the vectors of the finished sessions, by their numbers."""
        num_older = len(self._archive.sessions) - self.network.filled
        older = self._archive.cosines(query[0].numpy(), num_older)
        in_pool = self.network.scores(query).numpy()[self.network.num_slots - self.network.filled :]
        return dict(zip(self._archive.sessions, np.concatenate([older, in_pool]).tolist(), strict=True))

    def _candidates(
        self, query: str, wanted: Wanted, by_session: dict[int, float], by_words: dict[int, float]
    ) -> set[int]:
        """Return the sessions whose pages are read.

        They are those with the nearest vectors and those of the lines that share the rarest words; for a question
        about certain days, the nearest of these; for one about everything, the newest with enough to tell.
        """
        if asks_for_everything(query):
            return self.journal.newest_sessions(wanted.kinds, wanted.count)
        nearest = heapq.nlargest(self.num_candidates, by_session, key=by_session.__getitem__)
        best = heapq.nlargest(self.num_candidates // 2, by_words, key=by_words.__getitem__)
        chosen = {*nearest, *self.journal.sessions_of(best)}
        if wanted.days is not None:
            on_days = self.journal.sessions_on(wanted.days) & by_session.keys()
            chosen |= {*heapq.nlargest(_MOST_ON_DAYS, on_days, key=by_session.__getitem__)}
        return chosen

    def _pages(self, sessions: set[int], wanted: Wanted) -> tuple[list[Line], HalfArray]:
        """Return the sentences of some sessions with their vectors (L, 2 D); those of damaged ones are made again."""
        self.pages_read = len(sessions)
        read = self._archive.read(self.journal, self.fingerprint, sessions, wanted.kinds)
        if read.damaged:
            log.warning("The vectors of %d sessions were damaged and are made again.", len(read.damaged))
            self.journal.drop_vectors(read.damaged)
            self.sync()
            read = self._archive.read(self.journal, self.fingerprint, sessions, wanted.kinds)
        able = [wanted.takes(line) for line in read.lines]
        return list(compress(read.lines, able)), read.vectors[able]


class MeanMemory(GruMemory):
    """The arm `mean` of the benchmark: the same memory with sessions as means and sentences without their context."""

    def _network(self, hidden_dim: int, num_slots: int) -> RecurrentMemory:  # noqa: ARG002
        """Return sums in place of a GRU."""
        return MeanNetwork(self.encoder.input_dim, self.encoder.input_dim, num_slots).eval()

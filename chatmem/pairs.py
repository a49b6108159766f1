"""The trained decisions: does a line answer a question, what does a new statement do to an older one, is it a fact.

The networks are in `pair_network.py` and `statement_network.py`; here are their weights, their temperatures and the
token embeddings that they read. They know one sentence encoder, the bundled one: with another the caller keeps its
cosine threshold.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from chatmem.embedding import MAX_TOKENS, Array, Encoder, Tokens, bundled_folder

if TYPE_CHECKING:
    from torch import Tensor

    from chatmem.pair_network import PairNetwork, Side
    from chatmem.statement_network import StatementNetwork

WEIGHTS = Path(__file__).parent / "weights" / "pairs.safetensors"
STATEMENT_WEIGHTS = WEIGHTS.with_name("statements.safetensors")
FORMAT = "chatmem-pairs-2"
NEAR = 0.4  # cosine from which an older statement may be replaced
NUM_CANDIDATES = 8  # lines of one query that are judged
_SCALE, _MOST = ".scale", 127  # of a row of int8
_CACHED_TEXTS = 2048  # about 20 KB each


class TokenEncoder(Encoder, Protocol):
    """An encoder that also says what it makes of every word piece."""

    def encode_tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token embeddings of T texts."""


class Decision(Protocol):
    """What tells which lines answer a query, and what a statement is and does."""

    threshold: float

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        """Return for each of n lines the probability (n,) that it answers a query or should shape the reply."""

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        """Tell for each of n older statements whether a new one surely gives a newer value or denies it."""

    def doubted(self, sentences: Sequence[str]) -> list[str]:
        """Return for each sentence what it surely is in place of a fact: "fiction", "what-if" …; "" for the others."""


class PairDecision:
    """Judges texts and pairs of texts, many at once. What the encoder makes of a text is kept in RAM."""

    def __init__(
        self,
        encoder: TokenEncoder,
        answers: PairNetwork,
        statements: StatementNetwork,
        settings: Mapping[str, float],
    ) -> None:
        """Use networks that were trained over this encoder.

        Args:
            encoder: gives the token embeddings.
            answers: gives the logits of lines answering questions.
            statements: gives those of statements.
            settings: `factor` and `offset` of the first network's logits (Platt, 1999), and `threshold`, the
                probability from which a line answers; `relation_heat`, the temperature of the second's (Guo et al.,
                2017), `replaced`, the probability from which an older statement counts as replaced, and `kept`, that
                under which a sentence is no fact.
        """
        self._encoder = encoder
        self._answers = answers.eval()
        self._statements = statements.merge()
        self._settings = settings
        self.threshold = settings["threshold"]
        self._read: OrderedDict[str, Tokens] = OrderedDict()
        self._lock = threading.Lock()

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        """Return for each of n lines the probability (n,) that it answers a question or should shape a reply to it."""
        if not lines:
            return np.zeros(0, np.float32)
        logits = _logits(self._answers, *self._sides(query, lines))
        scaled = self._settings["factor"] * logits + self._settings["offset"]
        return cast("Array", (1.0 / (1.0 + np.exp(-scaled))).astype(np.float32))

    def relation(self, new: str, old: Sequence[str]) -> Array:
        """Return for each of n older statements the probabilities (n, 4) of RELATIONS of a new statement with it."""
        if not old:
            return np.zeros((0, 4), np.float32)
        return _shares(_logits(self._statements.relation, *self._sides(new, old)) / self._settings["relation_heat"])

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        """Tell for each of n older statements whether a new one surely gives a newer value or denies it.

        One that is far from it in meaning never is.
        """
        if not old:
            return []
        one, *others = self._texts([new, *old])
        near = [float(one.vector @ other.vector) >= NEAR for other in others]
        chances = iter(self.relation(new, list(compress(old, near)))[:, 1:3].sum(1))
        return [is_near and bool(next(chances) >= self._settings["replaced"]) for is_near in near]

    def doubted(self, sentences: Sequence[str]) -> list[str]:
        """Return for each sentence what it surely is in place of a fact: "fiction", "what-if" …; "" for the others."""
        from chatmem.statement_network import KINDS, NUM_KEPT

        if not sentences:
            return []
        chances = _shares(_logits(self._statements.kinds, _side(self._texts(sentences))))  # (B, K)
        sure = chances[:, :NUM_KEPT].sum(1) < self._settings["kept"]
        best = chances[:, NUM_KEPT:].argmax(1) + NUM_KEPT
        return [KINDS[kind] if is_sure else "" for kind, is_sure in zip(best, sure, strict=True)]

    def warm(self, texts: Sequence[str]) -> None:
        """Read texts that are likely to be judged soon, so that judging them takes less long."""
        self._texts(texts[:_CACHED_TEXTS])

    def _sides(self, first: str, second: Sequence[str]) -> tuple[Side, Side]:
        """Return a text with each of n others."""
        one, *others = self._texts([first, *second])
        return _side([one] * len(others)), _side(others)

    def _texts(self, texts: Sequence[str]) -> list[Tokens]:
        """Return texts as the encoder reads them; new ones are read in one pass and kept, the oldest leave."""
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._read]
            self._read.update(zip(new, self._encoder.encode_tokens(new), strict=True))
            for text in texts:
                self._read.move_to_end(text)
            found = [self._read[text] for text in texts]
            while len(self._read) > _CACHED_TEXTS:
                self._read.popitem(last=False)
            return found


def _logits(network: Callable[..., Tensor], *sides: Side) -> Array:
    """Return what a network makes of texts."""
    import torch

    with torch.inference_mode():
        return cast("Array", network(*sides).numpy())


def _shares(logits: Array) -> Array:
    """Return the probabilities (n, K) of logits (n, K)."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return cast("Array", powers / powers.sum(axis=1, keepdims=True))


def _side(read: Sequence[Tokens]) -> Side:
    """Return texts as one batch, padded to the longest."""
    import torch

    from chatmem.pair_network import Side

    longest = min(MAX_TOKENS, max(len(tokens.ids) for tokens in read))
    shape = (len(read), longest, read[0].last.shape[1])
    middle, last = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    ids, mask = np.zeros(shape[:2], np.int64), np.zeros(shape[:2], np.bool_)
    for row, tokens in enumerate(read):
        length = min(len(tokens.ids), longest)
        middle[row, :length], last[row, :length] = tokens.middle[:length], tokens.last[:length]
        ids[row, :length], mask[row, :length] = tokens.ids[:length], True
    vectors = np.stack([tokens.vector for tokens in read])
    return Side(*(torch.from_numpy(array) for array in (middle, last, ids, mask, vectors)))


def save_weights(
    weights: Mapping[str, Tensor], path: Path, fingerprint: str, settings: Mapping[str, float | int]
) -> None:
    """Write the weights of a network with the encoder they belong to: matrices as int8 with a scale for each row."""
    import torch
    from safetensors.torch import save_file

    about = {"format": FORMAT, "encoder": fingerprint, "settings": json.dumps(dict(settings))}
    stored = {name: weight.half().contiguous() for name, weight in weights.items() if weight.dim() != 2}
    for name, weight in weights.items():
        if name not in stored:
            scale = (weight.abs().amax(1, keepdim=True) / _MOST).half().clamp(min=1e-7)
            stored |= {name: (weight / scale.float()).round().to(torch.int8), f"{name}{_SCALE}": scale}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(stored, path, about)


def read_weights(path: Path, fingerprint: str) -> tuple[dict[str, Tensor], dict[str, float]] | None:
    """Return weights and settings, or None where they are missing or belong to another encoder."""
    from safetensors import safe_open

    if not path.is_file():
        return None
    with safe_open(path, "pt") as file:
        about = file.metadata() or {}
        if about.get("format") != FORMAT or about.get("encoder") != fingerprint:
            return None
        stored = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    scales = {name.removesuffix(_SCALE): stored.pop(name) for name in list(stored) if name.endswith(_SCALE)}
    return {name: weight * scales.get(name, 1.0) for name, weight in stored.items()}, json.loads(about["settings"])


def load_pairs(encoder: Encoder, path: Path = WEIGHTS, statements: Path = STATEMENT_WEIGHTS) -> PairDecision | None:
    """Return the decision for an encoder, or None where there is none: the caller falls back to its threshold."""
    if not hasattr(encoder, "encode_tokens"):
        return None
    of_pairs, of_statements = (read_weights(file, encoder.fingerprint) for file in (path, statements))
    if of_pairs is None or of_statements is None:
        return None
    from chatmem.pair_network import PairNetwork
    from chatmem.statement_network import StatementNetwork, upper_layers

    weights, settings = of_pairs
    low_rank, their_settings = of_statements
    sizes = {name: int(settings[name]) for name in ("token_dim", "width", "num_layers", "num_heads")}
    network = PairNetwork(**sizes)
    network.load_state_dict(weights)
    second = StatementNetwork(upper_layers(bundled_folder()), int(their_settings["rank"]), int(their_settings["width"]))
    second.load_state_dict(low_rank, strict=False)
    return PairDecision(cast("TokenEncoder", encoder), network, second, {**settings, **their_settings})

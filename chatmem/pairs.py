"""The pair decision: does a line answer a question, and what does a new statement do to an older one.

The network is in `pair_network.py`; here are its weights, its temperatures and the token embeddings it reads. It knows
one sentence encoder, the bundled one: with another the caller keeps its cosine threshold.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from chatmem.embedding import MAX_TOKENS, Array, Encoder, Tokens

if TYPE_CHECKING:
    from chatmem.pair_network import PairNetwork, Read, Side

WEIGHTS = Path(__file__).parent / "weights" / "pairs.safetensors"
FORMAT = "chatmem-pairs-1"
REPLACED = 0.8  # probability from which an older statement counts as replaced; lines that stay do less harm
NEAR = 0.5  # cosine from which an older statement may be replaced without words that say which
NUM_CANDIDATES = 8  # lines of one query that are judged
_CACHED_TEXTS = 2048  # about 20 KB each


class TokenEncoder(Encoder, Protocol):
    """An encoder that also says what it makes of every word piece."""

    def encode_tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token embeddings of T texts."""


class Decision(Protocol):
    """What tells which lines answer a query."""

    threshold: float

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        """Return for each of n lines the probability (n,) that it answers a query or should shape the reply."""

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        """Tell for each of n older statements whether a new one surely ends it."""

    def renews(self, new: str, old: Sequence[str]) -> list[bool]:
        """Tell for each of n older statements whether a new one surely ends it and is near it in meaning, too."""


class PairDecision:
    """Judges pairs of texts, many at once. What the network makes of a text on its own is kept in RAM."""

    def __init__(self, encoder: TokenEncoder, network: PairNetwork, settings: Mapping[str, float]) -> None:
        """Use a network that was trained over this encoder.

        Args:
            encoder: gives the token embeddings.
            network: gives the logits.
            settings: `factor` and `offset` of the first head's logits (Platt, 1999), `relation_heat`, the temperature
                of the second's (Guo et al., 2017), and `threshold`, the probability from which a line answers.
        """
        self._encoder = encoder
        self._network = network.eval()
        self._settings = settings
        self.threshold = settings["threshold"]
        self._read: OrderedDict[str, Read] = OrderedDict()
        self._lock = threading.Lock()

    def answerable(self, query: str, lines: Sequence[str]) -> Array:
        """Return for each of n lines the probability (n,) that it answers a question or should shape a reply to it."""
        logits = self._logits(query, lines, 0)[:, 0]
        scaled = self._settings["factor"] * logits + self._settings["offset"]
        return cast("Array", (1.0 / (1.0 + np.exp(-scaled))).astype(np.float32))

    def relation(self, new: str, old: Sequence[str]) -> Array:
        """Return for each of n older statements the probabilities (n, 4) of RELATIONS of a new statement with it."""
        logits = self._logits(new, old, 1) / np.float32(self._settings["relation_heat"])
        powers = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
        return cast("Array", powers / powers.sum(axis=1, keepdims=True))

    def replaces(self, new: str, old: Sequence[str]) -> list[bool]:
        """Tell for each of n older statements whether a new one surely gives a newer value or denies it."""
        return [bool(chance) for chance in self.relation(new, old)[:, 1:3].sum(1) >= REPLACED]

    def renews(self, new: str, old: Sequence[str]) -> list[bool]:
        """Tell for each of n older statements whether a new one surely ends it and is near it in meaning, too."""
        if not old:
            return []
        vectors = np.stack([read.vector.numpy() for read in self._texts([new, *old])])
        near = vectors[1:] @ vectors[0] >= NEAR
        return [bool(both) for both in near & np.array(self.replaces(new, old))]

    def warm(self, texts: Sequence[str]) -> None:
        """Read texts that are likely to be judged soon, so that judging them takes less long."""
        self._texts(texts[:_CACHED_TEXTS])

    def _logits(self, first: str, second: Sequence[str], task: int) -> Array:
        """Return the logits of one head for a text with each of n others."""
        import torch

        if not second:
            return np.zeros((0, (1, 4)[task]), dtype=np.float32)
        one, *others = self._texts([first, *second])
        with torch.inference_mode():
            logits = self._network.compare(_batch([one] * len(others)), _batch(others), task)
        return cast("Array", logits.numpy())

    def _texts(self, texts: Sequence[str]) -> list[Read]:
        """Return texts as the network reads them; new ones are read in one pass and kept, the oldest leave."""
        import torch

        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._read]
            if new:
                tokens = self._encoder.encode_tokens(new)
                with torch.inference_mode():
                    read = self._network.read(_side(tokens))
                for row, text in enumerate(new):
                    length = int(read.mask[row].sum())
                    parts = (read.tokens[row, :length], read.middle[row, :length], read.ids[row, :length])
                    kept = (*(part.clone() for part in parts), read.mask[row, :length].clone(), read.vector[row])
                    self._read[text] = type(read)(*kept)
            for text in texts:
                self._read.move_to_end(text)
            found = [self._read[text] for text in texts]
            while len(self._read) > _CACHED_TEXTS:
                self._read.popitem(last=False)
            return found


def _batch(read: Sequence[Read]) -> Read:
    """Return texts that were read as one batch, padded to the longest."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    from chatmem.pair_network import Read

    tokens, middle, ids, mask, vectors = zip(*read, strict=True)
    padded = [pad_sequence(list(parts), batch_first=True) for parts in (tokens, middle, ids, mask)]
    return Read(padded[0], padded[1], padded[2], padded[3], torch.stack(vectors))


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


def save_pairs(network: PairNetwork, path: Path, fingerprint: str, settings: Mapping[str, float]) -> None:
    """Write the weights as float16, with the encoder they belong to."""
    from safetensors.torch import save_file

    about = {"format": FORMAT, "encoder": fingerprint, "settings": json.dumps({**settings, **network.sizes})}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: weight.half().contiguous() for name, weight in network.trained().items()}, path, about)


def load_pairs(encoder: Encoder, path: Path = WEIGHTS) -> PairDecision | None:
    """Return the decision for an encoder, or None where there is none: the caller falls back to its threshold."""
    if not hasattr(encoder, "encode_tokens") or not path.is_file():
        return None
    from safetensors import safe_open

    from chatmem.pair_network import PairNetwork

    with safe_open(path, "pt") as file:
        about = file.metadata() or {}
        if about.get("format") != FORMAT or about.get("encoder") != encoder.fingerprint:
            return None
        weights = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    settings = json.loads(about["settings"])
    sizes = {name: int(settings[name]) for name in ("token_dim", "width", "num_layers", "num_heads")}
    network = PairNetwork(**sizes)
    network.load_state_dict(weights, strict=False)
    return PairDecision(cast("TokenEncoder", encoder), network, settings)

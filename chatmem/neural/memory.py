"""The arm `neural`: what the user told lives in the model's state, and no text of it is put into a prompt.

The journal still records everything said, as for every arm, and says which lines are facts that hold now. The state is
an index of it: lines are written into it as they are told. A line that was forgotten, superseded or taken back is gone
from the state because the state is made again from the lines that are left; a continuous state alone could not promise
that. The file `neural.safetensors` holds the state and the journal's keys of its lines, no text.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import safetensors.torch

from chatmem.choosing import Scored, Wanted
from chatmem.indexed import IndexedMemory
from chatmem.interface import ChatMemError, Recollection
from chatmem.journal import Journal
from chatmem.neural import saving
from chatmem.neural.generation import tell
from chatmem.neural.language import NeuralLanguageModel
from chatmem.storage import write_atomic

FILE = "neural.safetensors"
_READ = 0.2  # the share of a slot in a token from which it was read


class NeuralMemory(IndexedMemory):
    """Keeps the state of a language model in line with a journal."""

    def __init__(self, journal: Journal, language: NeuralLanguageModel, folder: Path | None = None) -> None:
        """Take the model whose state this is."""
        super().__init__(journal, folder)
        self.language = language
        self._keys: list[int] = []
        self._load()

    def recall(
        self,
        query: str,  # noqa: ARG002 - the model reads its state
        k: int = 3,  # noqa: ARG002
        *,
        visible: Collection[int] = (),  # noqa: ARG002
        now: datetime | None = None,  # noqa: ARG002
    ) -> list[Recollection]:
        """Bring the state up to date, and return no lines: the model reads its state."""
        self.sync()
        return []

    def rank(self, query: str, wanted: Wanted) -> list[Scored]:  # noqa: ARG002
        """Return nothing: no text of the past is looked up, not for questions of dates either."""
        return []

    def sync(self) -> None:
        """Write the lines that are new; where one of those written holds no more, make the state again.

        The journal says which lines hold, so the model's own forget decision clears nothing here.
        """
        model, wanted = self.language.model, self._wanted()
        if [key for key, _ in wanted] == self._keys:
            return
        if [key for key, _ in wanted[: len(self._keys)]] != self._keys:
            self.language.state, self._keys = model.initial_memory(), []
        for key, text in wanted[len(self._keys) :]:
            out = tell(model, self.language.tokenizer, text, self.language.state, force=True, clear=False)
            assert out.memory_state is not None
            self.language.state = out.memory_state
            self._keys.append(key)
        self._save()

    def drop_index(self) -> None:
        """Empty the state, on disk and in RAM."""
        super().drop_index()
        self.language.state, self._keys = self.language.model.initial_memory(), []

    def why(self) -> str:
        """Return the slots that the last reply read, and what was told when they were written."""
        texts, state = dict(self._wanted()), self.language.state
        rows = []
        for slot in self.language.reads.argsort(descending=True).tolist():
            share, write = float(self.language.reads[slot]), int(state.written[0, slot])
            if share >= _READ and 0 < write <= len(self._keys):
                told = texts.get(self._keys[write - 1], "erased since")
                rows.append(f"- slot {slot} (up to {100 * share:.0f}% of a word), written at: {told}")
        if not rows:
            return "No slot of the memory was read for the last reply."
        return "\n".join(["The last reply read these slots of the model's memory:", *rows])

    def _wanted(self) -> list[tuple[int, str]]:
        """Return keys and texts of the facts that hold now, oldest first."""
        return [(line.key, line.text) for line in self.journal.facts() if line.status == "active"]

    def _save(self) -> None:
        """Write the state file, as a whole or not at all."""
        if self.folder is None:
            return
        model = self.language.model
        about = saving.state_about(model.config, model.fingerprint) | {"keys": json.dumps(self._keys)}
        data = safetensors.torch.save(saving.state_tensors(self.language.state), about)
        vault = self.journal.vault
        write_atomic(self.folder / FILE, data if vault is None else vault.seal(FILE, data))

    def _load(self) -> None:
        """Read the state file; what cannot be used is made again from the journal."""
        if self.folder is None:
            return
        model = self.language.model
        with suppress(FileNotFoundError, ChatMemError, ValueError):
            tensors, about = saving.read_tensors(self.folder / FILE, saving.STATE_FORMAT, self.journal.vault)
            keys = [int(key) for key in json.loads(about["keys"])]
            self.language.state = saving.as_state(tensors, about, model.config, model.fingerprint)
            self._keys = keys

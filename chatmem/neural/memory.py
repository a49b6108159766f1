"""The arm `neural`: what the user told lives in the model's state, and no text of it is put into a prompt.

The journal still records everything said, as for every arm, and says which lines are facts that hold now. The state is
an index of it: lines are written into it as they are told. A line that was forgotten, superseded or taken back is gone
from the state because its slot is taken out by its key in the journal; a continuous state alone could not promise that.
The file `neural.safetensors` holds the state and the journal's keys of its lines, no text.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from datetime import datetime
from itertools import takewhile
from pathlib import Path

import safetensors.torch

from chatmem.choosing import Scored, Wanted
from chatmem.indexed import IndexedMemory
from chatmem.interface import DamagedError, ModelError, Recollection
from chatmem.journal import Journal
from chatmem.neural import saving
from chatmem.neural.generation import tell
from chatmem.neural.language import NeuralLanguageModel
from chatmem.storage import write_atomic

log = logging.getLogger("chatmem")
FILE = "neural.safetensors"
_READ = 0.2  # the share of a slot in a token from which it was read


class NeuralMemory(IndexedMemory):
    """Keeps the state of a language model in line with a journal."""

    def __init__(self, journal: Journal, language: NeuralLanguageModel, folder: Path | None = None) -> None:
        """Take the model whose state this is."""
        super().__init__(journal, folder)
        self.language = language
        self._keys: list[int] = []  # of the lines, slot by slot
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
        """Let the state hold the lines that hold now: the newest, as many as there are slots, the oldest first.

        The journal says which lines hold, so the model's own forget decision clears nothing here. What is gone from the
        journal is gone from the state, and never written to disk: the journal is read with the index locked.
        """
        if [key for key, _ in self._wanted()] == self._keys:
            return
        with self.locked():
            wanted, held = self._wanted(), {key: slot for slot, key in enumerate(self._keys)}
            known = list(takewhile(lambda line: line[0] in held, wanted))
            self.language.state = self.language.state.only([held[key] for key, _ in known])
            for _, text in wanted[len(known) :]:
                self._write(text)
            self._keys = [key for key, _ in wanted]
            self._save()

    def _write(self, text: str) -> None:
        """Write one line into the next slot."""
        language = self.language
        out = tell(language.model, language.tokenizer, text, language.state, force=True, clear=False)
        assert out.memory_state is not None
        language.state = out.memory_state

    def drop_index(self) -> None:
        """Empty the state, on disk and in RAM."""
        super().drop_index()
        self.language.state, self._keys = self.language.model.initial_memory(), []

    def why(self) -> str:
        """Return the slots that the last reply read, and what was told when they were written."""
        texts = dict(self._wanted())
        rows = []
        for slot in self.language.reads.argsort(descending=True).tolist():
            share = float(self.language.reads[slot])
            if share >= _READ and slot < len(self._keys):
                told = texts.get(self._keys[slot], "erased since")
                rows.append(f"- slot {slot} (up to {100 * share:.0f}% of a word), written at: {told}")
        if not rows:
            return "No slot of the memory was read for the last reply."
        return "\n".join(["The last reply read these slots of the model's memory:", *rows])

    def _wanted(self) -> list[tuple[int, str]]:
        """Return keys and texts of the facts that hold now and for which there are slots, oldest first."""
        facts = [(line.key, line.text) for line in self.journal.facts() if line.status == "active"]
        return facts[-self.language.model.config.num_slots :]

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
        """Read the state file; one that is damaged, or another model's, is made again from the journal.

        Raises:
            NewerError: a newer version of the program wrote it.
            StoreError: it cannot be read.
        """
        if self.folder is None:
            return
        model = self.language.model
        try:
            tensors, about = saving.read_tensors(self.folder / FILE, saving.STATE_FORMAT, self.journal.vault)
            keys = [int(key) for key in json.loads(about["keys"])]
            state = saving.as_state(tensors, about, model.config, model.fingerprint)
        except (FileNotFoundError, ModelError):
            return
        except (DamagedError, ValueError, KeyError, TypeError):
            log.warning("%s was damaged and is made again from the journal.", FILE)
            return
        if state.used[0].tolist() == [slot < len(keys) for slot in range(model.config.num_slots)]:
            self.language.state, self._keys = state, keys

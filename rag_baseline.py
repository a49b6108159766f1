"""The RAG baseline: the same memory protocol over ChromaDB, each sentence a document.

The arm `rag` of the benchmark, and `--memory rag`. It is an index of the same journal as `GruMemory` and differs only
in how it looks for lines: cosine similarity between the query's embedding and every sentence's, in Chroma's HNSW index.
Makes no connection: telemetry is off, and the embeddings are ours.
"""

from __future__ import annotations

import logging
import shutil
import uuid
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import chromadb
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError

from chatmem.embedding import Encoder
from chatmem.indexed import THRESHOLD, IndexedMemory, select
from chatmem.interface import Recollection, StoreError
from chatmem.journal import Journal
from chatmem.pairs import load_pairs
from chatmem.rows import Line

log = logging.getLogger("chatmem")
T = TypeVar("T")

_BATCH = 1000  # documents in one call, under what every SQLite allows
# What Chroma raises for a folder that is damaged, or that another program deleted under it.
_BROKEN = (ChromaError, OSError, ValueError, RuntimeError, KeyError)


class RagMemory(IndexedMemory):
    """Retrieval over a persistent ChromaDB collection."""

    def __init__(
        self, journal: Journal, encoder: Encoder, folder: Path | None = None, *, threshold: float = THRESHOLD
    ) -> None:
        """Open the collection of one user and bring it up to date.

        Args:
            journal: the record that the collection is an index of.
            encoder: makes the sentence embeddings.
            folder: where the folder `chroma` lies; None keeps the collection in RAM.
            threshold: cosine under which a line does not fit a query.
        """
        super().__init__(journal, folder)
        self.encoder = encoder
        self.decision = load_pairs(encoder)
        self.threshold = threshold
        self._name = f"lines-{uuid.uuid4().hex}" if folder is None else "lines"
        self._client: Any = None
        self._collection: Any = None
        self._lines: dict[str, Line] = {}  # by the id of their document
        self.sync()

    @property
    def _path(self) -> Path | None:
        return None if self.folder is None else self.folder / "chroma"

    def sync(self) -> None:
        """Add the sentences that the collection lacks, and delete those that the journal does not have any more."""
        self._lines = {str(line.key): line for line in self.journal.lines() if line.kind in ("fact", "reply")}
        with self.locked():
            self._mended(self._sync)

    def _sync(self) -> None:
        collection = self._open()
        there = set(collection.get(include=[])["ids"])
        gone = list(there - self._lines.keys())
        new = [key for key in self._lines if key not in there]
        for start in range(0, len(gone), _BATCH):
            collection.delete(ids=gone[start : start + _BATCH])
        for start in range(0, len(new), _BATCH):
            keys = new[start : start + _BATCH]
            lines = [self._lines[key] for key in keys]
            texts = [line.text for line in lines]
            about = [
                {"speaker": line.speaker, "session": line.session, "when": line.when.isoformat()} for line in lines
            ]
            collection.add(ids=keys, documents=texts, embeddings=self.encoder.encode(texts), metadatas=about)

    def recall(self, query: str, k: int = 3, *, visible: Collection[int] = ()) -> list[Recollection]:
        """Return at most `k` lines that fit the query, best first."""
        if k < 1:
            return []
        self.sync()
        vector = self.encoder.encode([query])
        return self._mended(lambda: self._search(vector, query, k, visible))

    def _search(self, vector: Any, query: str, k: int, visible: Collection[int]) -> list[Recollection]:
        """Ask for more documents until enough of them can be used, none fits any more, or there are no more."""
        collection = self._open()
        total, count = collection.count(), 8 * k
        while total:
            found = collection.query(query_embeddings=vector, n_results=min(count, total), include=["distances"])
            scores = [1.0 - float(distance) for distance in found["distances"][0]]
            scored = [(self._lines[key], score) for key, score in zip(found["ids"][0], scores, strict=True)]
            chosen = select(scored, query, k, visible, self.threshold, self.decision)
            if len(chosen) == k or count >= total or scores[-1] < self.threshold:
                return chosen
            count *= 4
        return []

    def drop_index(self) -> None:
        """Let go of the collection and of its folder: Chroma's own deletion would leave the words in its files."""
        self._close()
        super().drop_index()

    def _open(self) -> Any:
        """Return the collection; one that another encoder made is emptied."""
        if self._collection is not None and (self._path is None or self._path.exists()):
            return self._collection
        self._close()
        settings = Settings(anonymized_telemetry=False)
        if self._path is None:
            self._client = chromadb.EphemeralClient(settings=settings)
        else:
            self._path.mkdir(mode=0o700, exist_ok=True)
            self._client = chromadb.PersistentClient(path=str(self._path), settings=settings)
        options: dict[str, Any] = {
            "name": self._name,
            "embedding_function": None,  # we bring the vectors; the default one would be downloaded
            "configuration": {"hnsw": {"space": "cosine"}},
            "metadata": {"fingerprint": self.encoder.fingerprint},
        }
        collection = self._client.get_or_create_collection(**options)
        if (collection.metadata or {}).get("fingerprint") != self.encoder.fingerprint:
            self._client.delete_collection(self._name)
            collection = self._client.create_collection(**options)
        self._collection = collection
        return collection

    def _close(self) -> None:
        """Let go of the files."""
        if self._client is not None:
            if self._path is None and self._collection is not None:
                self._client.delete_collection(self._name)
            self._client.close()
        self._client = self._collection = None

    def _mended(self, action: Callable[[], T]) -> T:
        """Do something with the collection; where that fails, make the collection again from the journal first."""
        try:
            return action()
        except _BROKEN as error:
            log.warning("The folder chroma could not be read (%s) and is made again.", type(error).__name__)
        self._collection = None
        try:
            self._close()
            SharedSystemClient.clear_system_cache()  # or Chroma goes on with the broken one
            if self._path is not None:
                shutil.rmtree(self._path, ignore_errors=True)
            self._sync()
            return action()
        except _BROKEN as error:
            raise StoreError(f"ChromaDB cannot be used: {error}") from error

"""The RAG baseline: the same memory protocol over ChromaDB, each sentence a document.

The arm `rag` of the benchmark, and `--memory rag`. It is an index of the same journal as `GruMemory` and differs only
in how it looks for lines: cosine similarity between the query's embedding and every sentence's, in Chroma's HNSW index.
Makes no connection: telemetry is off, and the embeddings are ours.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import struct
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import chromadb
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError

from chatmem import terminal
from chatmem.choosing import THRESHOLD, Scored, Wanted
from chatmem.embedding import Encoder
from chatmem.indexed import IndexedMemory
from chatmem.interface import StoreError
from chatmem.journal import Journal
from chatmem.judgement import MEMORY_KINDS
from chatmem.pairs import load_pairs
from chatmem.rows import Line
from chatmem.sentences import asks_for_everything, same_words

log = logging.getLogger("chatmem")
T = TypeVar("T")

_FIRST = 64  # documents that are asked for first
_BATCH = 1000  # documents in one call, under what every SQLite allows
# What Chroma raises for a folder that is damaged, or that another program deleted under it.
_BROKEN = (ChromaError, OSError, ValueError, RuntimeError, KeyError)


def _id(line: Line) -> str:
    """Return the id of a sentence's document: with its words, for a journal made again gives keys again."""
    return f"{line.key}-{hashlib.sha256(line.text.encode()).hexdigest()[:16]}"


def scrub(header: Path) -> None:
    """Overwrite with zeros what Chroma's index file has room for and does not use yet.

    hnswlib writes that room as it finds it in the heap, where words of a forgotten sentence may have been. Its header
    is an int32 and then, as uint64: an offset, the room in elements, how many are used, and the bytes of each.

    Args:
        header: the file `header.bin` beside `data_level0.bin` and `length.bin`.
    """
    with suppress(OSError, struct.error):
        version, _, _, used, size = struct.unpack_from("<iQQQQ", header.read_bytes())
        for name, each in (("data_level0.bin", size), ("length.bin", 4)):
            path = header.with_name(name)
            room = path.stat().st_size - used * each
            if version == 1 and room > 0:
                with path.open("r+b") as file:
                    file.seek(used * each)
                    file.write(bytes(room))


class RagMemory(IndexedMemory):
    """Retrieval over a persistent ChromaDB collection."""

    def __init__(
        self, journal: Journal, encoder: Encoder, folder: Path | None = None, *, threshold: float = THRESHOLD
    ) -> None:
        """Open the collection of one user and bring it up to date.

        Args:
            journal: the record that the collection is an index of.
            encoder: makes the sentence embeddings.
            folder: where the folder `chroma` lies; None keeps the collection in RAM, and so does an encrypted journal,
                for Chroma cannot encrypt its files.
            threshold: cosine under which a line does not fit a query.
        """
        super().__init__(journal, folder, threshold=threshold, decision=load_pairs(encoder))
        self.encoder = encoder
        self._name = "lines" if self._path is not None else f"lines-{uuid.uuid4().hex}"
        self._client: Any = None
        self._collection: Any = None
        self._file: tuple[int, int] | None = None  # which file on disk the collection is in
        self._is_scrubbed = False
        self._lines: dict[str, Line] = {}  # by the id of their document
        self.sync()

    @property
    def _path(self) -> Path | None:
        return None if self.folder is None or self.journal.vault is not None else self.folder / "chroma"

    def sync(self) -> None:
        """Add the sentences that the collection lacks, and delete those that the journal does not have any more."""
        with self.locked():
            self._mended(self._sync)

    def _sync(self) -> None:
        self._lines = {_id(line): line for line in self.journal.lines() if line.kind in MEMORY_KINDS | {"reply"}}
        collection = self._open()
        there = set(collection.get(include=[])["ids"])
        gone = list(there - self._lines.keys())
        new = [key for key in self._lines if key not in there]
        for start in range(0, len(gone), _BATCH):
            collection.delete(ids=gone[start : start + _BATCH])
        for start in terminal.progress(range(0, len(new), _BATCH), "sentences", scale=_BATCH):
            keys = new[start : start + _BATCH]
            lines = [self._lines[key] for key in keys]
            texts = [line.text for line in lines]
            about = [
                {"speaker": line.speaker, "session": line.session, "when": line.when.isoformat()} for line in lines
            ]
            collection.add(ids=keys, documents=texts, embeddings=self.encoder.encode(texts), metadatas=about)
        if self._path is not None and (gone or new or not self._is_scrubbed):
            for header in self._path.glob("*/header.bin"):
                scrub(header)
            self._is_scrubbed = True

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock from the reading of the journal on: no other program's line or mending comes between."""
        with self.locked():
            self._mended(self._sync)
            yield

    def rank(self, query: str, wanted: Wanted) -> list[Scored]:
        """Return the nearest lines."""
        vector = self.encoder.encode([query])
        return self._mended(lambda: self._search(vector, query, wanted))

    def _search(self, vector: Any, query: str, wanted: Wanted) -> list[Scored]:
        """Ask for more documents until there are enough different lines, or no more."""
        collection = self._open()
        total = collection.count()
        count = total if asks_for_everything(query) else _FIRST
        while total:
            found = collection.query(query_embeddings=vector, n_results=min(count, total), include=["distances"])
            scores = [1.0 - float(distance) for distance in found["distances"][0]]
            pairs = [(self._lines[key], score) for key, score in zip(found["ids"][0], scores, strict=True)]
            taken = [Scored(line, score, score) for line, score in pairs if wanted.takes(line)]
            if count >= total or len({same_words(one.line.text) for one in taken}) > wanted.count:
                return taken
            count *= 4
        return []

    def drop_index(self) -> None:
        """Let go of the collection and of its folder: Chroma's own deletion would leave the words in its files."""
        self._close()
        super().drop_index()

    def _open(self) -> Any:
        """Return the collection; one that another encoder made is emptied."""
        if self._collection is not None and self._file == self._file_now():
            return self._collection
        self._close()
        self._is_scrubbed = False
        settings = Settings(anonymized_telemetry=False)
        if self._path is None:
            self._client = chromadb.EphemeralClient(settings=settings)
        else:
            self._path.mkdir(mode=0o700, exist_ok=True)
            self._client = chromadb.PersistentClient(path=str(self._path), settings=settings)
        options: dict[str, Any] = {
            "name": self._name,
            "embedding_function": None,  # we bring the vectors; the default one would be downloaded
            "configuration": {"hnsw": {"space": "cosine", "ef_search": 200}},  # 100, the default, misses lines
            "metadata": {"fingerprint": self.encoder.fingerprint},
        }
        collection = self._client.get_or_create_collection(**options)
        if (collection.metadata or {}).get("fingerprint") != self.encoder.fingerprint:
            self._client.delete_collection(self._name)
            collection = self._client.create_collection(**options)
        self._collection, self._file = collection, self._file_now()
        return collection

    def _file_now(self) -> tuple[int, int] | None:
        """Tell which file lies on disk: another one where another program deleted the folder and made it again."""
        if self._path is not None:
            with suppress(FileNotFoundError):
                found = (self._path / "chroma.sqlite3").stat()
                return found.st_dev, found.st_ino
        return None

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

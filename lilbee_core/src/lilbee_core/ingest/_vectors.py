"""Vectors for a batch of prepared documents: reused by content where they exist, embedded where not."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lilbee_core.errors import ProviderError
from lilbee_core.ingest._prepare import Prepared
from lilbee_core.protocols import EmbedderLike, IndexedDocument, StoreLike

if TYPE_CHECKING:
    from lilbee_core.types import Vector, Vectors

log = logging.getLogger(__name__)


class VectorSource:
    """Gives each chunk its vector. After a failure of the embedder it owes the rest and says so in `warning`.

    Not for use by several threads at once.
    """

    def __init__(self, store: StoreLike, embedder: EmbedderLike | None, *, batch_size: int) -> None:
        self._store = store
        self._embedder = embedder
        self._batch_size = batch_size
        self._down = False
        self.embedded = 0
        self.warning: str | None = None

    @property
    def available(self) -> bool:
        """Whether vectors can be had at the moment."""
        return self._embedder is not None and not self._down

    def complete(self, batch: Sequence[Prepared]) -> list[IndexedDocument]:
        """Return the batch with vectors; documents stay without when the embedder fails."""
        known = self._known(batch) if self.available else {}
        return [self._with_vectors(one, known) for one in batch]

    def embed(self, inputs: dict[str, str]) -> dict[str, Vector]:
        """Embed texts by name of their content; a failure leaves out what was not reached."""
        found: dict[str, Vector] = {}
        names = list(inputs)
        for start in range(0, len(names), self._batch_size):
            if not self.available:
                break
            part = names[start : start + self._batch_size]
            found.update(self._request(part, [inputs[name] for name in part]))
        return found

    def _known(self, batch: Sequence[Prepared]) -> dict[str, Vector]:
        wanted = {name: text for one in batch for name, text in zip(one.contents, one.inputs, strict=True)}
        if not wanted:
            return {}
        known = dict(self._store.vectors_by_content(list(wanted)))
        missing = {name: text for name, text in wanted.items() if name not in known}
        known.update(self.embed(missing))
        return known

    def _request(self, names: Sequence[str], texts: Sequence[str]) -> dict[str, Vector]:
        assert self._embedder is not None
        try:
            vectors: Vectors = self._embedder.embed_batch(texts)
        except ProviderError as error:
            log.warning("the embedder failed: %s", error)
            self._down = True
            self.warning = (
                f"the embedder failed ({error.message}); words are searchable, vectors follow at the next sync"
            )
            return {}
        self.embedded += len(texts)
        return dict(zip(names, vectors, strict=True))

    def _with_vectors(self, one: Prepared, known: dict[str, Vector]) -> IndexedDocument:
        from dataclasses import replace

        complete = bool(one.chunks) and all(name in known for name in one.contents)
        vectors: Vectors | None = None
        if complete:
            import numpy as np

            vectors = np.stack([known[name] for name in one.contents]).astype(np.float32, copy=False)
        row = replace(one.row, embedded=len(one.chunks) if complete else 0)
        return IndexedDocument(
            row=row, text=one.text, chunks=one.chunks, words=one.words, vectors=vectors, contents=one.contents
        )

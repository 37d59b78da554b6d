"""Vectors for prepared documents: reused by content where they exist, embedded where not, owed where time is up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.errors import InputTooLong, LilbeeError, ModelNotFound, ProviderUnavailable
from lilbee_core.ingest._prepare import Prepared, content_of
from lilbee_core.protocols import Clock, EmbedderLike, IndexedDocument, StoreLike

if TYPE_CHECKING:
    from lilbee_core.types import ChunkId, Vector, Vectors

log = logging.getLogger(__name__)

_FIRST_REQUEST = 64
_SPARE = 4096
_MOST_REFUSED = 8
_HOPELESS = (ProviderUnavailable, ModelNotFound)


class VectorSource:
    """Gives each chunk its vector, within a time that keeps batches short; what is left is owed.

    An embedder that is down is left alone for the rest of the sync, and `warning` says so; a text that it refuses
    costs only itself. Not for use by several threads at once.
    """

    def __init__(
        self,
        store: StoreLike,
        embedder: EmbedderLike | None,
        *,
        clock: Clock,
        batch_size: int,
        seconds: float,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._batch_size = batch_size
        self._seconds = seconds
        self._stopped = stopped
        self._down = False
        self._refused: set[str] = set()
        self._spare: dict[str, Vector] = {}
        self._had_vectors: bool | None = None
        self._written: set[int] = set()
        self._texts = 0
        self._spent = 0.0
        self.embedded = 0
        self.warning: str | None = None

    @property
    def available(self) -> bool:
        """Whether vectors can be had at the moment."""
        return self._embedder is not None and not self._down

    @property
    def batch_chunks(self) -> int:
        """How many chunks can be embedded in the time of a batch, as far as is known."""
        if not self.available or self._spent <= 0:
            return _FIRST_REQUEST * 4 if self.available else _SPARE
        return max(_FIRST_REQUEST, int(self._seconds * self._texts / self._spent))

    def complete(self, batch: Sequence[Prepared]) -> list[IndexedDocument]:
        """Return whole documents with their vectors; one that lacks some has none, and is owed all."""
        known = self._vectors_for(batch)
        done: list[IndexedDocument] = []
        for one in batch:
            found = [known[name] for name in one.contents if name in known]
            vectors = _stack(found) if found and len(found) == len(one.contents) else None
            if vectors is None:
                self._keep({name: known[name] for name in one.contents if name in known})
            done.append(_indexed(one, range(len(one.chunks)), vectors))
        return done

    def pieces(self, part: Prepared) -> list[IndexedDocument]:
        """Return a part of a big document as those chunks that have a vector and those that are owed one."""
        known = self._vectors_for([part])
        have = [at for at, name in enumerate(part.contents) if name in known]
        owed = [at for at, name in enumerate(part.contents) if name not in known]
        pieces = [_indexed(part, have, _stack([known[part.contents[at]] for at in have]))] if have else []
        return [*pieces, _indexed(part, owed, None)] if owed else pieces

    def pay(self, owed: Mapping[ChunkId, str]) -> dict[ChunkId, Vector]:
        """Return vectors for chunks that lack one, by what is embedded for each."""
        names = {id_: content_of(text) for id_, text in owed.items()}
        found = self.embed({names[id_]: text for id_, text in owed.items()})
        return {id_: found[name] for id_, name in names.items() if name in found}

    def embed(self, inputs: Mapping[str, str]) -> dict[str, Vector]:
        """Embed texts by the name of their content, for as long as a batch may take; what was not reached is left out.

        Vectors that were made before and could not be written then are used first.
        """
        found = {name: self._spare.pop(name) for name in inputs if name in self._spare}
        names = [name for name in inputs if name not in found and name not in self._refused]
        deadline = self._clock.monotonic() + self._seconds
        at, size = 0, min(self._batch_size, _FIRST_REQUEST) if self._spent <= 0 else self._batch_size
        while at < len(names) and self.available and not self._stopped():
            if at and self._clock.monotonic() >= deadline:
                break
            part = names[at : at + size]
            found.update(self._request(part, [inputs[name] for name in part]))
            at, size = at + len(part), self._batch_size
        return found

    # ------------------------------------------------------------------ inside

    def _vectors_for(self, batch: Sequence[Prepared]) -> dict[str, Vector]:
        if not self.available:
            return {}
        wanted = {name: text for one in batch for name, text in zip(one.contents, one.inputs, strict=True)}
        known = self._stored(list(wanted))
        known.update(self.embed({name: text for name, text in wanted.items() if name not in known}))
        self._written.update(map(hash, wanted))
        return known

    def _stored(self, names: Sequence[str]) -> dict[str, Vector]:
        if self._had_vectors is None:
            self._had_vectors = self._store.stats().embedded > 0
        # An index that began empty can only hold what this sync wrote: most lookups would find nothing.
        asked = list(names) if self._had_vectors else [name for name in names if hash(name) in self._written]
        return dict(self._store.vectors_by_content(asked)) if asked else {}

    def _keep(self, vectors: Mapping[str, Vector]) -> None:
        if len(self._spare) < _SPARE:
            self._spare.update(vectors)

    def _request(self, names: Sequence[str], texts: Sequence[str]) -> dict[str, Vector]:
        """Embed texts in one call. Should it fail, halves are tried, so that one bad text costs only itself."""
        assert self._embedder is not None
        started = self._clock.monotonic()
        try:
            vectors: Vectors = self._embedder.embed_batch(texts)
        except LilbeeError as error:
            return self._failed(names, texts, error)
        except Exception as error:
            # An embedder of somebody else must not end the sync.
            log.exception("the embedder failed")
            self._give_up(f"{type(error).__name__}: {error}")
            return {}
        self._spent += self._clock.monotonic() - started
        self._texts += len(texts)
        self.embedded += len(texts)
        return dict(zip(names, vectors, strict=True))

    def _failed(self, names: Sequence[str], texts: Sequence[str], error: LilbeeError) -> dict[str, Vector]:
        log.info("the embedder failed: %s", error)
        alone = len(texts) == 1
        if isinstance(error, _HOPELESS) or (alone and not self._refuse(names[0], error)):
            self._give_up(error.message)
            return {}
        if alone or self._stopped():
            return {}
        middle = len(texts) // 2
        found = self._request(names[:middle], texts[:middle])
        return {**found, **self._request(names[middle:], texts[middle:])} if self.available else found

    def _refuse(self, name: str, error: LilbeeError) -> bool:
        """Leave a text alone from now on; say whether it may be the text's own fault."""
        self._refused.add(name)
        self.warning = f"{len(self._refused)} passage(s) could not be embedded ({error.message}); words are searchable"
        return isinstance(error, InputTooLong) or len(self._refused) < _MOST_REFUSED

    def _give_up(self, message: str) -> None:
        self._down = True
        self.warning = f"the embedder failed ({message}); words are searchable, vectors follow at the next sync"


def _indexed(one: Prepared, places: Sequence[int], vectors: Vectors | None) -> IndexedDocument:
    count = len(places)
    every = count == len(one.chunks)
    return IndexedDocument(
        row=replace(one.row, chunks=count, embedded=count if vectors is not None else 0),
        text=one.text,
        chunks=one.chunks if every else tuple(one.chunks[at] for at in places),
        words=one.words if every else tuple(one.words[at] for at in places),
        vectors=vectors,
        contents=one.contents if every else tuple(one.contents[at] for at in places),
        mentions=one.mentions if every or not one.mentions else tuple(one.mentions[at] for at in places),
    )


def _stack(vectors: Sequence[Vector]) -> Vectors:
    import numpy as np

    stacked: Vectors = np.stack(vectors).astype(np.float32, copy=False)
    return stacked

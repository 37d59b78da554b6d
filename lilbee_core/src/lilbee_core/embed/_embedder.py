"""The embedder: prefixes, batches, caches and checks around a provider that turns texts into vectors."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lilbee_core.embed._batches import batches, halves, unit_rows
from lilbee_core.embed._cache import cache_key
from lilbee_core.embed._families import family_of, file_name, is_path
from lilbee_core.embed._threads import for_each
from lilbee_core.errors import InputTooLong
from lilbee_core.protocols import TokenEmbedder
from lilbee_core.text import EstimatedTokens

if TYPE_CHECKING:
    from lilbee_core.embed._cache import EmbeddingCache
    from lilbee_core.protocols import EmbeddingProvider, TokenCounter
    from lilbee_core.types import Vector, Vectors

_PROBE = "dimension"
_SHORTEST_CHARS = 64
"""A text this short that is still too long is no matter of length."""


@runtime_checkable
class SelfDescribed(Protocol):
    """A provider that knows its model, such as the built-in one: nothing about it needs to be told or found out."""

    @property
    def fingerprint(self) -> str:
        """Names the vector space."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of one text."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that the model reads; empty means all."""
        ...


@runtime_checkable
class Tokenizing(Protocol):
    """A provider that counts tokens as its model reads them."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens of the whole text."""
        ...

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each token starts."""
        ...


class Embedder:
    """Unit vectors for queries and documents, with the prefixes that the model was trained with. Threads may share it.

    A text is embedded once: equal texts of a batch go out as one, vectors of documents are kept in `cache`, those of
    the latest queries in memory. A text longer than `max_tokens` is cut off by the provider; where a provider refuses
    it instead (`InputTooLong`), its halves are embedded and their vectors averaged.

    `token_vectors` is there only if the provider has it, so ask ``isinstance(embedder, TokenEmbedder)``.

    The embedder takes over `provider` and `cache`: `close` closes both.
    """

    def __init__(
        self,
        provider: EmbeddingProvider,
        *,
        model: str,
        batch_size: int = 64,
        batch_chars: int = 200_000,
        concurrency: int = 1,
        cache: EmbeddingCache | None = None,
        dimension: int | None = None,
        max_tokens: int = 512,
        languages: tuple[str, ...] = (),
        remembered_queries: int = 256,
    ) -> None:
        """Take a provider; nothing is sent before the first vector or the dimension is asked for.

        Args:
            provider: Turns texts into vectors. One that describes itself gets every batch whole, in one call.
            model: The model reference; its name chooses the prefixes.
            batch_size: Most texts in one request.
            batch_chars: Most characters in one request, unless a single text is longer.
            concurrency: Requests at the same time.
            cache: Keeps vectors of documents on disk.
            dimension: Numbers in a vector; asked of the provider with a probe if not given.
            max_tokens: What the model reads of one text, if the provider does not know.
            languages: What the model reads, if the provider does not know; empty means all.
            remembered_queries: How many query vectors are kept in memory.
        """
        if min(batch_size, batch_chars, concurrency) < 1:
            raise ValueError(
                "batch_size, batch_chars and concurrency must be positive, "
                f"got {batch_size}, {batch_chars} and {concurrency}"
            )
        self.model = model
        self._provider = provider
        self._described = provider if isinstance(provider, SelfDescribed) else None
        self._counter: TokenCounter = provider if isinstance(provider, Tokenizing) else EstimatedTokens()
        self._family = family_of(model)
        self._batch_size, self._batch_chars, self._concurrency = batch_size, batch_chars, concurrency
        self._cache = cache
        self._dimension = self._described.dimension if self._described else dimension
        self.max_tokens = self._described.max_tokens if self._described else max_tokens
        self.languages = self._described.languages if self._described else languages
        self.kind: str = getattr(self._counter, "kind", None) or type(self._counter).__name__
        self._remembered = _Remembered(remembered_queries)
        if isinstance(provider, TokenEmbedder):
            self.token_vectors = provider.token_vectors

    @property
    def dimension(self) -> int:
        """Numbers in a vector.

        Raises:
            ProviderError: If it was not given and the provider cannot be asked.
        """
        if self._dimension is None:
            self._dimension = self._request("", [_PROBE]).shape[1]
        return self._dimension

    @property
    def fingerprint(self) -> str:
        """Names the vector space: the provider's own name for it, or reference, dimension and prefixes.

        Raises:
            ProviderError: If the dimension is not known and the provider cannot be asked.
        """
        if self._described is not None:
            family = "" if self._family.name == "plain" else f"/{self._family.name}"
            return f"{self._described.fingerprint}{family}"
        name = f"gguf/{file_name(self.model)}" if is_path(self.model) else self.model
        return f"{name}/{self.dimension}/{self._family.name}"

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a query."""
        vector: Vector = self.embed_query_batch([text])[0]
        return vector

    def embed_query_batch(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, in order; those asked for lately cost nothing."""
        found = {text: vector for text in texts if (vector := self._remembered.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        fresh = dict(zip(missing, self._compute(self._family.query_prefix, missing), strict=True))
        self._remembered.add(fresh)
        return self._stack([*map({**found, **fresh}.__getitem__, texts)])

    def embed(self, text: str) -> Vector:
        """Return the vector of a document's text."""
        vector: Vector = self.embed_batch([text])[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of documents' texts, in order."""
        unique = list(dict.fromkeys(texts))
        found = self._cached(unique)
        missing = [text for text in unique if text not in found]
        fresh = dict(zip(missing, self._compute(self._family.document_prefix, missing), strict=True))
        self._keep(fresh)
        return self._stack([*map({**found, **fresh}.__getitem__, texts)])

    def count_tokens(self, text: str) -> int:
        """Number of tokens of the whole text; an estimate where the provider has no tokenizer."""
        return self._counter.count_tokens(text)

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each token of the whole text starts, in characters; an estimate where there is no tokenizer."""
        return self._counter.token_starts(text)

    def close(self) -> None:
        """Close the provider, if it can be closed, and the cache."""
        for part in (self._provider, self._cache):
            close = getattr(part, "close", None)
            if close is not None:
                close()

    def __enter__(self) -> Embedder:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _compute(self, prefix: str, texts: Sequence[str]) -> Sequence[Vector]:
        """Vectors fresh from the provider, in requests of a size that it can take."""
        if not texts:
            return ()
        if self._described is not None:
            return list(self._request(prefix, texts))
        runs = list(batches(texts, max_texts=self._batch_size, max_chars=self._batch_chars))
        rows: dict[int, Vector] = {}

        def request(number: int) -> None:
            run = runs[number]
            rows.update(zip(run, self._request(prefix, texts[run.start : run.stop]), strict=True))

        for_each(range(len(runs)), request, threads=min(self._concurrency, len(runs)))
        return [rows[index] for index in range(len(texts))]

    def _request(self, prefix: str, texts: Sequence[str]) -> Vectors:
        """One call of the provider; what it finds too long is split until it is not."""
        import numpy as np

        try:
            found = self._provider.embed([prefix + text for text in texts])
        except InputTooLong:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate([self._request(prefix, texts[:middle]), self._request(prefix, texts[middle:])])
            if len(texts[0]) < _SHORTEST_CHARS:
                raise
            parts = halves(texts[0])
            lengths = np.array([[len(part)] for part in parts], np.float32)
            found = (self._request(prefix, parts) * lengths).sum(axis=0, keepdims=True)
        rows = unit_rows(found, count=len(texts), dimension=self._dimension, model=self.model)
        self._dimension = rows.shape[1]
        return rows

    def _cached(self, texts: Sequence[str]) -> dict[str, Vector]:
        import numpy as np

        if self._cache is None or not texts:
            return {}
        keys = {self._key(text): text for text in texts}
        found = self._cache.get(list(keys))
        size = self.dimension * 4
        return {keys[key]: np.frombuffer(blob, "<f4") for key, blob in found.items() if len(blob) == size}

    def _keep(self, vectors: dict[str, Vector]) -> None:
        if self._cache is not None and vectors:
            self._cache.put({self._key(text): vector.astype("<f4").tobytes() for text, vector in vectors.items()})

    def _key(self, text: str) -> bytes:
        return cache_key(self.fingerprint, self._family.document_prefix + text)

    def _stack(self, rows: Sequence[Vector]) -> Vectors:
        import numpy as np

        return np.stack(rows) if rows else np.empty((0, self.dimension), np.float32)


class _Remembered:
    """The vectors of the latest queries."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Vector | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def add(self, vectors: dict[str, Vector]) -> None:
        with self._lock:
            self._vectors.update(vectors)
            while len(self._vectors) > self._limit:
                self._vectors.popitem(last=False)

"""Embedding models of OpenAI-style servers."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from lilbee_core.errors import InputTooLong, ProviderError
from lilbee_core.providers._client import Json, OpenAIClient
from lilbee_core.providers._failures import unreadable

if TYPE_CHECKING:
    from lilbee_core.types import Vector, Vectors

PATH = "/embeddings"


class OpenAIEmbedding:
    """An embedding model behind ``/v1/embeddings``. Threads may share it.

    A batch that is too large for one request is sent in halves; a text that does not fit the model raises
    `InputTooLong`. `raw_vectors` asks a llama-server not to scale its vectors, which is ours to do.
    """

    def __init__(
        self,
        client: OpenAIClient,
        model: str,
        *,
        dimension: int | None = None,
        raw_vectors: bool = False,
        owns_client: bool = False,
    ) -> None:
        self.model = model
        self._client = client
        self._expected = dimension
        self._raw_vectors = raw_vectors
        self._owns_client = owns_client
        self._encoding: str | None = "base64"  # a quarter of the bytes of decimal numbers, and nothing to round

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text, in order, as the model gives it.

        Raises:
            InputTooLong: If a text does not fit the model.
            ProviderError: If the server fails or its vectors cannot be used.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self._expected or 0), np.float32)
        rows = np.stack(self._rows(texts))
        self._check(rows)
        return rows

    def close(self) -> None:
        """Close the client, if it is this model's own."""
        if self._owns_client:
            self._client.close()

    def _rows(self, texts: Sequence[str]) -> list[Vector]:
        try:
            return self._read(self._request(texts), len(texts))
        except InputTooLong as error:
            if len(texts) == 1 or not _is_about_the_batch(error):
                raise
        middle = len(texts) // 2
        return self._rows(texts[:middle]) + self._rows(texts[middle:])

    def _request(self, texts: Sequence[str]) -> Json:
        # Hosted servers refuse an empty string.
        payload: dict[str, Any] = {"model": self.model, "input": [text or " " for text in texts]}
        if self._raw_vectors:
            payload["embd_normalize"] = -1
        encoding = self._encoding
        if encoding is None:
            return self._client.post(PATH, payload, model=self.model)
        try:
            return self._client.post(PATH, {**payload, "encoding_format": encoding}, model=self.model)
        except ProviderError as error:
            if "encoding_format" not in error.message and "base64" not in error.message:
                raise
            self._encoding = None
            return self._client.post(PATH, payload, model=self.model)

    def _read(self, answer: Json, count: int) -> list[Vector]:
        """Return the vectors of an answer in the order of the texts."""
        data = answer.get("data")
        if not isinstance(data, list) or not all(isinstance(one, dict) for one in cast("list[object]", data)):
            raise unreadable(self._client.server, "it holds no vectors")
        entries = cast("list[dict[str, Any]]", data)
        if len(entries) != count:
            raise unreadable(self._client.server, f"{count} texts were sent, {len(entries)} vectors came back")
        places = [entry.get("index", number) for number, entry in enumerate(entries)]
        if sorted(map(str, places)) != sorted(map(str, range(count))):
            raise unreadable(self._client.server, f"its vectors are numbered {places[:10]}, not 0 to {count - 1}")
        rows = {int(place): self._vector(entry.get("embedding")) for place, entry in zip(places, entries, strict=True)}
        lengths = {len(row) for row in rows.values()}
        if len(lengths) != 1:
            raise unreadable(self._client.server, f"its vectors have different lengths: {sorted(lengths)}")
        return [rows[place] for place in range(count)]

    def _vector(self, value: object) -> Vector:
        import numpy as np

        try:
            if isinstance(value, str):
                return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
            found = np.asarray(value, np.float32)
        except (ValueError, TypeError, binascii.Error) as error:
            raise unreadable(self._client.server, "a vector is neither numbers nor base64") from error
        if found.ndim == 2 and len(found) == 1:
            found = found[0]
        if found.ndim != 1 or not len(found):
            raise unreadable(
                self._client.server, f"a vector has the shape {found.shape}: is the model's pooling switched off?"
            )
        return found

    def _check(self, rows: Vectors) -> None:
        import numpy as np

        bad = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            raise ProviderError(
                f"The model {self.model!r} of {self._client.server.inside} gave {int(bad.sum())} vectors with numbers "
                "that are none (NaN or infinite)",
                hint="Update the server, or choose another embedding model.",
            )
        dimension = rows.shape[1]
        if self._expected is None:
            self._expected = dimension
        if dimension != self._expected:
            raise ProviderError(
                f"The model {self.model!r} of {self._client.server.inside} gave vectors of {dimension} numbers instead "
                f"of {self._expected}",
                hint="Check which model the server has loaded.",
            )


def _is_about_the_batch(error: InputTooLong) -> bool:
    """Say whether fewer texts might fit; a text that is too long by itself is the caller's to cut."""
    text = error.message.lower()
    return any(
        word in text
        for word in ("request is too large", "payload", "entity too large", "batch", "per request", "inputs", "body")
    )

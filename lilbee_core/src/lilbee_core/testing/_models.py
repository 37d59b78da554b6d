"""Stand-ins for models: fixed, fast, countable, and able to fail on request."""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from lilbee_core.errors import LilbeeError, ProviderUnavailable
from lilbee_core.protocols import Clock
from lilbee_core.testing._edges import ManualClock
from lilbee_core.types import ChatOptions, Delta, Message

if TYPE_CHECKING:
    from lilbee_core.types import Vector, Vectors

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"\w+|[^\w\s]")
DIMENSION = 64

Reply: TypeAlias = str | LilbeeError | Sequence[Delta] | Callable[[Sequence[Message]], str]
"""What a scripted chat answers: a text, an error, prepared deltas, or a function of the messages."""


def words_of(text: str) -> list[str]:
    """Return the folded words of a text: lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(sign for sign in decomposed if not unicodedata.combining(sign)))


def hash_vector(text: str, dimension: int = DIMENSION) -> Vector:
    """Return a unit vector that depends on the words of `text` alone, the same on every machine."""
    import numpy as np

    vector = np.zeros(dimension, dtype=np.float32)
    # A text without words needs a direction too: every row has unit length.
    for word in words_of(text) or [""]:
        digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        vector[number % dimension] += 1.0 if number >> 63 else -1.0
    length = float(np.linalg.norm(vector))
    if length == 0:  # two words that cancel each other out
        vector[0] = length = 1.0
    return vector / np.float32(length)


class Trouble:
    """Lets a fake fail or take its time, and counts its calls. Thread-safe."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or ManualClock()
        self.calls = 0
        self.delay_s = 0.0
        self._error: LilbeeError | None = None
        self._times: int | None = None
        self._lock = threading.Lock()

    def fail(self, error: LilbeeError | None = None, *, times: int | None = None) -> None:
        """Let the next calls fail: `times` of them, or all until `recover`."""
        with self._lock:
            self._error = error or ProviderUnavailable("the model does not answer", hint="Start its server.")
            self._times = times

    def recover(self) -> None:
        """Let calls succeed again."""
        with self._lock:
            self._error = None

    def _enter(self) -> None:
        with self._lock:
            self.calls += 1
            error = self._error
            if error is not None and self._times is not None:
                self._times -= 1
                if self._times <= 0:
                    self._error = None
        if self.delay_s:
            self.clock.sleep(self.delay_s)
        if error is not None:
            raise error


class HashProvider(Trouble):
    """An `EmbeddingProvider` that turns words into numbers by a fixed hash. Its vectors are not normalized.

    `texts` keeps everything that was embedded, `calls` how often it was asked.
    """

    def __init__(self, dimension: int = DIMENSION, *, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.dimension = dimension
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        self._enter()
        self.texts += texts
        rows = [hash_vector(text, self.dimension) * np.float32(1 + len(text) % 3) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=np.float32)


class HashEmbedder(Trouble):
    """An `EmbedderLike` that turns words into numbers by a fixed hash: texts that share words are near.

    `queries` and `texts` keep everything that was embedded, `calls` how often it was asked.
    """

    def __init__(
        self,
        dimension: int = DIMENSION,
        *,
        model: str = "fake/hash",
        max_tokens: int = 256,
        languages: tuple[str, ...] = (),
        clock: Clock | None = None,
    ) -> None:
        super().__init__(clock)
        self.model = model
        self.fingerprint = f"{model}-{dimension}"
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.languages = languages
        self.queries: list[str] = []
        self.texts: list[str] = []
        self.closed = False

    def embed_query(self, text: str) -> Vector:
        self._enter()
        self.queries.append(text)
        return hash_vector(text, self.dimension)

    def embed_query_batch(self, texts: Sequence[str]) -> Vectors:
        self._enter()
        self.queries += texts
        return self._rows(texts)

    def embed(self, text: str) -> Vector:
        self._enter()
        self.texts.append(text)
        return hash_vector(text, self.dimension)

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        self._enter()
        self.texts += texts
        return self._rows(texts)

    def count_tokens(self, text: str) -> int:
        return len(_TOKEN.findall(text))

    def token_starts(self, text: str) -> tuple[int, ...]:
        return tuple(match.start() for match in _TOKEN.finditer(text))

    def close(self) -> None:
        self.closed = True

    def _rows(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        rows = [hash_vector(text, self.dimension) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a scripted chat was asked."""

    messages: tuple[Message, ...]
    options: ChatOptions


class ScriptedChat(Trouble):
    """A `ChatProvider` that answers from a script, word by word; the last reply is repeated.

    `requests` keeps what it was asked; `abandoned` counts the replies that were not read to their end.
    """

    def __init__(self, *replies: Reply, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self._replies: list[Reply] = list(replies or ("I do not know.",))
        self.requests: list[ChatRequest] = []
        self.abandoned = 0

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Iterator[Delta]:
        self._enter()
        self.requests.append(ChatRequest(messages=tuple(messages), options=options))
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, LilbeeError):
            raise reply
        return self._stream(_deltas(reply, messages))

    def _stream(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        finished = False
        try:
            yield from deltas
            finished = True
        finally:
            self.abandoned += not finished


def _deltas(reply: str | Sequence[Delta] | Callable[[Sequence[Message]], str], asked: Sequence[Message]) -> list[Delta]:
    if callable(reply):
        reply = reply(asked)
    if isinstance(reply, str):
        return [Delta(kind="text", text=piece) for piece in re.findall(r"\s*\S+|\s+$", reply)]
    return list(reply)


class ScriptedReranker(Trouble):
    """A reranker, and a `RerankProvider`, with scores from 0 to 1: given ones, or the share of the query's words.

    `requests` keeps the queries with the texts that were scored.
    """

    def __init__(
        self, scores: Mapping[str, float] | None = None, *, model: str = "fake/reranker", clock: Clock | None = None
    ) -> None:
        super().__init__(clock)
        self.model = model
        self._scores = dict(scores or {})
        self.requests: list[tuple[str, tuple[str, ...]]] = []

    def score(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        self._enter()
        self.requests.append((query, tuple(texts)))
        return tuple(self._scores.get(text, _overlap(query, text)) for text in texts)

    def rank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return self.score(query, texts)


def _overlap(query: str, text: str) -> float:
    wanted, found = set(words_of(query)), set(words_of(text))
    return len(wanted & found) / len(wanted) if wanted else 0.0

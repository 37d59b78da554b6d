"""The built-in embedding model: all-MiniLM-L6-v2, int8, on the CPU, with nothing to download or start."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from lilbee_core.embed._threads import for_each
from lilbee_core.embed._tokens import WordPieces, load_tokenizer
from lilbee_core.embed._weights import MODEL_SHA256, TOKENIZER_SHA256, model_file, tokenizer_file
from lilbee_core.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lilbee_core.types import Vectors

DIMENSION = 384
MAX_TOKENS = 256
_START, _END = 101, 102  # [CLS] and [SEP]
_FINGERPRINT = hashlib.sha256(f"{MODEL_SHA256} {TOKENIZER_SHA256} {MAX_TOKENS} one per run".encode()).hexdigest()


class Session(Protocol):
    """The one call of an ``onnxruntime.InferenceSession`` that is used here."""

    def run(self, output_names: Sequence[str], inputs: dict[str, NDArray[np.int64]]) -> list[Vectors]:
        """Compute the named outputs."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 as an `EmbeddingProvider`; it also counts and places tokens. Threads may share it.

    Every text is run on its own, so its vector depends on nothing but the text: not on its neighbors, the number of
    threads or the order of calls. Only the first 256 tokens are read. A text without any token, such as ``""``,
    gets the vector of an empty sentence, of unit length like all others.
    """

    dimension: int = DIMENSION
    max_tokens: int = MAX_TOKENS
    languages: tuple[str, ...] = ("en",)
    kind: str = "bert-uncased"
    """Names the tokenizer."""
    fingerprint: str = _FINGERPRINT
    """Names weights, tokenizer and way of running; the same whichever package the weights came from."""

    def __init__(self, session: Session, pieces: WordPieces, *, threads: int) -> None:
        """Take a ready session; use `load` instead."""
        self._session: Session | None = session
        self._pieces = pieces
        self._threads = threads

    @classmethod
    def load(cls, *, cache_dir: Path | None = None, threads: int | None = None) -> MiniLM:
        """Load the model, building its file on the first use on this machine.

        Args:
            cache_dir: Where the built file is kept; the user's cache folder if not given.
            threads: How many texts are embedded at once; as many as the process may use CPUs if not given.

        Raises:
            ModelNotFound: If the package with the weights is not installed.
            ProviderError: If the weights or the tokenizer are not what they should be.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be positive, got {threads}")
        if cache_dir is None:
            from lilbee_core.settings import user_cache_dir

            cache_dir = user_cache_dir()
        pieces = WordPieces(load_tokenizer(tokenizer_file()))
        session = _open_session(model_file(cache_dir))
        return cls(session, pieces, threads=threads or _usable_cpus())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return ``[len(texts), 384]`` float32 unit rows, in order."""
        import numpy as np

        session = self._open()
        vectors = np.empty((len(texts), DIMENSION), np.float32)

        def embed_one(index: int) -> None:
            vectors[index] = self._run(session, texts[index], "embedding")

        # Long texts first, so that no thread starts one when the others are done.
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        for_each(order, embed_one, threads=min(self._threads, len(texts)))
        return vectors

    def count_tokens(self, text: str) -> int:
        """Number of tokens of the whole text, special ones not counted."""
        return self._pieces.count(text)

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each token of the whole text starts, in characters."""
        return self._pieces.starts(text)

    def token_vectors(self, text: str) -> Vectors:
        """Return ``[tokens, 384]`` float32 unit rows, one for each of the first 254 tokens of the text.

        Rows belong to the entries of `token_starts`; the marks around the sentence get none.
        """
        import numpy as np

        rows: Vectors = self._run(self._open(), text, "tokens")[1:-1]
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def agreement(self) -> float:
        """Cosine between what this machine computes for a fixed sentence and the vector of the float32 model.

        It is above .99 where int8 arithmetic is right. Processors without the instructions for it may saturate; below
        .98 vectors are worth less than they should be.
        """
        import numpy as np

        stored = json.loads((Path(__file__).parent / "data" / "reference.json").read_text(encoding="utf-8"))
        reference = np.array(stored["vector"], np.float32)
        return float(self.embed([stored["text"]])[0] @ (reference / np.linalg.norm(reference)))

    def close(self) -> None:
        """Let go of the weights; a call that is running ends normally."""
        self._session = None

    def __enter__(self) -> MiniLM:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _open(self) -> Session:
        if self._session is None:
            raise ValueError("this MiniLM is closed")
        return self._session

    def _run(self, session: Session, text: str, output: str) -> Vectors:
        import numpy as np

        ids = np.array([[_START, *self._pieces.ids(text, MAX_TOKENS - 2), _END]], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vectors: Vectors = session.run([output], inputs)[0][0]
        return vectors


def _open_session(model: Path | bytes) -> Session:
    # The official builds for Linux and macOS report home and keep an identifier on disk, from their import on,
    # unless this is set before. Those for Windows have a call instead.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - set for a library that is imported here
    import onnxruntime

    ort: Any = onnxruntime  # it ships no types
    ort.disable_telemetry_events()
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1  # threads share the session instead: one text each
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Higher levels fuse operators into slower ones: see _minilm_graph.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        session = ort.InferenceSession(
            str(model) if isinstance(model, Path) else model, options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ProviderError(
            f"onnxruntime {ort.__version__} cannot load the built-in embedding model: {error}",
            hint="Update it: pip install --upgrade onnxruntime",
        ) from error
    return cast("Session", session)


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

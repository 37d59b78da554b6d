"""Another embedding model for an index that is there: adopted, if it gives the same vectors, or all vectors anew."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lilbee_core.errors import EmbedderMismatch, InvalidArgument, SettingsError
from lilbee_core.library._config import write_setting
from lilbee_core.library._identity import topics_of
from lilbee_core.library._syncing import finished, ingestor
from lilbee_core.library._unfinished import begin
from lilbee_core.types import EmbedderChange, IndexMeta, ModelRef

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.fleet import Fleet
    from lilbee_core.library._parts import Parts
    from lilbee_core.protocols import CancelToken, EmbedderLike
    from lilbee_core.types import Chunk

SETTING = "embedding_model"
ALIKE, LEAST_ALIKE = 0.98, 0.9
"""Cosines of a model's vectors with those of the index, in the mean and at the least, for it to be the same model.

The same weights in other numbers (f16 against q4) differ by about .01; other models have nothing in common.
"""
_SAMPLE = 32
_SIZE = re.compile(r":size=(\d+):")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The model that shall make the vectors, as it says of itself."""

    model: str
    fingerprint: str
    dimension: int
    max_tokens: int


def adopt(parts: Parts, model: str | None, cancel: CancelToken) -> EmbedderChange:
    """Use the model of the index, or one that gives the same vectors."""
    meta = parts.store.meta()
    name = _named(model if model is not None else meta.embedder if meta is not None else None)
    _check_settable(parts, name)
    fetched = _fetch(parts, name, cancel)
    with _candidate(parts, name) as embedder:
        found = _asked(embedder)
        likeness = _check_alike(parts, embedder, found, meta)
    with parts.store.writing():
        if meta is not None and meta.fingerprint not in (None, found.fingerprint):
            parts.store.set_meta(replace(meta, embedder=found.model, fingerprint=found.fingerprint))
        _set(parts, name)
    return EmbedderChange(
        action="adopted",
        embedder=found.model,
        dimension=found.dimension,
        was=meta.embedder if meta is not None else None,
        likeness=likeness,
        fetched=fetched,
    )


def embed_anew(parts: Parts, model: str, cancel: CancelToken, events: EventSink | None = None) -> EmbedderChange:
    """Make every vector anew, or go on with that. Killed at any point, it or a sync goes on where it was."""
    name = _named(model)
    _check_settable(parts, name)
    fetched = _fetch(parts, name, cancel)
    with _candidate(parts, name) as embedder:
        found = _asked(embedder)
    parts.home.prepare()
    with parts.store.writing():
        meta = parts.store.meta()
        was = meta.embedder if meta is not None else None
        if meta is not None and meta.fingerprint != found.fingerprint:
            _check_cut(parts, meta, found)
            begin(parts, found.model)
            # In this order a kill in between leaves an index that its old embedder completes, or one that names the
            # new one; never old vectors under a new name.
            parts.store.drop_vectors()
            parts.store.set_meta(
                replace(meta, embedder=found.model, fingerprint=found.fingerprint, dimension=found.dimension)
            )
        _set(parts, name)
        report = finished(parts, ingestor(parts, events).embed_owed(cancel))
    return EmbedderChange(
        action="embedded anew",
        embedder=found.model,
        dimension=found.dimension,
        was=was,
        fetched=fetched,
        report=report,
    )


# ---------------------------------------------------------------------- what is asked for


def _named(model: str | None) -> str:
    """Return a reference as settings name it.

    Raises:
        InvalidArgument: If it names no model.
    """
    from lilbee_core.library._models import BUILTIN

    if model is None:
        raise InvalidArgument("the index names no embedder", hint="Name one, for example ollama/nomic-embed-text.")
    name = model.strip()
    if name.lower() == "auto":
        return BUILTIN
    try:
        return str(ModelRef.parse(name))
    except ValueError as error:
        raise InvalidArgument(
            f"{model!r} names no embedding model",
            hint="Write provider/name, for example ollama/nomic-embed-text, or a model file.",
        ) from error


def _check_settable(parts: Parts, name: str) -> None:
    """Refuse to write a setting that something else overrules.

    Raises:
        SettingsError: If so.
    """
    if parts.is_given("embedder"):
        raise SettingsError(
            "this library was opened with an embedder of the caller's", hint="Open it without embedder=."
        )
    if parts.given_settings is not None or parts.settings.models.embedding_model == name:
        return
    origin = parts.settings.origin(SETTING)
    if origin in {"environment", "argument"}:
        where = "LILBEE_EMBEDDING_MODEL" if origin == "environment" else f"the argument {SETTING}"
        raise SettingsError(
            f"{where} says {parts.settings.models.embedding_model!r}, which would overrule {name}",
            hint=f"Take {where} away, or set it to {name}.",
        )


def _fetch(parts: Parts, name: str, cancel: CancelToken) -> bool:
    """Fetch a model file that is not here and has a name of the hub's; say whether that was needed."""
    from lilbee_core.library._catalog import models_of
    from lilbee_core.library._fleet import model_folder

    if ModelRef.parse(name).provider != "gguf" or model_folder(parts.settings).find(name) is not None:
        return False
    if name.startswith(("/", ".", "~")) or name.count("/") < 2:
        model_folder(parts.settings).require(name)
    models_of(parts).pull(name, cancel=cancel)
    return True


@contextmanager
def _candidate(parts: Parts, name: str) -> Generator[EmbedderLike]:
    """Give the embedder of a reference, as the library would have it with that setting; closed afterwards."""
    from lilbee_core.library._fleet import build_fleet
    from lilbee_core.library._models import build_router

    settings = parts.settings.changed({SETTING: name})
    with ExitStack() as stack:

        def fleet() -> Fleet:
            made = build_fleet(settings, events=parts.events, clock=parts.clock)
            stack.callback(made.close)
            return made

        router = stack.enter_context(build_router(settings, parts.host, lambda: None, fleet=fleet))
        embedder = router.embedding()
        if embedder is None:
            raise InvalidArgument(f"{name!r} is no embedding model", hint="Name one, or `auto` for the built-in one.")
        yield embedder


def _asked(embedder: EmbedderLike) -> _Wanted:
    return _Wanted(embedder.model, embedder.fingerprint, embedder.dimension, embedder.max_tokens)


def _set(parts: Parts, name: str) -> None:
    # Not `Config.set`, which would make a library of somebody else's the user's own, with all its gated settings.
    write_setting(parts, parts.home.config_file, SETTING, name)


# ---------------------------------------------------------------------- whether it fits


def _check_alike(parts: Parts, embedder: EmbedderLike, found: _Wanted, meta: IndexMeta | None) -> float | None:
    """Return how like the model's vectors are to those of the index; None where its name says it, or there are none.

    Raises:
        EmbedderMismatch: If they are not like each other.
    """
    if meta is None or meta.fingerprint in (None, found.fingerprint):
        return None
    anew = f"Embed anew with `lilbee use-embedder {found.model} --anew`, or cut everything anew too: `lilbee rebuild`"
    if meta.dimension is not None and meta.dimension != found.dimension:
        raise EmbedderMismatch(
            f"{found.model} cannot be adopted: its vectors have {found.dimension} numbers, those of this index, made "
            f"with {meta.embedder}, have {meta.dimension}",
            hint=f"{anew}. Vectors of another size cannot be kept.",
        )
    cosines = _cosines(parts, embedder)
    if not cosines:
        return None
    mean = sum(cosines) / len(cosines)
    if mean < ALIKE or min(cosines) < LEAST_ALIKE:
        raise EmbedderMismatch(
            f"{found.model} cannot be adopted: it is another model than {meta.embedder}, which made this index (cosine "
            f"{mean:.2f} between its vectors and those of {len(cosines)} passages)",
            hint=f"{anew}. Or use {meta.embedder} again: `lilbee use-embedder`.",
        )
    return mean


def _cosines(parts: Parts, embedder: EmbedderLike) -> list[float]:
    """Embed some passages that have a vector; return the cosine of each with it."""
    from lilbee_core.chunking import embedding_input
    from lilbee_core.text import without_escapes

    chunks = _sampled(parts)
    known = parts.store.vectors([chunk.id for chunk in chunks])
    chunks = [chunk for chunk in chunks if chunk.id in known]
    if not chunks:
        return []
    fresh = embedder.embed_batch([without_escapes(embedding_input(chunk, embedder)) for chunk in chunks])
    return [float(row @ known[chunk.id]) for row, chunk in zip(fresh, chunks, strict=True)]


def _sampled(parts: Parts) -> list[Chunk]:
    """Return some passages, from documents that lie far apart in the ledger."""
    rows = [row for row in parts.store.rows() if row.holds_chunks and row.embedded]
    rows = rows[:: max(1, len(rows) // _SAMPLE)][:_SAMPLE]
    each = -(-_SAMPLE // len(rows)) if rows else 0
    found: list[Chunk] = []
    for row in rows:
        chunks = parts.store.chunks_of(row.id)
        found += chunks[:: max(1, len(chunks) // each)][:each]
    return found


def _check_cut(parts: Parts, meta: IndexMeta, found: _Wanted) -> None:
    """Refuse a model that would not read the passages to their end.

    Raises:
        EmbedderMismatch: If it would not.
    """
    from lilbee_core.chunking import TokenChunker
    from lilbee_core.text import EstimatedTokens

    way_out = f"Run `lilbee config set {SETTING} {found.model}`, then `lilbee rebuild` to cut them anew."
    if topics_of(meta.chunking):
        raise EmbedderMismatch(
            f"the passages of this index were cut where {meta.embedder} saw topics change", hint=way_out
        )
    cut = _SIZE.search(meta.chunking)
    options = parts.settings.chunks
    limit = TokenChunker(
        EstimatedTokens(), chunk_size=options.chunk_size, overlap=options.chunk_overlap, max_tokens=found.max_tokens
    ).size
    if cut is not None and int(cut[1]) > limit:
        raise EmbedderMismatch(
            f"the passages of this index have up to {cut[1]} tokens, and {found.model} reads {limit} of a passage",
            hint=way_out,
        )

"""What an index says of how it was made, and whether that fits the present settings."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from lilbee_core.errors import EmbedderMismatch, ProviderError, SettingsError
from lilbee_core.library._parts import Parts
from lilbee_core.library._waiting import reading_embedder
from lilbee_core.settings import new_library_id
from lilbee_core.types import IndexMeta

if TYPE_CHECKING:
    from lilbee_core.protocols import EmbedderLike

log = logging.getLogger(__name__)

EMBEDDER_UNKNOWN = "store.embedder_unknown"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who makes the vectors; `fingerprint` is None while that is unknown."""

    model: str | None
    fingerprint: str | None
    dimension: int | None


def expected_meta(parts: Parts, old: IndexMeta | None) -> IndexMeta:
    """Return what an index written with the present settings says of itself."""
    from lilbee_core import __version__
    from lilbee_core.store import SCHEMA

    options, who = parts.settings.chunks, identity(reading_embedder(parts), old)
    now = parts.clock.now().astimezone(UTC).isoformat(timespec="seconds")
    return IndexMeta(
        schema=SCHEMA,
        embedder=who.model,
        fingerprint=who.fingerprint,
        dimension=who.dimension,
        chunk_size=options.chunk_size,
        chunk_overlap=options.chunk_overlap,
        chunking=parts.chunker.fingerprint,
        analyzer=parts.analyzer.version,
        library_id=old.library_id if old is not None else new_library_id(),
        created_at=old.created_at if old is not None else now,
        lilbee_version=__version__,
    )


def identity(embedder: EmbedderLike | None, old: IndexMeta | None) -> Identity:
    """Return who makes the vectors. A server that is down now is taken to be the one the index knows."""
    if embedder is None:
        return Identity(None, None, None)
    try:
        return Identity(embedder.model, embedder.fingerprint, embedder.dimension)
    except ProviderError as error:
        log.info("the embedder cannot say who it is: %s", error)
        if old is not None and old.embedder == embedder.model:
            return Identity(old.embedder, old.fingerprint, old.dimension)
        return Identity(embedder.model, None, None)


def check_embedder(embedder: EmbedderLike | None, meta: IndexMeta | None) -> None:
    """Refuse to mix the vectors of two models.

    Raises:
        EmbedderMismatch: If the configured embedder did not build this index; where its server does not say which
            vectors it makes, the code is ``store.embedder_unknown``.
    """
    if meta is None or meta.fingerprint is None or embedder is None:
        return
    now = identity(embedder, meta)
    if now.fingerprint == meta.fingerprint:
        return
    size = f" ({now.dimension} numbers)" if now.dimension else ""
    anew = f"`lilbee use-embedder {now.model} --anew`, or `lilbee rebuild` to cut everything anew too"
    keeping = (
        f"if {now.model} is the same model by another name, keep the vectors with `lilbee use-embedder {now.model}`; "
        if now.dimension == meta.dimension
        else "vectors of another size cannot be kept; "
    )
    unknown = now.fingerprint is None
    raise EmbedderMismatch(
        f"this index was built with {meta.embedder} ({meta.dimension} numbers), but {now.model}{size} is configured"
        + (", whose server does not answer" if unknown else ""),
        code=EMBEDDER_UNKNOWN if unknown else None,
        hint=(
            f"Use {meta.embedder} again with `lilbee use-embedder`; {keeping}embed anew with {anew}. "
            "Word search works meanwhile: `lilbee search 'term: WORDS'`."
        ),
    )


def check_chunking(parts: Parts, meta: IndexMeta | None) -> None:
    """Refuse to mix two ways of cutting.

    Raises:
        SettingsError: If chunk size or overlap are not those of the index.
    """
    if meta is None:
        return
    options = parts.settings.chunks
    was = (meta.chunk_size, meta.chunk_overlap)
    if was != (options.chunk_size, options.chunk_overlap):
        raise SettingsError(
            f"this index was cut with chunk_size {was[0]} and chunk_overlap {was[1]}, "
            f"but {options.chunk_size} and {options.chunk_overlap} are set",
            hint="Run `lilbee rebuild` to cut everything anew, or set the old values.",
            code="store.chunking_mismatch",
        )
    if topics_of(meta.chunking) != topics_of(parts.chunker.fingerprint):
        kind = "semantic" if topics_of(meta.chunking) else "tokens"
        raise SettingsError(
            f"this index was cut with chunking {kind} (or another percentile or model) and {options.chunking} is set",
            hint="Run `lilbee rebuild` to cut everything anew, or set the old values.",
            code="store.chunking_mismatch",
        )


def topics_of(chunking: str) -> str:
    """Return what a way of cutting says of topics; nothing where they play no part."""
    found, mark, _ = chunking.partition(":tokens-v")
    return found if mark else ""

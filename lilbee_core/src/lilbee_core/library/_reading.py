"""Reads files for the ingestor: extractors of all plugins behind one pool of worker processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lilbee_core.errors import LilbeeError, PluginError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, may_hold_pictures
from lilbee_core.library._recognizing import build_recognizer, fingerprint
from lilbee_core.plugins import PluginHost
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import ModelRouter
from lilbee_core.settings import Settings, user_cache_dir
from lilbee_core.types import Document, Source


class Reader:
    """Implements `DocumentReader`. Close it to end the worker processes; threads may share it."""

    def __init__(self, registry: ExtractorRegistry, pool: ExtractPool, *, recognized_by: str = "") -> None:
        """Take what reads; `recognized_by` names what reads pictures, which is part of the version then."""
        self._registry = registry
        self._pool = pool
        self._recognized_by = f"+ocr:{recognized_by}" if recognized_by else ""

    def media_type(self, path: str, head: bytes) -> str:
        return self._registry.media_type(path, head)

    def version(self, path: str, media_type: str) -> str | None:
        spec = self._registry.choose(path, media_type)
        if spec is None:
            return None
        suffix = self._recognized_by if may_hold_pictures(media_type) else ""
        try:
            return f"{self._registry.version_of(spec)}{suffix}"
        except PluginError:
            # Its files fail one by one, with this very reason; the sync goes on.
            return f"{spec.name}/broken"

    def extract(
        self,
        sources: Iterable[Source],
        *,
        check: Callable[[], None] = lambda: None,
        on_page: Callable[[Source, int, int], None] = lambda source, done, total: None,
    ) -> Iterator[tuple[Source, Document | LilbeeError]]:
        yield from self._pool.extract(sources, check=check, on_page=on_page)

    def close(self) -> None:
        """End the worker processes."""
        self._pool.close()


def build_reader(settings: Settings, host: PluginHost, cache_dir: Path, router: Callable[[], ModelRouter]) -> Reader:
    """Return the reader; its worker processes start with the first file that needs one."""
    options = settings.ingest
    offers = host.extractors()
    registry = ExtractorRegistry([offer.spec for offer in offers], prefer=options.extract_prefer)
    pool = ExtractPool(
        registry,
        workers=options.extract_workers or min(4, os.cpu_count() or 1),
        in_flight=0 if options.ingest_concurrency == "static" else options.ingest_concurrency,
        timeout_s=options.extract_timeout_s,
        memory_mb=options.extract_memory_mb,
        cache_dir=cache_dir,
        native_dir=user_cache_dir() / "native",
        options={offer.spec.name: offer.options for offer in offers},
        max_chars=options.max_text_chars,
        password=options.extract_password or None,
        recognizer=build_recognizer(settings, host, router),
        limits=MemberLimits(
            members=options.archive_max_members,
            unpacked_bytes=options.archive_max_mb * 1_000_000,
            member_bytes=options.archive_max_member_mb * 1_000_000,
            depth=options.archive_max_depth,
        ),
        most_pixels=options.ocr_max_megapixels * 1_000_000,
        max_bytes=options.max_binary_mb * 1_000_000,
    )
    return Reader(registry, pool, recognized_by=fingerprint(settings, host))

"""Reads files for the ingestor: extractors of all plugins behind one pool of worker processes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import LilbeeError, PluginError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, Look, Picture, may_hold_pictures
from lilbee_core.ingest import AdaptiveGate, StaticGate
from lilbee_core.library._recognizing import build_recognizer, fingerprint
from lilbee_core.plugins import PluginHost
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import Clock, ModelRouter
from lilbee_core.settings import Settings, user_cache_dir
from lilbee_core.types import Document, FleetPlan, Source

if TYPE_CHECKING:
    from lilbee_core.fleet import Fleet

log = logging.getLogger(__name__)

_PER_WORKER = 2
"""Files that are on their way for each process that reads them, so that none waits for its next one."""


class Reader:
    """Implements `DocumentReader`. Close it to end the worker processes; threads may share it."""

    def __init__(
        self, registry: ExtractorRegistry, pool: ExtractPool, *, gate: StaticGate, recognized_by: str = ""
    ) -> None:
        """Take what reads; `recognized_by` names what reads pictures, which is part of the version then."""
        self._registry = registry
        self._pool = pool
        self._gate = gate
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
        def count(source: Source, done: int, total: int) -> None:
            self._gate.page_done()
            on_page(source, done, total)

        with self._gate.open():
            yield from self._pool.extract(sources, check=check, on_page=count)

    def picture(self, source: Source, page: int, *, dpi: int, most_pixels: int) -> Picture:
        """Return a page of a PDF as it looks, or an image file as it is; drawn by a worker.

        Raises:
            LilbeeError: If there is no such page, or it cannot be drawn within the limits.
        """
        return self._pool.picture(source, page, Look(dpi=dpi, max_pixels=most_pixels, colored=True))

    def close(self) -> None:
        """End the worker processes."""
        self._pool.close()


def build_reader(
    settings: Settings,
    host: PluginHost,
    cache_dir: Path,
    router: Callable[[], ModelRouter],
    *,
    fleet: Callable[[], Fleet],
    clock: Clock,
) -> Reader:
    """Return the reader; its worker processes start with the first file that needs one."""
    options = settings.ingest
    workers = options.extract_workers or min(4, os.cpu_count() or 1)
    pages = VisionServers(settings, fleet)
    gate = _gate(options.ingest_concurrency, workers, pages, clock)
    offers = host.extractors()
    registry = ExtractorRegistry([offer.spec for offer in offers], prefer=options.extract_prefer)
    pool = ExtractPool(
        registry,
        workers=workers,
        gate=gate,
        timeout_s=options.extract_timeout_s,
        memory_mb=options.extract_memory_mb,
        cache_dir=cache_dir,
        native_dir=user_cache_dir() / "native",
        options={offer.spec.name: offer.options for offer in offers},
        max_chars=options.max_text_chars,
        password=options.extract_password or None,
        recognizer=build_recognizer(settings, host, router, workers=pages.slots),
        limits=MemberLimits(
            members=options.archive_max_members,
            unpacked_bytes=options.archive_max_mb * 1_000_000,
            member_bytes=options.archive_max_member_mb * 1_000_000,
            depth=options.archive_max_depth,
        ),
        most_pixels=options.ocr_max_megapixels * 1_000_000,
        max_bytes=options.max_binary_mb * 1_000_000,
    )
    return Reader(registry, pool, gate=gate, recognized_by=fingerprint(settings, host))


def _gate(mode: str | int, workers: int, pages: VisionServers, clock: Clock) -> StaticGate:
    """Return what bounds how many files are read at once."""
    if isinstance(mode, int):
        return StaticGate(mode)
    usual = _PER_WORKER * workers
    if mode == "static":
        return StaticGate(usual, slots=pages.planned_slots)
    return AdaptiveGate(mode, usual, slots=pages.planned_slots, on_cards=pages.are_on_cards, clock=clock)


class VisionServers:
    """The servers that read pages, as far as they are lilbee's own."""

    def __init__(self, settings: Settings, fleet: Callable[[], Fleet]) -> None:
        self._fleet = fleet
        self._are_ours = settings.models.vision_model.strip().lower().endswith(".gguf")

    def slots(self) -> int:
        """Return how many pages they take at once, 0 where there are none. Plans the fleet if nobody did."""
        if not self._are_ours:
            return 0
        try:
            return _slots(self._fleet().plan())
        except LilbeeError as error:
            log.info("the servers that read pages are not known: %s", error)
            return 0

    def planned_slots(self) -> int:
        """Return how many pages they take at once, 0 as long as nothing was planned."""
        plan = self._fleet().planned if self._are_ours else None
        return 0 if plan is None else _slots(plan)

    def are_on_cards(self) -> bool:
        """Whether they were planned, and run on cards."""
        plan = self._fleet().planned if self._are_ours else None
        return plan is not None and any(server.devices for server in plan.of_role("vision"))


def _slots(plan: FleetPlan) -> int:
    return sum(server.slots for server in plan.of_role("vision"))

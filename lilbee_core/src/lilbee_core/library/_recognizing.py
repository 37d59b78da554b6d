"""Who reads pages that are pictures: a vision model if one is configured, engines of plugins, those of the system."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock

from lilbee_core.errors import LilbeeError
from lilbee_core.extract import Recognizer, SeeingModel, installed_engines
from lilbee_core.plugins import OcrSpec, Offer, PluginHost
from lilbee_core.protocols import ModelRouter, OcrEngine
from lilbee_core.settings import Settings

log = logging.getLogger(__name__)


def build_recognizer(
    settings: Settings, host: PluginHost, router: Callable[[], ModelRouter], *, workers: Callable[[], int] = lambda: 0
) -> Recognizer:
    """Return what reads pictures. Engines are built with the first picture; `router` and `workers` are asked then, too.

    `workers` says how many pages are read at once, 0 leaves that to the cores.
    """
    options = settings.ingest
    return Recognizer(
        _Engines(settings, host, router),
        mode=options.ocr,
        languages=options.ocr_languages,
        timeout_s=options.ocr_timeout_s,
        workers=workers,
    )


def fingerprint(settings: Settings, host: PluginHost) -> str:
    """Name what reads pictures, so that files without text are tried again when that changes. Nothing is built."""
    options = settings.ingest
    if options.ocr == "off":
        return ""
    model = settings.models.vision_model
    there = installed_engines()
    names = [offer.spec.name for offer in _offers(settings, host) if not offer.builtin or offer.spec.name in there]
    readers = [*([model] if _is_set(model) else []), *names]
    if not readers:
        return ""
    return f"{options.ocr}:{','.join(readers)}:{'+'.join(options.ocr_languages)}"


def _is_set(model: str) -> bool:
    return model not in ("", "none", "auto")


def _offers(settings: Settings, host: PluginHost) -> Sequence[Offer[OcrSpec]]:
    prefer = settings.ingest.ocr_prefer
    offers = host.ocr_engines()
    return sorted(offers, key=lambda one: prefer.index(one.spec.name) if one.spec.name in prefer else len(prefer))


class _Engines:
    """Builds the engines once, the best first; one that cannot be built is left out. Threads may share it."""

    def __init__(self, settings: Settings, host: PluginHost, router: Callable[[], ModelRouter]) -> None:
        self._settings = settings
        self._host = host
        self._router = router
        self._built: tuple[OcrEngine, ...] | None = None
        self._lock = Lock()

    def __call__(self) -> Sequence[OcrEngine]:
        with self._lock:
            if self._built is None:
                self._built = (*self._vision(), *self._installed())
            return self._built

    def _vision(self) -> Sequence[OcrEngine]:
        name = self._settings.models.vision_model
        if not _is_set(name):
            return ()
        model = self._router().vision()
        return (SeeingModel(model, name),) if model is not None else ()

    def _installed(self) -> Sequence[OcrEngine]:
        found: list[OcrEngine] = []
        for offer in _offers(self._settings, self._host):
            try:
                engine = self._host.attempt(offer, partial(offer.spec.build, offer.options))
            except LilbeeError as error:
                log.debug("no text recognition by %s: %s", offer.spec.name, error)
                continue
            if engine is not None:
                found.append(engine)
        return tuple(found)

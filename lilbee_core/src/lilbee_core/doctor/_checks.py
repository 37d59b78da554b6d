"""What `lilbee doctor` looks at. One check that fails, or cannot be made, costs only itself."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lilbee_core.errors import LilbeeError
from lilbee_core.plugins.specs import PluginReport
from lilbee_core.protocols import EmbedderLike, StoreLike
from lilbee_core.types import CollectionInfo

_PARTS = ("lilbee-core", "lilbee-cli", "lilbee-server", "lilbee-mcp", "lancedb", "kreuzberg", "onnxruntime")
_PAIR = ("A cat sits on the mat.", "The cat is sitting on a mat.", "Quarterly revenue fell by four percent.")
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    hint: str = ""

    def to_dict(self) -> dict[str, object]:
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "hint": self.hint}


class Doctor:
    """Looks at everything that a library needs. Changes nothing."""

    def __init__(
        self,
        *,
        data_dir: Path,
        store: Callable[[], StoreLike],
        embedder: Callable[[], EmbedderLike | None],
        verify: Callable[[], None],
        plugins: Callable[[], Sequence[PluginReport]],
        collections: Callable[[], Sequence[CollectionInfo]],
        warnings: Callable[[], Sequence[str]],
        more: Sequence[tuple[str, Callable[[], Iterator[Check]]]] = (),
    ) -> None:
        self._data_dir = data_dir
        self._store = store
        self._embedder = embedder
        self._verify = verify
        self._plugins = plugins
        self._collections = collections
        self._warnings = warnings
        self._more = tuple(more)

    def run(self) -> tuple[Check, ...]:
        """Make all checks, in a fixed order."""
        steps: list[tuple[str, Callable[[], Iterator[Check]]]] = [
            ("versions", self._check_versions),
            ("settings", self._check_settings),
            ("data folder", self._check_folder),
            ("embedder", self._check_embedder),
            ("index", self._check_index),
            ("collections", self._check_collections),
            ("plugins", self._check_plugins),
            *self._more,
        ]
        found: list[Check] = []
        for name, step in steps:
            try:
                found += step()
            except LilbeeError as error:
                found.append(Check(name=name, ok=False, detail=error.message, hint=error.hint))
        return tuple(found)

    def _check_versions(self) -> Iterator[Check]:
        names: list[str] = []
        for part in _PARTS:
            try:
                names.append(f"{part} {version(part)}")
            except PackageNotFoundError:
                continue
        yield Check(
            name="versions",
            ok=sys.version_info >= (3, 11),
            detail=f"Python {platform.python_version()} on {platform.system()}, {', '.join(names)}",
            hint="Use Python 3.11 or newer.",
        )

    def _check_settings(self) -> Iterator[Check]:
        warnings = self._warnings()
        for warning in warnings:
            yield Check(name="settings", ok=False, detail=warning, hint="Run `lilbee trust` if the library is yours.")
        if not warnings:
            yield Check(name="settings", ok=True, detail="all settings are valid")

    def _check_folder(self) -> Iterator[Check]:
        folder = self._data_dir
        if not folder.exists():
            yield Check(name="data folder", ok=True, detail=f"{folder} does not exist yet; the first sync makes it")
        elif os.access(folder, os.W_OK):
            yield Check(name="data folder", ok=True, detail=f"{folder} can be written")
        else:
            hint = "Change its permissions to sync; searching works as it is."
            yield Check(name="data folder", ok=False, detail=f"{folder} cannot be written", hint=hint)

    def _check_embedder(self) -> Iterator[Check]:
        embedder = self._embedder()
        if embedder is None:
            yield Check(name="embedder", ok=True, detail="none: words only")
            return
        near, same, far = embedder.embed_batch(_PAIR)
        close, distant = float(near @ same), float(near @ far)
        yield Check(
            name="embedder",
            ok=close > distant,
            detail=f"{embedder.model}, {embedder.dimension} numbers; like sentences {close:.2f}, unlike {distant:.2f}",
            hint="The model's vectors carry no meaning: choose another embedding_model.",
        )
        self._verify()
        yield Check(name="embedder of the index", ok=True, detail="the index was built with this embedder, or is empty")

    def _check_index(self) -> Iterator[Check]:
        store = self._store()
        problems = tuple(dict.fromkeys((*store.warnings(), *store.check())))
        for problem in problems[:_SHOWN]:
            yield Check(
                name="index", ok=False, detail=problem, hint="Run `lilbee sync`, then `lilbee rebuild` if it stays."
            )
        stats = store.stats()
        if not problems:
            detail = f"{stats.documents} documents, {stats.chunks} chunks, {stats.size_bytes / 1e6:.1f} MB, consistent"
            yield Check(name="index", ok=True, detail=detail)
        owed = stats.chunks - stats.embedded
        if owed and self._embedder() is not None:
            yield Check(name="vectors", ok=False, detail=f"{owed} chunks have no vector yet", hint="Run `lilbee sync`.")

    def _check_collections(self) -> Iterator[Check]:
        for one in self._collections():
            if not one.root:
                continue
            hint = f"Bring the folder back, or run `lilbee collection remove {one.name}`."
            state = "is there" if one.available else "is missing"
            yield Check(name=f"collection {one.name}", ok=one.available, detail=f"{one.root} {state}", hint=hint)

    def _check_plugins(self) -> Iterator[Check]:
        reports = self._plugins()
        failures = [failure for report in reports for failure in report.failures]
        for failure in failures:
            yield Check(name=f"plugin {failure.plugin}", ok=False, detail=failure.message, hint=failure.hint)
        if not failures:
            foreign = [report.name for report in reports if not report.builtin]
            yield Check(name="plugins", ok=True, detail=", ".join(foreign) or "only the built-in ones")

"""A library as a memory server has it: indexed in the background, searched with what there is, its state told."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from lilbee_core import Lilbee, SearchResult, __version__
from lilbee_core.errors import EmbedderMismatch, EmptyQuery, LilbeeError, ModelNotFound, ProviderError
from lilbee_core.events import ChangesSeen, Event, Progress, SyncFinished, SyncStarted, Warned, WatchFailed
from lilbee_server.memory.config import MemoryConfig

log = logging.getLogger(__name__)

PROFILE = "memory"
HITS = 8
_WORDS_ONLY = "keyword"


@dataclass
class Indexing:
    """What is known of the indexing: an event sink. Threads may share it."""

    active: bool = False
    phase: str = ""
    done: int = 0
    total: int | None = None
    warnings: tuple[str, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __call__(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, ChangesSeen):
                self.warnings = ()
            elif isinstance(event, SyncStarted):
                self.active, self.phase, self.done, self.total = True, "looking", 0, None
            elif isinstance(event, Progress):
                self.phase, self.done, self.total = event.phase, event.done, event.total
            elif isinstance(event, SyncFinished):
                self.active = False
            elif isinstance(event, WatchFailed):
                self.active, self.warnings = False, (f"{event.reason}. {event.hint}",)
            elif isinstance(event, Warned):
                self.warnings = (*self.warnings, event.message)

    def to_dict(self) -> dict[str, object]:
        with self._lock:
            far = {"phase": self.phase, "done": self.done, "total": self.total} if self.active else {}
            return {"active": self.active, **far}


class MemoryServer:
    """Searches, indexes and tells of its state. Whoever made it closes the library."""

    def __init__(self, library: Lilbee, config: MemoryConfig, indexing: Indexing) -> None:
        self.library = library
        self.config = config
        self.indexing = indexing
        self.folders: Mapping[str, Path] = {one.name: Path(one.path).resolve() for one in config.collections}
        self._started = monotonic()
        self._search_warnings: tuple[str, ...] = ()

    def begin(self) -> None:
        """Begin to watch and to index, and load the models, all in the background."""
        threading.Thread(target=self._begin, name="lilbee-memory", daemon=True).start()

    def _begin(self) -> None:
        try:
            self.library.watch()
            self.library.search(PROFILE, top_k=1, profile=PROFILE)  # loads the models
        except LilbeeError as error:
            log.warning("the models are loaded by the first search: %s", error)

    def search(self, query: str, limit: int) -> tuple[SearchResult, tuple[str, ...]]:
        """Search by words and meaning, by words alone where the model of the index cannot be asked; also say why.

        Raises:
            EmptyQuery: If there is nothing to search for.
        """
        try:
            found = self.library.search(query, top_k=limit, profile=PROFILE)
            warnings = found.warnings
        except EmptyQuery:
            raise
        except (ProviderError, ModelNotFound, EmbedderMismatch) as error:
            found = self.library.search(query, top_k=limit, profile=_WORDS_ONLY)
            warnings = (f"searched by words alone: {error.message}. {error.hint}", *found.warnings)
        lasting = _lasting(found, warnings)
        if lasting or found.hits:  # a search for nothing says nothing about the models
            self._search_warnings = lasting
        return found, (*self._config_warnings(), *warnings)

    def index(self) -> tuple[str, bool]:
        """Have everything looked at again; return the job's id, and whether that was under way already."""
        running = self.library.jobs.running("sync")
        if running:
            return running[0].id, True
        return self.library.jobs.start("sync", retry=True).id, False

    def status(self) -> dict[str, Any]:
        """Return what there is, what is going on, and what is wrong."""
        known = self.library.status()
        counts = {one.name: one for one in known.collections}
        return {
            "status": "indexing" if self.indexing.active else "ready",
            "version": __version__,
            "uptimeSeconds": round(monotonic() - self._started, 1),
            "documents": dict(known.states),
            "chunks": known.chunks,
            "embedded": known.embedded,
            "collections": [
                {
                    "name": one.name,
                    "path": str(self.folders[one.name]),
                    "pattern": [glob.removeprefix("/") for glob in one.include],
                    "documents": counts[one.name].documents if one.name in counts else 0,
                    "available": self.folders[one.name].is_dir(),
                }
                for one in self.config.collections
            ],
            "models": {
                "embedding": self.library.settings.models.embedding_model,
                "reranker": self.library.settings.models.reranker_model or None,
            },
            "indexing": self.indexing.to_dict(),
            "watching": bool(self.library.jobs.running("watch")),
            "lastSync": known.last_sync,
            "warnings": _once([
                *self._config_warnings(), *known.warnings, *self.indexing.warnings, *self._search_warnings,
            ]),
        }  # fmt: skip

    def _config_warnings(self) -> tuple[str, ...]:
        missing = self.config.missing_reranker
        if missing is None:
            return ()
        return (f"there is no reranker {missing}, so hits are not reranked. Put it there and start the server again.",)


def _lasting(found: SearchResult, warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the warnings that are about the server: a model that fails, not what somebody searched."""
    failed = [one.note for one in found.reports if one.status == "failed" and one.note]
    return tuple(
        one for one in warnings if "searched by words alone" in one.casefold() or any(note in one for note in failed)
    )


def _once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))

"""A whole library to test with: real files, real index, no model."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.testing._models import HashEmbedder

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.library import Lilbee
    from lilbee_core.protocols import ChatProvider, EmbedderLike
    from lilbee_core.settings import Settings


@contextmanager
def open_test_library(
    plugins: Sequence[object] = (),
    *,
    files: Mapping[str, str | bytes] | None = None,
    root: Path | None = None,
    settings: Settings | None = None,
    embedder: EmbedderLike | None = None,
    chat: ChatProvider | None = None,
    events: EventSink | None = None,
) -> Generator[Lilbee]:
    """Open a library over `files`, written to `root` or to a folder that is deleted afterwards, and synced.

    Unless the settings name an embedding model, words become vectors by a fixed hash (`HashEmbedder`);
    nobody answers but the given chat. Without settings, the defaults hold: neither the environment nor
    the user's files are read.
    """
    from lilbee_core.library import Lilbee
    from lilbee_core.settings import Settings

    chosen = settings or Settings()
    if embedder is None and chosen.models.embedding_model == "auto":
        embedder = HashEmbedder()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder = root or Path(made) / "library"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in (files or {}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        with Lilbee(
            folder,
            chosen,
            plugins=plugins,
            events=events,
            embedder=embedder,
            chat=chat,
        ) as library:
            if files:
                library.sync()
            yield library

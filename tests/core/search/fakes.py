"""What the tests of search share beside `lilbee_core.testing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lilbee_core.analysis import Analyzer
from lilbee_core.protocols import SearchContext
from lilbee_core.search import SearchOptions, SearchParts
from lilbee_core.testing import HashEmbedder, MemoryStore, an_indexed_document
from lilbee_core.types import Part, SearchState

ANALYZER = Analyzer()


class AnyStage:
    """A stage that does what the test says."""

    def __init__(
        self,
        run: Callable[[SearchState, SearchContext], SearchState],
        *,
        name: str = "any",
        reads: Sequence[Part] = (),
        writes: Sequence[Part] = (),
    ) -> None:
        self._run, self.name = run, name
        self.reads, self.writes = frozenset(reads), frozenset(writes)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        return self._run(state, context)


def store_of(files: dict[str, str | Sequence[str]], *, language: str | None = "en", **changes: object) -> MemoryStore:
    """Return a store with a document per file, a chunk per text, with words and vectors."""
    embedder = HashEmbedder()
    documents = []
    for path, content in files.items():
        texts = [content] if isinstance(content, str) else list(content)
        documents.append(
            an_indexed_document(
                *texts,
                path=path,
                language=language,
                words=[ANALYZER.index_text(text, language=language) for text in texts],
                vectors=embedder.embed_batch(texts),
                **changes,
            )
        )
    return MemoryStore(*documents)


def parts_of(store: MemoryStore, *, embedder: HashEmbedder | None = None, **more: object) -> SearchParts:
    options = SearchOptions(**more.pop("options", {}))
    return SearchParts(reader=store, analyzer=ANALYZER, embedder=embedder, options=options, **more)

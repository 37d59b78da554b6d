"""lilbee: search and cited answers over your own documents, on your own machine.

    from lilbee_core import Lilbee

    with Lilbee("./docs") as bee:
        bee.sync()
        for hit in bee.search("how do bees find home?"):
            print(hit.path, hit.line_start, hit.text[:80])

Importing this package loads nothing heavy; names arrive on first use.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lilbee_core.aio import AsyncLilbee as AsyncLilbee
    from lilbee_core.concepts import ConceptGraph as ConceptGraph
    from lilbee_core.embed import Embedder as Embedder
    from lilbee_core.errors import LilbeeError as LilbeeError
    from lilbee_core.fleet import Fleet as Fleet
    from lilbee_core.library import Lilbee as Lilbee
    from lilbee_core.rerank import Reranker as Reranker
    from lilbee_core.search import Searcher as Searcher
    from lilbee_core.settings import Settings as Settings
    from lilbee_core.settings import load_settings as load_settings
    from lilbee_core.store import Store as Store
    from lilbee_core.types import Answer as Answer
    from lilbee_core.types import Chunk as Chunk
    from lilbee_core.types import Citation as Citation
    from lilbee_core.types import Document as Document
    from lilbee_core.types import Filter as Filter
    from lilbee_core.types import Hit as Hit
    from lilbee_core.types import Metadata as Metadata
    from lilbee_core.types import Query as Query
    from lilbee_core.types import SearchResult as SearchResult
    from lilbee_core.types import SyncReport as SyncReport
    from lilbee_core.wiki import WikiBuilder as WikiBuilder

__version__ = "0.1.0"

# Results carry what a caller should know: nothing goes to standard error unless the program sets up logging.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "AsyncLilbee": "aio",
    "ConceptGraph": "concepts",
    "Embedder": "embed",
    "LilbeeError": "errors",
    "Fleet": "fleet",
    "Lilbee": "library",
    "Reranker": "rerank",
    "Searcher": "search",
    "Settings": "settings",
    "load_settings": "settings",
    "Store": "store",
    "Answer": "types",
    "Chunk": "types",
    "Citation": "types",
    "Document": "types",
    "Filter": "types",
    "Hit": "types",
    "Metadata": "types",
    "Query": "types",
    "SearchResult": "types",
    "SyncReport": "types",
    "WikiBuilder": "wiki",
}

__all__ = [*_HOMES, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

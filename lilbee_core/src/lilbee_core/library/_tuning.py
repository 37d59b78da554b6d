"""Searches with other settings over candidates that are read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lilbee_core.library._config import Config
from lilbee_core.library._identity import check_embedder
from lilbee_core.library._named_profiles import search_options, with_values
from lilbee_core.library._parts import Parts
from lilbee_core.library._remembering import Remembering
from lilbee_core.settings import validated_profile
from lilbee_core.types import Query, SearchResult

if TYPE_CHECKING:
    from lilbee_core.search import SearchParts

_SHOWS_ONLY = frozenset({"mark", "judge"})
"""Stages that change neither hits nor their order."""


class TuningBench:
    """Tries settings on one library. What the index and the embedder say is remembered while it lives."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._search_parts: SearchParts | None = None

    def setting(self, name: str) -> object:
        """Return the present value of a setting."""
        return self._parts.settings.get(name)

    def trial(self, values: Mapping[str, object]) -> Callable[[Query], SearchResult]:
        """Return a search by ``default`` with these values."""
        from lilbee_core.search import Searcher

        stages = with_values(self._parts.settings, values)(self._remembering())
        searcher = Searcher([one for one in stages if one.name not in _SHOWS_ONLY], clock=self._parts.clock)
        return searcher.search

    def check(self, name: str) -> None:
        """Refuse a name that no profile can have."""
        validated_profile(name, {})

    def save(self, name: str, values: Mapping[str, object]) -> None:
        """Name a profile of the library."""
        Config(self._parts).set_profile(name, values)

    def _remembering(self) -> SearchParts:
        if self._search_parts is None:
            from lilbee_core.search import SearchParts

            parts = self._parts
            check_embedder(parts.embedder, parts.meta())
            self._search_parts = SearchParts(
                reader=Remembering(parts.store),
                analyzer=parts.analyzer,
                embedder=parts.embedder,
                reranker=parts.reranker,
                options=search_options(parts.settings.search),
            )
        return self._search_parts

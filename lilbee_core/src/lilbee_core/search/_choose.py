"""Which list of stages a query runs through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from threading import Lock

from lilbee_core.errors import InvalidArgument
from lilbee_core.protocols import CancelToken, Clock, Executor
from lilbee_core.search._parse import split_mode
from lilbee_core.search._pipeline import Searcher
from lilbee_core.search._profiles import PROFILES, Profile, SearchParts
from lilbee_core.types import Query, SearchResult


class ProfileSearcher:
    """Runs each query through the list that its profile or its prefix names. Threads may share it.

    A prefix in the text (``term:``, ``vec:``, ``hyde:``) counts more than the query's `profile`. Lists are built when
    they are first used.
    """

    def __init__(
        self,
        parts: SearchParts,
        *,
        profiles: Mapping[str, Profile] = PROFILES,
        clock: Clock | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._parts = parts
        self._profiles = dict(profiles)
        self._clock, self._executor = clock, executor
        self._built: dict[str, Searcher] = {}
        self._lock = Lock()

    def search(self, query: Query, *, cancel: CancelToken | None = None) -> SearchResult:
        """Return the hits, best first.

        Raises:
            EmptyQuery: If the query holds nothing but blanks and filters.
            InvalidArgument: If there is no such profile.
            SearchError: If the profile needs something that is not there.
        """
        mode, words = split_mode(query.text)
        name = self._known(mode or query.profile)
        found = self.searcher(name).search(replace(query, text=words, profile=name), cancel=cancel)
        return replace(found, query=replace(found.query, text=query.text))

    def searcher(self, profile: str) -> Searcher:
        """Return the searcher of a profile, built on first use.

        Raises:
            InvalidArgument: If there is no such profile.
            SearchError: If the profile needs something that is not there.
        """
        with self._lock:
            if profile not in self._built:
                stages = self._profiles[self._known(profile)](self._parts)
                self._built[profile] = Searcher(stages, clock=self._clock, executor=self._executor)
            return self._built[profile]

    def _known(self, name: str) -> str:
        if name in self._profiles:
            return name
        nearest = get_close_matches(name, self._profiles, n=1)
        hint = f"Did you mean {nearest[0]}?" if nearest else f"Choose one of {', '.join(sorted(self._profiles))}."
        raise InvalidArgument(f"There is no search profile {name!r}.", hint=hint)

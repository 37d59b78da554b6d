"""What tuning needs of a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from lilbee_core.types import Query, SearchResult

Values = Mapping[str, object]
"""Values of search settings by their flat name."""


class Bench(Protocol):
    """Searches with other settings, and keeps those that turned out well."""

    def setting(self, name: str) -> object:
        """Return the present value of a setting."""
        ...

    def trial(self, values: Values) -> Callable[[Query], SearchResult]:
        """Return a search by ``default`` with these values. Candidates are read once per query, for all trials."""
        ...

    def check(self, name: str) -> None:
        """Refuse a name that no profile can have.

        Raises:
            SettingsError: Saying why.
        """
        ...

    def save(self, name: str, values: Values) -> None:
        """Name a profile of the library."""
        ...

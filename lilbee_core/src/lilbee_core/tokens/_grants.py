"""What somebody may see and do who reaches a library over a network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from lilbee_core.errors import NotFound
from lilbee_core.types import DocumentRow, Filter


class DocumentLister(Protocol):
    """A library, as far as a grant asks it."""

    def documents(self, *, collection: str | None = None, state: str | None = None) -> Iterator[DocumentRow]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Who asks, and what they may see and do. `collections` are those they may see, None for the whole library."""

    name: str = "owner"
    read_only: bool = False
    collections: frozenset[str] | None = None

    def chosen(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the collections to look in, of those that were asked for; none asked for is all that may be seen.

        Raises:
            NotFound: If one may not be seen: whether it exists is not told.
        """
        asked = tuple(names)
        if self.collections is None:
            return asked
        for name in asked:
            if name not in self.collections:
                known = ", ".join(sorted(self.collections))
                raise NotFound(f"there is no collection {name!r}", hint=f"This token may see {known}.")
        return asked or tuple(sorted(self.collections))

    def filter(self, collections: Iterable[str] = (), paths: Iterable[str] = ()) -> Filter:
        """Return a filter that lets through nothing but what may be seen."""
        return Filter(collections=self.chosen(collections), paths=tuple(paths))

    def sees(self, collection: str) -> bool:
        """Whether a collection may be seen."""
        return self.collections is None or collection in self.collections

    def sees_job(self, options: Mapping[str, object]) -> bool:
        """Whether a job may be seen: one that works on nothing but collections that may be."""
        if self.collections is None:
            return True
        names = cast("Sequence[str]", options.get("collections") or ())
        return bool(names) and self.collections.issuperset(names)

    def shown(self, told: dict[str, object]) -> dict[str, object]:
        """Return a result or an answer without what speaks of the library as a whole, where that may not be seen."""
        if self.collections is None:
            return told
        return {**{name: value for name, value in told.items() if name != "trace"}, "warnings": []}

    def document(self, library: DocumentLister, ref: str) -> str:
        """Return the reference by which a document is had, if it may be seen.

        Raises:
            NotFound: If it may not, or there is none.
        """
        if self.collections is None:
            return ref
        found = [row for row in self._rows(library) if ref in (row.id, row.ref, row.path)]
        exact = [row for row in found if ref in (row.id, row.ref)] or found
        if len(exact) != 1:
            said = f"there is no document {ref!r}" if not exact else f"{ref!r} names more than one document"
            raise NotFound(said, hint="List the documents to see those that this token may see.")
        return exact[0].id

    def rows(
        self, library: DocumentLister, *, collection: str | None = None, state: str | None = None
    ) -> Iterable[DocumentRow]:
        """Yield the rows of the documents that may be seen."""
        if self.collections is None:
            return library.documents(collection=collection, state=state)
        names = self.chosen([collection] if collection is not None else [])
        return self._rows(library, names, state=state)

    def _rows(
        self, library: DocumentLister, names: Sequence[str] | None = None, *, state: str | None = None
    ) -> Iterable[DocumentRow]:
        for name in sorted(self.collections or ()) if names is None else names:
            try:
                yield from library.documents(collection=name, state=state)
            except NotFound:
                continue  # it was removed after the token was made


OWNER = Grant()
"""What the user may: everything."""

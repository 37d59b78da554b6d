"""By which name the judgments know a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lilbee_core.errors import NotFound
from lilbee_core.types import DocumentRow

_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Documents by every name that a judgment may use, and one name for each document.

    Judged documents keep the name they were judged by; the others go by their path where it is unique, else by
    ``collection/path``.
    """

    documents: Mapping[str, str]
    names: Mapping[str, str]

    @classmethod
    def of(cls, rows: Iterable[DocumentRow], judged: Iterable[str]) -> Names:
        """Look up all judged names.

        Raises:
            NotFound: If one of them names no document of the library, or more than one.
        """
        by_id: dict[str, DocumentRow] = {}
        by_ref: dict[str, str] = {}
        by_path: dict[str, list[str]] = {}
        for row in rows:
            by_id[row.id] = row
            by_ref[row.ref] = row.id
            by_path.setdefault(row.path, []).append(row.id)
        documents: dict[str, str] = {}
        names: dict[str, str] = {}
        unknown: list[str] = []
        for name in dict.fromkeys(judged):
            same_path = by_path.get(name, [])
            found = name if name in by_id else by_ref.get(name) or (same_path[0] if len(same_path) == 1 else None)
            if found is None:
                unknown.append(name)
                continue
            documents[name] = found
            names.setdefault(found, name)
        if unknown:
            raise _unknown(unknown, len(documents) + len(unknown), by_path)
        for document_id, row in by_id.items():
            names.setdefault(document_id, row.path if len(by_path[row.path]) == 1 else row.ref)
        return cls(documents=documents, names=names)

    def of_document(self, document_id: str) -> str:
        """Return the one name of a document; one that was indexed meanwhile goes by its id."""
        return self.names.get(document_id, document_id)

    def of_judged(self, name: str) -> str:
        """Return the one name of the document that was judged as `name`."""
        return self.names[self.documents[name]]


def _unknown(unknown: list[str], judged: int, by_path: Mapping[str, list[str]]) -> NotFound:
    shown = ", ".join(repr(name) for name in unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
    if any(name in by_path for name in unknown):
        hint = "Name documents by collection/path: some of these paths are in several collections."
    else:
        hint = "Index the judged documents first, and name them by id, collection/path or path."
    return NotFound(f"{len(unknown)} of {judged} judged documents are not in this library: {shown}", hint=hint)

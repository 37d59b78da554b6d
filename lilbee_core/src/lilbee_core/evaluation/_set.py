"""Reads a judged collection in BEIR layout: corpus.jsonl, queries.jsonl, qrels.tsv, any of them with ``.gz``.

A set without corpus.jsonl judges the documents of the library that it is used with.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO, cast

from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.types import Document, Metadata

_HINT = "Give a folder with queries.jsonl and qrels.tsv, and corpus.jsonl if it brings documents (each may end in .gz)."
DRAFTED = "drafted"
"""The key of a query's metadata that holds its text as it was drafted."""


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Documents, queries and judgments of a folder. Opening it looks for the files; they are read on use."""

    folder: Path

    @classmethod
    def open(cls, folder: str | Path) -> EvaluationSet:
        """Return the set in `folder`.

        Raises:
            NotFound: If a file of the layout is missing.
        """
        opened = cls(Path(folder).expanduser())
        for names in (_QUERIES, _QRELS):
            opened._file(names)
        return opened

    @property
    def has_documents(self) -> bool:
        """Whether the set brings documents; otherwise it judges those of the library."""
        return self._find(_CORPUS) is not None

    def documents(self, *, collection: str = "documents") -> Iterator[Document]:
        """Yield the documents one at a time; the path of each is its ``_id``. Those without any text are left out.

        Raises:
            InvalidArgument: If a line is no document.
        """
        for at, row in _objects(self._file(_CORPUS)):
            title = _text(row, "title", at, required=False).strip()
            text = _text(row, "text", at, required=False)
            metadata = row.get("metadata")
            if text.strip() or title:
                yield Document(
                    path=_text(row, "_id", at),
                    collection=collection,
                    title=title or None,
                    text=text if text.strip() else title,
                    metadata=Metadata(cast("dict[str, object]", metadata) if isinstance(metadata, dict) else None),
                )

    def queries(self) -> dict[str, str]:
        """Return the texts of the queries by id.

        Raises:
            InvalidArgument: If a line is no query.
        """
        return {_text(row, "_id", at): _text(row, "text", at) for at, row in _objects(self._file(_QUERIES))}

    def qrels(self) -> dict[str, dict[str, int]]:
        """Return the grades by query and document. A header line is passed over; TREC's four columns are read too.

        Raises:
            InvalidArgument: If a line is no judgment.
        """
        found: dict[str, dict[str, int]] = {}
        path = self._file(_QRELS)
        with _opened(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                columns = [one.strip() for one in (line.split("\t") if "\t" in line else line.split())]
                if number == 1 and not _is_grade(columns[-1]):
                    continue
                if len(columns) not in (3, 4) or not _is_grade(columns[-1]):
                    raise InvalidArgument(
                        f"{path}:{number} is no judgment: {line.strip()[:80]!r}",
                        hint="Write query-id, corpus-id and a whole number, parted by tabs.",
                    )
                found.setdefault(columns[0], {})[columns[-2]] = int(columns[-1])
        return found

    def warnings(self) -> tuple[str, ...]:
        """Say what is known to make its figures too good: queries that were drafted and that nobody has edited."""
        rows = [row for _, row in _objects(self._file(_QUERIES))]
        drafts = sum(_is_draft(row) for row in rows)
        if not drafts:
            return ()
        message = (
            f"{drafts} of {len(rows)} queries are drafts as they were written: they repeat words of the documents, so "
            "word search looks better than it is. Rewrite them as you would ask."
        )
        return (message,)

    def _file(self, names: tuple[str, ...]) -> Path:
        found = self._find(names)
        if found is None:
            raise NotFound(f"there is no {names[0]} in {self.folder}", hint=_HINT)
        return found

    def _find(self, names: tuple[str, ...]) -> Path | None:
        candidates = (self.folder / f"{name}{end}" for name in names for end in ("", ".gz"))
        return next((one for one in candidates if one.is_file()), None)


_CORPUS = ("corpus.jsonl",)
_QUERIES = ("queries.jsonl",)
_QRELS = ("qrels.tsv", "qrels/test.tsv")


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast("TextIO", gzip.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8-sig")


def _objects(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            at = f"{path}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InvalidArgument(
                    f"{at} is not JSON: {error}", hint="Write one JSON object on each line."
                ) from error
            if not isinstance(row, dict):
                raise InvalidArgument(f"{at} is no JSON object", hint="Write one JSON object on each line.")
            yield at, cast("dict[str, Any]", row)


def _text(row: Mapping[str, Any], key: str, at: str, *, required: bool = True) -> str:
    value = row.get(key)
    if isinstance(value, int) and key == "_id":
        return str(value)
    if isinstance(value, str) and (value or not required):
        return value
    if value is None and not required:
        return ""
    raise InvalidArgument(f"{at} has no usable {key!r}", hint=f"Give each line a text {key!r}.")


def _is_draft(row: Mapping[str, Any]) -> bool:
    metadata = row.get("metadata")
    return isinstance(metadata, dict) and cast("dict[str, Any]", metadata).get(DRAFTED) == row.get("text")


def _is_grade(text: str) -> bool:
    return text.removeprefix("-").isdigit()

"""Documents: listed, read, added, brought up to date, removed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.tokens import confined
from lilbee_core.types import Passage, Span
from lilbee_mcp.failures import Forbidden
from lilbee_mcp.offers import RESULT_CHARS, Arguments, Call, fitting, offer, without_blanks
from lilbee_mcp.work import started

READ_CHARS = RESULT_CHARS - 4_000
_MOST = 1_000_000_000
_ROW = ("collection", "state", "title", "date", "size", "chunks", "code", "reason")

Offset = Annotated[int, Field(ge=0, le=_MOST)]
Path = Annotated[str, Field(max_length=10_000)]
Paths = Annotated[tuple[Path, ...], Field(max_length=1_000)]
Wait = Annotated[float, Field(description="seconds")]


class Read(Arguments):
    """What `read` takes."""

    document: Path
    place: Annotated[str | None, Field(max_length=1_000)] = None
    around: Annotated[int, Field(ge=0, le=1_000)] = 0
    offset: Offset = 0


class ListDocuments(Arguments):
    """What `list_documents` takes."""

    collection: str | None = None
    state: str | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    offset: Offset = 0


class Sync(Arguments):
    """What `sync` takes."""

    collections: Paths = ()
    retry: bool = False
    prune: bool = False
    wait_s: Wait = 30


class Add(Arguments):
    """What `add` takes."""

    paths: Paths
    wait_s: Wait = 30


class Remove(Arguments):
    """What `remove` takes."""

    documents: Paths


@offer(Read, "Read", reads=True, scoped=True)
async def read(call: Call, asked: Read) -> dict[str, Any]:
    """Read the text of a document, or a part: `place` is lines (10-20), a page (p3) or a place that a hit names.

    `around` adds lines before and after. A long text comes in parts: go on with `next_offset` as `offset`.
    """
    ref = await call.run(call.grant.document, call.library, asked.document)
    return await call.run(_read, call.library, ref, asked)


def _read(library: Lilbee, ref: str, asked: Read) -> dict[str, Any]:
    found = library.get_text(ref, asked.place, around=asked.around)
    if asked.offset and asked.offset >= len(found.text):
        raise InvalidArgument(
            f"offset {asked.offset} lies behind the end: there are {len(found.text)} characters",
            hint="Give an offset that an earlier answer named as next_offset.",
        )
    end = _end(found.text, asked.offset)
    part = found
    if asked.offset or end < len(found.text):
        first = found.span.start
        part = library.get_text(found.document_id, Span(first + asked.offset, first + end))
    return {
        **_place(part),
        "text": part.text,
        "chars": len(found.text),
        **({"next_offset": end} if end < len(found.text) else {}),
    }


def _end(text: str, start: int) -> int:
    """Return where a part ends: with a line, if there is one to end with."""
    end = start + READ_CHARS
    if end >= len(text):
        return len(text)
    line = text.rfind("\n", start, end)
    return line + 1 if line > start else end


def _place(passage: Passage) -> dict[str, Any]:
    names = ("document_id", "collection", "path", "line_start", "line_end", "page_start", "page_end", "label", "member")
    return without_blanks(passage.to_dict(), names)


@offer(ListDocuments, "List documents", reads=True, scoped=True)
async def list_documents(call: Call, asked: ListDocuments) -> dict[str, Any]:
    """List the documents with their state (indexed, skipped, failed, missing, excluded) and why one is not indexed.

    Go on with `next_offset` as `offset`.
    """
    return await call.run(_list, call, asked)


def _list(call: Call, asked: ListDocuments) -> dict[str, Any]:
    rows = call.grant.rows(call.library, collection=asked.collection, state=asked.state)
    found = [row.to_dict() for row in islice(rows, asked.offset, asked.offset + asked.limit + 1)]
    shown = fitting({"path": row["path"], **without_blanks(row, _ROW)} for row in found[: asked.limit])
    more = {"next_offset": asked.offset + len(shown)} if len(found) > len(shown) else {}
    return {"documents": shown, **more}


@offer(Sync, "Sync", destroys=False, repeats=True, scoped=True)
async def sync(call: Call, asked: Sync) -> dict[str, Any]:
    """Bring the index up to date with the files on disk, and say what changed.

    Waits up to `wait_s`, then goes on as a job for `job_status`. `retry` also reads files that failed before; `prune`
    drops the documents of a folder that is suddenly empty.
    """
    names = list(call.grant.chosen(asked.collections))
    return await started(call, "sync", wait_s=asked.wait_s, collections=names, prune=asked.prune, retry=asked.retry)


@offer(Add, "Add", repeats=True)
async def add(call: Call, asked: Add) -> dict[str, Any]:
    """Index files or folders that lie in a collection: new ones, and those that were removed before. Nothing is copied.

    Waits like sync.
    """
    if not asked.paths:
        raise InvalidArgument("paths names nothing", hint="Name at least one file or folder.")
    paths = await call.run(_inside, call.library, asked.paths)
    return await started(call, "add", wait_s=asked.wait_s, paths=paths)


def _inside(library: Lilbee, paths: Iterable[str]) -> list[str]:
    roots = [one.root for one in library.collections.list()]
    inside: list[str] = []
    for path in paths:
        real = confined(path, roots)
        if real is None:
            raise Forbidden(
                f"{path!r} lies in no collection",
                hint="Ask the user to run `lilbee add` for it; agents reach no other folders of this machine.",
            )
        inside.append(real)
    return inside


@offer(Remove, "Remove", destroys=True, repeats=False, scoped=True)
async def remove(call: Call, asked: Remove) -> dict[str, Any]:
    """Take documents (paths, ids, folders) out of the index and keep them out. Files stay on disk; `add` undoes it."""
    if not asked.documents:
        raise InvalidArgument("documents names nothing", hint="Name at least one document.")
    return await call.run(_remove, call, asked.documents)


def _remove(call: Call, documents: Iterable[str]) -> dict[str, Any]:
    removed = call.library.remove(*(call.grant.document(call.library, one) for one in documents))
    shown = fitting({"path": one} for one in removed)
    return {"removed": [one["path"] for one in shown], "removed_count": len(removed)}

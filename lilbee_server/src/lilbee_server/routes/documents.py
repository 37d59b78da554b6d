"""Documents and collections: listed, read, added, brought up to date, removed."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

from litestar import get, post
from litestar.datastructures import State
from litestar.params import JSONBody, QueryParameter

from lilbee_core import Document, Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.tokens import confined
from lilbee_core.types import CollectionInfo, DocumentRow, Passage, SyncReport
from lilbee_server.bodies import Body
from lilbee_server.describe import JOB
from lilbee_server.grants import Granted
from lilbee_server.library import library_of
from lilbee_server.problems import Forbidden

Strings = list[str]
MOST_ROWS = 1_000_000_000
DOCUMENTS = {"documents": [DocumentRow], "next_offset": int | None}


class Remove(Body):
    """Documents to take out of the index: ids, `collection/path`, unique paths, folders."""

    documents: Strings


class Add(Body):
    """Files and folders below the folders of collections."""

    paths: Strings


class Sync(Body):
    """What to bring up to date; nothing named is everything."""

    collections: tuple[str, ...] = ()
    prune: bool = False
    retry: bool = False


class Text(Body):
    """A document that is no file: `path` is its name."""

    path: str
    text: str
    collection: str | None = None
    title: str | None = None


class Texts(Body):
    """Documents that are no files."""

    documents: list[Text]


@get("/api/documents", sync_to_thread=True, opt={"scoped": True, "gives": DOCUMENTS})
def documents(
    state: State,
    grant: Granted,
    collection: Annotated[str | None, QueryParameter(description="Only this collection.")] = None,
    only: Annotated[str | None, QueryParameter(name="state", description="Only documents in this state.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=10_000, description="How many.")] = 1000,
    offset: Annotated[int, QueryParameter(ge=0, le=MOST_ROWS, description="How many to leave out first.")] = 0,
) -> dict[str, Any]:
    """Return the documents by collection and path; `next_offset` is null at their end."""
    rows = grant.rows(library_of(state), collection=collection, state=only)
    found = list(islice(rows, offset, offset + limit + 1))
    more = offset + limit if len(found) > limit else None
    return {"documents": [row.to_dict() for row in found[:limit]], "next_offset": more}


@get("/api/source", sync_to_thread=True, opt={"scoped": True, "gives": Passage})
def source(
    state: State,
    grant: Granted,
    document: Annotated[str, QueryParameter(description="The document: its id, collection/path, or a unique path.")],
    place: Annotated[str | None, QueryParameter(description="Lines (10-20), a page (p3), or a place by name.")] = None,
    around: Annotated[int, QueryParameter(ge=0, le=1000, description="Lines before and after it.")] = 0,
) -> dict[str, Any]:
    """Return the text of a document, or a part of it. It comes from the index: no path of the disk is opened."""
    library = library_of(state)
    return library.get_text(grant.document(library, document), place, around=around).to_dict()


@get("/api/collections", sync_to_thread=True, opt={"scoped": True, "gives": {"collections": [CollectionInfo]}})
def collections(state: State, grant: Granted) -> dict[str, Any]:
    """Return the collections."""
    found = library_of(state).collections.list()
    return {"collections": [one.to_dict() for one in found if grant.sees(one.name)]}


@post("/api/sync", status_code=202, sync_to_thread=True, opt={"scoped": True, "gives": JOB})
def sync(state: State, grant: Granted, data: JSONBody[Sync]) -> dict[str, Any]:
    """Start to bring the index up to date, and return the job."""
    names = list(grant.chosen(data.collections))
    return library_of(state).jobs.start("sync", collections=names, prune=data.prune, retry=data.retry).to_dict()


@post("/api/add", status_code=202, sync_to_thread=True, opt={"gives": JOB})
def add(state: State, data: JSONBody[Add]) -> dict[str, Any]:
    """Start to index files and folders that lie in a collection, and return the job. Nothing is copied."""
    if not data.paths:
        raise InvalidArgument("paths names nothing", hint="Name at least one file or folder.")
    library = library_of(state)
    return library.jobs.start("add", paths=[confined_path(library, one) for one in data.paths]).to_dict()


@post("/api/documents", status_code=200, sync_to_thread=True, opt={"gives": SyncReport})
def put(state: State, data: JSONBody[Texts]) -> dict[str, Any]:
    """Index texts that are no files; those with the same collection and path are replaced."""
    given = [
        Document(path=one.path, text=one.text, **{k: v for k, v in _more(one) if v is not None})
        for one in data.documents
    ]
    return library_of(state).add_documents(given).to_dict()


@post("/api/documents/remove", status_code=200, sync_to_thread=True, opt={"scoped": True, "gives": {"removed": [str]}})
def remove(state: State, grant: Granted, data: JSONBody[Remove]) -> dict[str, Any]:
    """Take documents out of the index, and keep them out. Files stay."""
    if not data.documents:
        raise InvalidArgument("documents names nothing", hint="Name at least one document.")
    library = library_of(state)
    return {"removed": list(library.remove(*(grant.document(library, one) for one in data.documents)))}


def _more(text: Text) -> tuple[tuple[str, Any], ...]:
    return (("collection", text.collection), ("title", text.title))


def confined_path(library: Lilbee, path: str) -> str:
    """Return the real path, if it lies in a collection.

    Raises:
        Forbidden: If it does not: requests reach no other folders of this machine.
        NotFound: If it does, and is not there.
    """
    real = confined(path, [one.root for one in library.collections.list()])
    if real is None:
        raise Forbidden(f"{path!r} lies in no collection", hint="Add its folder where the server runs: lilbee add.")
    return real

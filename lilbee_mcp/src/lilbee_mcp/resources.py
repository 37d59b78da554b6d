"""Documents and pages of the wiki as resources: listed page by page, read by address, completed while one types."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote, unquote

from mcp.types import ListResourcesResult, ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.tokens import Grant
from lilbee_core.types import DocumentRow

PAGE = 100
RESOURCE_CHARS = 200_000
"""Most characters of a resource; the tool `read` gives the rest, part by part."""
_DOCUMENT, _WIKI = "lilbee://document/", "lilbee://wiki/"
_MOST_COMPLETIONS = 100
_MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class Begun:
    """What can be meant by what was typed so far."""

    values: list[str]
    more: bool = False


class Resources:
    """The resources of a library. Threads may share it."""

    def __init__(self, library: Lilbee, *, wiki: bool) -> None:
        self._library = library
        self._wiki = wiki

    def page(self, grant: Grant, cursor: str | None) -> ListResourcesResult:
        """Return a hundred of the indexed documents, by collection and path, then pages of the wiki.

        Raises:
            InvalidArgument: If the cursor is none of ours.
        """
        start = _offset(cursor)
        found = list(islice(self._all(grant), start, start + PAGE + 1))
        more = _cursor(start + PAGE) if len(found) > PAGE else None
        return ListResourcesResult(resources=found[:PAGE], next_cursor=more)

    def templates(self, grant: Grant) -> list[ResourceTemplate]:
        """Return the forms of their addresses."""
        document = ResourceTemplate(
            uri_template=_DOCUMENT + "{collection}/{+path}",
            name="document",
            title="A document",
            description="The text of a document, as it was indexed.",
        )
        page = ResourceTemplate(
            uri_template=_WIKI + "{+slug}",
            name="wiki page",
            title="A page of the wiki",
            description="What many documents say about something.",
            mime_type=_MARKDOWN,
        )
        return [document, page] if self._shows_wiki(grant) else [document]

    def read(self, grant: Grant, uri: str) -> ReadResourceResult:
        """Return a resource.

        Raises:
            NotFound: If there is none at this address, or none that may be seen.
        """
        if uri.startswith(_DOCUMENT):
            text, kind = self._document(grant, unquote(uri.removeprefix(_DOCUMENT)))
        elif uri.startswith(_WIKI) and self._shows_wiki(grant):
            text, kind = self._library.wiki.require(unquote(uri.removeprefix(_WIKI))).body, _MARKDOWN
        else:
            raise NotFound(f"there is no resource {uri[:200]!r}", hint="List the resources to see their addresses.")
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=kind, text=_cut(text))])

    def begun_by(
        self, grant: Grant, template: str | None, argument: str, typed: str, context: Mapping[str, str]
    ) -> Begun:
        """Return what an argument of an address, or of a prompt, can be that begins as was typed."""
        if argument == "collection":
            names = (one.name for one in self._library.collections.list() if grant.sees(one.name))
            return _begun(names, typed)
        if argument == "slug" and self._shows_wiki(grant):
            return _begun((one.slug for one in self._library.wiki.pages()), typed)
        if argument == "path" or (argument == "document" and template is None):
            return _begun((row.path for row in self._rows(grant, context.get("collection"))), typed)
        return Begun([])

    # ------------------------------------------------------------------ inside

    def _shows_wiki(self, grant: Grant) -> bool:
        return self._wiki and grant.collections is None

    def _all(self, grant: Grant) -> Iterator[Resource]:
        for row in self._rows(grant):
            yield _resource(row)
        if self._shows_wiki(grant):
            for page in self._library.wiki.pages():
                yield Resource(uri=_WIKI + quote(page.slug), name=page.slug, title=page.title, mime_type=_MARKDOWN)

    def _rows(self, grant: Grant, collection: str | None = None) -> Iterator[DocumentRow]:
        try:
            yield from (row for row in grant.rows(self._library, collection=collection or None) if row.holds_chunks)
        except NotFound:
            return  # nothing was indexed yet

    def _document(self, grant: Grant, ref: str) -> tuple[str, str]:
        found = self._library.get_text(grant.document(self._library, ref))
        if ref != f"{found.collection}/{found.path}":
            raise NotFound(f"there is no document {ref!r}", hint="List the resources to see their addresses.")
        return found.text, _MARKDOWN if found.path.endswith((".md", ".markdown")) else "text/plain"


def _resource(row: DocumentRow) -> Resource:
    # The text is what was read out of the file, whatever the file is.
    kind = _MARKDOWN if row.media_type == _MARKDOWN else "text/plain"
    title = row.title if row.title and row.title != row.path else None
    return Resource(uri=_DOCUMENT + quote(row.ref), name=row.path, title=title, mime_type=kind)


def _cut(text: str) -> str:
    if len(text) <= RESOURCE_CHARS:
        return text
    return (
        text[:RESOURCE_CHARS] + f"\n\n[cut after {RESOURCE_CHARS} of {len(text)} characters: the tool read, with "
        f"offset {RESOURCE_CHARS}, gives the rest]"
    )


def _begun(values: Iterator[str], typed: str) -> Begun:
    wanted = typed.casefold()
    matching = (one for one in values if one.casefold().startswith(wanted))
    found = list(dict.fromkeys(islice(matching, _MOST_COMPLETIONS + 1)))
    return Begun(found[:_MOST_COMPLETIONS], len(found) > _MOST_COMPLETIONS)


def _cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(f"o{offset}".encode()).decode()


def _offset(cursor: str | None) -> int:
    if not cursor:
        return 0
    try:
        told = base64.urlsafe_b64decode(cursor.encode()).decode()
    except (ValueError, binascii.Error, UnicodeError):
        told = ""
    if not told.startswith("o") or not told[1:].isdecimal() or len(told) > 12:
        raise InvalidArgument(f"{cursor[:80]!r} is no cursor", hint="Give a next_cursor of an earlier answer.")
    return int(told[1:])

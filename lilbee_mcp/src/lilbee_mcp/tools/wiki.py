"""The wiki: pages about what many documents say."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from lilbee_core import Lilbee
from lilbee_core.errors import NotFound
from lilbee_core.types import WikiPage
from lilbee_mcp.offers import RESULT_CHARS, Arguments, Call, fitting, offer

_MOST = 1_000_000_000
Slug = Annotated[str, Field(max_length=1_000)]
Offset = Annotated[int, Field(ge=0, le=_MOST)]


class Nothing(Arguments):
    """No arguments."""


class Listing(Arguments):
    """Where a list goes on."""

    offset: Offset = 0


class Named(Arguments):
    """A page."""

    slug: Slug


class Part(Arguments):
    """A page, and where to go on."""

    slug: Slug
    offset: Offset = 0


@offer(Listing, "Wiki pages", reads=True)
async def wiki_list(call: Call, asked: Listing) -> dict[str, Any]:
    """List the pages of the wiki: slug, title, kind."""
    return _listed(await call.run(call.library.wiki.pages), asked.offset)


@offer(Part, "Read a wiki page", reads=True)
async def wiki_read(call: Call, asked: Part) -> dict[str, Any]:
    """Read a page of the wiki by its slug, as Markdown; go on with `next_offset`."""
    page: WikiPage = await call.run(call.library.wiki.require, asked.slug)
    body = page.body[asked.offset : asked.offset + RESULT_CHARS]
    end = asked.offset + len(body)
    more = {"next_offset": end} if end < len(page.body) else {}
    return {"slug": page.slug, "title": page.title, "kind": page.kind, "body": body, **more}


@offer(Named, "Citations of a wiki page", reads=True)
async def wiki_citations(call: Call, asked: Named) -> dict[str, Any]:
    """Return the passages that a page of the wiki quotes."""
    page: WikiPage = await call.run(call.library.wiki.require, asked.slug)
    shown = fitting(one.to_dict() for one in page.citations)
    return {"slug": page.slug, "citations": shown, "citations_count": len(page.citations)}


@offer(Nothing, "State of the wiki", reads=True)
async def wiki_status(call: Call, asked: Nothing) -> dict[str, Any]:
    """Say what wiki_build would write, and why; changes nothing."""
    plan = await call.run(call.library.wiki.plan)
    return _plan(plan.to_dict())


@offer(Nothing, "Build the wiki", repeats=True)
async def wiki_build(call: Call, asked: Nothing) -> dict[str, Any]:
    """Write the pages whose sources changed. Pages that somebody edited get a draft instead."""
    done = await call.run(call.library.wiki.build)
    return _plan(done.to_dict())


@offer(Listing, "Wiki drafts", reads=True)
async def wiki_drafts(call: Call, asked: Listing) -> dict[str, Any]:
    """List the drafts: new texts of pages that somebody edited."""
    return _listed(await call.run(call.library.wiki.drafts), asked.offset)


@offer(Named, "Compare a wiki draft", reads=True)
async def wiki_draft_diff(call: Call, asked: Named) -> dict[str, Any]:
    """Show what a draft would change in its page, as a unified diff."""
    return await call.run(_diff, call.library, asked.slug)


def _diff(library: Lilbee, slug: str) -> dict[str, Any]:
    draft = next((one for one in library.wiki.drafts() if one.slug == slug), None)
    if draft is None:
        raise NotFound(f"there is no draft {slug!r}", hint="List the drafts with wiki_drafts.")
    before = library.wiki.require(slug).body
    lines = difflib.unified_diff(before.splitlines(), draft.body.splitlines(), "page", "draft", lineterm="")
    return {"slug": slug, "diff": "\n".join(lines)[:RESULT_CHARS]}


def _listed(pages: tuple[WikiPage, ...], offset: int) -> dict[str, Any]:
    shown = fitting({"slug": one.slug, "title": one.title, "kind": one.kind} for one in pages[offset:])
    end = offset + len(shown)
    return {"pages": shown, **({"next_offset": end} if end < len(pages) else {})}


def _plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with as many entries of each list as fit."""
    shown: dict[str, Any] = {}
    for name, value in plan.items():
        if isinstance(value, list):
            shown[name] = fitting(value, chars=RESULT_CHARS // 3)
            shown[f"{name}_count"] = len(value)
        else:
            shown[name] = value
    return shown


OFFERS = (wiki_list, wiki_read, wiki_citations, wiki_status, wiki_build, wiki_drafts, wiki_draft_diff)

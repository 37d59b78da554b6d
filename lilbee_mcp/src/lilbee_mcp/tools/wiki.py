"""The wiki: pages about what many documents say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, cast

from pydantic import Field

from lilbee_core.types import WikiPage
from lilbee_mcp.offers import RESULT_CHARS, Arguments, Call, fitting, offer
from lilbee_mcp.tools.documents import Wait
from lilbee_mcp.work import started

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


class Building(Arguments):
    """How much a build may cost."""

    most_calls: Annotated[int | None, Field(ge=0, le=_MOST)] = None
    wait_s: Wait = 0


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


@offer(Building, "Build the wiki", repeats=True)
async def wiki_build(call: Call, asked: Building) -> dict[str, Any]:
    """Write the pages whose sources changed: a job, at most `most_calls` calls of the chat model."""
    return await _job(call, asked, topics=False)


@offer(Building, "Synthesize wiki topics", repeats=True)
async def wiki_synthesize(call: Call, asked: Building) -> dict[str, Any]:
    """Write overviews of topics of which something new is to be said, as a job."""
    return await _job(call, asked, topics=True)


@offer(Nothing, "Check the wiki", reads=True)
async def wiki_lint(call: Call, asked: Nothing) -> dict[str, Any]:
    """Say what is wrong with pages: orphans, dead links, lost or stale citations, drift."""
    found = await call.run(call.library.wiki.lint)
    return {"problems": fitting(one.to_dict() for one in found), "problems_count": len(found)}


@offer(Nothing, "Prune the wiki", repeats=True)
async def wiki_prune(call: Call, asked: Nothing) -> dict[str, Any]:
    """Retire pages of whose sources none is left to the archive."""
    report = await call.run(call.library.wiki.prune)
    return {"removed": fitting(report.removed), "removed_count": len(report.removed)}


@offer(Listing, "Wiki drafts", reads=True)
async def wiki_drafts_list(call: Call, asked: Listing) -> dict[str, Any]:
    """List the drafts, which wait for the user."""
    return _listed(await call.run(call.library.wiki.drafts.list), asked.offset)


@offer(Named, "Compare a wiki draft", reads=True)
async def wiki_drafts_diff(call: Call, asked: Named) -> dict[str, Any]:
    """Show what a draft would change in its page, as a unified diff."""
    diff = await call.run(call.library.wiki.drafts.diff, asked.slug)
    return {"slug": diff.slug, "reason": diff.reason, "is_new": diff.is_new, "diff": diff.diff[:RESULT_CHARS]}


async def _job(call: Call, asked: Building, *, topics: bool) -> dict[str, Any]:
    told = await started(call, "wiki", wait_s=asked.wait_s, topics=topics, most_calls=asked.most_calls)
    pages = told.pop("pages", None)
    return told if pages is None else {**told, "pages": fitting(pages), "pages_count": len(pages)}


def _listed(pages: tuple[WikiPage, ...], offset: int) -> dict[str, Any]:
    shown = fitting({"slug": one.slug, "title": one.title, "kind": one.kind} for one in pages[offset:])
    end = offset + len(shown)
    return {"pages": shown, **({"next_offset": end} if end < len(pages) else {})}


def _plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with as many entries of each list as fit."""
    shown: dict[str, Any] = {}
    for name, value in plan.items():
        if isinstance(value, list):
            entries = cast("list[Any]", cast("object", value))
            shown[name] = fitting(entries, chars=RESULT_CHARS // 3)
            shown[f"{name}_count"] = len(entries)
        else:
            shown[name] = value
    return shown


OFFERS = (
    wiki_list,
    wiki_read,
    wiki_citations,
    wiki_status,
    wiki_build,
    wiki_synthesize,
    wiki_lint,
    wiki_prune,
    wiki_drafts_list,
    wiki_drafts_diff,
)

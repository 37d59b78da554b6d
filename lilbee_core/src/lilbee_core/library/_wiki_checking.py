"""Looking after the wiki: what its pages cite, what is wrong with them, what can go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.errors import ExtraMissing, NotFound, SettingsError
from lilbee_core.library._wiki_asking import BuildRequest, sources_of
from lilbee_core.library._wiki_building import changing, finish, folder_of, run_plan
from lilbee_core.library._wiki_cited import cited_on
from lilbee_core.types import Citation, WikiProblem, WikiReport
from lilbee_core.wiki import StoredPage, digest, lint, summary

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts


def cited_in(parts: Parts, slug: str, line_start: int | None, line_end: int | None) -> tuple[Citation, ...]:
    """Return what a page, or the lines of its file, cite.

    Raises:
        NotFound: If there is no such page.
    """
    page = folder_of(parts).pages().get(slug)
    if page is None:
        raise NotFound(f"there is no page {slug!r}", hint="Run `lilbee wiki list`.")
    return cited_on(parts, page, line_start, line_end)


def run_lint(parts: Parts) -> tuple[WikiProblem, ...]:
    """Return what is wrong with the pages."""
    files = folder_of(parts)
    pages = files.pages()
    ids = [one.chunk_id for page in pages.values() for one in page.citations]
    chunks = parts.store.get(ids) if ids and parts.store.version else ()
    return lint(
        pages,
        files.drafts(),
        passages={chunk.id: chunk for chunk in chunks},
        documents={source.ref for source in sources_of(parts)},
        drift=_drift(parts) if pages else {},
    )


def _drift(parts: Parts) -> dict[str, str]:
    """Return the pages that a build would write anew without a call, and why."""
    try:
        plan = run_plan(parts, BuildRequest(most_calls=0), topics=False)
    except (ExtraMissing, NotFound, SettingsError):
        return {}
    return {page.slug: page.reason for page in plan.pages} | dict.fromkeys(
        plan.removed, "nothing speaks of it any more"
    )


def run_prune(parts: Parts) -> WikiReport:
    """Retire pages without sources and drafts without a use."""
    files = folder_of(parts)
    with changing(parts):
        documents = {source.ref for source in sources_of(parts)}
        pages, drafts = files.pages(), files.drafts()
        removed = sorted(
            slug
            for slug, page in pages.items()
            if page.made and not page.is_edited and page.sources and documents.isdisjoint(page.sources)
        )
        for slug in removed:
            files.archive(slug)
        needless = [slug for slug, draft in drafts.items() if _is_needless(draft, pages.get(slug), documents)]
        for slug in needless:
            files.remove_draft(slug)
        if removed or needless:
            finish(parts, files, summary("prune", (), (), [*removed, *needless]))
        return WikiReport(removed=tuple(removed))


def _is_needless(draft: StoredPage, page: StoredPage | None, documents: set[str]) -> bool:
    """Whether a draft that nobody edited says what its page says, or is about documents that are gone."""
    if draft.is_edited or not draft.made:
        return False
    says_the_same = page is not None and digest(page.body) == digest(draft.body)
    return says_the_same or bool(draft.sources and documents.isdisjoint(draft.sources))

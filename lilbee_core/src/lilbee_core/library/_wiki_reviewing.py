"""Reviewing drafts of the wiki: each beside the page that it would replace, taken, changed or refused by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.errors import InvalidArgument, NotFound, WikiError
from lilbee_core.library._wiki_building import changing, finish, folder_of
from lilbee_core.types import WikiDiff, WikiPage
from lilbee_core.wiki import FOLDERS, PageMemory, StoredPage, as_published, difference, summary, with_body

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts


def stored_drafts(parts: Parts) -> dict[str, StoredPage]:
    """Return the drafts by name."""
    return folder_of(parts).drafts()


def require_draft(parts: Parts, slug: str) -> StoredPage:
    """Return a draft.

    Raises:
        NotFound: If there is none of that name.
    """
    found = stored_drafts(parts).get(slug)
    if found is None:
        raise NotFound(f"there is no draft {slug!r}", hint="Run `lilbee wiki drafts list`.")
    return found


def diff_of(parts: Parts, slug: str) -> WikiDiff:
    """Return a draft beside the page that it would replace."""
    draft = require_draft(parts, slug)
    page = folder_of(parts).pages().get(slug)
    before, after = "" if page is None else page.to_page().body, draft.to_page().body
    return WikiDiff(
        slug=slug,
        title=draft.title,
        reason=draft.note,
        diff=difference(before, after, old=f"published/{slug}.md", new=f"drafts/{slug}.md"),
        is_new=page is None,
        is_pending=draft.is_pending,
        dropped=draft.dropped,
    )


def accept(parts: Parts, slug: str) -> WikiPage:
    """Publish a draft."""
    with changing(parts):
        draft = require_draft(parts, slug)
        if draft.is_pending and not draft.is_edited:
            raise WikiError(
                f"the draft {slug!r} has no text to accept: {draft.note}",
                hint=f"Write one with `lilbee wiki drafts edit {slug}`, or reject it.",
                code="wiki.pending",
            )
        files = folder_of(parts)
        page = files.pages().get(slug)
        kind = draft.kind if draft.kind in FOLDERS else page.kind if page is not None else "concept"
        files.write(kind, slug, as_published(draft))
        files.remove_draft(slug)
        finish(parts, files, summary("accept", [slug], (), ()))
        return files.pages()[slug].to_page()


def reject(parts: Parts, slug: str) -> None:
    """Delete a draft, and remember what it said."""
    with changing(parts):
        draft = require_draft(parts, slug)
        PageMemory(parts.state).reject(draft)
        folder_of(parts).remove_draft(slug)


def edit(parts: Parts, slug: str, body: str) -> WikiPage:
    """Give a draft another text."""
    if not body.strip():
        raise InvalidArgument("the text is empty", hint=f"Reject the draft: lilbee wiki drafts reject {slug}")
    with changing(parts):
        folder_of(parts).write_draft(slug, with_body(require_draft(parts, slug), body))
        return require_draft(parts, slug).to_page(state="draft")

"""What becomes of a page: written, merged with what somebody made of it, drafted, kept without a source, retired."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from lilbee_core.types import PlannedPage, WikiPage
from lilbee_core.wiki._links import essence
from lilbee_core.wiki._markdown import PENDING, StoredPage, digest, plain, rendered
from lilbee_core.wiki._merge import merge

WITHOUT_SOURCE = "nothing in the library speaks of this any more"
"""Note of a page that is kept because somebody edited it."""
Bases = Callable[[str], str | None]
"""Returns the body that a build wrote, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A file to write: a page (its `kind` says where) or a draft of one. `made` is the text that a build came to."""

    page: WikiPage
    text: str
    made: str
    reason: str

    @property
    def is_draft(self) -> bool:
        """Whether a person has to look at it."""
        return self.page.state == "draft"

    def planned(self) -> PlannedPage:
        """Return what a plan says of it."""
        page = self.page
        return PlannedPage(
            slug=page.slug,
            title=page.title,
            kind=page.kind,
            reason=self.reason,
            chunks=tuple(dict.fromkeys(one.chunk_id for one in page.citations)),
            state=page.state,
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """What to write for a page, None if everything is as it should be, and whether a person has to look at it."""

    change: Change | None
    drafted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """The wiki as it lies there, and what is remembered of it beside: what builds wrote, which drafts were rejected."""

    pages: Mapping[str, StoredPage]
    drafts: Mapping[str, StoredPage]
    base: Bases
    rejected: Mapping[str, str]


def renamed(folder: Folder) -> dict[str, str]:
    """Return the new names of pages whose files somebody renamed, by the old ones."""
    return {
        one.origin: slug
        for slug, one in sorted(folder.pages.items())
        if one.made and one.origin != slug and one.origin not in folder.pages
    }


def decide(page: WikiPage, folder: Folder, *, origin: str = "") -> Decision:
    """Return what to write for a page."""
    stored = folder.pages.get(page.slug)
    if page.state == "draft" and not _was_accepted(page, stored, folder):
        return _drafted(page, folder, f"wants review: {page.note}", origin)
    page = replace(page, state="published", note="", dropped=())
    if stored is None:
        return _published(page, folder, origin, "new")
    if not stored.is_edited:
        reason = "its sources changed" if digest(page.body) != stored.made else "what it says of its sources changed"
        return _published(page, folder, origin, reason)
    if digest(page.body) == stored.made:
        return _published(page, folder, origin, "its passages moved", body=stored.body)
    base = folder.base(stored.made) if stored.made else None
    if base is not None:
        merged = merge(base, stored.body, page.body)
        if not merged.conflicts:
            return _published(page, folder, origin, "merged with what was edited by hand", body=merged.text)
    draft = replace(page, state="draft", note="the page was edited by hand")
    return _drafted(draft, folder, "edited by hand, so the new text is a draft", origin)


def _was_accepted(page: WikiPage, stored: StoredPage | None, folder: Folder) -> bool:
    """Whether a person has published the very text that wants review."""
    base = folder.base(stored.made) if stored is not None and stored.made else None
    return base is not None and essence(base) == essence(page.body)


def pending(slug: str, title: str, why: str, reply: str, folder: Folder) -> Decision:
    """Return a draft without a text, which says what a person should look at."""
    shown = "".join(f"> {plain(line)}\n" for line in reply.splitlines()[:40])
    body = f"# {plain(title)}\n\nPENDING: {plain(why)}\n" + (f"\nThe model replied:\n\n{shown}" if shown else "")
    page = WikiPage(slug=slug, title=title, kind="concept", body=body, state="draft", note=f"{PENDING}: {why}")
    return _drafted(page, folder, f"wants review: {why}")


def without_source(stored: StoredPage, folder: Folder) -> Change | None:
    """Return an edited page of which no document speaks any more: what is left of it, marked."""
    notice = f"> [!warning] {WITHOUT_SOURCE[0].upper()}{WITHOUT_SOURCE[1:]}."
    body = f"# {plain(stored.title)}\n\n{notice}"
    made = digest(body)
    base = folder.base(stored.made) if stored.made else None
    kept = stored.body if stored.made == made else _left_of(stored, base, body, notice)
    page = replace(
        stored.to_page(), body=kept, aliases=(), sources=(), citations=(), faithfulness=None, note=WITHOUT_SOURCE
    )
    text = rendered(page, made=made, origin=stored.origin)
    if text == stored.text:
        return None
    return Change(page=page, text=text, made=body, reason="edited by hand, and without a source now")


def _left_of(stored: StoredPage, base: str | None, body: str, notice: str) -> str:
    """Return the edited text without what a build wrote; all of it, under the notice, where that cannot be told."""
    if base is not None:
        merged = merge(base, stored.body, body)
        if not merged.conflicts:
            return merged.text
    return stored.body if notice in stored.body else f"{notice}\n\n{stored.body}"


def _published(page: WikiPage, folder: Folder, origin: str, reason: str, *, body: str | None = None) -> Decision:
    """Return the page as its file, with another body where somebody edited it."""
    stored = folder.pages.get(page.slug)
    shown = page if body is None else replace(page, body=body)
    text = rendered(shown, made=digest(page.body), origin=origin)
    if stored is not None and stored.kind == page.kind and stored.text == text:
        return Decision(None)
    return Decision(Change(page=shown, text=text, made=page.body, reason=reason))


def _drafted(page: WikiPage, folder: Folder, reason: str, origin: str = "") -> Decision:
    """Return the draft, unless it is there, was rejected, or somebody works on another one."""
    made, draft = digest(page.body), folder.drafts.get(page.slug)
    if folder.rejected.get(page.slug) == essence(page.body):
        return Decision(None)
    if draft is not None and (draft.made == made or draft.is_edited):
        return Decision(None, drafted=True)
    return Decision(Change(page=page, text=rendered(page, origin=origin), made=page.body, reason=reason), drafted=True)

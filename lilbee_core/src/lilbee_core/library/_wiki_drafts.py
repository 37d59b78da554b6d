"""`bee.wiki.drafts`: what waits for a person."""

from __future__ import annotations

from lilbee_core.arguments import checked
from lilbee_core.errors import NotFound
from lilbee_core.library._parts import Parts
from lilbee_core.types import WikiDiff, WikiPage


@checked
class Drafts:
    """Drafts of pages: new text for a page that somebody edited, and what may be wrong. Nothing is taken by itself."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self) -> tuple[WikiPage, ...]:
        """Return the drafts, by name."""
        from lilbee_core.library._wiki_reviewing import stored_drafts

        return tuple(one.to_page(state="draft") for one in stored_drafts(self._parts).values())

    def get(self, slug: str) -> WikiPage | None:
        """Return a draft, with what it cites."""
        try:
            return self.require(slug)
        except NotFound:
            return None

    def require(self, slug: str) -> WikiPage:
        """Return a draft, with what it cites.

        Raises:
            NotFound: If there is none.
        """
        from lilbee_core.library._wiki_cited import citations_of
        from lilbee_core.library._wiki_reviewing import require_draft

        found = require_draft(self._parts, slug)
        return found.to_page(state="draft", citations=citations_of(self._parts, found))

    def diff(self, slug: str) -> WikiDiff:
        """Return a draft beside the page that it would replace.

        Raises:
            NotFound: If there is no such draft.
        """
        from lilbee_core.library._wiki_reviewing import diff_of

        return diff_of(self._parts, slug)

    def accept(self, slug: str) -> WikiPage:
        """Publish a draft in place of the page of its name, and return it. The other text is gone then.

        Raises:
            NotFound: If there is no such draft.
            WikiError: If it only says that there is something to look at (``wiki.pending``).
        """
        from lilbee_core.library._wiki_reviewing import accept

        return accept(self._parts, slug)

    def reject(self, slug: str) -> None:
        """Delete a draft; the same text is not drafted again.

        Raises:
            NotFound: If there is no such draft.
        """
        from lilbee_core.library._wiki_reviewing import reject

        reject(self._parts, slug)

    def edit(self, slug: str, body: str) -> WikiPage:
        """Give a draft another text, which stays a draft until it is accepted; builds leave it alone from then on.

        Raises:
            NotFound: If there is no such draft.
            InvalidArgument: If the text is empty.
        """
        from lilbee_core.library._wiki_reviewing import edit

        return edit(self._parts, slug, body)

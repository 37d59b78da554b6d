"""`bee.wiki`: pages about what many documents say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.arguments import checked
from lilbee_core.errors import NotFound
from lilbee_core.library._interrupts import interruptible
from lilbee_core.library._parts import Parts
from lilbee_core.library._wiki_drafts import Drafts
from lilbee_core.protocols import CancelToken
from lilbee_core.types import Citation, WikiPage, WikiPlan, WikiProblem, WikiReport

if TYPE_CHECKING:
    from lilbee_core.wiki import WikiFolder


@checked
class Wiki:
    """Pages about concepts, entities and topics, as Markdown files that people can edit. It is experimental.

    With a chat model, that is asked once about each document, and every sentence that the document does not bear out
    is left out; without one, pages hold quoted sentences of what the concept graph knows (extra ``graph``). What
    somebody edited is kept: new text is merged with it, or becomes a draft.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def folder(self) -> Path:
        """Where the pages lie."""
        return self._parts.home.wiki_dir(self._parts.settings)

    @property
    def drafts(self) -> Drafts:
        """What waits for a person: ``bee.wiki.drafts.diff("honey-bee")``."""
        return Drafts(self._parts)

    # ------------------------------------------------------------------ building

    def plan(self, *, topics: bool = False, retry: bool = False, most_calls: int | None = None) -> WikiPlan:
        """Say what `build` (or, with `topics`, `synthesize`) would do, and what it would cost; nothing is written.

        Raises:
            ExtraMissing: Without a chat model and without the extra ``graph``.
            NotFound: Before the first sync.
        """
        from lilbee_core.library._wiki_asking import BuildRequest
        from lilbee_core.library._wiki_building import run_plan

        return run_plan(self._parts, BuildRequest(retry=retry, most_calls=most_calls), topics=topics)

    def build(
        self, *, retry: bool = False, most_calls: int | None = None, cancel: CancelToken | None = None
    ) -> WikiReport:
        """Write the pages whose sources changed. Without changes no call is made and no file is touched.

        Each reply of the model is kept at once, so that a build which was stopped goes on where it was.

        Args:
            retry: Ask again about documents whose replies could not be read.
            most_calls: Most calls of the chat model; pages about the other documents stay as they are.
            cancel: Ends the build before the next call; the report then says ``cancelled``.

        Raises:
            ExtraMissing: Without a chat model and without the extra ``graph``.
            NotFound: Before the first sync.
            WikiError: If a file cannot be written, or the wiki is being built for too long.
        """
        from lilbee_core.library._wiki_asking import BuildRequest
        from lilbee_core.library._wiki_building import run_build

        with interruptible(cancel) as token:
            return run_build(self._parts, BuildRequest(retry=retry, most_calls=most_calls), token)

    def synthesize(
        self, *, retry: bool = False, most_calls: int | None = None, cancel: CancelToken | None = None
    ) -> WikiReport:
        """Have the chat model write an overview of each topic of which something new is to be said.

        It is given what the pages about the topic's things cite. Without a chat model overviews are quotes.

        Raises:
            ExtraMissing: Without the extra ``graph``.
            NotFound: Before the first sync with it.
            WikiError: If a file cannot be written, or the wiki is being built for too long.
        """
        from lilbee_core.library._wiki_asking import BuildRequest
        from lilbee_core.library._wiki_building import run_synthesize

        with interruptible(cancel) as token:
            return run_synthesize(self._parts, BuildRequest(retry=retry, most_calls=most_calls), token)

    def prune(self) -> WikiReport:
        """Retire pages of whose sources none is left, and drafts that nobody edited and nothing needs. No call is made.

        Raises:
            WikiError: If a file cannot be written, or the wiki is being built for too long.
        """
        from lilbee_core.library._wiki_checking import run_prune

        return run_prune(self._parts)

    def lint(self) -> tuple[WikiProblem, ...]:
        """Say what is wrong with pages: orphans, dead links, lost and stale citations, drift, waiting drafts."""
        from lilbee_core.library._wiki_checking import run_lint

        return run_lint(self._parts)

    # ------------------------------------------------------------------ reading

    def pages(self) -> tuple[WikiPage, ...]:
        """Return the published pages, by kind and name, without their citations."""
        return tuple(one.to_page() for one in self._files().pages().values())

    def get(self, slug: str) -> WikiPage | None:
        """Return the published page of this name, with what it cites."""
        from lilbee_core.library._wiki_cited import citations_of

        found = self._files().pages().get(slug)
        return None if found is None else found.to_page(citations=citations_of(self._parts, found))

    def require(self, slug: str) -> WikiPage:
        """Return the published page of this name, with what it cites.

        Raises:
            NotFound: If there is none.
        """
        found = self.get(slug)
        if found is None:
            raise NotFound(f"there is no page {slug!r}", hint="Run `lilbee wiki list`.")
        return found

    def citations(
        self, slug: str, *, line_start: int | None = None, line_end: int | None = None
    ) -> tuple[Citation, ...]:
        """Return what a page cites of the documents; with lines of its file, such as those of a hit, what these cite.

        Raises:
            NotFound: If there is no such page.
        """
        from lilbee_core.library._wiki_checking import cited_in

        return cited_in(self._parts, slug, line_start, line_end)

    def links(self) -> Mapping[str, tuple[str, ...]]:
        """Return for each page those that it links to."""
        from lilbee_core.wiki import links_of

        return {slug: links_of(page.body) for slug, page in self._files().pages().items()}

    def backlinks(self) -> Mapping[str, tuple[str, ...]]:
        """Return for each page those that link to it."""
        from lilbee_core.wiki import backlinks

        return backlinks({slug: page.body for slug, page in self._files().pages().items()})

    # ------------------------------------------------------------------ inside

    def _files(self) -> WikiFolder:
        from lilbee_core.wiki import WikiFolder

        return WikiFolder(self.folder)

"""`bee.wiki`: pages about what many documents say."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.arguments import checked
from lilbee_core.errors import NotFound
from lilbee_core.library._concepts import graph_for
from lilbee_core.library._parts import Parts
from lilbee_core.types import WikiPage, WikiPlan

if TYPE_CHECKING:
    from lilbee_core.wiki import ExtractiveWiki, WikiFolder

_FOLDER = "wiki"


@checked
class Wiki:
    """Pages of quoted sentences about concepts, entities and topics, as Markdown files that people can edit.

    What somebody edited is never overwritten: the new text becomes a draft. Needs the extra ``graph``.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def folder(self) -> Path:
        """Where the pages lie."""
        return self._parts.home.data_dir / _FOLDER

    def plan(self) -> WikiPlan:
        """Say what `build` would do, and why; nothing is written.

        Raises:
            ExtraMissing: Without the extra ``graph``.
            NotFound: Before the first sync with it.
        """
        return self._builder().plan()

    def build(self) -> WikiPlan:
        """Write the pages whose sources changed, and return what was done. Without changes no file is touched.

        Raises:
            ExtraMissing: Without the extra ``graph``.
            NotFound: Before the first sync with it.
            WikiError: If a file cannot be written.
            StoreLocked: If somebody else writes for too long.
        """
        from lilbee_core.wiki import summary

        with self._parts.store.writing():
            builder, folder = self._builder(), self._files()
            plan = builder.plan()
            written: list[str] = []
            drafted: list[str] = []
            for page in builder.build(plan):
                folder.write(page)
                (drafted if page.state == "draft" else written).append(page.slug)
            for slug in plan.removed:
                folder.archive(slug)
            if plan.pages or plan.removed or folder.has_index:
                folder.write_index()
            if plan.pages or plan.removed:
                when = self._parts.clock.now().astimezone(UTC).isoformat(timespec="seconds")
                folder.log(when, summary(written, drafted, plan.removed))
            return plan

    def pages(self) -> tuple[WikiPage, ...]:
        """Return the published pages, by kind and name."""
        return tuple(one.to_page() for one in self._files().pages().values())

    def drafts(self) -> tuple[WikiPage, ...]:
        """Return the drafts, by name."""
        return tuple(one.to_page(state="draft") for one in self._files().drafts().values())

    def get(self, slug: str) -> WikiPage | None:
        """Return the published page of this name."""
        found = self._files().pages().get(slug)
        return None if found is None else found.to_page()

    def require(self, slug: str) -> WikiPage:
        """Return the published page of this name.

        Raises:
            NotFound: If there is none.
        """
        found = self.get(slug)
        if found is None:
            raise NotFound(f"there is no page {slug!r}", hint="Run `lilbee wiki list`.")
        return found

    # ------------------------------------------------------------------ inside

    def _files(self) -> WikiFolder:
        from lilbee_core.wiki import WikiFolder

        return WikiFolder(self.folder)

    def _builder(self) -> ExtractiveWiki:
        from lilbee_core.wiki import ExtractiveWiki

        files = self._files()
        return ExtractiveWiki(graph_for(self._parts), self._parts.store, stored=files.pages(), drafts=files.drafts())

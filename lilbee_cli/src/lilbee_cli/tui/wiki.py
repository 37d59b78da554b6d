"""The wiki: its pages to read, and its drafts to review."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static

from lilbee_cli.render.text import line
from lilbee_cli.tui import shown
from lilbee_cli.tui.dialogs import Choose
from lilbee_cli.tui.pane import Pane, bindings
from lilbee_cli.tui.reader import open_place

if TYPE_CHECKING:
    from lilbee_core.types import WikiPage

_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_EMPTY = "There are no pages yet. b builds the wiki from what several documents speak of (needs the extra `graph`)."


class WikiPane(Pane):
    """The names of the pages, and the page under the bar; or the drafts, and what each would change."""

    place = "wiki"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("wiki"),
        Binding("pagedown", "scroll_page(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.pages: tuple[WikiPage, ...] = ()
        self.shows_drafts = False
        self._wanted = ""

    def compose(self) -> ComposeResult:
        with Horizontal(id="split"):
            yield OptionList(id="list", markup=False)
            with VerticalScroll(id="page-scroll"):
                yield Static(id="page", markup=False)

    @property
    def first(self) -> Widget:
        return self.query_one("#list", OptionList)

    def entered(self) -> None:
        wiki = self.bee.wiki
        self.latest("read", wiki.drafts.list if self.shows_drafts else wiki.pages, self._show)

    def _show(self, pages: tuple[WikiPage, ...]) -> None:
        self.pages = pages
        names = self.query_one("#list", OptionList)
        at = names.highlighted or 0
        names.set_options([Text(line(page.title), overflow="ellipsis", no_wrap=True) for page in self.pages])
        if not self.pages:
            told = "There are no drafts to review. d goes back to the pages." if self.shows_drafts else _EMPTY
            self.query_one("#page", Static).update(Text(told, "dim"))
        elif self._wanted:
            wanted, self._wanted = self._wanted, ""
            self.open_page(wanted)
        else:
            names.highlighted = min(at, len(self.pages) - 1)

    @property
    def chosen(self) -> WikiPage:
        """The page under the bar.

        Raises:
            ValueError: If there is none.
        """
        at = self.query_one("#list", OptionList).highlighted
        if at is None or at >= len(self.pages):
            raise ValueError("there is no page under the bar")
        return self.pages[at]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        page, wiki = self.chosen, self.bee.wiki
        if self.shows_drafts:
            self.latest("draft", lambda: wiki.drafts.diff(page.slug), lambda diff: self._put(shown.draft(diff)))
        else:
            self._put(shown.page(page.title, page.body))

    def _put(self, text: Text) -> None:
        self.query_one("#page", Static).update(text)
        self.query_one("#page-scroll", VerticalScroll).scroll_home(animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Offer where the page leads: to the passages that it cites, and to other pages."""
        event.stop()
        page, bee = self.chosen, self.bee
        get = bee.wiki.drafts.get if self.shows_drafts else bee.wiki.get
        self.act(lambda: get(page.slug), self._offer)

    def _offer(self, page: WikiPage | None) -> None:
        if page is None:
            self.entered()
            return
        citations, bee = page.citations, self.bee
        pages = [one for one in links_of(page.body) if self._find(one) is not None]
        rows: list[str | Text] = [*(shown.citation_entry(one) for one in citations), *(line(one) for one in pages)]
        if not rows:
            self.shell.tell("This page cites nothing and links to no other.")
            return

        def chosen(at: int | None) -> None:
            if at is not None and at < len(citations):
                self.act(lambda: open_place(bee, citations[at]), self.shell.read)
            elif at is not None:
                self.open_page(pages[at - len(citations)])

        self.shell.push_screen(Choose("Open", rows), chosen)

    def _find(self, name: str) -> int | None:
        """Return where a page stands, by its name, title or another name of it."""
        sought = name.casefold()
        for at, page in enumerate(self.pages):
            names = (page.slug, page.title, page.slug.rpartition("/")[2], *page.aliases)
            if sought in {one.casefold() for one in names}:
                return at
        return None

    def open_page(self, name: str) -> None:
        """Go to a page by its name."""
        at = self._find(name)
        if at is not None:
            self.query_one("#list", OptionList).highlighted = at
        elif self.pages:
            self.shell.tell(f"there is no page {line(name)}", bad=True)
        else:
            self._wanted = name

    def action_scroll_page(self, step: int) -> None:
        """Scroll the page while the list keeps the keys."""
        scroll = self.query_one("#page-scroll", VerticalScroll)
        scroll.scroll_relative(y=step * max(1, scroll.size.height - 2), animate=False)

    # ------------------------------------------------------------------ commands

    def slash_build(self, _: list[str]) -> None:
        """Write the pages whose sources changed, as a task."""
        if self.shell.tasks is None:
            raise ValueError("the library is not open yet")
        self.shell.tasks.start_job("wiki")
        self.shell.tell("The wiki is being written; F5 shows how far it is.")

    def slash_drafts(self, _: list[str]) -> None:
        """Go to the drafts, or back to the pages."""
        self.shows_drafts = not self.shows_drafts
        self.query_one("#list", OptionList).clear_options()
        self._put(Text())
        self.entered()

    def slash_accept(self, words: list[str]) -> None:
        """Publish a draft."""
        slug, drafts = self._draft(words), self.bee.wiki.drafts
        self.act(lambda: drafts.accept(slug), lambda page: self._reviewed(f"{page.title} is published."))

    def slash_reject(self, words: list[str]) -> None:
        """Throw a draft away."""
        slug, drafts = self._draft(words), self.bee.wiki.drafts
        self.act(lambda: drafts.reject(slug), lambda _: self._reviewed(f"The draft of {slug} is gone."))

    def _draft(self, words: list[str]) -> str:
        if words:
            return words[0]
        if not self.shows_drafts:
            raise ValueError("these are the pages: d goes to the drafts")
        return self.chosen.slug

    def _reviewed(self, told: str) -> None:
        self.shell.tell(line(told))
        self.entered()


def links_of(body: str) -> list[str]:
    """Return the names that a page links to, each once."""
    return list(dict.fromkeys(match[1].strip() for match in _LINK.finditer(body)))

"""Commands that are understood everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rich.text import Text

from lilbee_cli import slashes
from lilbee_cli.render.models import size
from lilbee_cli.render.text import line
from lilbee_cli.tui import shown
from lilbee_cli.tui.dialogs import Ask, Choose, Shown

if TYPE_CHECKING:
    from lilbee_cli.tui.app import LilbeeApp
    from lilbee_core import Lilbee
    from lilbee_core.errors import EmbedderMismatch
    from lilbee_core.protocols import CancelToken
    from lilbee_core.types import ModelEntry


def warm(bee: Lilbee) -> None:
    """Load what the first search needs. What is wrong is told to whoever searches.

    Raises:
        EmbedderMismatch: If another model made the index: that is asked about before anything is typed.
    """
    from lilbee_core.errors import EmbedderMismatch, LilbeeError

    try:
        for _ in range(2):  # the second search of a table is the first that keeps its vectors in memory
            bee.search("warm", top_k=1)
    except EmbedderMismatch:
        raise
    except LilbeeError:
        return


class Commands:
    """The commands of the program, apart from its panes."""

    _offered = False

    @property
    def _app(self) -> LilbeeApp:
        return cast("LilbeeApp", self)

    # ------------------------------------------------------------------ panes

    def slash_search(self, words: list[str]) -> None:
        """Go and search."""
        self._app.go("search", lambda pane: cast("Any", pane).search_for(" ".join(words)) if words else None)

    def slash_chat(self, words: list[str]) -> None:
        """Go and talk."""
        self._app.go("chat", lambda pane: cast("Any", pane).send(" ".join(words)) if words else None)

    def ask(self, question: str) -> None:
        """Ask a question in a conversation."""
        self.slash_chat([question])

    def slash_documents(self, words: list[str]) -> None:
        """Go to the files."""
        self._app.go("documents", lambda pane: cast("Any", pane).narrow(" ".join(words)) if words else None)

    def slash_tasks(self, _: list[str]) -> None:
        """Go to what is being done."""
        self._app.go("tasks")

    def slash_collections(self, _: list[str]) -> None:
        """Go to the collections."""
        self._app.go("collections")

    def slash_wiki(self, words: list[str]) -> None:
        """Go to the wiki."""
        self._app.go("wiki", lambda pane: cast("Any", pane).open_page(words[0]) if words else None)

    def slash_models(self, words: list[str]) -> None:
        """Go to the models."""
        self._app.go("models", lambda pane: cast("Any", pane).look_for(" ".join(words)) if words else None)

    def slash_settings(self, words: list[str]) -> None:
        """Go to the settings."""
        self._app.go("settings", lambda pane: cast("Any", pane).narrow(" ".join(words)) if words else None)

    # ------------------------------------------------------------------ the library

    def slash_add(self, words: list[str]) -> None:
        """Index files, folders and pages of the web."""
        if words:
            paths = [word if "://" in word else str(Path(word).expanduser().absolute()) for word in words]
            self._start("add", " ".join(words), paths=paths)
        else:
            self._app.push_screen(
                Ask(
                    "Add a file, a folder or a page of the web", hint="A path, or an address that begins with https://"
                ),
                lambda told: self.slash_add([told]) if told else None,
            )

    def slash_sync(self, _: list[str]) -> None:
        """Read what is new or changed."""
        self._start("sync")

    def slash_watch(self, _: list[str]) -> None:
        """Read what changes as it happens."""
        self._start("watch")

    def _start(self, kind: str, what: str = "", **options: object) -> None:
        if self._app.tasks is None:
            self._app.tell("The library is not open yet.", bad=True)
            return
        self._app.tasks.start_job(kind, what, **options)
        self._app.tell(f"{kind} begins; F5 shows how far it is.")

    def slash_cancel(self, words: list[str]) -> None:
        """End a task."""
        tasks = self._app.tasks
        running = tasks.running() if tasks is not None else ()
        ref = words[0] if words else (running[0].id if running else "")
        found = tasks.cancel(ref) if tasks is not None and ref else None
        if found is None:
            self._app.tell(f"there is no task {ref} that could be ended" if ref else "Nothing is being done.")
        else:
            self._app.tell(f"{found.kind} ends at its next safe point; what is finished stays.")

    def slash_status(self, _: list[str]) -> None:
        """Show the state of the library."""
        self._app.refresh_status()
        if self._app.status is not None:
            self._app.push_screen(Shown("The library", shown.status(self._app.status)))

    def slash_setup(self, words: list[str]) -> None:
        """Make a folder a library, step by step."""
        from lilbee_cli.tui.wizard import Wizard

        self._app.push_screen(Wizard(words[0] if words else ""), self._set_up)

    def _set_up(self, folder: Path | None) -> None:
        if folder is not None:
            self._app.open_library(folder, new=True)
        elif not self._app.is_open:
            self._app.tell("There is no library yet.", "Make one with /setup, or end with Ctrl+Q.")

    def choose_chat_model(self) -> None:
        """Ask which of the models that are here answers questions in a new library."""
        bee = self._app.library

        def offer(found: tuple[ModelEntry, ...]) -> None:
            usable = [one for one in found if not one.problem]
            rows = [line(f"{one.ref}  {size(one.size_bytes)}") for one in usable]

            def chosen(at: int | None) -> None:
                if at is not None and at < len(rows):
                    self.slash_set(["chat_model", usable[at].ref])
                elif at == len(rows) + 1:
                    self.slash_models([])

            choices = [*rows, "None: answers are made of quoted sentences", "Look for one to fetch (F8)"]
            self._app.push_screen(
                Choose("Which model answers questions? It can be changed at any time.", choices), chosen
            )

        self._app.pane.latest("models", lambda: bee.models.list("chat"), offer)

    # ------------------------------------------------------------------ models of the index

    def offer_adoption(self, error: EmbedderMismatch) -> None:
        """Ask what to do about an index that another model made; once, since searches come with every key."""
        if self._offered:
            return
        self._offered = True
        self._app.push_screen(
            Choose(
                line(error.message),
                ["Use the model that made the index; its vectors are kept (/adopt)",
                 "Make all vectors anew with the model of the settings", "Leave it as it is"],
            ),
            self._adoption,
        )  # fmt: skip

    def _adoption(self, choice: int | None) -> None:
        if choice == 0:
            self.slash_adopt([])
        elif choice == 1:
            model = str(self._app.library.config.get("embedding_model"))
            self._start("embed_anew", model, model=model)
        self._offered = choice not in (0, 1)

    def slash_adopt(self, words: list[str]) -> None:
        """Use the model that made the index."""
        bee, tasks = self._app.library, self._app.tasks
        assert tasks is not None

        def work(cancel: CancelToken) -> str:
            change = bee.embedding.adopt(words[0] if words else None, cancel=cancel)
            return f"{change.embedder} is used from now on"

        tasks.start("adopt", words[0] if words else "", work)

    # ------------------------------------------------------------------ the rest

    def slash_set(self, words: list[str]) -> None:
        """Show or change a setting."""
        if not words[1:]:
            self.slash_settings(words)
            return
        bee = self._app.library
        bee.config.set(words[0], " ".join(words[1:]))
        # What is secret is not shown, so the value comes from the list and not from where it was written.
        shown_value = next(value for name, value, _ in bee.config.items() if name == words[0])
        self._app.tell(f"{words[0]} = {shown_value}")
        self._app.pane.entered()

    def slash_theme(self, _: list[str]) -> None:
        """Change between dark and light."""
        self._app.theme = "textual-light" if self._app.theme == "textual-dark" else "textual-dark"

    def slash_help(self, _: list[str]) -> None:
        """Show keys and commands: those of the pane in front first."""
        self._app.push_screen(Shown("Keys and commands", help_text(self._app.place)))

    def slash_quit(self, _: list[str]) -> None:
        """End."""
        self._app.exit(0)


def help_text(place: str) -> Text:
    """Return what can be done, as the registry has it."""
    out = Text("Type a command into a field, or press / for one. Tab goes from part to part.\n")
    for where in (place, "app", *(one for one in slashes.PANES if one != place)):
        out.append(f"\n{'Everywhere' if where == 'app' else where.capitalize()}\n", "bold")
        for one in slashes.at(where).values():
            out.append(f"  {one.key.replace(',', ', '):<14}{one.usage:<30} {one.does}\n")
    return out

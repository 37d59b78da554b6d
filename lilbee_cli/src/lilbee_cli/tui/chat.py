"""A conversation: replies as they are written, and citations that open the passage."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import OptionList, Static

from lilbee_cli import slashes
from lilbee_cli.render.text import clean, counted, line
from lilbee_cli.tui import shown
from lilbee_cli.tui.dialogs import Choose, Shown
from lilbee_cli.tui.fields import Composer
from lilbee_cli.tui.pane import Pane, bindings
from lilbee_cli.tui.reader import open_place
from lilbee_cli.tui.threads import hand_over

if TYPE_CHECKING:
    from lilbee_core import Citation
    from lilbee_core.conversations import Conversation
    from lilbee_core.types import Attachment, ConversationInfo, ConversationMessage, Delta

_SHOWN_MESSAGES = 60
_REDRAW_S = 0.06
_WELCOME = (
    "Ask about your documents. Enter sends, Ctrl+J begins a new line, Escape stops a reply.\n"
    "Ctrl+O goes to the sources of a reply, Enter there opens the passage. /help lists the rest."
)


class ChatPane(Pane):
    """The messages, what the last reply cites, and the field for the next one."""

    place = "chat"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("chat"),
        Binding("pageup", "scroll_talk(-1)", show=False),
        Binding("pagedown", "scroll_talk(1)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.conversation: Conversation | None = None
        self.citations: tuple[Citation, ...] = ()
        self._attached: list[str | Attachment] = []
        self._pieces: deque[Delta] = deque()
        self._reply = Text()
        self._writing: Conversation | None = None
        self._opened_with: object = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="talk", can_focus=True):
            yield Static(Text(_WELCOME, "dim"), classes="welcome")
        yield Static(id="talking", markup=False)
        yield OptionList(id="sources", markup=False, classes="hidden")
        yield Composer(id="message", soft_wrap=True, tab_behavior="focus")

    @property
    def first(self) -> Widget:
        return self.query_one(Composer)

    @property
    def is_writing(self) -> bool:
        """Whether a reply is being written."""
        return self._writing is not None

    def on_mount(self) -> None:
        self.set_interval(_REDRAW_S, self._draw)

    def on_unmount(self) -> None:
        if self._writing is not None:
            self._writing.stop()
        super().on_unmount()

    def entered(self) -> None:
        if self._opened_with is not self.bee:
            self._opened_with = self.bee
            self.conversation = None
            self._tell()

    def talk(self) -> Conversation:
        """Return the conversation; a new one is kept from its first message on."""
        if self.conversation is None:
            self.conversation = self.bee.conversations.create()
        return self.conversation

    # ------------------------------------------------------------------ sending

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """Send what was written, or run it."""
        if not self.shell.typed(event.text):
            self.send(event.text)

    def on_composer_pasted(self, event: Composer.Pasted) -> None:
        """Hand a long paste over beside the message; nothing of it is lost."""
        from lilbee_core.types import Attachment

        name = f"pasted-{len(self._attached) + 1}.txt"
        self._attached.append(Attachment(name=name, text=event.text, size=len(event.text.encode("utf-8", "replace"))))
        self.shell.tell(f"The {len(event.text):,} characters that were pasted go with your next message as {name}.")
        self._tell()

    def send(self, text: str) -> None:
        """Send a message and show the reply as it is written."""
        if not text.strip() and not self._attached:
            return
        if self.is_writing:
            self.query_one(Composer).text = text
            self.shell.tell("A reply is still being written: Escape stops it.")
            return
        attached, self._attached = self._attached, []
        try:
            talk = self.talk()
        except Exception:
            self.query_one(Composer).text = text
            raise
        self._add(Text.assemble(("you\n", "bold cyan"), clean(text)))
        self._write(talk, lambda: talk.stream(text, attachments=attached))

    def _write(self, talk: Conversation, begin: Callable[[], Iterator[Delta]]) -> None:
        """Have a reply written in a thread of its own, which need not end for the program to end."""
        self._writing, self._reply = talk, Text()
        self._pieces.clear()
        self._add(Text.assemble(("lilbee\n", "bold green"), ("…", "dim")), classes="writing")
        self._tell("Searching…   Escape: stop")

        def run() -> None:
            failed: Exception | None = None
            try:
                for delta in begin():
                    self._pieces.append(delta)
            except Exception as error:  # noqa: BLE001 - told to the user
                failed = error
            hand_over(self, lambda: self._written(talk, failed))

        threading.Thread(target=run, name="lilbee-reply", daemon=True).start()

    def _draw(self) -> None:
        """Show what has arrived since the last time: not each piece, or a fast model would keep the screen busy."""
        if not self._pieces:
            return
        while self._pieces:
            delta = self._pieces.popleft()
            if delta.kind == "text":
                self._reply.append(clean(delta.text))
            elif delta.kind == "reasoning":
                self._reply.append(clean(delta.text), "dim italic")
            elif delta.kind == "status":
                self._tell(f"{line(delta.text)}   Escape: stop")
            elif delta.tool_call is not None:
                self._reply.append(line(f"({delta.tool_call.name} {delta.tool_call.arguments})") + "\n", "dim")
        for one in self.query(".writing").results(Static):
            one.update(Text.assemble(("lilbee\n", "bold green"), self._reply))
        self._to_end()

    def _written(self, talk: Conversation, failed: Exception | None) -> None:
        self._writing = None
        self._draw()
        self._tell()
        if failed is not None:
            self.shell.fail(failed)
            if talk.messages:
                self.shell.tell(self.shell.said, "What arrived is kept; Ctrl+R answers the message again.", bad=True)
        if talk is self.conversation:
            self._show()

    # ------------------------------------------------------------------ showing

    def _show(self, back: int = 1) -> None:
        """Show the conversation as it is kept, and what the reply so far from the end cites."""
        talk = self.conversation
        if talk is None:
            self._put((), 0, 1, "")
            return
        self.latest(
            "show", lambda: (talk.messages, talk.summarized, talk.info),
            lambda read: self._put(read[0], read[1], back, searched(read[2])),
        )  # fmt: skip

    def _put(self, messages: tuple[ConversationMessage, ...], summarized: int, back: int, told: str) -> None:
        scroll = self.query_one("#talk", VerticalScroll)
        scroll.remove_children()
        kept = messages[-_SHOWN_MESSAGES:]
        rows: list[Text] = [] if kept else [Text(_WELCOME, "dim")]
        if len(kept) < len(messages):
            rows.append(Text(f"{len(messages) - len(kept)} earlier messages: /save writes all of them.", "dim"))
        for at, one in enumerate(kept, start=len(messages) - len(kept)):
            if at == summarized and at:
                rows.append(Text("---- what stands above is sent as a summary ----", "dim"))
            rows.append(shown.message(one))
        scroll.mount(*(Static(row, markup=False) for row in rows))
        replies = [one for one in messages if one.role == "assistant"]
        self._list_sources(replies[-back].citations if len(replies) >= back else ())
        self._tell(told)
        self._to_end()

    def _list_sources(self, citations: tuple[Citation, ...]) -> None:
        self.citations = citations
        sources = self.query_one("#sources", OptionList)
        sources.set_options([shown.citation_entry(one) for one in citations])
        sources.set_class(not citations, "hidden")
        sources.highlighted = 0 if citations else None

    def _add(self, text: Text, classes: str = "") -> None:
        scroll = self.query_one("#talk", VerticalScroll)
        scroll.query(".welcome").remove()
        scroll.query(".writing").remove_class("writing")
        scroll.mount(Static(text, markup=False, classes=classes))
        self._to_end()

    def _to_end(self) -> None:
        self.query_one("#talk", VerticalScroll).scroll_end(animate=False, force=True)

    def _tell(self, told: str = "") -> None:
        parts = [told] if told else []
        if self._attached:
            names = [one if isinstance(one, str) else one.name for one in self._attached]
            parts.append(f"Goes with your next message: {', '.join(names)}")
        self.query_one("#talking", Static).update(Text(line("   ".join(parts)), "dim", overflow="ellipsis"))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the passage that a citation names."""
        event.stop()
        citation, bee = self.citations[event.option_index], self.bee
        self.act(lambda: open_place(bee, citation), self.shell.read)

    def action_scroll_talk(self, step: int) -> None:
        """Scroll the messages while the field keeps the keys."""
        scroll = self.query_one("#talk", VerticalScroll)
        scroll.scroll_relative(y=step * max(1, scroll.size.height - 2), animate=False)

    # ------------------------------------------------------------------ commands

    def slash_stop(self, _: list[str]) -> None:
        """End the reply."""
        if self._writing is not None:
            self._writing.stop()
            self._tell("It ends with the next word…")

    def slash_sources(self, words: list[str]) -> None:
        """Go to what a reply cites."""
        back = slashes.number(words, "sources")
        if back is not None:
            self._show(back)
        elif self.citations:
            self.query_one("#sources", OptionList).focus()
        else:
            self.shell.tell("The last reply cites nothing.")

    def slash_scope(self, words: list[str]) -> None:
        """Choose what is searched; without words, the next scope."""
        talk = self.talk()
        wanted = slashes.ScopeChange.read(words)
        if not words:
            at = slashes.SCOPES.index(talk.info.scope)
            wanted = slashes.ScopeChange(slashes.SCOPES[(at + 1) % len(slashes.SCOPES)], None)
        self._tell(searched(talk.set_scope(scope=wanted.scope, collections=wanted.collections)))

    def slash_attach(self, words: list[str]) -> None:
        """Hand files or documents over with the next message."""
        self._attached += words
        self._tell()

    def slash_regenerate(self, _: list[str]) -> None:
        """Have the last message answered anew."""
        if not self.is_writing:
            talk = self.talk()
            self._write(talk, talk.regenerate_stream)

    def slash_rewind(self, words: list[str]) -> None:
        """Take messages back; the first of them comes back into the field, to be written otherwise."""
        if self.is_writing:
            raise ValueError("a reply is still being written: Escape stops it")
        gone = self.talk().rewind(slashes.number(words, "rewind") or 1)
        self.query_one(Composer).text = gone[0].content
        self.shell.tell(f"{counted(len(gone), 'message')} taken back.")
        self._show()

    def slash_compact(self, _: list[str]) -> None:
        """Summarize earlier messages."""
        talk = self.talk()
        self._tell("Summarizing…")

        def told(done: object) -> None:
            self.shell.tell("There is nothing new to sum up." if done is None else "Earlier messages are summarized.")
            self._show()

        def failed(error: Exception) -> None:
            self._tell()
            self.shell.fail(error)

        self.latest("compact", talk.compact, told, failed)

    def slash_new(self, words: list[str]) -> None:
        """Begin another conversation."""
        self.conversation = self.bee.conversations.create(" ".join(words))
        self._show()
        self.shell.tell("A new conversation begins with your next message.")

    def slash_open(self, words: list[str]) -> None:
        """Go on with another conversation."""
        if words:
            self.conversation = self.bee.conversations.require(" ".join(words))
            self._show()
            return
        found = self.bee.conversations.list()[:200]
        if not found:
            self.shell.tell("There are no conversations yet.")
            return
        rows = [line(f"{one.updated_at[:16].replace('T', ' ')}  {one.messages:>4}  {one.title}") for one in found]

        def chosen(at: int | None) -> None:
            if at is not None:
                self.slash_open([found[at].id])

        self.shell.push_screen(Choose("Conversations, the latest first", rows), chosen)

    def slash_title(self, words: list[str]) -> None:
        """Show or change the title."""
        talk = self.talk()
        title = talk.rename(" ".join(words)).title if words else talk.info.title
        self.shell.tell(title or "It gets its title with its first message.")

    def slash_save(self, words: list[str]) -> None:
        """Write the conversation to a file."""
        if not words:
            raise ValueError("name the file to write: /save talk.md")
        file, talk = Path(words[0]).expanduser(), self.talk()
        kind = "json" if file.suffix == ".json" else "markdown"
        self.act(
            lambda: file.write_text(talk.export(kind), encoding="utf-8"), lambda _: self.shell.tell(f"Written: {file}")
        )

    def slash_request(self, words: list[str]) -> None:
        """Show what the chat model was sent, or would be."""
        talk = self.talk()

        def read() -> list[str]:
            requests = [talk.preview(" ".join(words))] if words else list(talk.requests)
            return [f"-- {one.role} --\n{one.content}" for request in requests if request for one in request.messages]

        def tell(told: list[str]) -> None:
            text = Text(clean("\n".join(told) or "It was not asked."), overflow="fold")
            self.shell.push_screen(Shown("What the chat model is sent", text))

        self.act(read, tell)

    def slash_remember(self, words: list[str]) -> None:
        """Tell the chat model a fact from now on."""
        self.shell.tell(f"Remembered: {self.bee.facts.add(' '.join(words)).text}")


def searched(info: ConversationInfo) -> str:
    """Say which conversation this is, and what it searches."""
    title = f"{info.title}   " if info.title else ""
    return title + slashes.searched(info.scope, info.collections)

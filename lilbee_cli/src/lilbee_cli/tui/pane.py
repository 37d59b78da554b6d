"""What the panes have in common: the library, work in threads, keys from the registry of commands."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from textual.binding import Binding, BindingType
from textual.containers import Vertical

from lilbee_cli import slashes
from lilbee_cli.tui.threads import Deliver, Latest, hand_over

if TYPE_CHECKING:
    from textual.widget import Widget

    from lilbee_cli.tui.app import LilbeeApp
    from lilbee_core import Lilbee

T = TypeVar("T")


def bindings(place: str) -> list[BindingType]:
    """Return the keys of a place, as the registry has them."""
    return [
        Binding(one.key, f"app.slash('{one.name}')", one.name, show=place != "app")
        for one in slashes.at(place).values()
        if one.key
    ]


class Pane(Vertical):
    """One of the screens. Its commands are methods named after them: ``slash_explain``."""

    place: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__(id=self.place)
        self._threads: dict[str, Latest] = {}

    @property
    def shell(self) -> LilbeeApp:
        """The program around it."""
        return cast("LilbeeApp", cast("object", self.app))  # pyright: ignore[reportUnknownMemberType]

    @property
    def bee(self) -> Lilbee:
        """The library."""
        return self.shell.library

    def entered(self) -> None:
        """Show what there is now: called when the pane comes to the front, and when the library changed."""

    @property
    def first(self) -> Widget | None:
        """What the keys go to when the pane comes to the front."""
        return None

    # ------------------------------------------------------------------ threads

    def latest(
        self,
        name: str,
        work: Callable[[], T],
        then: Callable[[T], None],
        failed: Callable[[Exception], None] | None = None,
    ) -> None:
        """Work something out that only matters until it is asked for again."""
        self.thread(name).run(work, then, failed or self.shell.fail)

    def thread(self, name: str) -> Latest:
        """Return the thread of this name."""
        if name not in self._threads:
            self._threads[name] = Latest(self, f"{self.place}-{name}")
        return self._threads[name]

    def act(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Do something once, whatever else is asked for meanwhile."""

        def run() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - told to the user
                hand_over(self, partial(self.shell.fail, error))
            else:
                hand_over(self, partial(then, result))

        threading.Thread(target=run, name=f"lilbee-{self.place}-act", daemon=True).start()

    def on_deliver(self, message: Deliver) -> None:
        """Take what a thread has worked out."""
        message.apply()

    def on_unmount(self) -> None:
        for one in self._threads.values():
            one.close()

"""Screens in the terminal, over the public interface of the library alone. Needs the extra `tui`."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilbee_core import Lilbee
    from lilbee_core.events import EventSink

    Open = Callable[[Path | None, EventSink], Lilbee]
    """Opens the library of a folder; without one, that which the command line names."""


def is_installed() -> bool:
    """Say whether the extra is there. Imports nothing."""
    return find_spec("textual") is not None


def require_extra() -> None:
    """Make sure that the extra is there.

    Raises:
        ExtraMissing: If it is not.
    """
    if not is_installed():
        from lilbee_core.errors import ExtraMissing

        raise ExtraMissing("the screens need the extra `tui`", hint="Run `pip install 'lilbee-cli[tui]'`.")


def show(open_library: Open, *, words: str = "", ascii_only: bool = False) -> int:
    """Show the screens until the user leaves; return the exit code. `words` are searched at once.

    Raises:
        ExtraMissing: Without the extra ``tui``.
    """
    require_extra()
    # A sixth of the start is the collector looking at what the imports make, which all stays.
    gc.disable()
    try:
        from lilbee_cli.tui.app import LilbeeApp
        from lilbee_core.allocator import give_memory_back

        give_memory_back()
        app = LilbeeApp(open_library, words=words, ascii_only=ascii_only, settled=_settled)
        app.run()
    finally:
        gc.enable()
    return app.return_code or 0


def _settled() -> None:
    """Let the collector work again, without what stays until the end: to go through that would be felt while typing."""
    gc.freeze()
    gc.enable()

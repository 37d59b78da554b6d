"""The open library, as routes find it."""

from __future__ import annotations

from litestar.datastructures import State

from lilbee_core import Lilbee


def library_of(state: State) -> Lilbee:
    """Return the library that the application was made for."""
    library: Lilbee = state["library"]
    return library

"""Whose turn it is in a group whose servers are never loaded together."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from lilbee_core.errors import FleetError

T = TypeVar("T")

_SLICE_S = 1.0


class Turns(Generic[T]):
    """Lets one member at a time be there, in the order in which they are asked for. Threads may share it.

    A member stays as long as somebody uses it, and until another one is asked for. Whoever asks for the present member
    while another one waits stands in line behind it: a busy role cannot keep the others out.
    """

    def __init__(self, *, timeout_s: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._line: list[object] = []
        self._present: T | None = None
        self._users = 0
        self._changing = False

    @property
    def present(self) -> T | None:
        """The member that is there."""
        return self._present

    def enter(self, member: T, change: Callable[[T | None, T], None]) -> None:
        """Wait for the member's turn; `change` ends the present member if another one has to come.

        Raises:
            FleetError: If the present member is used for too long.
        """
        ticket = object()
        with self._changed:
            self._line.append(ticket)
            deadline = self._monotonic() + self._timeout_s
            while not self._may_go(ticket, member):
                left = deadline - self._monotonic()
                if left <= 0:
                    self._line.remove(ticket)
                    self._changed.notify_all()
                    raise self._too_long(member)
                self._changed.wait(min(left, _SLICE_S))
            self._line.remove(ticket)
            self._users += 1
            if self._present is member:
                self._changed.notify_all()
                return
            before, self._present, self._changing = self._present, member, True
        try:
            change(before, member)
        except BaseException:
            with self._changed:
                self._present = None
                self._users -= 1
            raise
        finally:
            with self._changed:
                self._changing = False
                self._changed.notify_all()

    def leave(self) -> None:
        """Say that one user of the present member is done."""
        with self._changed:
            self._users -= 1
            self._changed.notify_all()

    def _too_long(self, member: T) -> FleetError:
        return FleetError(
            f"{member} waited {self._timeout_s:.0f} s for {self._present}, which shares its memory and is still in use",
            hint="Let the other request end first, or choose smaller models that fit together.",
            code="fleet.busy",
        )

    def _may_go(self, ticket: object, member: T) -> bool:
        if self._changing or self._line[0] is not ticket:
            return False
        return self._present is member or self._users == 0

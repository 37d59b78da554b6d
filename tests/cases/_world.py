"""The little world that a case happens in: a library folder, what lies beside it, the library, and stand-in models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from lilbee_core import Lilbee, Settings
from lilbee_core.testing import ManualClock, ScriptedChat
from tests.cases._models import StandIn
from tests.support.websites import Website

_UNSET: Mapping[str, object] = {}


class World:
    """Owns the library of a case. The index lies beside the folder, so that the folder can be taken away."""

    def __init__(
        self,
        base: Path,
        inputs: Path,
        *,
        settings: Mapping[str, object] = _UNSET,
        embedder: str = "stand-in, 64 numbers",
    ) -> None:
        self.base = base
        self.root = base / "library"
        self.data_dir = base / "data"
        self.inputs = inputs
        self.settings = dict(settings)
        self.embedder_name = embedder
        self.embedders: dict[str, StandIn] = {}
        self.chat: ScriptedChat | None = None
        self.clock: ManualClock | None = None
        self.logged: Callable[[], str] = str
        self.site: Website | None = None
        self._bee: Lilbee | None = None
        self.root.mkdir(exist_ok=True, parents=True)

    @property
    def embedder(self) -> StandIn:
        """The embedder that is set now; one that was set before is the same again."""
        if self.embedder_name not in self.embedders:
            self.embedders[self.embedder_name] = StandIn.described(self.embedder_name)
        return self.embedders[self.embedder_name]

    @property
    def bee(self) -> Lilbee:
        """The library, opened on first use."""
        if self._bee is None:
            self._bee = self.open(self.root, self.data_dir)
        return self._bee

    def open(self, root: Path, data_dir: Path) -> Lilbee:
        """Open a library with the settings and stand-ins of this world."""
        return Lilbee(
            root,
            Settings().changed(self.settings),
            data_dir=data_dir,
            embedder=self.embedder,
            chat=self.chat,
            clock=self.clock,
        )

    def finish(self) -> None:
        """End everything that was started for the case."""
        self.close()
        if self.site is not None:
            self.site.__exit__(None, None, None)
            self.site = None

    def close(self) -> None:
        """Close the library; it is opened anew when it is used again."""
        if self._bee is not None:
            self._bee.close()
            self._bee = None

    def use_chat(self, chat: ScriptedChat) -> None:
        """Let a chat model answer from now on."""
        self.close()
        self.chat = chat

    def set_time(self, now: str, zone: str | None) -> None:
        """Let the library see this time."""
        moment = datetime.fromisoformat(now)
        self.close()
        self.clock = ManualClock(moment.astimezone(ZoneInfo(zone)) if zone else moment)

    def place(self, name: str) -> Path:
        """Return where a name of a case lies: in the library folder, or beside it after ``../``.

        Raises:
            ValueError: If it would lie outside of this world.
        """
        place = self.root / name
        if not Path(os.path.abspath(place)).is_relative_to(self.base):
            raise ValueError(f"{name!r} lies outside the folder of the case")
        return place

    def fresh_copy(self) -> Lilbee:
        """Open a second library over the same folder, with an index of its own that does not exist yet."""
        data_dir = self.base / "fresh"
        with suppress(FileNotFoundError):
            shutil.rmtree(data_dir)
        return self.open(self.root, data_dir)

    def to_dict(self) -> dict[str, Any]:
        """Return what another process needs to take part."""
        return {
            "base": str(self.base),
            "inputs": str(self.inputs),
            "settings": self.settings,
            "embedder": self.embedder_name,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> World:
        """Return the same world in another process."""
        return cls(Path(told["base"]), Path(told["inputs"]), settings=told["settings"], embedder=told["embedder"])

"""`index/layout.json`: says that an index exists, which layout it has, and which generation it is.

Whether an index exists is never guessed from a failed read, so a full disk or a damaged folder cannot look
like an empty library. A new generation begins whenever the tables are made anew; open readers notice it by
the file's stamp and open their tables again.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from lilbee_core.errors import StoreTooNew
from lilbee_core.store._errors import damaged, engine_errors
from lilbee_core.store._schema import SCHEMA

Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of an index. While `complete` is false its tables are still being made, so it holds nothing.

    `hidden` is a document and the revision of its text whose chunks are being written in parts: no reader sees
    them. `turns` counts how often that changed.
    """

    schema: int = SCHEMA
    generation: int = 0
    complete: bool = False
    hidden: tuple[str, str] | None = None
    turns: int = 0


class LayoutFile:
    """Reads and writes the file. Holds nothing open; readers ask it before every call."""

    def __init__(self, index: Path) -> None:
        self.index = index
        self.path = index / "layout.json"

    def stamp(self) -> Stamp | None:
        """Return what changes whenever the file is replaced, or None without a file."""
        try:
            found = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            with engine_errors("read the index", self.index):
                raise error
        return found.st_mtime_ns, found.st_ino, found.st_size

    def read(self) -> Layout | None:
        """Return the layout, None where nothing was ever written.

        Raises:
            StoreTooNew: If a newer version wrote it.
            StoreError: If tables lie there without a layout, or it cannot be read.
        """
        try:
            with engine_errors("read the index", self.index):
                raw = self.path.read_bytes()
        except Exception as error:
            if not isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                raise
            if self._holds_tables():
                raise damaged("find its layout", self.index) from None
            return None
        return self._parse(raw)

    def _parse(self, raw: bytes) -> Layout:
        try:
            values = cast("dict[str, object]", json.loads(raw))
            layout = Layout(
                schema=int(cast("int", values["schema"])),
                generation=int(cast("int", values["generation"])),
                complete=values["complete"] is True,
                hidden=_pair(values.get("hidden")),
                turns=int(cast("int", values.get("turns", 0))),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise damaged("read its layout", self.index) from error
        if layout.schema > SCHEMA:
            raise StoreTooNew(
                f"the index in {self.index} has layout {layout.schema}, this version reads up to {SCHEMA}",
                hint="upgrade lilbee, or run `lilbee rebuild` to build the index again with this version",
            )
        return layout

    def begin(self, last_generation: int = 0) -> Layout:
        """Start a new generation, later than any before it."""
        layout = Layout(generation=max(last_generation + 1, int(time.time())))
        self.write(layout)
        return layout

    def finish(self, layout: Layout) -> Layout:
        """Say that all tables are there."""
        layout = replace(layout, complete=True)
        self.write(layout)
        return layout

    def hide(self, layout: Layout, hidden: tuple[str, str] | None) -> None:
        """Say which rows no reader sees from now on."""
        self.write(replace(layout, hidden=hidden, turns=layout.turns + 1))

    def write(self, layout: Layout) -> None:
        """Write the layout in one step."""
        with engine_errors("write the index", self.index):
            self.index.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps(asdict(layout)).encode())

    def _holds_tables(self) -> bool:
        with engine_errors("read the index", self.index):
            return self.index.is_dir() and any(self.index.glob("*.lance"))


def _pair(value: object) -> tuple[str, str] | None:
    if value is None:
        return None
    document_id, revision = cast("list[str]", value)
    return str(document_id), str(revision)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data`: a reader sees the old content or the new, and a crash leaves one of them."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

"""`index/layout.json`: says that an index exists, which layout it has, and which generation it is.

Whether an index exists is never guessed from a failed read, so a full disk or a damaged folder cannot look
like an empty library. A new generation begins whenever the tables are made anew; open readers notice it by
the file's stamp and open their tables again. Where nothing but the file is lost or broken, the tables are read by
the layout of this version, and the next write makes it anew.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

from lilbee_core.errors import StoreTooNew
from lilbee_core.store._engine import newest_version
from lilbee_core.store._errors import damaged, engine_errors
from lilbee_core.store._schema import SCHEMA, TABLES

Stamp = tuple[int, int, int]
MANIFEST = "manifest.json"
"""What built the index, beside its folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The layout of an index. While `complete` is false its tables are still being made, so it holds nothing.

    `hidden` is a document and the revision of its text whose chunks are being written in parts: no reader sees
    them. `turns` counts how often that changed. `restored` says that the file was lost, and with it what was hidden.
    """

    schema: int = SCHEMA
    generation: int = 0
    complete: bool = False
    hidden: tuple[str, str] | None = None
    turns: int = 0
    restored: bool = False

    @property
    def is_written(self) -> bool:
        """Whether it comes from the file rather than from a look at the tables."""
        return self.generation > 0


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
            StoreError: If it is lost or broken, and the tables are not whole either.
        """
        try:
            with engine_errors("read the index", self.index):
                raw = self.path.read_bytes()
        except Exception as error:
            if not isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                raise
            if not self._holds_tables():
                return None
            raw = b""
        layout = _parsed(raw) or self._seen_in_tables()
        if layout is None:
            raise damaged("find its layout" if not raw else "read its layout", self.index)
        if layout.schema > SCHEMA:
            raise StoreTooNew(
                f"the index in {self.index} has layout {layout.schema}, this version reads up to {SCHEMA}",
                hint=(
                    "upgrade lilbee, or run `lilbee rebuild` to build the index again with this version; documents "
                    "from memory would have to be given again"
                ),
            )
        return layout

    def _seen_in_tables(self) -> Layout | None:
        """Return the layout of tables that lie there without it, None where one of them is missing."""
        with engine_errors("read the index", self.index):
            if any(newest_version(self.index / f"{name}.lance") is None for name in TABLES):
                return None
        return Layout(schema=self._schema_in_manifest(), complete=True, restored=True)

    def _schema_in_manifest(self) -> int:
        try:
            return int(json.loads((self.index.parent / MANIFEST).read_bytes())["schema"])
        except (OSError, ValueError, KeyError, TypeError):
            return SCHEMA

    def begin(self, last_generation: int = 0) -> Layout:
        """Start a new generation, later than any before it."""
        layout = Layout(generation=_next(last_generation))
        self.write(layout)
        return layout

    def restore(self, layout: Layout) -> None:
        """Write a layout that was seen in the tables, as a generation of its own."""
        self.write(replace(layout, generation=_next(layout.generation)))

    def settled(self, layout: Layout) -> None:
        """Say that what the lost file told is found out again."""
        self.write(replace(layout, restored=False))

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
            self.index.mkdir(exist_ok=True)
            write_atomically(self.path, json.dumps(asdict(layout)).encode())

    def _holds_tables(self) -> bool:
        with engine_errors("read the index", self.index):
            return self.index.is_dir() and any(self.index.glob("*.lance"))


def _parsed(raw: bytes) -> Layout | None:
    """Return what the file says, None where it is broken."""
    try:
        values = cast("dict[str, object]", json.loads(raw))
        return Layout(
            schema=int(cast("int", values["schema"])),
            generation=int(cast("int", values["generation"])),
            complete=values["complete"] is True,
            hidden=_pair(values.get("hidden")),
            turns=int(cast("int", values.get("turns", 0))),
            restored=values.get("restored") is True,
        )
    except (ValueError, KeyError, TypeError):
        return None


def _next(last_generation: int) -> int:
    return max(last_generation + 1, time.time_ns() // 1_000_000)


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

"""What happens while folders are watched: a line for each thing, as it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import click

from lilbee_cli.render.json import emit_line
from lilbee_cli.render.text import counted, line, warn

if TYPE_CHECKING:
    from lilbee_core.events import Event


class WatchSink:
    """An event sink that prints. Documents that come, move and go are told to everybody, the rest with `verbose`."""

    def __init__(self, *, as_json: bool, quiet: bool, verbose: int) -> None:
        self._as_json = as_json
        self._quiet = quiet
        self._verbose = verbose
        self._closed: Callable[[], None] | None = None

    def on_closed(self, call: Callable[[], None]) -> None:
        """Have something called when nobody reads any more what is printed."""
        self._closed = call

    def __call__(self, event: Event) -> None:
        try:
            if self._as_json:
                emit_line(event.to_dict())
            elif not self._quiet:
                self._tell(event.name, event.to_dict())
        except (BrokenPipeError, ValueError):  # a closed file is the latter
            self._quiet, self._as_json = True, False
            if self._closed is not None:
                self._closed()

    def _tell(self, name: str, fields: dict[str, object]) -> None:
        tellers: dict[str, Callable[[dict[str, object]], None]] = {
            "WatchStarted": self._started,
            "DocumentIndexed": self._indexed,
            "DocumentMoved": lambda one: _document("moved", one, f"from {one['old_path']}"),
            "DocumentRemoved": lambda one: _document("removed", one),
            "DocumentFailed": lambda one: _document("failed", one, str(one["reason"])),
            "DocumentSkipped": self._skipped,
            "WatchFailed": _failed,
            "Warned": lambda one: warn(str(one["message"])),
        }
        tell = tellers.get(name)
        if tell is not None:
            tell(fields)

    def _started(self, fields: dict[str, object]) -> None:
        polled = _names(fields["polled"])
        how = f", {', '.join(polled)} by looking now and then" if polled else ""
        names = _names(fields["collections"])
        click.echo(line(f"watching {', '.join(names) or 'no collection'}{how}; Ctrl-C ends it"), err=True)

    def _indexed(self, fields: dict[str, object]) -> None:
        _document("updated" if fields["updated"] else "added", fields, counted(int(str(fields["chunks"])), "chunk"))

    def _skipped(self, fields: dict[str, object]) -> None:
        if self._verbose:
            _document("skipped", fields, str(fields["reason"]))


def _document(what: str, fields: dict[str, object], detail: str = "") -> None:
    ref = f"{fields['collection']}/{fields['path']}"
    click.echo(f"{what:<8} {line(ref)}  {line(detail)}".rstrip())


def _failed(fields: dict[str, object]) -> None:
    retry = f" It is tried again in {fields['retry_s']:g} s." if fields["retry_s"] is not None else ""
    warn(f"{fields['reason']}. {fields['hint']}{retry}")


def _names(value: object) -> list[str]:
    return [str(one) for one in cast("tuple[object, ...]", value)]

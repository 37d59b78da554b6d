"""Options that every command has, and the library they open."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lilbee_core import Lilbee
    from lilbee_core.events import EventSink


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every command was told."""

    library: str | None
    data_dir: str | None
    as_json: bool
    quiet: bool
    verbose: int

    def open(self, events: EventSink | None = None, *, here: bool = False, there: bool = False) -> Lilbee:
        """Open the library: ``--library`` > ``LILBEE_LIBRARY`` > nearest parent > the user's own.

        Args:
            events: Receives progress.
            here: Take the named folder even when there is no library in it yet.
            there: There must be a library; a command that only reads has no use for a new one.

        Raises:
            NotFound: If there is none.
        """
        from lilbee_core import Lilbee
        from lilbee_core.settings import find_library

        if here and self.library:
            return Lilbee(self.library, data_dir=self.data_dir, events=events)
        bee = Lilbee(find_library(self.library), data_dir=self.data_dir, events=events)
        if there and bee.root is None and not bee.data_dir.is_dir():
            raise _no_library()
        return bee

    def echo(self, text: str = "") -> None:
        """Write a line for a person to stdout."""
        click.echo(text)


def _no_library() -> Exception:
    from pathlib import Path

    from lilbee_core.errors import NotFound

    return NotFound(
        f"there is no library here: neither {Path.cwd()} nor a folder above it is one",
        hint="Run `lilbee init` to make this folder one, `lilbee add FOLDER` to index a folder, "
        "or name a library with --library.",
    )


def common(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the common options; it receives them as its first argument, a `Common`."""

    @click.option("--library", "-l", metavar="PATH", help="The library's folder.")
    @click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
    @click.option("--json", "-j", "as_json", is_flag=True, help="Print JSON to stdout and nothing else.")
    @click.option("--quiet", "-q", is_flag=True, help="No progress.")
    @click.option("--verbose", "-v", count=True, help="More detail; twice for debugging.")
    @wraps(function)
    def wrapper(
        *args: Any, library: str | None, data_dir: str | None, as_json: bool, quiet: bool, verbose: int, **kwargs: Any
    ) -> Any:
        if verbose > 1:
            _log_to_stderr()
        told = Common(library=library, data_dir=data_dir, as_json=as_json, quiet=quiet, verbose=verbose)
        return function(told, *args, **kwargs)

    return wrapper


def _log_to_stderr() -> None:
    from lilbee_cli.render.text import clean

    class Visible(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return clean(super().format(record))

    handler = logging.StreamHandler()
    handler.setFormatter(Visible("%(name)s: %(message)s"))
    logging.basicConfig(level=logging.DEBUG, handlers=[handler])


def filters(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that narrow a search; it receives a `Filter` as `only`."""

    @click.option("--path", "paths", multiple=True, metavar="GLOB", help="Only these paths (notes/, *.md).")
    @click.option("--type", "types", multiple=True, metavar="TYPE", help="Only these types (pdf, text/*).")
    @click.option("--lang", "languages", multiple=True, metavar="CODE", help="Only these languages (en, de).")
    @click.option("--collection", "-c", "collections", multiple=True, metavar="NAME", help="Only these collections.")
    @click.option("--after", metavar="DATE", help="Only documents of this day or later.")
    @click.option("--before", metavar="DATE", help="Only documents before this day.")
    @wraps(function)
    def wrapper(
        *args: Any,
        paths: tuple[str, ...],
        types: tuple[str, ...],
        languages: tuple[str, ...],
        collections: tuple[str, ...],
        after: str | None,
        before: str | None,
        **kwargs: Any,
    ) -> Any:
        from lilbee_core import Filter

        only = Filter(
            paths=paths,
            media_types=types,
            languages=languages,
            collections=collections,
            after=after,
            before=before,
        )
        return function(*args, only=only, **kwargs)

    return wrapper

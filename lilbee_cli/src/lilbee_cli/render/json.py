"""JSON for machines: one document on stdout."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import click


def emit(value: Mapping[str, object] | list[object]) -> None:
    """Print a value as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def emit_line(value: Mapping[str, object]) -> None:
    """Print a value as one line of JSON, at once (for streams)."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))


def emit_list(name: str, values: Iterable[Mapping[str, object]]) -> None:
    """Print a named list of values."""
    emit({name: list(values)})

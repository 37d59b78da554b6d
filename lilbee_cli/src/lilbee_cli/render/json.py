"""JSON for machines: one document on stdout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

import click

# What JSON need not escape, and a terminal would obey.
_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def emit(value: Mapping[str, object] | list[object]) -> None:
    """Print a value as JSON."""
    click.echo(_shown(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)))


def emit_line(value: Mapping[str, object]) -> None:
    """Print a value as one line of JSON, at once (for streams)."""
    click.echo(_shown(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def emit_list(name: str, values: Iterable[Mapping[str, object]]) -> None:
    """Print a named list of values."""
    emit({name: list(values)})


def _shown(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

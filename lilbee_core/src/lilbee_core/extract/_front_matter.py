"""The block of settings at the start of a Markdown file: YAML between ``---``, TOML between ``+++``."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import cast

from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._loose import fields, items
from lilbee_core.types import Metadata

MAX_CHARS = 32 * 1024
_MAX_VALUES = 500
_MAX_DEPTH = 4
_YAML_BLOCK = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML_BLOCK = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_DATE_KEYS = (
    "date",
    "published",
    "publish_date",
    "pubdate",
    "created",
    "date_created",
    "updated",
    "lastmod",
    "modified",
)
_LANGUAGE_KEYS = ("lang", "language", "locale")
_TAG_KEYS = ("tags", "tag", "keywords", "categories")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What the block says, and where the body of the document begins."""

    body_start: int = 0
    title: str | None = None
    date: str | None = None
    language: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    warning: str | None = None


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of `text`; a text without one, or with a broken one, is body from its start."""
    block = _YAML_BLOCK.match(text[: MAX_CHARS + 1024]) or _TOML_BLOCK.match(text[: MAX_CHARS + 1024])
    if block is None:
        return FrontMatter()
    try:
        values = _parse_yaml(block[1]) if text.startswith("---") else tomllib.loads(block[1])
    except _BROKEN as error:
        return FrontMatter(warning=f"the front matter is broken and was read as text: {_first_line(error)}")
    if not isinstance(values, Mapping):
        return FrontMatter()
    return _describe(fields(cast("object", values)), block.end())


class _BrokenYaml(ValueError):
    """The block is no YAML that we read."""


# Besides syntax errors: impossible dates and numbers, keys that are lists, nesting without end.
_BROKEN = (_BrokenYaml, ValueError, TypeError, OverflowError, RecursionError, AttributeError, IndexError, KeyError)


def _parse_yaml(block: str) -> object:
    import yaml

    if any(isinstance(event, yaml.AliasEvent) for event in _events(block)):
        # A few lines of aliases can stand for billions of values.
        raise _BrokenYaml("aliases are not read")
    try:
        return yaml.safe_load(block)
    except yaml.YAMLError as error:
        raise _BrokenYaml(_yaml_reason(error)) from error


def _events(block: str) -> Iterator[object]:
    import yaml

    try:
        yield from yaml.parse(block, Loader=yaml.SafeLoader)  # pyright: ignore[reportUnknownMemberType]
    except yaml.YAMLError as error:
        raise _BrokenYaml(_yaml_reason(error)) from error


def _yaml_reason(error: Exception) -> str:
    problem = getattr(error, "problem", None) or "not valid YAML"
    mark = getattr(error, "problem_mark", None)
    # The opening line is line 1 of the file.
    return f"{problem}, line {mark.line + 2}" if mark else str(problem)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]


def _describe(values: Mapping[str, object], body_start: int) -> FrontMatter:
    flat = dict(_flatten(values))
    lowered = {key.lower().replace("-", "_"): value for key, value in values.items()}
    tags = next((tags for key in _TAG_KEYS if (tags := _as_tags(lowered.get(key)))), ())
    if tags:
        flat["tags"] = tags
    title = lowered.get("title")
    language = next((value for key in _LANGUAGE_KEYS if isinstance(value := lowered.get(key), str)), None)
    return FrontMatter(
        body_start=body_start,
        title=" ".join(str(title).split()) or None if isinstance(title, str | int | float | date) else None,
        date=next((found for key in _DATE_KEYS if (found := iso_date(lowered.get(key)))), None),
        language=language.strip().lower().replace("_", "-") or None if language else None,
        metadata=Metadata(flat),
    )


def _as_tags(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        parts = value.split(",") if "," in value else value.split()
    else:
        parts = [str(item) for item in items(value) if isinstance(item, str | int | float)]
    return tuple(dict.fromkeys(tag for part in parts[:_MAX_VALUES] if (tag := part.strip().lstrip("#"))))


def _flatten(values: Mapping[str, object], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, object]]:
    for key, value in list(values.items())[:_MAX_VALUES]:
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            if depth < _MAX_DEPTH:
                yield from _flatten(fields(cast("object", value)), f"{name}.", depth + 1)
        elif isinstance(value, list | tuple | set):
            found = items(cast("object", value))[:_MAX_VALUES]
            yield name, tuple(str(_plain(item)) for item in found if _is_scalar(item))
        else:
            yield name, _plain(value)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float | date | time)


def _plain(value: object) -> object:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return f"{float(value):g}" if abs(value) < 2**1000 else None
    return value if value is None or isinstance(value, str | int | float) else str(value)

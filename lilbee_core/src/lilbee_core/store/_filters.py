"""`Filter` to SQL, and the same rules in Python.

Values never reach SQL unquoted, and globs are turned into patterns of letters, classes and hexadecimal escapes,
which mean the same to the engine's regular expressions and to Python's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from unicodedata import normalize

from lilbee_core.errors import InvalidFilter
from lilbee_core.types import Chunk, Filter

_MAX_PATTERN = 1_000
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?)?)?)?")
_WILD = re.compile(r"[*?\[]")


def to_sql(filters: Filter) -> str | None:
    """Return the condition that `filters` puts on a chunk, None when it puts none.

    Raises:
        InvalidFilter: If a value cannot be understood.
    """
    parts = [
        _any(_path_sql(_clean(pattern)) for pattern in filters.paths),
        _any(_media_sql(kind) for kind in filters.media_types),
        _one_of("lower(language)", [language.lower() for language in filters.languages]),
        _one_of("collection", filters.collections),
        _one_of("document_id", filters.document_ids),
        f"date >= {quote(_date(filters.after))}" if filters.after else "",
        f"date < {quote(_date(filters.before))}" if filters.before else "",
    ]
    return " AND ".join(part for part in parts if part) or None


def matches(filters: Filter, chunk: Chunk) -> bool:
    """Say whether `chunk` satisfies `filters`: the rules of `to_sql` without a database.

    Raises:
        InvalidFilter: If a value cannot be understood.
    """
    paths = [_clean(pattern) for pattern in filters.paths]
    kinds = [_kind(kind) for kind in filters.media_types]
    after, before = filters.after and _date(filters.after), filters.before and _date(filters.before)
    for text in (*filters.paths, *filters.media_types, *filters.languages, *filters.collections, *filters.document_ids):
        quote(text)
    language = (chunk.language or "").lower()
    return (
        (not paths or any(_path_matches(pattern, chunk.path) for pattern in paths))
        and (not kinds or any(_media_matches(kind, chunk) for kind in kinds))
        and (not filters.languages or language in {one.lower() for one in filters.languages} - {""})
        and (not filters.collections or chunk.collection in filters.collections)
        and (not filters.document_ids or chunk.document_id in filters.document_ids)
        and (not after or (chunk.date is not None and after <= chunk.date))
        and (not before or (chunk.date is not None and chunk.date < before))
    )


def quote(text: str) -> str:
    """Return `text` as an SQL string."""
    if "\x00" in text:
        raise InvalidFilter(f"{text!r} holds a NUL character", hint="leave it out")
    return "'" + text.replace("'", "''") + "'"


def is_in(column: str, values: Iterable[str]) -> str:
    """Return the condition that `column` is one of `values`; false when there are none."""
    listed = ", ".join(quote(value) for value in values)
    return f"{column} IN ({listed})" if listed else "false"


def glob_pattern(glob: str) -> str:
    """Return the regular expression of a glob over a whole path.

    ``*`` and ``?`` stay inside a folder, ``**`` crosses folders; a glob without a slash looks at the name of
    the file, wherever it lies.
    """
    body = _translate(glob)
    return body if "/" in glob else f"(?:.*/)?{body}"


# --------------------------------------------------------------------------- paths


def _clean(pattern: str) -> str:
    cleaned = normalize("NFC", pattern.strip())
    while cleaned.startswith(("/", "./")):
        cleaned = cleaned.removeprefix("./").removeprefix("/")
    if not cleaned or len(cleaned) > _MAX_PATTERN:
        said = (
            f"{pattern[:40]!r} is not a path" if cleaned == "" else f"a path of {len(pattern)} characters is too long"
        )
        raise InvalidFilter(said, hint="give a folder such as notes/, a file, or a glob such as *.md or notes/**")
    return f"{cleaned}**" if cleaned.endswith("/") and _WILD.search(cleaned) else cleaned


def _path_sql(pattern: str) -> str:
    if _WILD.search(pattern):
        return f"regexp_like(path, {quote(f'(?s)^(?:{glob_pattern(pattern)})$')})"
    if pattern.endswith("/"):
        return f"starts_with(path, {quote(pattern)})"
    exact = f"path = {quote(pattern)} OR starts_with(path, {quote(pattern + '/')})"
    if "/" in pattern:
        return f"({exact})"
    inside = f"ends_with(path, {quote('/' + pattern)}) OR strpos(path, {quote(f'/{pattern}/')}) > 0"
    return f"({exact} OR {inside})"


def _path_matches(pattern: str, path: str) -> bool:
    if _WILD.search(pattern):
        return re.fullmatch(f"(?s:{glob_pattern(pattern)})", path) is not None
    if pattern.endswith("/"):
        return path.startswith(pattern)
    if path == pattern or path.startswith(pattern + "/"):
        return True
    return "/" not in pattern and (path.endswith("/" + pattern) or f"/{pattern}/" in path)


def _translate(glob: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(glob):
        if glob.startswith("**", position):
            end = position + len(glob[position:]) - len(glob[position:].lstrip("*"))
            folders = glob.startswith("/", end)
            parts.append("(?:.*/)?" if folders else ".*")
            position = end + folders
        elif glob[position] == "[" and (found := _class(glob, position)):
            parts.append(found[0])
            position = found[1]
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(glob[position]) or _literal(glob[position]))
            position += 1
    return "".join(parts)


def _class(glob: str, start: int) -> tuple[str, int] | None:
    """Return the class at `start` and where it ends, None when the bracket is an ordinary character."""
    body = start + 1
    negated = glob.startswith(("!", "^"), body)
    body += negated
    end = glob.find("]", body + 1)
    if end < 0:
        return None
    items: list[str] = []
    position = body
    while position < end:
        if position + 2 < end and glob[position + 1] == "-":
            low, high = glob[position], glob[position + 2]
            if low > high:
                return None
            items.append(f"{_literal(low)}-{_literal(high)}")
            position += 3
        else:
            items.append(_literal(glob[position]))
            position += 1
    return (f"[^/{''.join(items)}]" if negated else f"[{''.join(items)}]"), end + 1


def _literal(character: str) -> str:
    code = ord(character)
    return character if character.isalnum() or code > 127 else f"\\x{code:02x}"


# --------------------------------------------------------------------------- kinds and dates


def _media_sql(kind: str) -> str:
    value = _kind(kind)
    if "/" not in value:
        return _any(f"ends_with(lower({column}), {quote('.' + value)})" for column in ("path", "member"))
    if value.endswith("/*"):
        return f"starts_with(lower(media_type), {quote(value[:-1])})"
    return f"lower(media_type) = {quote(value)}"


def _media_matches(value: str, chunk: Chunk) -> bool:
    if "/" not in value:
        names = (chunk.path, chunk.location.member or "")
        return any(name.lower().endswith("." + value) for name in names)
    media_type = chunk.media_type.lower()
    return media_type.startswith(value[:-1]) if value.endswith("/*") else media_type == value


def _kind(kind: str) -> str:
    value = kind.strip().lower()
    value = value if "/" in value else value.removeprefix("*").removeprefix(".")
    if not value or value.startswith("/") or value.endswith("/") or "*" in value.removesuffix("/*"):
        raise InvalidFilter(f"{kind!r} is not a media type", hint="write pdf, text/markdown or text/*")
    return value


def _date(text: str) -> str:
    value = text.strip()
    if not (_DATE.fullmatch(value) and _is_day(value[:10])):
        raise InvalidFilter(f"{text!r} is not a date", hint="write an ISO date such as 2024-05-31")
    return value


def _is_day(text: str) -> bool:
    """Say whether the calendar has the day, or the first one of the month or year."""
    try:
        date.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        return False
    return True


# --------------------------------------------------------------------------- joining


def _any(parts: Iterable[str]) -> str:
    listed = list(parts)
    return f"({' OR '.join(listed)})" if len(listed) > 1 else "".join(listed)


def _one_of(column: str, values: Iterable[str]) -> str:
    listed = list(values)
    return is_in(column, listed) if listed else ""

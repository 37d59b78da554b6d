"""The language of queries: modes, filters and words. Everything that is not clearly a filter is a word."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches

from lilbee_core.types import Filter

MODES = {"term": "keyword", "vec": "semantic", "hyde": "hyde"}
"""The profile that each prefix chooses."""

_MODE = re.compile(r"\s*(term|vec|hyde):(?!:)\s*")
# A quoted phrase is passed over as a whole, so that nothing inside it is a filter.
_PIECE = re.compile(r'"[^"]*"|(?<!\S)(path|type|lang|collection|after|before):(?:"([^"]+)"|([^\s:"]\S*))')
_NEAR_KEY = re.compile(r'"[^"]*"|(?<!\S)([a-z]{3,12}):(?![:/])(?:"([^"]+)"|([^\s:"]\S*))')
_KEYS = ("path", "type", "lang", "collection", "after", "before")
_OTHER_KEYS = frozenset({*_KEYS, "xpath"})
_NEAR = 0.82  # "pth" and "types" are meant, "part" and "alter" are words
_TYPE = re.compile(r"(?:\*?\.)?([a-z0-9][a-z0-9+_-]{0,11})")
_MEDIA_TYPE = re.compile(r"[a-z]+/(?:\*|[a-z0-9][a-z0-9.+_-]*)")
_LONGEST_PATH = 500
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")

# ISO 639-1.
_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
LANGUAGES = frozenset(_CODES.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A query taken apart: its words, its filters, the profile its prefix asks for, and what was odd."""

    words: str
    filters: Filter = Filter()
    profile: str | None = None
    warnings: tuple[str, ...] = ()


def parse_query(text: str, *, collections: Collection[str] | None = None) -> ParsedQuery:
    r"""Take a query apart. No text is an error.

    A known key followed directly by a valid value (``path:notes/``, ``type:pdf``, ``after:2024-03``) is a filter; a
    known key with another value is a word, with a warning. Values with blanks stand in double quotes. Nothing in a
    quoted phrase is a filter, and neither is ``std::vector``, ``note: buy milk`` or a path such as ``C:\dir``.

    Args:
        text: What the user typed.
        collections: Names that exist, where they are known; others are then refused.
    """
    mode, rest = split_mode(text)
    filters = Filter()
    warnings: list[str] = []
    words: list[str] = []
    at = 0
    for key, value, start, end in _candidates(rest):
        parsed, problem = _filter(key, value, collections)
        if problem:
            warnings.append(f"{rest[start:end]} is taken as words: {problem}")
        if parsed is not None:
            filters = _join(filters, parsed)
            words.append(rest[at:start])
            at = end
    words.append(rest[at:])
    warnings += _nearly_filters(rest)
    if filters.after and filters.before and filters.after >= filters.before:
        warnings.append(f"after:{filters.after} before:{filters.before} leaves no day between them")
    return ParsedQuery(words="".join(words).strip(), filters=filters, profile=mode, warnings=tuple(warnings))


def split_mode(text: str) -> tuple[str | None, str]:
    """Return the profile that a prefix asks for (``term:``, ``vec:``, ``hyde:``) or None, and the rest of the text."""
    match = _MODE.match(text)
    if match is None:
        return None, text
    return MODES[match.group(1)], text[match.end() :]


def _candidates(text: str) -> Iterator[tuple[str, str, int, int]]:
    for match in _PIECE.finditer(text):
        key = match.group(1)
        if key:
            yield key, match.group(2) or match.group(3), match.start(), match.end()


def _nearly_filters(text: str) -> Iterator[str]:
    """Yield what to say of words that look like a filter with a misspelled key."""
    for match in _NEAR_KEY.finditer(text):
        key, value = match.group(1), match.group(2) or match.group(3)
        nearest = get_close_matches(key, _KEYS, n=1, cutoff=_NEAR) if key and key not in _OTHER_KEYS else []
        if nearest and _filter(nearest[0], value, None)[0] is not None:
            yield f"{match.group()} is taken as words: {key}: is no filter, did you mean {nearest[0]}:?"


def _filter(key: str, value: str, collections: Collection[str] | None) -> tuple[Filter | None, str]:
    """Return the filter, or None and what is wrong with the value."""
    if key == "path":
        return _path(value)
    if key == "type":
        return _type(value)
    if key == "lang":
        code = value.lower().partition("-")[0]
        if code in LANGUAGES:
            return Filter(languages=(code,)), ""
        return None, f"{value} is no language code such as en or de"
    if key == "collection":
        return _collection(value, collections)
    return _date(key, value)


def _path(value: str) -> tuple[Filter | None, str]:
    path = value.replace("\\", "/")
    # A bracket that is never closed makes no glob.
    odd = not path.isprintable() or path.count("[") != path.count("]")
    if odd or len(path) > _LONGEST_PATH or not path.strip("./ "):
        return None, "that is no folder, file or glob"
    return Filter(paths=(path,)), ""


def _type(value: str) -> tuple[Filter | None, str]:
    lowered = value.lower()
    if _MEDIA_TYPE.fullmatch(lowered):
        return Filter(media_types=(lowered,)), ""
    match = _TYPE.fullmatch(lowered)
    if match is None:
        return None, f"{value} is no file type such as pdf or text/*"
    return Filter(media_types=(match.group(1),)), ""


def _collection(value: str, collections: Collection[str] | None) -> tuple[Filter | None, str]:
    if collections is None or value in collections:
        return Filter(collections=(value,)), ""
    nearest = get_close_matches(value, collections, n=1)
    return None, f"there is no collection {value}" + (f", did you mean {nearest[0]}?" if nearest else "")


def _date(key: str, value: str) -> tuple[Filter | None, str]:
    match = _DATE.fullmatch(value)
    problem = f"{value} is no date such as 2024-03-31 or 2024"
    if match is None:
        return None, problem
    year, month, day = (int(part) if part else 1 for part in match.groups())
    try:
        iso = date(year, month, day).isoformat()
    except ValueError:
        return None, problem
    return (Filter(after=iso) if key == "after" else Filter(before=iso)), ""


def _join(first: Filter, more: Filter) -> Filter:
    """Join filters of one text: several values of a key mean any of them; of two dates the narrower counts."""
    return replace(
        first,
        paths=first.paths + more.paths,
        media_types=first.media_types + more.media_types,
        languages=first.languages + more.languages,
        collections=first.collections + more.collections,
        after=max(filter(None, (first.after, more.after)), default=None),
        before=min(filter(None, (first.before, more.before)), default=None),
    )

"""Links between pages: read, written where a page names another one, taken out where there is none any more."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import partial

_LINK = re.compile(r"(?<!\\)\[\[([^\[\]|#\n]+)(#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_DEFINITION = re.compile(r"\[\^[^\]\s]+\]:")
_GOES_WITH = re.compile(r"^## Goes with\n\n[^\n]*\n*", re.MULTILINE)
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"#{1,6}\s")
# Inside of these nothing is linked: links, code, addresses.
_TAKEN = re.compile(r"(?<!\\)(?:\[\[[^\[\]\n]*\]\]|`[^`\n]*`|!?\[[^\[\]\n]*\]\([^()\n]*\)|\[\^[^\]\s]+\])|https?://\S+")


class Names:
    """The pages that names stand for, found by the words that a text has: a wiki may have thousands of them."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._by_word: dict[str, list[tuple[str, str, frozenset[str]]]] = {}
        for name, slug in names.items():
            words = _WORD.findall(name.casefold())
            if words:
                self._by_word.setdefault(words[0], []).append((name, slug, frozenset(words)))

    def among(self, text: str) -> dict[str, str]:
        """Return the names whose words a text has, all of them."""
        held = set(_WORD.findall(text.casefold()))
        near = (one for word in held for one in self._by_word.get(word, ()))
        return {name: slug for name, slug, words in near if words <= held}


def links_of(body: str) -> tuple[str, ...]:
    """Return the pages that a text links to, each once, in order; code is none of it."""
    found = (match[1].strip() for _, line in _prose(body) for match in _LINK.finditer(_without_code(line)))
    return tuple(dict.fromkeys(found))


def backlinks(bodies: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return for each page those that link to it, by their names; a link to itself does not count."""
    found: dict[str, list[str]] = {slug: [] for slug in bodies}
    for slug in sorted(bodies):
        for name in dict.fromkeys(target.rpartition("/")[2] for target in links_of(bodies[slug])):
            if name in found and name != slug:
                found[name].append(slug)
    return {slug: tuple(others) for slug, others in found.items()}


def linked(body: str, names: Names, *, own: str) -> str:
    """Return a text in which the first mention of every other page is a link to it.

    Front matter, code, headings, citations and what is a link already stay as they are.

    Args:
        body: The text.
        names: What pages are called, as it stands in a text.
        own: The page itself.
    """
    there = set(links_of(body)) | {own}
    wanted = {name: slug for name, slug in names.among(body).items() if slug not in there}
    if not wanted:
        return body
    pattern = _pattern(wanted)
    folded = {name.casefold(): slug for name, slug in wanted.items()}
    lines = body.split("\n")
    for at, line in _prose(body):
        if not _HEADING.match(line):
            lines[at] = _in_line(line, pattern, folded, there)
    return "\n".join(lines)


def essence(body: str) -> str:
    """Name what a page says, whatever pages it links to."""
    words = _LINK.sub(lambda match: match[3] or match[1], body)
    said = _GOES_WITH.sub("", words).strip()
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _in_line(line: str, pattern: re.Pattern[str], names: Mapping[str, str], there: set[str]) -> str:
    """Link the mentions in the stretches of a line that may hold links."""
    pieces: list[str] = []
    at = 0
    link = partial(_link, names=names, there=there)
    for taken in _TAKEN.finditer(line):
        pieces += [pattern.sub(link, line[at : taken.start()]), taken[0]]
        at = taken.end()
    pieces.append(pattern.sub(link, line[at:]))
    return "".join(pieces)


def _link(match: re.Match[str], *, names: Mapping[str, str], there: set[str]) -> str:
    slug = names[match[0].casefold()]
    if slug in there:
        return match[0]
    there.add(slug)
    return f"[[{slug}]]" if slug == match[0] else f"[[{slug}|{match[0]}]]"


def _pattern(names: Mapping[str, str]) -> re.Pattern[str]:
    """Return what finds any of the names as words of their own, the longest first."""
    listed = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<![\w\\])(?:{'|'.join(map(re.escape, listed))})(?!\w)", re.IGNORECASE)


def _prose(body: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, with their numbers, that are no front matter, no code and no citation."""
    lines = body.split("\n")
    start = 0
    if lines and lines[0] == "---" and "---" in lines[1:]:
        start = lines.index("---", 1) + 1
    in_code = False
    for at, line in enumerate(lines[start:], start):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and not _DEFINITION.match(line):
            yield at, line


def _without_code(line: str) -> str:
    return re.sub(r"`[^`\n]*`", "", line)

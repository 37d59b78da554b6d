"""Pages as files: Markdown with a head that says what made them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lilbee_core.text import fold_space
from lilbee_core.types import ChunkId, Citation, Span, WikiPage

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$])")
_HEAD = re.compile(r"\A---\n(.*?)\n---\n\n?", re.DOTALL)
PENDING = "pending"
"""Note of a draft that has no text: a person should look at it."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation as the head of a page has it: where the quote stands, and a name for it that survives edits."""

    marker: int
    chunk_id: ChunkId
    span: Span | None
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPage:
    """A page as it lies in the folder. `made` names the body that a build wrote, `origin` the page that it wrote."""

    slug: str
    title: str
    kind: str
    body: str
    text: str = ""
    made: str = ""
    origin: str = ""
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    citations: tuple[Cited, ...] = ()
    faithfulness: float | None = None
    by: str = "quotes"
    note: str = ""
    dropped: tuple[str, ...] = ()

    @property
    def is_edited(self) -> bool:
        """Whether somebody changed what the build wrote."""
        return digest(self.body) != self.made

    @property
    def is_pending(self) -> bool:
        """Whether it only says that there is something to look at."""
        return self.note.startswith(PENDING)

    def to_page(self, *, state: str = "published", citations: Sequence[Citation] = ()) -> WikiPage:
        """Return it as a page."""
        return WikiPage(
            slug=self.slug,
            title=self.title,
            kind=self.kind,
            body=self.body.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
            state=state,
            aliases=self.aliases,
            citations=tuple(citations),
            faithfulness=self.faithfulness,
            sources=self.sources,
            by=self.by,
            note=self.note,
            dropped=self.dropped,
        )


def digest(body: str) -> str:
    """Name a body."""
    return hashlib.blake2b(body.strip().encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def citation_key(quote: str) -> str:
    """Name a quote: the same wherever it stands, and whatever its document is called."""
    return hashlib.blake2b(fold_space(quote).encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def plain(text: str) -> str:
    """Return text of a document so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def unescaped(text: str) -> str:
    """Return what `plain` was given."""
    return re.sub(r"\\([\\`*_\[\]<>|#~$])", r"\1", text)


def place_of(citation: Citation) -> str:
    """Return where a quote stands, for people."""
    where = str(citation.location)
    path = f"{citation.path}#{citation.location.member}" if citation.location.member else citation.path
    return f"{path}, {where}" if where else path


def ref_of(citation: Citation) -> str:
    """Return the document of a citation, as people name it."""
    return f"{citation.collection}/{citation.path}"


def rendered(page: WikiPage, *, made: str = "", origin: str = "") -> str:
    """Return a page as the text of its file. Values are JSON, which is also YAML.

    `made` names what the build wrote, where the body holds more than that; `origin` the page that it wrote, where the
    file was renamed.
    """
    head: dict[str, object] = {
        "title": page.title,
        "kind": page.kind,
        "page": origin or page.slug,
        "aliases": list(page.aliases),
        "sources": list(page.sources),
        "by": page.by,
        "made": made or digest(page.body),
    }
    optional = {
        "faithfulness": None if page.faithfulness is None else round(page.faithfulness, 3),
        "note": page.note,
        "dropped": list(page.dropped),
    }
    head |= {name: value for name, value in optional.items() if value not in (None, "", [])}
    head["citations"] = [_entry(one) for one in page.citations]
    lines = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items())
    return f"---\n{lines}\n---\n\n{page.body.strip()}\n"


def with_body(page: StoredPage, body: str) -> str:
    """Return a page as the text of its file, with another body under its head."""
    match = _HEAD.match(page.text)
    head = f"---\n{match[1]}\n---\n\n" if match else ""
    return f"{head}{body.strip()}\n"


def as_published(draft: StoredPage) -> str:
    """Return a draft as the text of the page that it becomes: its head says no more why it was one."""
    match = _HEAD.match(draft.text)
    lines = match[1].splitlines() if match else []
    kept = "\n".join(line for line in lines if not line.startswith(("note: ", "dropped: ")))
    return f"---\n{kept}\n---\n\n{draft.body.strip()}\n"


def searchable(page: StoredPage) -> tuple[str, int]:
    """Return the text of a page as searches read it, line by line as in its file, and where its body begins.

    Links are words, marks and the list of citations are left out.
    """
    match = _HEAD.match(page.text)
    start = match.end() if match else 0
    lines = [_read_line(line) for line in page.text[start:].split("\n")]
    text = page.text[:start] + "\n".join(lines)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), start


def _read_line(line: str) -> str:
    if re.match(r"\[\^[^\]\s]+\]:", line):
        return ""
    told = re.sub(r"(?<!\\)\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]", r"\1", line)
    return unescaped(re.sub(r" ?\[\^[^\]\s]+\]", "", told))


def _entry(one: Citation) -> list[object]:
    span = (one.quote_span.start, one.quote_span.end) if one.quote_span else (0, 0)
    return [one.marker, one.chunk_id, *span, citation_key(one.quote)]


def parsed(slug: str, kind: str, text: str) -> StoredPage:
    """Read a page; one whose head somebody took away counts as edited."""
    match = _HEAD.match(text)
    values: dict[str, object] = {}
    for line in match[1].splitlines() if match else ():
        name, _, value = line.partition(": ")
        try:
            values[name] = json.loads(value)
        except ValueError:
            continue
    body = text[match.end() :] if match else text
    score = values.get("faithfulness")
    return StoredPage(
        slug=slug,
        title=str(values.get("title") or slug),
        kind=kind or str(values.get("kind") or ""),
        body=body.strip(),
        text=text,
        made=str(values.get("made") or ""),
        origin=str(values.get("page") or slug),
        aliases=_texts(values, "aliases"),
        sources=_texts(values, "sources"),
        citations=tuple(_citations(values)),
        faithfulness=float(score) if isinstance(score, int | float) else None,
        by=str(values.get("by") or "quotes"),
        note=str(values.get("note") or ""),
        dropped=_texts(values, "dropped"),
    )


def _texts(values: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = values.get(name)
    return tuple(map(str, cast("list[object]", found))) if isinstance(found, list) else ()


def _citations(values: Mapping[str, object]) -> list[Cited]:
    """Read citations; what somebody broke is left out."""
    found = values.get("citations")
    read: list[Cited] = []
    for entry in cast("list[object]", found) if isinstance(found, list) else ():
        match entry:
            case [int(marker), str(chunk), int(start), int(end), str(key)] if 0 <= start <= end:
                read.append(Cited(marker, ChunkId(chunk), Span(start, end), key))
            case _:
                continue
    return read

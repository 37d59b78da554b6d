"""Pages as files: Markdown with a head that says what made them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import cast

from lilbee_core.types import Citation, WikiPage

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$])")
_HEAD = re.compile(r"\A---\n(.*?)\n---\n\n?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPage:
    """A page as it lies in the folder. `made` names the body that a build wrote."""

    slug: str
    title: str
    kind: str
    body: str
    made: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def is_edited(self) -> bool:
        """Whether somebody changed what the build wrote."""
        return digest(self.body) != self.made

    def to_page(self, *, state: str = "published") -> WikiPage:
        """Return it as a page; what its marks stand for is in its text."""
        return WikiPage(
            slug=self.slug, title=self.title, kind=self.kind, body=self.body, state=state, aliases=self.aliases
        )


def digest(body: str) -> str:
    """Name a body."""
    return hashlib.blake2b(body.strip().encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def plain(text: str) -> str:
    """Return text of a document so that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", text)


def place_of(citation: Citation) -> str:
    """Return where a quote stands, for people."""
    where = str(citation.location)
    path = f"{citation.path}!{citation.location.member}" if citation.location.member else citation.path
    return f"{path}, {where}" if where else path


def rendered(page: WikiPage) -> str:
    """Return a page as the text of its file. Values are JSON, which is also YAML."""
    head = {
        "title": page.title,
        "kind": page.kind,
        "aliases": list(page.aliases),
        "sources": len(page.sources),
        "made": digest(page.body),
        "citations": [
            [one.marker, one.chunk_id, *((one.quote_span.start, one.quote_span.end) if one.quote_span else ())]
            for one in page.citations
        ],
    }
    lines = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items())
    return f"---\n{lines}\n---\n\n{page.body.strip()}\n"


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
    aliases = cast("list[object]", values["aliases"]) if isinstance(values.get("aliases"), list) else []
    return StoredPage(
        slug=slug,
        title=str(values.get("title") or slug),
        kind=kind,
        body=body.strip(),
        made=str(values.get("made") or ""),
        aliases=tuple(map(str, aliases)),
    )

"""What is wrong with pages: found in their text and in the passages that they cite, without writing anything."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from lilbee_core.types import Chunk, ChunkId, WikiProblem
from lilbee_core.wiki._decide import WITHOUT_SOURCE
from lilbee_core.wiki._links import backlinks, links_of
from lilbee_core.wiki._markdown import StoredPage, citation_key

_MARK = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_DEFINITION = re.compile(r"^\[\^([^\]\s]+)\]:", re.MULTILINE)
_LINKED_KINDS = frozenset({"concept", "entity"})
_OWN = frozenset({"index", "log"})


def lint(
    pages: Mapping[str, StoredPage],
    drafts: Mapping[str, StoredPage],
    *,
    passages: Mapping[ChunkId, Chunk],
    documents: Collection[str],
    drift: Mapping[str, str],
) -> tuple[WikiProblem, ...]:
    """Return what is wrong, page by page.

    Args:
        pages: The published pages.
        drafts: What waits for a person.
        passages: The passages that pages cite, as far as they are in the index.
        documents: The documents of the library (``collection/path``).
        drift: The pages that a build would write anew, and why.
    """
    inbound = backlinks({slug: page.body for slug, page in pages.items()})
    found: list[WikiProblem] = []
    for slug, page in sorted(pages.items()):
        if page.kind in _LINKED_KINDS and not inbound[slug]:
            found.append(WikiProblem(slug=slug, kind="orphan", detail="no page links to it"))
        found += _dead_links(page, pages.keys() | drafts.keys())
        found += _citations(page, passages, documents)
        if page.note == WITHOUT_SOURCE:
            found.append(WikiProblem(slug=slug, kind="without_source", detail=f"{WITHOUT_SOURCE}; it was edited"))
        if slug in drift:
            found.append(WikiProblem(slug=slug, kind="drift", detail=f"a build would change it: {drift[slug]}"))
    found += [
        WikiProblem(slug=slug, kind="draft", detail=draft.note or "a draft waits for review")
        for slug, draft in sorted(drafts.items())
    ]
    return tuple(found)


def _dead_links(page: StoredPage, there: Collection[str]) -> Iterator[WikiProblem]:
    for target in links_of(page.body):
        if target.rpartition("/")[2] not in there and target not in _OWN:
            yield WikiProblem(slug=page.slug, kind="dead_link", detail=f"[[{target}]] leads nowhere")


def _citations(
    page: StoredPage, passages: Mapping[ChunkId, Chunk], documents: Collection[str]
) -> Iterator[WikiProblem]:
    marks, defined = set(_MARK.findall(page.body)), set(_DEFINITION.findall(page.body))
    for mark in sorted(marks - defined):
        yield WikiProblem(slug=page.slug, kind="lost_citation", detail=f"[^{mark}] stands for nothing")
    for ref in page.sources:
        if ref not in documents:
            yield WikiProblem(slug=page.slug, kind="lost_citation", detail=f"{ref} is not in the library any more")
    for one in page.citations:
        chunk = passages.get(one.chunk_id)
        if str(one.marker) not in marks or one.span is None:
            continue
        if chunk is None or citation_key(one.span.cut(chunk.text)) != one.key:
            detail = f"the words behind [^{one.marker}] do not stand where they stood"
            yield WikiProblem(slug=page.slug, kind="stale_citation", detail=detail)

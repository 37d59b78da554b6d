"""The pages of the wiki in the index: found by searches of their scope, never mixed with what documents say."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lilbee_core.library._switch import CancelSwitch
from lilbee_core.types import WIKI, Document
from lilbee_core.wiki import FOLDERS, WikiFolder, kept, searchable

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

_KIND, _KEY = "wiki.indexed", "pages"


def index_pages(parts: Parts) -> None:
    """Make the index equal to the published pages, those that people edited too; nothing is done if it is."""
    if not parts.store.version or parts.store.meta() is None:
        return  # nothing is indexed here yet
    folder = WikiFolder(parts.home.wiki_dir(parts.settings))
    known = kept(parts.state, _KIND, _KEY)
    rows = {row.path: row for row in parts.store.rows(collection=WIKI)}
    if not rows and not folder.root.is_dir():
        return
    documents = _documents(folder)
    told = "\0".join(f"{one.path}\0{one.text}" for one in documents)
    content = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    if known is not None and known.get("content") == content and len(rows) == len(documents):
        return
    with parts.store.writing():
        there = {one.path for one in documents}
        gone = [row.id for path, row in rows.items() if path not in there]
        if gone:
            parts.store.remove(gone)
        # A sink that takes nothing: what a sync of documents did is not what happens here.
        parts.ingestor.reporting_to().add_documents(documents, CancelSwitch())
    parts.state.save(_KIND, _KEY, {"content": content})


def _documents(folder: WikiFolder) -> list[Document]:
    found: list[Document] = []
    for slug, page in sorted(folder.pages().items()):
        text, start = searchable(page)
        if text[start:].strip():
            found.append(
                Document(
                    path=f"{FOLDERS[page.kind]}/{slug}.md",
                    text=text,
                    collection=WIKI,
                    media_type="text/markdown",
                    title=page.title,
                    body_start=start,
                )
            )
    return found

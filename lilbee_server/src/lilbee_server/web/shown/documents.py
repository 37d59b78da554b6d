"""The ledger: every file with its state, the reason for it and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import quote, unquote

from lilbee_core.types import UNREAD_PAGES, DocumentRow, DocumentState
from lilbee_server.web.shown.lists import Pages, address, size

PATH = "/documents"
PARTIAL = "partial"
STATES = (*(str(one) for one in DocumentState), PARTIAL)
"""States that a list can be narrowed down to; a file that was read in part is indexed as well."""
TONES = {"indexed": "good", "partial": "warn", "missing": "warn", "failed": "bad"}
_KIND_CHARS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which documents are asked for. All words must be in what is shown of a document."""

    words: str = ""
    state: str = ""
    collection: str = ""
    page: int = 1

    @property
    def url(self) -> str:
        """The address of the list."""
        return address(PATH, q=self.words, state=self.state, collection=self.collection, page=self.page)

    def at(self, page: int) -> str:
        """Return the address of another page of the list."""
        return replace(self, page=page).url

    def of_state(self, state: str) -> str:
        """Return the address of the list of one state, from its beginning."""
        return replace(self, state=state, page=1).url

    def exclude_url(self, key: str) -> str:
        """Return the address that asks whether a document is to be taken out."""
        return address(f"{PATH}/exclude", document=key, q=self.words, state=self.state)

    @property
    def core_state(self) -> str | None:
        """The state by which the library is asked."""
        return "indexed" if self.state == PARTIAL else self.state or None

    @property
    def must_read(self) -> bool:
        """Whether rows have to be looked at to know how many there are."""
        return bool(self.words.strip()) or self.state == PARTIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A document as the list shows it. `why` says what is wrong with it, `hint` what to do about that."""

    id: str
    ref: str
    key: str
    path: str
    collection: str
    state: str
    tone: str
    title: str
    why: str
    code: str
    hint: str
    kind: str
    chunks: int
    size: str
    opens: bool
    is_excluded: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """A page of the list. `counts` are the documents of each state, whatever words are asked for."""

    entries: tuple[Entry, ...]
    pages: Pages
    counts: Mapping[str, int]

    @property
    def all(self) -> int:
        """How many documents there are."""
        return sum(self.counts.values())


def key_of(ref: str) -> str:
    """Return how forms name a document: browsers change line ends and some other characters of what they send."""
    return quote(ref)


def ref_of(key: str) -> str:
    """Return the document that a form names."""
    return unquote(key)


def entry(row: DocumentRow, *, embeds: bool) -> Entry:
    """Return a row as the list shows it; `embeds` says whether passages are to have vectors."""
    missing = _missing(row, embeds=embeds)
    state = PARTIAL if missing and row.state is DocumentState.INDEXED else str(row.state)
    why = "; ".join(part for part in (row.reason or "", missing) if part)
    return Entry(
        id=row.id,
        ref=row.ref,
        key=key_of(row.ref),
        path=row.path,
        collection=row.collection,
        state=state,
        tone=TONES.get(state, ""),
        title=row.title or "",
        why=why,
        code=row.code or "",
        hint=row.hint or (_partial_hint(row) if state == PARTIAL else ""),
        kind=row.media_type.rpartition("/")[2][:_KIND_CHARS],
        chunks=row.chunks,
        size=size(row.size),
        opens=row.holds_chunks,
        is_excluded=row.state is DocumentState.EXCLUDED,
        warnings=row.warnings,
    )


def ledger(rows: Iterable[DocumentRow], asked: Asked, counts: Mapping[str, int], *, embeds: bool) -> Ledger:
    """Return the page that is asked for. Rows are read only as far as that page, unless words narrow them down.

    Args:
        rows: Those of the state and the collection that are asked for, in their order.
        asked: What else is asked for.
        counts: How many documents of the collection are in each state.
        embeds: Whether passages are to have vectors.
    """
    if asked.must_read:
        found = list(_narrowed(rows, asked, embeds=embeds))
        pages = Pages.of(asked.page, len(found))
        shown: Iterable[DocumentRow] = found[pages.start : pages.start + pages.size]
    else:
        pages = Pages.of(asked.page, counts.get(asked.state, 0) if asked.state else sum(counts.values()))
        shown = islice(rows, pages.start, pages.start + pages.size)
    return Ledger(entries=tuple(entry(row, embeds=embeds) for row in shown), pages=pages, counts=counts)


def _narrowed(rows: Iterable[DocumentRow], asked: Asked, *, embeds: bool) -> Iterator[DocumentRow]:
    words = asked.words.casefold().split()
    for row in rows:
        if asked.state == PARTIAL and not _missing(row, embeds=embeds):
            continue
        sought = f"{row.ref} {row.media_type} {row.reason or ''} {row.title or ''}".casefold() if words else ""
        if all(word in sought for word in words):
            yield row


def _missing(row: DocumentRow, *, embeds: bool) -> str:
    """Say what of a document that is indexed is not."""
    if not row.holds_chunks:
        return ""
    unread, owed = row.metadata.get(UNREAD_PAGES), row.chunks - row.embedded
    told = [f"pictures of text on {unread} page(s) were not read"] if unread else []
    if embeds and owed > 0:
        told.append(f"{owed} of {row.chunks} passages are found by their words alone, they have no vectors yet")
    told += [f"{len(row.warnings)} warning(s)"] if row.warnings else []
    return ", ".join(told)


def _partial_hint(row: DocumentRow) -> str:
    if row.metadata.get(UNREAD_PAGES):
        return "Install an OCR engine or set a vision model, then sync with files that failed."
    return "Sync again when the embedding model works." if row.chunks > row.embedded else ""

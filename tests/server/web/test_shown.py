"""What pages show, apart from how: long lists part by part, and what is said of each thing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.events import DocumentFailed, Progress, SyncFinished
from lilbee_core.testing import a_row
from lilbee_core.types import UNREAD_PAGES, DocumentRow, DocumentState, Metadata, WikiPage
from lilbee_server.web.shown import documents, jobs, settings, wiki
from lilbee_server.web.shown.documents import Asked, ledger
from lilbee_server.web.shown.lists import Pages, address, page_number, size

MANY = 12_345


class Counted:
    """Rows that count how many of them were made."""

    def __init__(self) -> None:
        self.made = 0

    def __iter__(self) -> Iterator[DocumentRow]:
        for at in range(MANY):
            self.made += 1
            yield a_row(f"{at:05}.txt", chunks=1, embedded=1)


def test_a_part_of_a_long_list_costs_no_more_than_it_shows() -> None:
    rows = Counted()
    found = ledger(rows, Asked(page=2), {"indexed": MANY}, embeds=True)
    assert [one.path for one in found.entries] == [f"{at:05}.txt" for at in range(50, 100)]
    assert found.pages.told == "51-100 of 12,345"
    assert rows.made <= 101
    last = ledger(Counted(), Asked(page=10**9), {"indexed": MANY}, embeds=True)
    assert (last.pages.page, len(last.entries)) == (247, 45)
    narrowed = ledger(Counted(), Asked(words="0012", page=2), {"indexed": MANY}, embeds=True)
    assert (narrowed.pages.total, len(narrowed.entries)) == (10 + 2, 12)


@given(st.integers(-5, 10**7), st.integers(0, 10**6), st.integers(1, 500))
def test_every_row_stands_on_one_page(page: int, total: int, of: int) -> None:
    pages = Pages.of(page, total, size=of)
    assert 1 <= pages.page <= pages.count
    assert pages.start <= max(0, total - 1)
    assert pages.count * of >= total > (pages.count - 1) * of or (total == 0 and pages.count == 1)


@given(st.text())
def test_whatever_an_address_says_is_some_page(text: str) -> None:
    assert 1 <= page_number(text) <= 10**7


@pytest.mark.parametrize(
    ("row", "state", "why", "hint"),
    [
        (a_row(chunks=3, embedded=3), "indexed", "", ""),
        (a_row(chunks=3, embedded=1), "partial", "2 of 3 passages are found by their words alone", "Sync again"),
        (a_row(chunks=1, embedded=1, metadata=Metadata({UNREAD_PAGES: 2})), "partial", "on 2 page(s) were not", "OCR"),
        (a_row(chunks=1, embedded=1, warnings=("a part is damaged",)), "partial", "1 warning(s)", ""),
        (a_row(state=DocumentState.FAILED, code="extract.encrypted", reason="it is locked"), "failed", "it is locked",
         "LILBEE_EXTRACT_PASSWORD"),
        (a_row(state=DocumentState.EXCLUDED, code="excluded", reason="removed"), "excluded", "removed", "lilbee add"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_document(row: DocumentRow, state: str, why: str, hint: str) -> None:
    shown = documents.entry(row, embeds=True)
    assert (shown.state, shown.opens) == (state, row.holds_chunks)
    assert why in shown.why
    assert hint in shown.hint
    assert bool(shown.why) == bool(why)
    assert documents.ref_of(shown.key) == row.ref


@given(st.text())
def test_forms_name_documents_whatever_they_are_called(name: str) -> None:
    key = documents.key_of(f"notes/{name}")
    assert key.isascii()
    assert not set(key) & set("\r\n\t&<> ")
    assert documents.ref_of(key) == f"notes/{name}"


def test_how_far_a_job_is() -> None:
    assert jobs.far("reading", 3, 10, "files") == "reading, 3 of 10 files"
    assert jobs.far("downloading", 1_500_000, 4_000_000_000, "bytes") == "downloading, 1.5 MB of 4.0 GB"
    assert jobs.far("", 0, None, "files") == "begins"
    assert jobs.told(Progress(phase="reading", done=20, total=10)) == {"far": "reading, 20 of 10 files", "share": 1.0}
    failed = jobs.told(DocumentFailed(collection="n", path="{x}\x1b.pdf", code="c", reason="{0}"))
    assert failed == {"line": "failed {x}\\x1b.pdf: {0}", "bad": True}
    assert jobs.told(SyncFinished(added=1, updated=0, removed=0, failed=0, seconds=1.0)) is None


def test_a_diff_line_by_line() -> None:
    diff = "--- published/a.md\n+++ drafts/a.md\n@@ -1,3 +1,3 @@\n same\n---- a rule\n++++ a sum\n-old\n+new\n"
    assert [(one.kind, one.text) for one in wiki.diff_lines(diff)] == [
        ("file", "--- published/a.md"), ("file", "+++ drafts/a.md"), ("place", "@@ -1,3 +1,3 @@"), ("same", "same"),
        ("removed", "--- a rule"), ("added", "+++ a sum"), ("removed", "old"), ("added", "new"),
    ]  # fmt: skip


def test_links_between_pages_are_found_by_any_name() -> None:
    pages = [
        WikiPage(slug="queen-bee", title="Queen bee", kind="concept", body="", aliases=("Apis regina",)),
        WikiPage(slug="a b&c", title="<odd>", kind="thing", body=""),
    ]
    find = wiki.finder(pages)
    assert find("queen-bee") == find("QUEEN BEE") == find("apis regina#eggs") == "/wiki/page?slug=queen-bee"
    assert find("<odd>") == "/wiki/page?slug=a+b%26c"
    assert find("nobody") is None
    assert [name for name, _ in wiki.by_kind(pages)] == ["Concepts", "thing"]
    assert wiki.by_kind(pages, "regina")[0][1] == [pages[0]]


def test_settings_say_what_they_are_and_where_they_come_from() -> None:
    items = [("top_k", 7, "library"), ("fusion", "rrf", "environment"), ("hub_token", "********", "user")]
    found = {one.name: one for section in settings.found(items) for one in section.settings}
    assert (found["top_k"].default, found["top_k"].is_set_here, found["top_k"].changeable) == ("10", True, True)
    assert found["fusion"].choices == ("convex", "rrf", "weighted")
    assert found["fusion"].is_overruled
    assert not found["hub_token"].changeable
    assert [one.name for section in settings.found(items, "hits returned") for one in section.settings] == ["top_k"]
    assert not any("`" in section.about for section in settings.found([("embedding_model", "auto", "default")]))


def test_addresses_and_sizes() -> None:
    assert address("/x", q="a&b", page=1, state="", other=2) == "/x?q=a%26b&other=2"
    assert [size(one) for one in (0, 12, 1_000, 2_500_000, 3_000_000_000)] == ["", "12 B", "1.0 KB", "2.5 MB", "3.0 GB"]

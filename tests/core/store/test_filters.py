"""Filters: the same rules in SQL and in Python, applied before ranking, safe against any value (R363)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lilbee_core.errors import InvalidFilter
from lilbee_core.store import Store, matches
from lilbee_core.types import Chunk, Filter, Location
from tests.core.store._build import DIMENSION, Words, a_document, ids, unit_vectors

PATHS = (
    "a.md", "notes/a.md", "notes/sub/a.md", "notes/sub/b.PDF", "Notes/a.md", "it's/o''clock.md", "100%/x_y.txt",
    "100x/xzy.txt", "new\nline.md", "tab\there.txt", "🐝/bien\u0113.md", "[x]/a.md", "a*b/c?.md", "back\\slash.md",
    "$.^(|)+{}.md", "-dash.md", "deep/er/and/er.md", "dots..md", 'q"uote.md', "sp ace/x.md", "archive.zip",
)  # fmt: skip
KINDS = ("text/markdown", "application/pdf", "text/plain", "TEXT/HTML")
LANGUAGES = ("en", "de", None)
DATES = ("2024-05-01", "2024-05-01T10:00:00Z", "2023-12-31", None)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, list[Chunk]]]:
    documents = [
        a_document(
            f"doc{number}",
            (f"word{number % 3} common", "common filler"),
            path=path,
            collection="notes" if number % 2 else "it's",
            media_type=KINDS[number % 4],
            language=LANGUAGES[number % 3],
            date=DATES[number % 4],
            location=Location(member="inner/a.pdf" if path.endswith(".zip") else None),
            vectors=unit_vectors(2, number),
        )
        for number, path in enumerate(PATHS)
    ]
    with Store.open(tmp_path_factory.mktemp("filters")) as store:
        store.put(documents)
        yield store, [chunk for one in documents for chunk in one.chunks]


def brute_force(library: tuple[Store, list[Chunk]], filters: Filter) -> set[str]:
    return {chunk.id for chunk in library[1] if matches(filters, chunk)}


PIECES = (
    "*",
    "**",
    "?",
    "/",
    "a",
    ".md",
    "notes",
    "[a-z]",
    "[!n]",
    "[",
    "]",
    "%",
    "_",
    "'",
    "\\",
    "🐝",
    "(",
    "\n",
    ".",
)
NAMES = ("pdf", ".md", "*.txt", "text/*", "TEXT/plain", "a'b", "%")
pieces = st.sampled_from(PIECES)
patterns = st.one_of(st.lists(pieces, min_size=1, max_size=6).map("".join), st.sampled_from(PATHS), st.text(max_size=8))
filters_ = st.builds(
    Filter,
    paths=st.lists(patterns, max_size=2).map(tuple),
    media_types=st.lists(st.sampled_from(NAMES), max_size=2).map(tuple),
    languages=st.lists(st.sampled_from(["en", "DE", "x'"]), max_size=2).map(tuple),
    collections=st.lists(st.sampled_from(["notes", "it's", "' OR 1=1 --"]), max_size=2).map(tuple),
    document_ids=st.lists(st.sampled_from(["doc1", "doc2", "'"]), max_size=2).map(tuple),
    after=st.sampled_from([None, "2024", "2024-05-01", "2024-05-01T09:00"]),
    before=st.sampled_from([None, "2024-05-02", "2024-05-01T11:00:00Z", "2024"]),
)


@given(filters_)
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_a_filtered_search_is_a_search_among_what_passes(library: tuple[Store, list[Chunk]], filters: Filter) -> None:
    store, chunks = library
    try:
        passing = brute_force(library, filters)
    except InvalidFilter:
        with pytest.raises(InvalidFilter):
            store.count(filters=filters)
        return
    assert store.count(filters=filters) == len(passing)
    assert set(ids(store.lexical(Words("common"), limit=len(chunks), filters=filters))) == passing
    query = np.ones(DIMENSION, dtype=np.float32)
    everything = ids(store.dense(query, limit=len(chunks)))
    ranked = [id_ for id_ in everything if id_ in passing]
    for limit in (3, len(chunks)):
        assert ids(store.dense(query, limit=limit, filters=filters)) == ranked[:limit]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("notes/", ["notes/a.md", "notes/sub/a.md", "notes/sub/b.PDF"]),
        ("notes", ["notes/a.md", "notes/sub/a.md", "notes/sub/b.PDF"]),
        ("/notes/a.md", ["notes/a.md"]),
        ("./notes/sub", ["notes/sub/a.md", "notes/sub/b.PDF"]),
        ("sub", ["notes/sub/a.md", "notes/sub/b.PDF"]),
        ("notes/*", ["notes/a.md"]),
        ("notes/**", ["notes/a.md", "notes/sub/a.md", "notes/sub/b.PDF"]),
        ("**/b.PDF", ["notes/sub/b.PDF"]),
        ("notes/**/a.md", ["notes/a.md", "notes/sub/a.md"]),
        ("?.md", ["a.md", "notes/a.md", "notes/sub/a.md", "Notes/a.md", "sp ace/x.md", "[x]/a.md"]),
        ("[N]otes/*", ["Notes/a.md"]),
        ("er.md", ["deep/er/and/er.md"]),
        ("100%", ["100%/x_y.txt"]),
        ("x_y.txt", ["100%/x_y.txt"]),
        ("it's/o''clock.md", ["it's/o''clock.md"]),
        ("new\nline.md", ["new\nline.md"]),
        ("🐝/*", ["🐝/bien\u0113.md"]),
        ("🐝/biene\u0304.md", ["🐝/bien\u0113.md"]),  # decomposed, as some systems type it
        ("back\\slash.md", ["back\\slash.md"]),
        ("$.^(|)+{}.md", ["$.^(|)+{}.md"]),
        ("[x", []),
    ],
)
def test_path_patterns(library: tuple[Store, list[Chunk]], pattern: str, found: list[str]) -> None:
    filters = Filter(paths=(pattern,))
    assert sorted({chunk.path for chunk in library[1] if matches(filters, chunk)}) == sorted(found)
    assert library[0].count(filters=filters) == 2 * len(found)


@pytest.mark.parametrize(
    "filters",
    [
        Filter(paths=("",)),
        Filter(paths=("  ",)),
        Filter(paths=("/",)),
        Filter(paths=("x" * 2_000,)),
        Filter(paths=("a\x00b",)),
        Filter(media_types=("",)),
        Filter(media_types=("/pdf",)),
        Filter(media_types=("te*t/plain",)),
        Filter(after="yesterday"),
        Filter(before="2024-1-1"),
        Filter(after="2024-13-01"),
        Filter(before="2023-02-29"),
        Filter(before="2024-00"),
        Filter(collections=("a\x00",)),
    ],
)
def test_filters_that_mean_nothing_are_refused(library: tuple[Store, list[Chunk]], filters: Filter) -> None:
    with pytest.raises(InvalidFilter) as caught:
        library[0].count(filters=filters)
    assert caught.value.hint


def test_media_types_may_be_extensions_also_of_members(library: tuple[Store, list[Chunk]]) -> None:
    found = {chunk.path for chunk in library[1] if matches(Filter(media_types=("pdf",)), chunk)}
    assert found == {"notes/sub/b.PDF", "archive.zip"}
    assert library[0].count(filters=Filter(media_types=("pdf",))) == 4


def test_many_ids_may_be_asked_for(library: tuple[Store, list[Chunk]]) -> None:
    many = tuple(f"doc{number}" for number in range(5_000))
    assert library[0].count(filters=Filter(document_ids=many)) == len(library[1])

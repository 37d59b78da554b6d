import pytest

from lilbee_core.search import parse_query, split_mode
from lilbee_core.types import Filter


@pytest.mark.parametrize(
    ("text", "words", "filters"),
    [
        ("bees path:notes/", "bees", Filter(paths=("notes/",))),
        ("path:notes/** path:*.md bees", "bees", Filter(paths=("notes/**", "*.md"))),
        ('path:"my notes/" bees', "bees", Filter(paths=("my notes/",))),
        (r"path:notes\old bees", "bees", Filter(paths=("notes/old",))),
        ("bees type:pdf", "bees", Filter(media_types=("pdf",))),
        ("bees type:.PDF type:*.md", "bees", Filter(media_types=("pdf", "md"))),
        ("bees type:text/*", "bees", Filter(media_types=("text/*",))),
        ("bees lang:de", "bees", Filter(languages=("de",))),
        ("bees lang:zh-CN", "bees", Filter(languages=("zh",))),
        ("bees collection:docs", "bees", Filter(collections=("docs",))),
        ("bees after:2024", "bees", Filter(after="2024-01-01")),
        ("bees after:2024-3 before:2024-04-09", "bees", Filter(after="2024-03-01", before="2024-04-09")),
        ("bees after:2023 after:2024", "bees", Filter(after="2024-01-01")),
        ("one path:x two", "one  two", Filter(paths=("x",))),
        ("path:x", "", Filter(paths=("x",))),
    ],
)
def test_filters_leave_the_text(text, words, filters):
    parsed = parse_query(text)

    assert (parsed.words, parsed.filters, parsed.warnings) == (words, filters, ())


@pytest.mark.parametrize(
    "text",
    [
        "std::vector", "note: buy milk", r"C:\dir\file", "type: ignore", "path:", "path::join", 'say "path:notes/" now',
        "http://example.org/type:pdf", "xpath:notes", "PATH:notes", "after: noon", "title:budget",
        "budget {0}, trace: {1}",
    ],
)  # fmt: skip
def test_everything_else_is_words(text):
    parsed = parse_query(text)

    assert (parsed.words, parsed.filters, parsed.warnings) == (text, Filter(), ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bees after:2024-13", "no date"),
        ("bees before:yesterday", "no date"),
        ("bees after:2023-02-29", "no date"),
        ("bees lang:klingon", "no language code"),
        ("bees type:a/b/c", "no file type"),
        ("bees path:/", "no folder"),
    ],
)
def test_a_known_key_with_a_bad_value_is_words_with_a_warning(text, why):
    parsed = parse_query(text)

    assert parsed.words == text
    assert parsed.filters.is_empty
    assert why in parsed.warnings[0]
    assert text.split()[-1] in parsed.warnings[0]


def test_an_unknown_collection_is_told_with_the_nearest_name():
    parsed = parse_query("bees collection:dosc", collections=["docs", "mail"])

    assert parsed.words == "bees collection:dosc"
    assert "did you mean docs" in parsed.warnings[0]
    assert parse_query("bees collection:docs", collections=["docs"]).filters == Filter(collections=("docs",))


def test_dates_that_leave_no_day_are_told():
    assert "no day" in parse_query("bees after:2024 before:2023").warnings[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("term: bees", ("keyword", "bees")),
        ("term:bees", ("keyword", "bees")),
        (" vec: bees", ("semantic", "bees")),
        ("hyde: bees", ("hyde", "bees")),
        ("term::bees", (None, "term::bees")),
        ("midterm: bees", (None, "midterm: bees")),
        ("Term: bees", (None, "Term: bees")),
        ("bees term: x", (None, "bees term: x")),
    ],
)
def test_prefixes_choose_the_profile(text, expected):
    assert split_mode(text) == expected


@pytest.mark.parametrize(
    ("text", "meant"),
    [("pth:notes/", "path"), ("bees types:pdf", "type"), ("langs:de", "lang"), ('colection:"my notes"', "collection")],
)
def test_a_misspelled_key_is_told_with_the_nearest(text, meant):
    parsed = parse_query(text)

    assert parsed.filters.is_empty
    assert parsed.words == text
    assert f"did you mean {meant}:?" in parsed.warnings[0]


@pytest.mark.parametrize(
    "text", ["part:3 of it", "std::vector", "types: pdf", "befor:lunch", '"pth:notes/"', "pth://x"]
)
def test_what_is_no_misspelled_filter_is_not_told(text):
    assert parse_query(text).warnings == ()

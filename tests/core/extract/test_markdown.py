"""Markdown: the file untouched, its headings, its front matter (R021)."""

from __future__ import annotations

import time

import pytest

from lilbee_core.extract._context import FileContext
from lilbee_core.extract._markdown import MarkdownExtractor
from lilbee_core.types import Document, Source


def read(text: str) -> Document:
    source = Source(collection="notes", path="a.md", media_type="text/markdown", data=text.encode())
    return MarkdownExtractor().extract(source, FileContext(max_chars=10_000_000))


def titles(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in read(text).headings]


def test_front_matter_becomes_metadata_and_the_text_stays_whole() -> None:
    text = "---\ntitle: Bees\ndate: 2024-05-01\ntags: [alpha, beta]\nlang: en_GB\nrank: 3\n---\n# Hive\n\nBody.\n"
    document = read(text)
    assert document.text == text
    assert text[document.body_start :] == "# Hive\n\nBody.\n"
    assert (document.title, document.date, document.language) == ("Bees", "2024-05-01", "en-gb")
    assert document.metadata["tags"] == ("alpha", "beta")
    assert document.metadata["rank"] == 3


def test_toml_front_matter_is_read() -> None:
    document = read('+++\ntitle = "Bees"\ndate = 2024-05-01T10:00:00Z\n[extra]\nweight = 2\n+++\nBody\n')
    assert (document.title, document.date) == ("Bees", "2024-05-01T10:00:00+00:00")
    assert document.metadata["extra.weight"] == 2


@pytest.mark.parametrize(
    "block",
    [
        "title: [unclosed",
        "a: b: c",
        "date: 2024-13-45",
        "a: &x 1\nb: *x",
        "a: &a [1,1]\nb: &b [*a,*a]\nc: [*b,*b]",
        "? [list, key]\n: 1",
        "\tb: 1",
        "a: !!python/object/apply:os.system ['true']",
    ],
)
def test_broken_front_matter_is_a_warning_and_stays_text(block: str) -> None:
    document = read(f"---\n{block}\n---\n# Hive\n")
    assert document.body_start == 0
    assert "front matter" in document.warnings[0]
    assert document.title == "Hive"


@pytest.mark.parametrize(
    "text", ["---\n\nA rule above.\n\n---\nmore\n", "---\njust words\n---\n", "---\n", "----\na: 1\n"]
)
def test_rules_are_no_front_matter(text: str) -> None:
    document = read(text)
    assert document.body_start == 0
    assert document.warnings == ()


def test_values_that_json_cannot_hold_are_made_harmless() -> None:
    document = read("---\na: .nan\nb: 99999999999999999999\nc: 12:30:45\nd: null\n---\n")
    assert document.metadata["a"] == "nan"
    assert document.metadata["b"] == "1e+20"
    assert document.metadata["d"] is None


def test_title_is_the_first_heading_of_level_one() -> None:
    assert read("## Two\n# One\n").title == "One"
    assert read("## Two\n").title is None


def test_headings_in_fences_and_comments_are_none() -> None:
    text = (
        "# A\n```sh\n# no\n```\n~~~\n## no\n~~~~\n<!-- # no\n# no\n-->\n    # no\n## B ##\n````\n```\n# no\n````\n### C"
    )
    assert titles(text) == [(1, "A"), (2, "B"), (3, "C")]


def test_setext_headings_are_found() -> None:
    assert titles("Title\n=====\n\nPart\n---\n\n- item\n---\n\n| a |\n|---|\n") == [(1, "Title"), (2, "Part")]


def test_heading_offsets_point_at_their_lines() -> None:
    text = "---\ntitle: x\n---\nIntro\n\n# One\ntext\n\nTwo\n---\n"
    document = read(text)
    assert [text[heading.start :].split("\n", 1)[0] for heading in document.headings] == ["# One", "Two"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# **Bold** and *it*", "Bold and it"),
        ("# `code_name` of snake_case", "code_name of snake_case"),
        ("# [Link](http://x.example/a_(b)) ![](pic.png)", "Link"),
        ("# Anchor {#here}", "Anchor"),
        ("# 5 \\* 3 &amp; more", "5 * 3 & more"),
        ("#\tTab ###", "Tab"),
        ("# C#", "C#"),
        ('<h1 align="center">Name <img src="x.png"></h1>', "Name"),
    ],
)
def test_titles_read_as_a_reader_sees_them(line: str, title: str) -> None:
    assert titles(line) == [(1, title)]


@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 300_000 + "b",
        "# " + "*a" * 100_000,
        "# " + "[" * 200_000,
        "word " * 200_000 + "\n===\n",
        "`" * 300_000,
        "<!--" * 50_000,
        "- " * 150_000,
        "#" * 300_000,
        "    " * 100_000 + "```",
        "<h1>" * 50_000,
    ],
)
def test_long_lines_take_no_longer_than_others(text: str) -> None:
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 1


@pytest.mark.parametrize("line", ["#hashtag", "####### seven", "#", "# "])
def test_other_lines_are_no_headings(line: str) -> None:
    assert titles(line) == []

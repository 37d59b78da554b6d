"""Light markup: reStructuredText, Org, AsciiDoc and LaTeX stay as they are and name their headings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.extract._titles import headings_of
from lilbee_core.types import Document

ReadDocument = Callable[..., Document]
SAMPLES = {
    "a.org": (
        "#+TITLE: x\n* Harbor :tag:\ntext\n** TODO [#A] Pier\n#+BEGIN_SRC sh\n* no heading\n#+END_SRC\n*bold* no\n",
        [(1, "Harbor"), (2, "Pier")],
    ),
    "a.adoc": (
        "= Harbor\nAuthor\n\n== Pier ==\ntext\n----\n== code\n----\n=== Crane\n",
        [(1, "Harbor"), (2, "Pier"), (3, "Crane")],
    ),
    "a.tex": (
        (
            "\\documentclass{article}\n\\section{Harbor \\emph{old}}\ntext\n"
            "  \\subsection*[short]{Pier {A}} \\label{x}\n% \\section{no}\n"
        ),
        [(2, "Harbor old"), (3, "Pier A")],
    ),
    "a.rst": (
        (
            "======\nHarbor\n======\n\nPier\n----\n\ntext\n\nCrane\n~~~~~\n\n"
            "Winch\n-----\n\n=====  =====\ncol a  col b\n=====  =====\n"
        ),
        [(1, "Harbor"), (2, "Pier"), (3, "Crane"), (2, "Winch")],
    ),
}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_headings_with_their_lines(name: str, document: ReadDocument) -> None:
    text, headings = SAMPLES[name]
    found = document(name, text.encode())
    assert found.text == text
    assert found.has_lines
    assert [(one.level, one.title) for one in found.headings] == headings
    for one in found.headings:
        assert one.start == 0 or text[one.start - 1] == "\n"
        assert one.title.split()[0] in text[one.start :].split("\n")[0]


def test_subtitles_and_logs_have_none(document: ReadDocument) -> None:
    for name in ("a.vtt", "a.srt", "a.log", "a.txt"):
        assert document(name, b"* x\n= y\n\\section{z}\nw\n===\n").headings == ()


@given(
    st.sampled_from(["text/x-org", "text/x-asciidoc", "text/x-tex", "text/x-rst"]),
    st.text("*=#-~ \\{}[]:a\n", max_size=200),
)
def test_any_text_has_headings_at_its_lines(kind: str, text: str) -> None:
    for one in headings_of(text, kind):
        assert one.title
        assert 1 <= one.level <= 6
        assert one.start == 0 or text[one.start - 1] == "\n"

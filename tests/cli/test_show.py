"""`lilbee show` opens a document at the place that a hit names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.core.extract._files import pdf, pptx, shape, xlsx


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("a.md:3-4",), "line 3\nline 4\n"),
        (("a.md:3", "--around", "1"), "line 2\nline 3\nline 4\n"),
        (("b.pdf#page=2",), "second page\n"),
        (("d.pptx#slide=2",), "Two\n"),
        (("c.xlsx#Fees!A2:B2",), "Pier 3 | 3.50\n"),
    ],
)
def test_places(folder: Path, lilbee: Run, arguments: tuple[str, ...], text: str) -> None:
    (folder / "a.md").write_text("\n".join(f"line {n}" for n in range(1, 9)))
    (folder / "b.pdf").write_bytes(pdf([(11, "first page")], [(11, "second page")]))
    (folder / "c.xlsx").write_bytes(xlsx({"Fees": [["Pier", "Fee"], ["Pier 3", "3.50"]]}))
    (folder / "d.pptx").write_bytes(pptx([shape("One"), shape("Two")]))
    assert lilbee("init", str(folder)).code == 0
    assert lilbee("sync").code == 0
    shown = lilbee("show", *arguments)
    assert (shown.code, shown.out) == (0, text)

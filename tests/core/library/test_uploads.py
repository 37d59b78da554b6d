"""Names and places of uploaded files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument, NotFound, UnsupportedFormat
from lilbee_core.library._uploads import upload_name
from lilbee_core.testing import HashEmbedder


@pytest.mark.parametrize(
    "name", ["report.pdf", "Bericht über Bienen.docx", "日報.txt", "a", "x.tar.gz", "-rf.md", "e\u0301.md"]
)
def test_names_of_files(name: str) -> None:
    assert upload_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "C:x",
        "a\0b",
        "a\nb",
        ".htaccess",
        "nul",
        "COM1.txt",
        "x.",
        "a" * 201,
        "\u202egnp",
    ],
)
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(InvalidArgument):
        upload_name(name)


@given(st.text(max_size=80))
def test_a_name_never_leads_anywhere_else(name: str) -> None:
    try:
        plain = upload_name(name)
    except InvalidArgument:
        return
    folder = Path("/somewhere/uploads")
    assert (folder / plain).parent == folder
    assert upload_name(plain) == plain


def test_an_uploaded_file_is_a_document_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    with Lilbee(tmp_path / "lib", embedder=HashEmbedder()) as bee:
        for text in ("Ants carry leaves.", "Ants carry crumbs."):
            (tmp_path / "part").write_text(text, encoding="utf-8")
            kept = bee.collections.upload(tmp_path / "part", "ants.md")
            assert not (tmp_path / "part").exists()
            bee.add(kept)
            assert bee.get_text("uploads/ants.md").text == text
        assert [one.name for one in bee.collections.list()] == ["lib", "uploads"]
        (tmp_path / "part").write_bytes(b"MZ\x90\x00\x03\x00\x00\x00")
        with pytest.raises(UnsupportedFormat):
            bee.collections.upload(tmp_path / "part", "tool.exe")
        bee.sync(collections=[bee.collections.remove_upload("ants.md")], prune=True)
        assert list(bee.documents(collection="uploads")) == []
        with pytest.raises(NotFound):
            bee.collections.remove_upload("ants.md")

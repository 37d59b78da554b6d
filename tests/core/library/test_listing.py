"""Documents are listed in one order whatever their names are written in, and counted without being listed."""

from __future__ import annotations

import pytest

from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.testing import open_test_library
from lilbee_core.types import Document

NAMES = ("Zebra.md", "a/b.md", "a b.md", "a.md", "Ähre.md", "é.md", "日本.md", "\U0001f41d.md", "\uffee.md", "z.md")


def test_order_and_counts() -> None:
    files: dict[str, str | bytes] = {f"{name}": f"The text of {name}." for name in NAMES}
    with open_test_library(files={**files, "broken.pdf": b"%PDF-1.4 nothing of a file\n"}) as bee:
        bee.add_documents([Document(path="note.md", text="A note.", collection="memory")])
        rows = list(bee.documents())
        assert [(row.collection, row.path) for row in rows] == sorted((row.collection, row.path) for row in rows)
        assert len(rows) == len(NAMES) + 2
        name = next(row.collection for row in rows if row.path == "a.md")
        assert bee.collections.states() == {
            "indexed": len(NAMES) + 1, "skipped": 0, "failed": 1, "missing": 0, "excluded": 0,
        }  # fmt: skip
        bee.remove("a.md")
        assert bee.collections.states(name)["excluded"] == 1
        assert bee.collections.states("memory")["indexed"] == 1
        assert dict(bee.status().states) == bee.collections.states()
        with pytest.raises(NotFound, match="there is no collection 'nowhere'"):
            bee.collections.states("nowhere")


def test_paths_that_are_odd_are_explained_all_the_same() -> None:
    with open_test_library(files={"~nobody.md": "Kept by an editor."}) as bee:
        assert bee.explain_path("~nobody.md").state == "indexed"
        assert bee.explain_path("x" * 5000).state == "absent"
        with pytest.raises(InvalidArgument, match="cannot be the name of a file"):
            bee.explain_path("a\0b")

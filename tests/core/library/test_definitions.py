"""In a library with code, a name leads to where it is defined, whatever else speaks of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder

HIVE = '''"""Hives."""

from scale import weigh


class Hive:
    """A hive on its scale."""

    def weigh_honey(self):
        """Weigh the honey of the hive."""
        return weigh(self)


def harvest(hive):
    if hive.weigh_honey() > 12:
        return hive.weigh_honey() - 12
    return 0
'''
NOTES = "weigh_honey weigh_honey weigh_honey: what to know of weigh_honey.\n\nweigh_honey is called weigh_honey.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hive.py").write_text(HIVE)
    for number in range(12):
        (tmp_path / f"notes{number}.md").write_text(f"# Notes {number}\n\n{NOTES}")
        (tmp_path / f"use{number}.py").write_text(
            f"def use_{number}(hive):\n    return hive.weigh_honey(), weigh_honey\n"
        )
    return tmp_path


@pytest.mark.parametrize("query", ["weigh_honey", "Hive.weigh_honey", "weigh_honey()", "term: weigh_honey"])
def test_a_name_lands_on_its_definition(folder: Path, query: str) -> None:
    with Lilbee(folder, embedder=HashEmbedder()) as bee:
        bee.sync()
        hit = bee.search(query, top_k=3).hits[0]
        assert hit.path == "hive.py"
        assert "def weigh_honey" in hit.text


def test_words_beside_the_name_are_a_plain_search(folder: Path) -> None:
    with Lilbee(folder, embedder=HashEmbedder()) as bee:
        bee.sync()
        result = bee.search("what to know of weigh_honey", top_k=3)
        assert result.hits[0].path.startswith("notes")
        assert next(one.note for one in result.reports if one.name == "define") == "the query is no name"

"""Named collections, and questions that see only some of them (R191, R305, R362-R364)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Document, Filter, Lilbee, Query, Settings
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Scope

CROWD = 40
PAGE = "<html><head><title>Harbor</title></head><body><p>The harbor swan sleeps on one leg.</p></body></html>"


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    """A collection crowded with what is asked for, a small one, saved pages, and documents from memory."""
    for name in ("crowd", "few", "pages"):
        (tmp_path / name).mkdir()
    for number in range(CROWD):
        (tmp_path / "crowd" / f"{number:02}.md").write_text(f"The swan swims. Swan number {number}.\n", "utf-8")
    (tmp_path / "few" / "bird.md").write_text("A long list of birds, among them a heron, a swan and a coot.\n", "utf-8")
    (tmp_path / "pages" / "harbor.html").write_text(PAGE, "utf-8")
    with Lilbee(settings=Settings(), data_dir=tmp_path / "data", embedder=HashEmbedder()) as bee:
        for name in ("crowd", "few", "pages"):
            bee.collections.add(tmp_path / name)
    with Lilbee(data_dir=tmp_path / "data", embedder=HashEmbedder()) as bee:
        bee.sync()
        bee.add_documents([Document(path="note", collection="memory", text="The swan of my dream.")])
        yield bee


def test_every_kind_of_collection_is_listed_and_goes_the_same_way(bee: Lilbee) -> None:
    assert {one.name: one.documents for one in bee.collections.list()} == {
        "crowd": CROWD,
        "few": 1,
        "pages": 1,
        "memory": 1,
    }
    hit = bee.search("harbor swan", filters=bee.collections.filter("pages"))[0]
    assert (hit.path, hit.chunk.title) == ("harbor.html", "Harbor")


@pytest.mark.parametrize("profile", ["default", "keyword", "semantic"])
def test_scoping_is_done_before_ranking(bee: Lilbee, profile: str) -> None:
    """The crowd fills every list of candidates; had it been taken out afterwards, nothing would be left."""
    everywhere = bee.search("swan", profile=profile, top_k=CROWD)
    assert sum(hit.collection == "crowd" for hit in everywhere) > 3
    assert bee.search("swan", profile=profile, top_k=1)[0].collection == "crowd"
    for name, path in (("few", "bird.md"), ("memory", "note")):
        for query in ("swan", f"swan collection:{name}"):
            only = bee.collections.filter(name) if "collection:" not in query else Filter()
            result = bee.search(query, profile=profile, top_k=1, filters=only)
            assert [(hit.collection, hit.path) for hit in result] == [(name, path)]
    both = bee.search("swan", profile=profile, filters=bee.collections.filter("few", "memory"))
    assert {hit.collection for hit in both} == {"few", "memory"}


def test_words_and_meaning_take_part_within_a_collection(bee: Lilbee) -> None:
    result = bee.search("swan heron", filters=bee.collections.filter("few"))
    assert {"dense", "lexical", "fused"} <= set(dict(result[0].scores))
    assert [report.status for report in result.reports if report.name in ("dense", "lexical")] == ["ok", "ok"]


def test_a_question_sees_only_the_collections_it_is_pointed_at(bee: Lilbee) -> None:
    answer = bee.ask("Which birds are on the list?", filters=bee.collections.filter("few"))
    assert {citation.collection for citation in answer.citations} == {"few"}
    assert bee.ask("Where does the harbor swan sleep?", filters=bee.collections.filter("few")).found is False


def test_a_collection_that_is_not_there_is_told(bee: Lilbee) -> None:
    with pytest.raises(NotFound, match="fewer"):
        bee.collections.filter("fewer")


def test_a_query_may_ask_for_files_wiki_pages_or_both(bee: Lilbee) -> None:
    """There are no wiki pages yet, so what is asked of them alone finds nothing."""
    found = {scope: len(bee.search("swan heron", scope=scope)) for scope in ("raw", "wiki", "both")}
    assert found["raw"] == found["both"] > 0
    assert found["wiki"] == 0
    assert len(bee.search(Query(text="swan", scope=Scope.WIKI))) == 0
    with pytest.raises(InvalidArgument, match="'everything' is no scope"):
        bee.search("swan", scope="everything")


# --------------------------------------------------------------------------- name, path and globs

GLOBBED = {
    "MEMORY.md": "memory",
    "memory/2026/may.md": "may",
    "memory/list.txt": "list",
    "memory/draft/june.md": "june",
    ".hidden/plan.md": "plan",
    "other/MEMORY.md": "inner",
    "README.md": "readme",
}
# include, exclude, and what is indexed then
GLOBS = [
    ((), (), set(GLOBBED)),
    (("/MEMORY.md", "memory/**/*.md"), (), {"MEMORY.md", "memory/2026/may.md", "memory/draft/june.md"}),
    (("MEMORY.md", "memory/**/*.md"), ("draft/",), {"MEMORY.md", "memory/2026/may.md", "other/MEMORY.md"}),
    (("*.md",), ("memory/",), {"MEMORY.md", ".hidden/plan.md", "other/MEMORY.md", "README.md"}),
    ((".hidden/",), (), {".hidden/plan.md"}),
    ((), ("*.md",), {"memory/list.txt"}),
]


@pytest.mark.parametrize(("include", "exclude", "indexed"), GLOBS)
def test_globs_choose_the_files_of_a_collection(
    tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], indexed: set[str]
) -> None:
    root = tmp_path / "notes"
    for name, word in GLOBBED.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"A text on {word}.\n", encoding="utf-8")
    outside = tmp_path / "outside.md"
    outside.write_text("A text from outside.\n", encoding="utf-8")
    (root / "link.md").symlink_to(outside)
    with Lilbee(data_dir=tmp_path / "data", overrides={"embedding_model": "none"}) as bee:
        bee.collections.add(root, name="chosen", include=include, exclude=exclude)
        bee.sync()
        rows = list(bee.documents(collection="chosen", state="indexed"))
    assert {row.path for row in rows} == indexed

"""A wiki of quoted sentences: built without a model, edited by people, rebuilt where sources changed (R216-R218)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import AsyncLilbee, Lilbee, Settings
from lilbee_core.concepts import can_cluster
from lilbee_core.errors import NotFound, WikiError
from lilbee_core.testing import HashEmbedder
from lilbee_core.text import check_quote

pytestmark = pytest.mark.skipif(not can_cluster(), reason="graspologic-native is not installed")

SENTENCES = (
    "The honey bee carries pollen from the almond orchards of Kent to its hive every spring.",
    "Almond orchards of Kent need the honey bee, since no wind carries their pollen far enough.",
    "In a warm spring the honey bee leaves for the almond orchards of Kent before the sun is up.",
    "Near Lake Geneva the World Health Organization (WHO) counted who had fallen ill this winter.",
    "The World Health Organization sits at Lake Geneva and reports on illness every single week.",
    "Nobody at Lake Geneva had asked the World Health Organization to look at [[links]] and <b>signs</b>.",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for number, text in enumerate(SENTENCES):
        (root / f"{number}.md").write_text(f"{text}\n", encoding="utf-8")
    return root


@pytest.fixture
def bee(folder: Path) -> Iterator[Lilbee]:
    with Lilbee(folder, Settings(), embedder=HashEmbedder()) as made:
        made.sync()
        yield made


def files(bee: Lilbee) -> dict[str, str]:
    root = bee.wiki.folder
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.md"))}


def test_pages_quote_what_several_documents_say(bee: Lilbee) -> None:
    plan = bee.wiki.build()
    page = bee.wiki.require("world-health-organization")

    assert {one.reason for one in plan.pages} == {"new"}
    assert plan.calls == 0
    assert (page.title, page.kind, page.aliases) == ("World Health Organization", "entity", ("WHO",))
    assert "Also: WHO" in page.body
    assert "[[lake-geneva|Lake Geneva]]" in page.body
    assert r"look at \[\[links\]\] and \<b\>signs\</b\>. [^3]" in page.body
    assert {"concepts/honey-bee.md", "entities/lake-geneva.md", "index.md", "log.md"} <= set(files(bee))
    assert "- [[honey-bee|honey bee]]" in files(bee)["index.md"]
    with pytest.raises(NotFound):
        bee.wiki.require("nothing")


def test_every_citation_stands_in_its_passage(bee: Lilbee) -> None:
    bee.wiki.build()
    cited = [one for page in bee.wiki.pages() for one in bee.wiki.citations(page.slug)]
    texts = {chunk.id: chunk.text for chunk in bee._parts.store.get([one.chunk_id for one in cited])}

    assert len(cited) > 5
    for one in cited:
        assert one.quote_span is not None
        assert one.quote_span.cut(texts[one.chunk_id]) == one.quote
        assert check_quote(one.quote, texts[one.chunk_id])


def test_every_link_leads_somewhere(bee: Lilbee) -> None:
    import re

    bee.wiki.build()
    written = files(bee)
    names = {Path(name).stem for name in written}
    bodies = [text.partition("\n---\n")[2] or text for text in written.values()]
    links = {link for body in bodies for link in re.findall(r"(?<!\\)\[\[([^|\]]+)", body)}

    assert links
    assert links <= names


def test_a_second_build_changes_no_byte(bee: Lilbee) -> None:
    bee.wiki.build()
    before = files(bee)
    again = bee.wiki.build()

    assert (again.pages, again.removed) == ((), ())
    assert files(bee) == before


def test_a_plan_writes_nothing(bee: Lilbee) -> None:
    plan = bee.wiki.plan()

    assert plan.pages
    assert not bee.wiki.folder.exists()


def test_only_pages_whose_sources_changed_are_written_and_others_retire(bee: Lilbee, folder: Path) -> None:
    bee.wiki.build()
    before = files(bee)
    for number in (0, 1, 2):
        (folder / f"{number}.md").unlink()
    bee.sync()
    plan = bee.wiki.build()
    now = files(bee)

    assert "honey-bee" in plan.removed
    assert now["archive/honey-bee.md"] == before["concepts/honey-bee.md"]
    assert "concepts/honey-bee.md" not in now
    changed = {one.slug for one in plan.pages} | {"index", "log"}
    kept = [name for name in now if name in before and Path(name).stem not in changed]
    assert [now[name] for name in kept] == [before[name] for name in kept]
    assert "honey-bee" not in now["index.md"]
    assert now["log.md"].count("build:") == 2


def edit(bee: Lilbee, name: str, old: str, new: str) -> str:
    file = bee.wiki.folder / name
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def sailors(bee: Lilbee, folder: Path) -> dict[str, str]:
    """Add a document about Lake Geneva, build, and return why pages changed."""
    (folder / "6.md").write_text(
        "Sailors say that Lake Geneva freezes when the World Health Organization sleeps in winter.\n", encoding="utf-8"
    )
    bee.sync()
    return {one.slug: one.reason for one in bee.wiki.build().pages}


def test_what_somebody_wrote_into_a_page_is_merged_with_the_new_text(bee: Lilbee, folder: Path) -> None:
    bee.wiki.build()
    edit(bee, "entities/lake-geneva.md", "## Goes with", "My own words.\n\n## Goes with")
    assert bee.wiki.build().pages == (), "its sources are the same"
    reasons = sailors(bee, folder)
    page = bee.wiki.require("lake-geneva")

    assert reasons["lake-geneva"] == "merged with what was edited by hand"
    assert "My own words." in page.body
    assert "Sailors" in page.body
    assert page.body.count("[^1]:") == 1
    assert bee.wiki.drafts.list() == ()
    assert bee.wiki.build().pages == ()


def test_what_cannot_be_merged_stays_and_the_new_text_is_a_draft(bee: Lilbee, folder: Path) -> None:
    bee.wiki.build()
    edited = edit(bee, "entities/lake-geneva.md", "this winter", "last winter")
    (folder / "3.md").write_text(
        "Near Lake Geneva the World Health Organization (WHO) counted who had fallen ill this summer.\n", "utf-8"
    )
    bee.sync()
    reasons = {one.slug: one.reason for one in bee.wiki.build().pages}
    diff = bee.wiki.drafts.diff("lake-geneva")

    assert "draft" in reasons["lake-geneva"]
    assert files(bee)["entities/lake-geneva.md"] == edited
    assert [one.slug for one in bee.wiki.drafts.list()] == ["lake-geneva"]
    assert (diff.reason, diff.is_new) == ("the page was edited by hand", False)
    assert "-- Near [[lake-geneva" not in diff.diff
    assert any(line.startswith("-") and "last winter" in line for line in diff.diff.splitlines())
    assert any(line.startswith("+") and "this summer" in line for line in diff.diff.splitlines())
    assert bee.wiki.build().pages == ()


def test_a_page_that_somebody_deleted_or_stripped_comes_back_or_stays(bee: Lilbee) -> None:
    bee.wiki.build()
    (bee.wiki.folder / "entities" / "lake-geneva.md").unlink()
    other = bee.wiki.folder / "concepts" / "honey-bee.md"
    other.write_text("Only this.\n", encoding="utf-8")
    reasons = {one.slug: one.reason for one in bee.wiki.build().pages}

    assert reasons["lake-geneva"] == "new"
    assert "draft" in reasons["honey-bee"]
    assert other.read_text(encoding="utf-8") == "Only this.\n"


def test_a_build_that_was_stopped_in_the_middle_goes_on(bee: Lilbee) -> None:
    whole = None
    bee.wiki.build()
    whole = {name: text for name, text in files(bee).items() if name != "log.md"}
    for name in list(whole)[::2]:
        (bee.wiki.folder / name).unlink()
    bee.wiki.build()

    assert {name: text for name, text in files(bee).items() if name != "log.md"} == whole


def test_a_folder_that_cannot_be_written_is_a_clear_error(bee: Lilbee) -> None:
    bee.wiki.folder.parent.mkdir(exist_ok=True)
    bee.wiki.folder.write_text("in the way")
    with pytest.raises(WikiError, match="cannot be written") as caught:
        bee.wiki.build()
    assert caught.value.hint


def test_the_async_library_mirrors_it(folder: Path) -> None:
    async def build() -> int:
        async with AsyncLilbee(folder, Settings(), embedder=HashEmbedder()) as bee:
            await bee.sync()
            await bee.wiki.build()
            return len(await bee.wiki.pages())

    assert asyncio.run(build()) > 2

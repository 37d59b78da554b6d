"""The graph of concepts of a library: mapped by syncs, exact, decided by hand, searched (R012, R029, R208, R213)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import AsyncLilbee, Document, Lilbee, Settings
from lilbee_core.concepts import can_cluster
from lilbee_core.errors import ExtraMissing, InvalidArgument, NotFound, SettingsError
from lilbee_core.library import _graphing
from lilbee_core.testing import HashEmbedder, ScriptedChat, Switch
from tests.support.wholeness import graph_of

pytestmark = pytest.mark.skipif(not can_cluster(), reason="graspologic-native is not installed")

FILES = {
    "bees.md": "# Bees\n\nThe honey bee visits almond orchards. Honey bees dance near the Golden Gate Bridge.\n",
    "boats.md": "# Boats\n\nThe ferry passes the Golden Gate Bridge at noon. Sea fog covers the ferry.\n",
    "who.md": "# Health\n\nThe World Health Organization (WHO) studies sea fog. The WHO meets in Geneva.\n",
    "geneva.md": "# Cities\n\nGeneva lies at a lake, and the WHO sits there.\n",
}


def a_library(folder: Path, **settings: object) -> Lilbee:
    return Lilbee(folder, Settings().changed(settings), embedder=HashEmbedder())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def bee(folder: Path) -> Iterator[Lilbee]:
    with a_library(folder) as made:
        made.sync()
        yield made


def graph(bee: Lilbee) -> tuple[object, ...]:
    return graph_of(bee._parts._store)


def test_a_sync_maps_what_the_documents_talk_about(bee: Lilbee) -> None:
    bridge = bee.concepts.get("golden gate bridge")

    assert bridge is not None
    assert (bridge.label, bridge.kind, bridge.chunks) == ("Golden Gate Bridge", "entity", 2)
    assert {one.target for one in bee.concepts.related("Golden Gate Bridge")} >= {
        "honey bee",
        "ferry",
        "almond orchard",
    }
    assert {chunk.path for chunk in bee.concepts.chunks("WHO")} == {"who.md", "geneva.md"}
    topics = bee.concepts.topics()
    assert topics == bee.concepts.communities()
    assert bee.concepts.topics("what does the ferry pass?")[0] in topics
    assert bee.concepts.list()[0].chunks == 2
    told = bee.concepts._repr_mimebundle_()
    assert f"{len(bee.concepts.list())} concepts" in told["text/plain"]
    assert topics[0].label in told["text/plain"]
    assert told["text/html"].count("<tr>") == len(topics) + 1


def test_changes_and_removals_leave_the_graph_of_what_is_left(bee: Lilbee, folder: Path, tmp_path: Path) -> None:
    (folder / "boats.md").write_text("# Boats\n\nThe Titanic passes Southampton. The Titanic sank.\n", encoding="utf-8")
    (folder / "geneva.md").unlink()
    bee.sync()
    bee.remove("bees.md")
    assert bee.concepts.get("Golden Gate Bridge") is None
    fresh = tmp_path / "again" / "notes"
    fresh.mkdir(parents=True)
    for name in ("boats.md", "who.md"):
        (fresh / name).write_bytes((folder / name).read_bytes())
    with a_library(fresh) as other:
        other.sync()
        assert graph(other) == graph(bee)


def test_a_sync_without_changes_counts_nothing(bee: Lilbee) -> None:
    before = bee._parts.store.concepts.version
    bee.sync()

    assert bee._parts.store.concepts.version == before


def test_documents_from_memory_are_mapped_as_well(tmp_path: Path) -> None:
    with a_library(tmp_path) as bee:
        bee.add_documents([Document(path="a", text="Ada Lovelace wrote to Charles Babbage.")])
        assert [one.target for one in bee.concepts.related("Ada Lovelace")] == []
        assert bee.concepts.get("charles babbage") is not None


def test_decisions_outlive_a_rebuild(bee: Lilbee) -> None:
    bee.concepts.merge("ferry", "Golden Gate Bridge")
    bee.concepts.forbid("Geneva")
    assert bee.concepts.get("Geneva") is None
    bee.rebuild()

    assert bee.concepts.decisions() == {"ferry": "golden gate bridge", "geneva": None}
    assert bee.concepts.get("ferry") == bee.concepts.get("Golden Gate Bridge")
    assert bee.concepts.get("Geneva") is None
    bee.concepts.restore("Geneva")
    assert bee.concepts.get("Geneva") is not None


def test_switched_off_and_on_again(bee: Lilbee, folder: Path) -> None:
    before = graph(bee)
    bee._parts.reconfigure(Settings().changed({"concepts": False}))
    with pytest.raises(SettingsError, match="the setting concepts is off") as caught:
        bee.concepts.topics()
    assert "config set concepts true" in (caught.value.hint or "")
    bee.sync()
    assert graph(bee) == ()
    bee._parts.reconfigure(Settings())
    with pytest.raises(NotFound, match="no graph of concepts yet"):
        bee.concepts.list()
    report = bee.sync()

    assert (report.updated, report.unchanged) == (0, 4), "no file is read again"
    assert graph(bee) == before


def test_another_extractor_finds_everything_anew_and_may_be_stopped(bee: Lilbee, monkeypatch) -> None:
    before = graph(bee)
    monkeypatch.setattr("lilbee_core.concepts._rules._VERSION", "rules-next")
    stopped = Switch(after=0)
    assert bee.sync(cancel=stopped).cancelled
    assert bee._parts.store.concepts.extractor() is None
    bee.sync()

    assert bee._parts.store.concepts.extractor() == "rules-next/10"
    assert graph(bee) == before


def test_an_extractor_that_fails_costs_no_document(folder: Path, caplog) -> None:
    class Broken:
        fingerprint = "broken"

        def extract(self, chunks: object) -> object:
            raise RuntimeError("out of order")

    with a_library(folder) as bee:
        bee._parts.once("concept_extractor", Broken)
        assert bee.sync().added == 4
        assert bee.concepts.list() == ()
    assert "no concepts could be found" in caplog.text


def test_without_the_extra_nothing_is_done_and_the_noun_says_how_to_get_it(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(_graphing, "_LEIDEN", "no_such_module")
    monkeypatch.setattr("lilbee_core.concepts._communities._LEIDEN", "no_such_module")
    with a_library(folder) as bee:
        assert bee.sync().added == 4
        assert bee._parts._store._tables.version_of("chunk_concepts") == 1
        with pytest.raises(ExtraMissing) as caught:
            bee.concepts.topics()
        assert "pip install 'lilbee-core[graph]'" in (caught.value.hint or "")


def test_export_to_files_and_as_text(bee: Lilbee, tmp_path: Path) -> None:
    for name in ("graph.json", "graph.graphml", "graph.html"):
        text = bee.concepts.export(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == text
    assert json.loads(bee.concepts.export())["chunks"] == 4
    assert bee.concepts.to_networkx().nodes["golden gate bridge"]["label"] == "Golden Gate Bridge"
    with pytest.raises(InvalidArgument, match="'txt' is no format"):
        bee.concepts.export(tmp_path / "graph.txt")
    with pytest.raises(InvalidArgument, match="cannot be written"):
        bee.concepts.export(tmp_path / "nowhere" / "graph.json")


def test_only_the_profiles_that_say_so_use_the_graph(folder: Path) -> None:
    def stages(profile: str, **settings: object) -> set[str]:
        with a_library(folder, **settings) as bee:
            bee.sync()
            return {one.name for one in bee.search("Golden Gate Bridge", profile=profile).reports}

    graphs = {"expand_by_graph", "boost_concepts"}
    assert stages("default") & graphs == set()
    assert stages("full") & graphs == {"expand_by_graph"}
    assert stages("default", concept_boost=0.3) & graphs == {"boost_concepts"}
    assert stages("full", graph_expansion_count=0) & graphs == set()
    assert stages("full", concepts=False) & graphs == set()


def test_what_goes_with_the_query_is_searched_as_well(bee: Lilbee) -> None:
    result = bee.search("Geneva", profile="full")
    report = next(one for one in result.reports if one.name == "expand_by_graph")

    assert "world health organization" in report.note


def test_no_chat_model_is_asked(folder: Path) -> None:
    chat = ScriptedChat()
    with Lilbee(folder, Settings(), embedder=HashEmbedder(), chat=chat) as bee:
        bee.sync()
        bee.concepts.topics("ferry")
        bee.concepts.related("ferry")
    assert chat.requests == []


def test_the_async_library_mirrors_it(folder: Path) -> None:
    async def ask() -> tuple[object, ...]:
        async with AsyncLilbee(folder, Settings(), embedder=HashEmbedder()) as bee:
            await bee.sync()
            return (
                await bee.concepts.topics(),
                await bee.concepts.related("ferry", limit=2),
                await bee.concepts.get("who"),
            )

    topics, related, who = asyncio.run(ask())
    with a_library(folder) as bee:
        assert (bee.concepts.topics(), bee.concepts.related("ferry", limit=2), bee.concepts.get("who")) == (
            topics, related, who,
        )  # fmt: skip

"""In a whole library, a broken plugin of each kind costs only itself (R003, R005)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lilbee_core.analysis import Analyzer
from lilbee_core.errors import ExtractError, PluginError, StageError
from lilbee_core.events import Event
from lilbee_core.library._plugin_stages import STAGES
from lilbee_core.plugins import ExtractorSpec, StagePlace, StageSpec, after, before, hookimpl, replaces
from lilbee_core.protocols import SearchStage
from lilbee_core.search import PROFILES, SearchOptions, SearchParts
from lilbee_core.settings import Settings
from lilbee_core.testing import ScriptedChat, a_hit, open_test_library
from lilbee_core.testing.contracts.samples import sample_services
from lilbee_core.types import Document, Part, SearchState, Source
from tests.core.plugins._samples import Named

pytestmark = pytest.mark.slow

FILES = {"bees.md": "# Bees\n\nBees find home by the sun.\n", "honey.acme": "Honey keeps for years."}
HITS = frozenset({Part.HITS})


@dataclass
class Reads:
    """An extractor that does what the test says."""

    act: Callable[[Source], Any]
    name: str = "acme-reader"
    version: str = "1"
    in_process: bool = True

    def extract(self, source: Source, context: object) -> Any:
        return self.act(source)


@dataclass
class Acts:
    """A stage that does what the test says."""

    act: Callable[[SearchState], Any]
    name: str = "acme-stage"
    reads: frozenset[Part] = HITS
    writes: frozenset[Part] = HITS

    def run(self, state: SearchState, context: object) -> Any:
        return self.act(state)


def breaks(*arguments: object) -> Any:
    raise RuntimeError("acme broke")


def reading(build: Callable[..., Any]) -> Named:
    class Plugin(Named):
        @hookimpl
        def lilbee_extractors(self) -> list[ExtractorSpec]:
            return [ExtractorSpec(name="acme-reader", media_types=(), suffixes=(".acme",), build=build)]

    return Plugin()


def staging(build: Callable[..., Any], place: StagePlace = before("limit")) -> Named:  # noqa: B008 - it is frozen
    class Plugin(Named):
        @hookimpl
        def lilbee_search_stages(self) -> list[StageSpec]:
            return [StageSpec(name="acme-stage", place=place, build=build)]

    return Plugin()


def document(source: Source) -> Document:
    return Document(path=source.path, collection=source.collection, text="Honey keeps, says acme.")


class BrokenHook(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[ExtractorSpec]:
        return breaks()


class BrokenIdentity(Named):
    @hookimpl
    def lilbee_plugin(self) -> Any:
        return breaks()


class BrokenObserver(Named):
    @hookimpl
    def lilbee_event(self, event: Event) -> None:
        breaks()


def no_stage(state: SearchState) -> SearchState:
    return replace(state, hits=tuple(a_hit(f"made up {n}", score=float(n)) for n in range(3)))


# What breaks, and where it is told: in `bee.plugins`, or in the warnings of a search.
REPORTED: dict[str, Callable[[], object]] = {
    "hook": BrokenHook,
    "identity": BrokenIdentity,
    "observer": BrokenObserver,
    "a string": lambda: "acme",
    "stage build": lambda: staging(breaks),
    "stage nonsense": lambda: staging(lambda options, services: object()),
    "stage place": lambda: staging(lambda options, services: Acts(lambda state: state), before("nowhere")),
    "stage too early": lambda: staging(lambda options, services: Acts(lambda state: state), before("fuse")),
}
WARNED: dict[str, Callable[[], object]] = {
    "stage run": lambda: staging(lambda options, services: Acts(breaks)),
    "stage result": lambda: staging(lambda options, services: Acts(no_stage)),
    "stage returns nothing": lambda: staging(lambda options, services: Acts(lambda state: None)),
    "stage writes what it must not": lambda: staging(
        lambda options, services: Acts(lambda state: replace(state, hits=()), writes=frozenset())
    ),
}


@pytest.mark.parametrize("kind", REPORTED)
def test_what_breaks_while_loading_is_reported(kind: str) -> None:
    with open_test_library([REPORTED[kind]()], files=FILES) as bee:
        assert bee.search("how do bees find home")[0].path == "bees.md"
        assert [one for report in bee.plugins for one in report.failures]


@pytest.mark.parametrize("kind", WARNED)
def test_what_breaks_while_searching_is_warned_of(kind: str) -> None:
    with open_test_library([WARNED[kind]()], files=FILES) as bee:
        result = bee.search("how do bees find home")
        assert result[0].path == "bees.md"
        assert any("acme-stage" in warning for warning in result.warnings)
        assert [one.status for one in result.reports if one.name == "acme-stage"] == ["failed"]


@pytest.mark.parametrize("act", [breaks, lambda source: None, lambda source: "text"], ids=["raises", "none", "text"])
def test_an_extractor_that_breaks_costs_its_file(act: Callable[[Source], Any]) -> None:
    with open_test_library([reading(lambda options, services: Reads(act))], files=FILES) as bee:
        states = {row.path: str(row.state) for row in bee.documents()}
        assert states == {"bees.md": "indexed", "honey.acme": "failed"}
        assert bee.search("how do bees find home")[0].path == "bees.md"


def test_an_extractor_that_cannot_be_built_costs_its_files() -> None:
    with open_test_library([reading(breaks)], files=FILES) as bee:
        states = {row.path: (str(row.state), row.reason or "") for row in bee.documents()}
        assert states["bees.md"] == ("indexed", "")
        assert states["honey.acme"][0] == "failed"
        assert "acme-reader" in states["honey.acme"][1]


def test_a_good_extractor_reads() -> None:
    with open_test_library([reading(lambda options, services: Reads(document))], files=FILES) as bee:
        assert bee.search("honey acme")[0].text == "Honey keeps, says acme."


def test_a_refused_file_is_told_with_its_reason() -> None:
    def refuse(source: Source) -> Document:
        raise ExtractError(f"{source.path} is sealed", hint="Open it.", code="extract.encrypted")

    with open_test_library([reading(lambda options, services: Reads(refuse))], files=FILES) as bee:
        (row,) = bee.documents(state="failed")
        assert (row.code, row.reason) == ("extract.encrypted", "honey.acme is sealed")


def test_a_stage_that_takes_a_place_is_not_survived() -> None:
    plugin = staging(lambda options, services: Acts(breaks), replaces("limit"))
    with open_test_library([plugin], files=FILES) as bee, pytest.raises(StageError, match="acme-stage"):
        bee.search("how do bees find home")


def test_a_stage_changes_the_order() -> None:
    def upside_down(state: SearchState) -> SearchState:
        hits = tuple(replace(hit, score=-hit.score) for hit in reversed(state.hits))
        return replace(state, hits=hits)

    files = {"a.md": "bees bees bees find home", "b.md": "bees live in hives with honey"}
    plugin = staging(lambda options, services: Acts(upside_down))
    with open_test_library(files=files) as bee:
        before_it = [hit.path for hit in bee.search("bees find home")]
    with open_test_library([plugin], files=files) as bee:
        result = bee.search("bees find home")
        assert [hit.path for hit in result] == before_it[::-1]
        assert "acme-stage" in [report.name for report in result.reports]


@pytest.mark.parametrize(
    ("query", "place", "neighbors"),
    [
        ("bees", before("fuse"), ("newest", "fuse")),
        ("term: bees", before("fuse"), ("lexical", "fetch")),
        ("bees", before("rerank"), ("mmr", "decay")),
        ("bees", after("dense"), ("newest", "fuse")),
        ("vec: bees", after("dense"), ("dense", "fetch")),
        ("bees", replaces("rerank"), ("mmr", "decay")),
    ],
)
def test_every_profile_has_every_place(query: str, place: StagePlace, neighbors: tuple[str, str]) -> None:
    """A stage of the list that is absent, or inside another one, is a place all the same."""
    rankings = frozenset({Part.RANKINGS})
    plugin = staging(lambda options, services: Acts(lambda state: state, reads=rankings, writes=frozenset()), place)
    with open_test_library([plugin], files=FILES) as bee:
        result = bee.search(query)
        assert [one for report in bee.plugins for one in report.failures] == []
    names = [report.name for report in result.reports]
    at = names.index("acme-stage")
    assert (names[at - 1], names[at + 1]) == neighbors


def test_the_places_are_those_of_the_profiles() -> None:
    services = sample_services()
    for reranker in (None, services.reranker):
        parts = SearchParts(
            reader=services.reader,
            analyzer=Analyzer(),
            embedder=services.embedder,
            reranker=reranker,
            chat=lambda: ScriptedChat("bees"),
            options=SearchOptions(hyde=True, adaptive_distance=True, join_neighbors=True),
        )
        for title, profile in PROFILES.items():
            # Words are searched twice where a chat model adds some; two stages stand elsewhere in one profile each.
            every = dict.fromkeys(name for stage in profile(parts) for name in _leaves(stage))
            names = [name for name in every if (title, name) not in {("memory", "mmr"), ("hyde", "hyde")}]
            assert names == sorted(names, key=STAGES.index)


def _leaves(stage: SearchStage) -> list[str]:
    inner = getattr(stage, "stages", ())
    return [name for one in inner for name in _leaves(one)] or [stage.name]


# Events are told behind a sink that survives whatever raises, so a broken observer only shows in the report.
@pytest.mark.parametrize("kind", [kind for kind in (*REPORTED, *WARNED) if kind != "observer"])
def test_strict_mode_raises(kind: str) -> None:
    settings = Settings().changed({"plugins_strict": True})
    with pytest.raises((PluginError, StageError)) as raised:
        _search({**REPORTED, **WARNED}[kind](), settings)
    assert raised.value.hint


def _search(plugin: object, settings: Settings) -> None:
    with open_test_library([plugin], files=FILES, settings=settings) as bee:
        bee.search("how do bees find home")

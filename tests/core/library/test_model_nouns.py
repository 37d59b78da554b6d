"""`bee.models` and `bee.placement`, also for async code (R085, R110, R111, R113-R116)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from lilbee_core import AsyncLilbee, Lilbee
from lilbee_core.errors import FleetError, PlacementError, SettingsError
from lilbee_core.library._fleet import planner_of
from lilbee_core.testing.fakes import ManualClock
from tests.support.gguf_files import bert, llama
from tests.support.machines import GIB, machine
from tests.support.model_hub import FakeHub

ENGINE = """#!{python}
import pathlib, sys
if "--version" in sys.argv:
    print("version: 1 (test)")
elif "--help" in sys.argv:
    print("-m,    --model FNAME          model path")
    print("--port PORT                   port to listen on")
else:
    free = pathlib.Path({free!r}).read_text()
    asked = pathlib.Path({asked!r})
    asked.write_text(asked.read_text() + "x")
    print("Available devices:")
    print(f"  CUDA0: RTX 4090 (24576 MiB, {{free}} MiB free)")
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")


class World:
    """A machine whose card has as much free as a test says."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "models"
        self.config = tmp_path / "config"
        self._free = tmp_path / "free"
        self._asked = tmp_path / "asked"
        self._asked.write_text("")
        self.program = tmp_path / "llama-server"
        text = ENGINE.format(python=sys.executable, free=str(self._free), asked=str(self._asked))
        self.program.write_text(text)
        self.program.chmod(0o755)
        self.set_free(24_000)

    def set_free(self, mib: int) -> None:
        self._free.write_text(str(mib))

    @property
    def asked(self) -> int:
        """How often the engine listed its cards."""
        return len(self._asked.read_text())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(made.config))
    monkeypatch.setenv("LILBEE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LILBEE_MODELS_DIR", str(made.folder))
    monkeypatch.setenv("LILBEE_LLAMA_SERVER_PATH", str(made.program))
    return made


@pytest.fixture
def library(world: World, tmp_path: Path) -> Iterator[Callable[..., Lilbee]]:
    opened: list[Lilbee] = []

    def open_library(**options: Any) -> Lilbee:
        root = tmp_path / "notes"
        root.mkdir(exist_ok=True)
        opened.append(Lilbee(root, **options))
        return opened[-1]

    yield open_library
    for one in opened:
        one.close()


def test_a_view_is_asked_for_at_most_every_two_seconds(world: World, library: Callable[..., Lilbee]) -> None:
    llama(world.folder / "writes.gguf")
    clock = ManualClock()
    bee = library(clock=clock, overrides={"chat_model": "writes.gguf"})
    for _ in range(3):
        assert bee.placement.show().machine.devices[0].free_bytes == 24_000 << 20
    assert world.asked == 1
    world.set_free(12_000)
    clock.advance(2.5)
    assert bee.placement.show().machine.devices[0].free_bytes == 12_000 << 20
    assert world.asked == 2


def test_the_plan_in_force_is_shown_with_what_is_free_now(world: World, library: Callable[..., Lilbee]) -> None:
    llama(world.folder / "writes.gguf")
    clock = ManualClock()
    bee = library(clock=clock, overrides={"chat_model": "writes.gguf"})
    before = bee.fleet.planned
    plan = bee.fleet.plan()
    assert before is None
    assert bee.fleet.planned == plan
    # Our own models are loaded now, and hardly anything is left: that is no reason to plan otherwise.
    world.set_free(10)
    clock.advance(2.5)
    shown = bee.placement.show()
    assert shown.servers == plan.servers
    assert shown.machine.devices[0].free_bytes == 10 << 20
    tried = bee.placement.preview('{"chat": {"devices": [0]}}')
    assert tried.servers[0].context_tokens == plan.servers[0].context_tokens


def test_a_placement_is_kept_by_the_user_and_used_at_once(world: World, library: Callable[..., Lilbee]) -> None:
    llama(world.folder / "writes.gguf")
    bee = library(overrides={"chat_model": "writes.gguf"})
    assert bee.placement.get() is None
    plan = bee.placement.set({"chat": {"devices": [0]}})
    assert plan.manual
    assert bee.placement.show().manual
    found = bee.placement.get()
    assert found is not None
    assert found.to_dict() == {"chat": {"devices": [0]}}
    assert "placement" in (world.config / "config.toml").read_text()
    assert not (bee.data_dir / "config.toml").exists() or "placement" not in (bee.data_dir / "config.toml").read_text()
    bee.placement.clear()
    assert bee.placement.get() is None


def test_what_does_not_fit_is_not_kept(world: World, library: Callable[..., Lilbee]) -> None:
    llama(world.folder / "writes.gguf")
    bee = library(overrides={"chat_model": "writes.gguf"})
    world.set_free(100)
    with pytest.raises(PlacementError, match=r"CUDA0: RTX 4090 \(0\.1 GiB free, 24\.0 GiB total\) cannot hold chat"):
        bee.placement.set('{"chat": {"devices": [0]}}')
    with pytest.raises(PlacementError, match="there is no placement to set"):
        bee.placement.set("")
    assert bee.placement.get() is None


@pytest.mark.parametrize(
    ("names", "spec", "code", "said", "hint"),
    [
        (
            {"chat_model": "gone.gguf"},
            '{"chat": {"devices": [0]}}',
            "provider.model_not_found",
            "chat cannot be placed: there is no model file gone.gguf",
            "lilbee model pull gone.gguf",
        ),
        (
            {"chat_model": "gone.gguf", "embedding_model": "broken.gguf"},
            '{"chat": {"devices": [0]}, "embed": {"devices": [0]}}',
            "provider.model_file",
            "embed cannot be placed: .*broken.gguf.*; chat cannot be placed: .*gone.gguf",
            "lilbee model pull gone.gguf",
        ),
        (
            {"chat_model": "gone.gguf"},
            '{"chat": {"devices": [7]}}',
            "fleet.placement",
            "puts chat on card 7, which this machine does not have; its cards: CUDA0",
            "lilbee placement",
        ),
        (
            {"embedding_model": "writes.gguf"},
            '{"embed": {"devices": [0]}}',
            "fleet.wrong_role",
            "embed cannot be placed",
            "",
        ),
    ],
)
def test_a_placement_of_a_model_that_cannot_run_is_refused_by_name(
    world: World,
    library: Callable[..., Lilbee],
    names: dict[str, str],
    spec: str,
    code: str,
    said: str,
    hint: str,
) -> None:
    llama(world.folder / "writes.gguf")
    (world.folder / "broken.gguf").write_bytes(b"GGUF")
    bee = library(overrides=names)
    for call in (bee.placement.preview, bee.placement.set):
        with pytest.raises(PlacementError, match=said) as caught:
            call(spec)
        assert caught.value.code == code
        assert hint in caught.value.hint
    assert bee.placement.get() is None


def test_a_role_without_a_model_file_may_be_placed_beforehand_and_that_is_said(
    world: World, library: Callable[..., Lilbee]
) -> None:
    llama(world.folder / "writes.gguf")
    bee = library(overrides={"chat_model": "writes.gguf", "embedding_model": "ollama/nomic-embed-text"})
    plan = bee.placement.preview({role: {"devices": [0]} for role in ("chat", "embed", "vision")})
    assert [one.role for one in plan.servers] == ["chat"]
    assert [(one.role, one.reason) for one in plan.refusals] == [
        ("embed", "embedding_model is ollama/nomic-embed-text, which is no model file"),
        ("vision", "vision_model is none, so there is no model file"),
    ]
    assert "take vision out" in plan.refusals[1].hint


def test_a_missing_model_costs_its_own_role_only(world: World, library: Callable[..., Lilbee]) -> None:
    bert(world.folder / "reads.gguf")
    (world.folder / "broken.gguf").write_bytes(b"GGUF")
    names = {"embedding_model": "reads.gguf", "chat_model": "gone.gguf", "reranker_model": "broken.gguf"}
    plan = library(overrides=names).placement.show()
    assert [one.role for one in plan.servers] == ["embed"]
    missing, broken = plan.refusal("chat"), plan.refusal("rerank")
    assert missing is not None
    assert missing.code == "provider.model_not_found"
    assert "lilbee model pull gone.gguf" in missing.hint
    assert broken is not None
    assert broken.code == "provider.model_file"


def test_gguf_parser_is_used_where_it_is_named(world: World, library: Callable[..., Lilbee], tmp_path: Path) -> None:
    llama(world.folder / "writes.gguf")
    program = tmp_path / "gguf-parser"
    memory = '{"uma": 1000, "nonuma": 7000000000}'
    answer = f'{{"estimate": {{"items": [{{"ram": {memory}, "vrams": [{memory}]}}]}}}}'
    program.write_text(f"#!{sys.executable}\nprint('''{answer}''')\n")
    program.chmod(0o755)
    settings = library(overrides={"chat_model": "writes.gguf", "gguf_parser_path": str(program)}).settings
    (server,) = planner_of(settings).plan(machine(24)).servers
    assert server.footprint.source == "gguf-parser"
    assert server.footprint.discrete_bytes == 7_000_000_000
    with pytest.raises(FleetError, match="there is no program 'nothing'"):
        planner_of(settings.changed({"gguf_parser_path": "nothing"}))


def test_a_provider_that_does_not_serve_a_role_is_refused(world: World, library: Callable[..., Lilbee]) -> None:
    bee = library(overrides={"embedding_model": "none"})
    with pytest.raises(SettingsError, match="cannot be the reranker model: ollama serves"):
        bee.config.set("reranker_model", "ollama/x")
    with pytest.raises(SettingsError, match="no provider 'olama'"):
        bee.config.set("chat_model", "olama/x")
    with pytest.raises(SettingsError, match="cannot be the chat model: what is built in only embeds"):
        bee.config.set("chat_model", "builtin/all-MiniLM-L6-v2")
    bee.config.set("chat_model", "ollama/x")
    bee.config.set("embedding_model", "builtin/all-MiniLM-L6-v2")
    bee.config.set("chat_model", "none")


def test_models_and_placements_for_async_code(world: World, tmp_path: Path) -> None:
    content = llama(tmp_path / "made.gguf").read_bytes()

    async def run(url: str) -> None:
        overrides = {"hub_url": url, "embedding_model": "none"}
        async with AsyncLilbee(tmp_path, overrides=overrides) as bee:
            assert [one.ref for one in await bee.models.catalog("tiny")] == ["org/tiny"]
            entry = await bee.models.pull("org/tiny")
            assert await bee.models.find(entry.ref) == entry.path
            assert entry.ref in [one.ref for one in await bee.models.list("chat")]
            assert (await bee.models.show(entry.ref)).facts is not None
            assert bee.models.folder == world.folder
            _, freed = await bee.models.remove(entry.ref)
            assert freed == len(content)
            assert (await bee.placement.show()).machine.devices[0].total_bytes == 24 * GIB
            assert await bee.placement.get() is None
            assert (await bee.placement.preview()).servers == ()
            await bee.placement.clear()

    with FakeHub({"org/tiny": {"tiny-Q4_K_M.gguf": content}}) as hub:
        anyio.run(run, hub.url)

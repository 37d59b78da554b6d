"""What benchmarks share: one folder, one report, one embedding server, libraries that are built once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench._figures import Report, table
from tests.bench._libraries import Library, big_library, notes_library
from tests.bench._servers import EmbedServer, Record, embed_server, measure_rival
from tests.bench._world import QUICK_SHARE, ROOT, Corpus, World, standard_library

HERE = Path(__file__).parent
REPORT = pytest.StashKey[Report]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bench-json", metavar="FILE", help="where the figures go (default: .nox/bench.json)")
    parser.addoption("--soak-minutes", metavar="N", help="how long the soak lasts (default: 10, quick: 2)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, and give it all the time that it takes."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.bench)
            item.add_marker(pytest.mark.timeout(3_600))


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORT] = Report(quick=os.environ.get("LILBEE_BENCH_QUICK", "") not in {"", "0"})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    report = config.stash[REPORT]
    if not report.rows:
        return
    path = Path(config.getoption("--bench-json", default=None) or ROOT / ".nox" / "bench.json")
    report.write(path)
    terminalreporter.write_sep("=", "figures")
    terminalreporter.write(table(report.rows))
    terminalreporter.write_line(f"written to {path}")


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    """Takes the figures."""
    return pytestconfig.stash[REPORT]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, report: Report) -> World:
    """The folder of this run."""
    return World(folder=tmp_path_factory.mktemp("bench"), quick=report.quick)


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[EmbedServer]:
    """Embeddings at no cost."""
    with embed_server(world.env()) as running:
        yield running


@pytest.fixture(scope="session")
def sources(world: World) -> Corpus:
    """31 MB of source files as plain text; a tenth of them in a quick run."""
    return standard_library(world.folder / "sources", every=QUICK_SHARE if world.quick else 1)


@pytest.fixture(scope="session")
def rival(world: World, server: EmbedServer, sources: Corpus) -> dict[str, Record] | None:
    """What the rival took, None where its environment is not given."""
    venv = os.environ.get("LILBEE_BENCH_PEER")
    if not venv:
        return None
    return measure_rival(Path(venv).absolute(), sources.folder, server, world.env(), quick=world.quick)


@pytest.fixture(scope="session")
def big(world: World) -> Library:
    """About 16,000 chunks of code, cut for the built-in model."""
    return big_library(world)


@pytest.fixture(scope="session")
def many(world: World) -> Library:
    """10,000 small notes."""
    return notes_library(world)

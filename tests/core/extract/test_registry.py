"""Which extractor reads which file."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from lilbee_core.errors import PluginError
from lilbee_core.extract import ExtractorRegistry, builtin_extractors
from lilbee_core.extract._recipes import importable
from lilbee_core.extract._registry import build_extractor
from lilbee_core.plugins.specs import ExtractorSpec, ExtractServices
from tests.core.extract import _samples


def spec(name: str, *media_types: str, suffixes: tuple[str, ...] = (), priority: int = 0) -> ExtractorSpec:
    return ExtractorSpec(name=name, media_types=media_types, suffixes=suffixes, priority=priority, build=_samples.build)


def chosen(registry: ExtractorRegistry, path: str, media_type: str) -> str | None:
    found = registry.choose(path, media_type)
    return found.name if found else None


def test_exact_types_win_over_patterns_then_priority_then_name() -> None:
    registry = ExtractorRegistry(
        [
            spec("b", "text/plain"),
            spec("a", "text/plain"),
            spec("wide", "text/*", priority=9),
            spec("c", "x/y", priority=1),
        ]
    )
    assert chosen(registry, "f", "text/plain") == "a"
    assert chosen(registry, "f", "text/x-python") == "wide"
    assert chosen(registry, "f", "image/png") is None
    higher = ExtractorRegistry([spec("a", "text/plain"), spec("z", "text/plain", priority=1)])
    assert chosen(higher, "f", "text/plain") == "z"


def test_endings_match_like_exact_types() -> None:
    registry = ExtractorRegistry(
        [spec("text", "text/plain"), spec("acme", "x/y", suffixes=(".Acme", ".txt.acme"), priority=1)]
    )
    assert chosen(registry, "a/b.ACME", "text/plain") == "acme"
    assert chosen(registry, "a.acme/b.txt", "text/plain") == "text"


def test_pinned_extractors_win() -> None:
    specs = [spec("a", "text/plain", priority=5), spec("b", "text/*"), spec("c", "text/*")]
    assert chosen(ExtractorRegistry(specs, prefer=["c", "b"]), "f", "text/plain") == "c"
    assert chosen(ExtractorRegistry(specs, prefer=["unknown"]), "f", "text/plain") == "a"


def test_versions_carry_the_name_of_the_extractor() -> None:
    registry = ExtractorRegistry([*builtin_extractors(), *_samples.SPECS])
    versions = [registry.version_of(one) for one in registry.specs if one.name != "acme-broken"]
    assert "text/2" in versions
    assert "acme-sample/7" in versions
    assert any(version.startswith("kreuzberg/4-4.") for version in versions)
    assert any(version.startswith("pdf/1-4.") for version in versions)
    assert len(set(versions)) == len(versions)


def test_built_ins_are_unique_and_can_be_sent_to_workers() -> None:
    specs = builtin_extractors()
    assert len({one.name for one in specs}) == len(specs)
    assert all(importable(one.build) for one in specs)


class Options(BaseModel):
    size: int = 3


def test_options_are_checked() -> None:
    found: list[object] = []
    one = ExtractorSpec(
        name="acme-x",
        media_types=(),
        options=Options,
        build=lambda options, _: found.append(dict(options)) or _samples.Sample(),
    )
    build_extractor(one, {"size": "4"}, ExtractServices())
    assert found == [{"size": 4}]
    with pytest.raises(PluginError, match="acme-x"):
        build_extractor(one, {"size": "many"}, ExtractServices())


def test_builders_that_live_here_only_are_not_sent() -> None:
    def local(*_: object) -> None: ...

    assert importable(lambda *_: None) is None
    assert importable(local) is None
    assert importable(_samples.Sample().pid) is not None
    assert importable(_samples.build) is not None

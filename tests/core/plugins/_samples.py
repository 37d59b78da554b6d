"""Plugins to test with: small objects, and modules written to a folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from lilbee_core.events import Event
from lilbee_core.plugins import (
    ChunkerSpec,
    ExtractorSpec,
    FetcherSpec,
    OcrSpec,
    PluginSpec,
    ProviderSpec,
    StageSpec,
    after,
    before,
    hookimpl,
)
from lilbee_core.types import Part, SearchState


def refuse(*arguments: object) -> object:
    raise AssertionError(f"nothing is built at registration, got {arguments}")


class AcmeOptions(BaseModel):
    min_chars: int = 20
    key: SecretStr = SecretStr("")


class AcmeMore(BaseModel):
    half_life_days: float = Field(default=30.0, gt=0)


class AnyOptions(BaseModel):
    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class Pass:
    """A stage that changes nothing."""

    min_chars: int = 0
    name: str = "acme-pass"
    reads: frozenset[Part] = frozenset()
    writes: frozenset[Part] = frozenset()

    def run(self, state: SearchState, context: object) -> SearchState:
        return state


def extractor(name: str = "acme-ics", **more: object) -> ExtractorSpec:
    fields: dict[str, object] = {"name": name, "media_types": ("text/calendar",), "build": refuse, **more}
    return ExtractorSpec(**fields)  # type: ignore[arg-type]


def stage(name: str = "acme-pass", **more: object) -> StageSpec:
    fields: dict[str, object] = {"name": name, "place": before("limit"), "build": refuse, **more}
    return StageSpec(**fields)  # type: ignore[arg-type]


def provider(name: str = "acme-models", prefix: str = "acme", **more: object) -> ProviderSpec:
    fields: dict[str, object] = {
        "name": name, "prefix": prefix, "roles": frozenset({"embed"}), "build": refuse, **more,
    }  # fmt: skip
    return ProviderSpec(**fields)  # type: ignore[arg-type]


@dataclass
class Named:
    """A plugin that only says who it is; tests add hooks by inheriting."""

    name: str = "acme"
    api: str = "1"

    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name=self.name, version="1.0", api=self.api, summary="A test.")


@dataclass
class Whole(Named):
    """A plugin that implements every hook."""

    events: list[Event] = field(default_factory=list)

    @hookimpl
    def lilbee_extractors(self) -> list[ExtractorSpec]:
        return [extractor(f"{self.name}-ics", options=AcmeOptions)]

    @hookimpl
    def lilbee_chunkers(self) -> list[ChunkerSpec]:
        return [ChunkerSpec(name=f"{self.name}-cut", media_types=("text/calendar",), build=refuse)]  # type: ignore[arg-type]

    @hookimpl
    def lilbee_providers(self) -> list[ProviderSpec]:
        return [provider(f"{self.name}-models", self.name)]

    @hookimpl
    def lilbee_search_stages(self) -> Iterator[StageSpec]:
        yield stage(
            f"{self.name}-pass", options=AcmeOptions, build=lambda options, services: Pass(options["min_chars"])
        )
        yield stage(f"{self.name}-fresh", place=after("fuse"), options=AcmeMore)

    @hookimpl
    def lilbee_fetchers(self) -> tuple[FetcherSpec, ...]:
        return (FetcherSpec(name=f"{self.name}-fetch", build=refuse),)  # type: ignore[arg-type]

    @hookimpl
    def lilbee_ocr_engines(self) -> list[OcrSpec]:
        return [OcrSpec(name=f"{self.name}-ocr", build=refuse)]  # type: ignore[arg-type]

    @hookimpl
    def lilbee_event(self, event: Event) -> None:
        self.events.append(event)


HEADER = """
from lilbee_core.plugins import ExtractorSpec, PluginSpec, StageSpec, before, hookimpl

def build(options, services):
    raise AssertionError("nothing is built at registration")
"""


def who(name: str) -> str:
    return (
        HEADER
        + f"""
@hookimpl
def lilbee_plugin():
    return PluginSpec(name={name!r}, version="2.0")
"""
    )


def reading(name: str, media_type: str) -> str:
    """The source of a plugin that offers one extractor."""
    return (
        who(name)
        + f"""
@hookimpl
def lilbee_extractors():
    return [ExtractorSpec(name="{name}-reader", media_types=({media_type!r},), build=build)]
"""
    )


@dataclass
class Shop:
    """Modules on the path, and entry points that name them."""

    folder: Path
    points: list[EntryPoint] = field(default_factory=list)

    def add(self, name: str, source: str, *, point: str | None = None) -> str:
        module = f"shop_{self.folder.name.replace('-', '_')}_{name.replace('-', '_')}"
        (self.folder / f"{module}.py").write_text(source, encoding="utf-8")
        self.points.append(EntryPoint(name=point or name, value=module, group="lilbee_core"))
        return module

    def __call__(self) -> list[EntryPoint]:
        return list(self.points)

    def close(self) -> None:
        for point in self.points:
            sys.modules.pop(point.value, None)


Tables = Mapping[str, Mapping[str, object]]

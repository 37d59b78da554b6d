"""The picks that are known to do well, by role."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from lilbee_core.types import FLEET_ROLES, ModelEntry

_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Catalog:
    """What the file of picks says."""

    entries: tuple[ModelEntry, ...]
    packages: tuple[str, ...]

    def of(self, role: str | None) -> tuple[ModelEntry, ...]:
        """Return the picks for a role, or all."""
        return tuple(one for one in self.entries if role is None or role in one.roles)

    def quantization(self, repo: str) -> str:
        """Return the quantization that a pick is known to do well in; empty for the usual one."""
        return next((one.quantization for one in self.entries if one.ref == repo), "")


@cache
def featured() -> Catalog:
    """Return the picks that come with lilbee."""
    raw: dict[str, Any] = tomllib.loads(
        resources.files("lilbee_core.models").joinpath("featured.toml").read_text("utf-8")
    )
    entries = tuple(_entry(role, one) for role in ("chat", "embed", "rerank", "vision") for one in raw.get(role, ()))
    assert {role for one in entries for role in one.roles} <= set(FLEET_ROLES)
    return Catalog(entries, tuple(raw["packages"]))


def _entry(role: str, raw: dict[str, Any]) -> ModelEntry:
    return ModelEntry(
        ref=raw["repo"],
        source="featured",
        roles=(role,),
        size_bytes=raw["size_mb"] * _MB,
        quantization=raw.get("quantization", ""),
        license=raw["license"],
        languages=tuple(raw.get("languages", ())),
        summary=raw["summary"],
    )

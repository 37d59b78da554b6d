"""Models as catalogs list them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lilbee_core.types._fleet import GgufFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A file of a model on the hub; `sha256` is empty where the hub does not say."""

    name: str
    size_bytes: int
    sha256: str = ""

    def to_dict(self) -> dict[str, object]:
        return {"name": self.name, "size_bytes": self.size_bytes, "sha256": self.sha256}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model in a list. `ref` is what a setting or `pull` takes.

    `source` is ``folder`` (of model files), ``package`` (an installed one carries it), ``server`` (one that runs here),
    ``builtin``, ``featured`` or ``hub``. `in_use` are the roles that the settings give it. `problem` says why an
    installed file cannot be used; `facts` are what the file says, `files` what the hub offers, both only where one
    model is shown.
    """

    ref: str
    source: str
    roles: tuple[str, ...] = ()
    installed: bool = False
    path: Path | None = None
    projector: Path | None = None
    size_bytes: int = 0
    quantization: str = ""
    context_tokens: int = 0
    embedding_length: int = 0
    license: str = ""
    languages: tuple[str, ...] = ()
    summary: str = ""
    package: str = ""
    downloads: int | None = None
    gated: bool = False
    in_use: tuple[str, ...] = ()
    problem: str = ""
    facts: GgufFacts | None = None
    files: tuple[ModelFile, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "ref": self.ref,
            "source": self.source,
            "roles": list(self.roles),
            "installed": self.installed,
            "path": self.path.as_posix() if self.path else None,
            "projector": self.projector.as_posix() if self.projector else None,
            "size_bytes": self.size_bytes,
            "quantization": self.quantization,
            "context_tokens": self.context_tokens,
            "embedding_length": self.embedding_length,
            "license": self.license,
            "languages": list(self.languages),
            "summary": self.summary,
            "package": self.package,
            "downloads": self.downloads,
            "gated": self.gated,
            "in_use": list(self.in_use),
            "problem": self.problem,
            "facts": self.facts.to_dict() if self.facts else None,
            "files": [one.to_dict() for one in self.files],
        }

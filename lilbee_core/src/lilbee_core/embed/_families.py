"""What a family of embedding models wants before a query and before a document.

The prefixes were part of the training: a wrong one costs quality without any error. So the map is curated, a new
family is a new entry here, and there is nothing to configure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How queries and documents are embedded; the name is part of an embedder's fingerprint."""

    name: str
    query_prefix: str = ""
    document_prefix: str = ""


PLAIN = Family(name="plain")
"""Symmetric models (bge-m3, nomic) and all that are not known."""

E5 = Family(name="e5", query_prefix="query: ", document_prefix="passage: ")

INSTRUCT = Family(
    name="instruct",
    query_prefix="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
)

# Names are compared in lower case; a word must stand alone, so that `base512` is no `e5`.
_CURATED: tuple[tuple[re.Pattern[str], Family], ...] = (
    (re.compile(r"(?<![a-z0-9])qwen3[-_. ]?embedding"), INSTRUCT),
    (re.compile(r"(?<![a-z0-9])(?:e5|gte)(?![a-z0-9]).*(?<![a-z0-9])instruct(?![a-z0-9])"), INSTRUCT),
    (re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])"), E5),
)


def family_of(model: str) -> Family:
    """Return the family of a model reference such as ``ollama/qwen3-embedding:0.6b`` or ``org/repo/file.gguf``."""
    for name in _names(model):
        for pattern, family in _CURATED:
            if pattern.search(name):
                return family
    return PLAIN


def is_path(model: str) -> bool:
    """Whether a reference is a file on this machine."""
    return model.startswith(("/", "~", ".", "\\")) or model[1:3] in (":\\", ":/")


def file_name(model: str) -> str:
    """The last part of a reference."""
    return model.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _names(model: str) -> tuple[str, ...]:
    """The parts of a reference that may name the family: the file or model, then its repository."""
    last = file_name(model).lower()
    parts = model.lower().split("/")
    # The folders of a path are the user's; a repository is named after its model.
    if is_path(model) or len(parts) < 3:
        return (last,)
    return (last, parts[-2])

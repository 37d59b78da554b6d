"""Models by role: settings and provider specs to an embedder and a router."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

BUILTIN = "builtin/all-MiniLM-L6-v2"

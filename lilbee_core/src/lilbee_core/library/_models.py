"""Models by role: settings and provider specs to an embedder and a router."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.settings import Settings, user_cache_dir

if TYPE_CHECKING:
    from lilbee_core.plugins import PluginHost
    from lilbee_core.protocols import EmbedderLike, ModelRouter

BUILTIN = "builtin/all-MiniLM-L6-v2"


def builtin_embedder() -> EmbedderLike:
    """Return the model that comes with lilbee."""
    from lilbee_core.embed import Embedder, MiniLM

    model = MiniLM.load(cache_dir=user_cache_dir())
    return Embedder(model, model=BUILTIN)


def build_embedder(settings: Settings, router: ModelRouter, data_dir: Path) -> EmbedderLike | None:
    name = settings.models.embedding_model
    if name == "none":
        return None
    return builtin_embedder()


def build_router(settings: Settings, host: PluginHost) -> ModelRouter:
    class R:
        def chat(self): return None
        def reranker(self): return None
    return R()

"""Models by role: settings and provider specs to a router, and what the router needs from other features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.settings import Settings, user_cache_dir
from lilbee_core.types import IndexMeta, ModelRef

if TYPE_CHECKING:
    from lilbee_core.fleet import Fleet
    from lilbee_core.plugins import PluginHost, ProviderServices
    from lilbee_core.protocols import EmbedderLike, EmbeddingProvider, RerankerLike, RerankProvider
    from lilbee_core.providers import Router

BUILTIN = "builtin/all-MiniLM-L6-v2"


def builtin_embedder() -> EmbedderLike:
    """Return the model that comes with lilbee."""
    from lilbee_core.embed import Embedder, MiniLM

    return Embedder(MiniLM.load(cache_dir=user_cache_dir()), model=BUILTIN)


def build_router(
    settings: Settings, host: PluginHost, meta: Callable[[], IndexMeta | None], *, fleet: Callable[[], Fleet]
) -> Router:
    """Return the router of all roles.

    Args:
        settings: Names the models, and where their servers are.
        host: Offers the providers.
        meta: What built the index; tells the dimension of an embedder without asking its server.
        fleet: Runs model files.
    """
    from lilbee_core.library._fleet import embedding_facts, fleet_model
    from lilbee_core.providers import Makers, RoleModels, Router

    models, ingest = settings.models, settings.ingest

    def remote_embedder(provider: EmbeddingProvider, ref: ModelRef) -> EmbedderLike:
        from lilbee_core.embed import Embedder

        known = meta()
        dimension = known.dimension if known is not None and known.embedder == str(ref) else None
        max_tokens = models.embedding_max_tokens
        if ref.provider == "gguf":
            dimension, max_tokens = embedding_facts(ref, settings)
        return Embedder(
            provider,
            model=str(ref),
            batch_size=ingest.embed_batch_size,
            concurrency=ingest.embed_concurrency,
            dimension=dimension,
            max_tokens=max_tokens,
        )

    def reranker(provider: RerankProvider, ref: ModelRef) -> RerankerLike:
        from lilbee_core.providers import OpenAIRerank
        from lilbee_core.rerank import Reranker

        # Ours give probabilities already; a plugin's may be on any scale.
        ours = isinstance(provider, OpenAIRerank) or ref.provider == "gguf"
        return Reranker(provider, model=str(ref), scale="unit" if ours else "logit")

    return Router(
        [offer.spec for offer in host.providers()],
        models=RoleModels(
            embedding=models.embedding_model,
            chat=models.chat_model,
            vision=models.vision_model,
            reranker=models.reranker_model,
        ),
        services=_services(settings, host),
        makers=Makers(
            builtin_embedder=builtin_embedder,
            embedder=remote_embedder,
            reranker=reranker,
            gguf=lambda role, ref: fleet_model(fleet, role, ref, settings),
        ),
        remote_only=models.llm_provider == "remote",
    )


def is_served(ref: ModelRef, settings: Settings, host: PluginHost) -> bool:
    """Say whether a model runs on a server that may be down or busy, rather than in lilbee's own hands."""
    specs = {offer.spec.prefix: offer.spec for offer in host.providers()}
    prefix = "litellm" if settings.models.llm_provider == "remote" and ref.provider != "builtin" else ref.provider
    return prefix in specs and not specs[prefix].in_process


def server_name(ref: ModelRef, settings: Settings, host: PluginHost) -> str:
    """Return what errors call the server of a model: the model and, where it is known, the address."""
    from lilbee_core.providers import shown_url

    services = _services(settings, host).get(ref.provider)
    return f"{ref} at {shown_url(services.base_url)}" if services is not None and services.base_url else str(ref)


def _services(settings: Settings, host: PluginHost) -> Mapping[str, ProviderServices]:
    """Return what each provider may use; a plugin's gets the options of its plugin, and how long to wait."""
    from lilbee_core.plugins import ProviderServices
    from lilbee_core.providers import provider_services

    models = settings.models
    known = provider_services(
        openai_base_url=models.openai_base_url,
        openai_api_key=models.openai_api_key,
        ollama_base_url=models.ollama_base_url,
        lm_studio_base_url=models.lm_studio_base_url,
        request_timeout_s=models.request_timeout_s,
        connect_timeout_s=models.connect_timeout_s,
        retries=models.request_retries,
    )
    others = ProviderServices(
        request_timeout_s=models.request_timeout_s,
        connect_timeout_s=models.connect_timeout_s,
        retries=models.request_retries,
    )
    offers = {offer.spec.prefix: offer for offer in host.providers()}
    return {prefix: replace(known.get(prefix, others), options=offer.options) for prefix, offer in offers.items()}

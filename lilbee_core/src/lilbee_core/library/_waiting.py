"""Models as a search uses them: a server that is silent costs it a few seconds once, not minutes every time.

Reading documents waits as long as the server needs; a person who searches does not. A server of lilbee's own is first
given the time to load its model. An embedder or a chat model that is the caller's own object is called as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from lilbee_core.errors import (
    ExtraMissing,
    FleetError,
    LilbeeError,
    PluginError,
    ProviderError,
    ProviderUnavailable,
    SettingsError,
)
from lilbee_core.types import ModelDescription, ModelRef

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts
    from lilbee_core.protocols import ChatProvider, EmbedderLike, RerankerLike
    from lilbee_core.providers import Breaker, Guard, Watch

_FILE = "gguf"


def query_embedder(parts: Parts) -> EmbedderLike | None:
    """Return the embedder for queries: a server gets `query_timeout_s`, and is left alone for a while if it fails."""
    return _embedder(parts, "guarded.embedder", lambda ref: _guard(parts, "embed", ref, "query_timeout_s"))


def embedder_if_usable(parts: Parts) -> tuple[EmbedderLike | None, LilbeeError | None]:
    """Return the embedder for queries, or what keeps it from being one: no address, no file, no such provider.

    Words can be searched all the same. Whether a server answers is not asked here.
    """
    parts.settings  # noqa: B018 - settings that cannot be read are nobody's model
    try:
        return query_embedder(parts), None
    except (SettingsError, ProviderError, FleetError, PluginError, ExtraMissing) as error:
        return None, error


def reading_embedder(parts: Parts) -> EmbedderLike | None:
    """Return the embedder for documents: a server gets all the time it needs, and searches learn when it fails."""
    return _embedder(parts, "watched.embedder", lambda _: _watch(parts, "embed"))


def query_reranker(parts: Parts) -> RerankerLike | None:
    """Return the reranker for searches, with `rerank_timeout_s` for a server."""
    reranker = parts.reranker
    ref = None if reranker is None else _served(parts, reranker.model)
    if reranker is None or ref is None:
        return reranker

    def build() -> RerankerLike:
        from lilbee_core.providers import GuardedReranker

        return GuardedReranker(reranker, _guard(parts, "rerank", ref, "rerank_timeout_s"))

    return parts.once("guarded.reranker", build)


def query_chat(parts: Parts) -> ChatProvider | None:
    """Return the chat model that rewords queries, with `query_timeout_s` for the first word of a server."""
    return _chat(parts, "query_timeout_s", insists=False)


def answer_chat(parts: Parts) -> ChatProvider | None:
    """Return the chat model that answers, with `first_token_timeout_s` for the first word of a server.

    It is called even if it failed a moment ago: whoever asks wants its answer.
    """
    return _chat(parts, "first_token_timeout_s", insists=True)


def describe_chat(parts: Parts) -> ModelDescription:
    """Return what is known of the chat model; its server is asked for no longer than `query_timeout_s`.

    Raises:
        ValueError: If the model has no name that a server could know.
        ProviderError: If the server does not say, or failed a moment ago.
    """
    ref = ModelRef.parse(parts.chat_model)
    if _served(parts, parts.chat_model) is None:
        return parts.router.describe(ref)
    return _guard(parts, "chat", ref, "query_timeout_s").call(lambda: parts.router.describe(ref))


def _embedder(parts: Parts, kept_as: str, guard: Callable[[ModelRef], Guard | Watch]) -> EmbedderLike | None:
    embedder = parts.embedder
    ref = None if parts.is_given("embedder") or embedder is None else _served(parts, embedder.model)
    if embedder is None or ref is None:
        return embedder

    def build() -> EmbedderLike:
        from lilbee_core.providers import GuardedEmbedder

        return GuardedEmbedder(embedder, guard(ref))

    return parts.once(kept_as, build)


def _chat(parts: Parts, setting: str, *, insists: bool) -> ChatProvider | None:
    chat = parts.chat
    ref = None if parts.is_given("chat") or chat is None else _served(parts, parts.chat_model)
    if chat is None or ref is None:
        return chat

    def build() -> ChatProvider:
        from lilbee_core.providers import GuardedChat

        return GuardedChat(chat, _guard(parts, "chat", ref, setting, insists=insists))

    return parts.once(f"guarded.chat.{setting}", build)


def _served(parts: Parts, name: str) -> ModelRef | None:
    """Return the reference of a model if a server runs it, one of lilbee's own too."""
    from lilbee_core.library._models import is_served

    try:
        ref = ModelRef.parse(name)
    except ValueError:
        return None
    return ref if ref.provider == _FILE or is_served(ref, parts.settings, parts.host) else None


def _guard(parts: Parts, role: str, ref: ModelRef, setting: str, *, insists: bool = False) -> Guard:
    from lilbee_core.library._models import server_name
    from lilbee_core.providers import Guard

    limit_s = float(getattr(parts.settings.models, setting))
    name = server_name(ref, parts.settings, parts.host)
    prepare = partial(_load, parts, role, ref) if ref.provider == _FILE else None
    breaker = _breaker(parts, role)
    return Guard(name, limit_s=limit_s, setting=setting, breaker=breaker, insists=insists, prepare=prepare)


def _watch(parts: Parts, role: str) -> Watch:
    from lilbee_core.providers import Watch

    return Watch(_breaker(parts, role))


def _breaker(parts: Parts, role: str) -> Breaker:
    from lilbee_core.providers import Breaker

    return parts.once(f"breaker.{role}", lambda: Breaker(parts.clock))


def _load(parts: Parts, role: str, ref: ModelRef) -> None:
    """Wait until the server of a model file is loaded. That may take longer than an answer of it: the fleet sees to it.

    Raises:
        ProviderUnavailable: If it cannot be loaded.
    """
    try:
        with parts.fleet.lease(role, model=str(ref)):
            return
    except FleetError as error:
        raise ProviderUnavailable(error.message, hint=error.hint, code=error.code) from error

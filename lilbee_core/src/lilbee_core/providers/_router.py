"""Which provider serves which role: model references, resolved when a model is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

from lilbee_core.errors import LilbeeError, ModelNotFound, ProviderError, SettingsError
from lilbee_core.plugins.specs import ProviderServices, ProviderSpec
from lilbee_core.providers._builtins import CHAT, EMBED, RERANK, VISION
from lilbee_core.types import ModelDescription, ModelRef

if TYPE_CHECKING:
    from lilbee_core.protocols import (
        ChatProvider,
        EmbedderLike,
        EmbeddingProvider,
        RerankerLike,
        RerankProvider,
        VisionProvider,
    )

T = TypeVar("T")

BUILTIN = "builtin"
BUILTIN_EMBEDDING = ModelRef(BUILTIN, "all-MiniLM-L6-v2")
_OFF = frozenset({"", "none"})
_ROLE_WORDS = {EMBED: "embedding", CHAT: "chat", RERANK: "reranker", VISION: "vision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModels:
    """The model of each role as the settings name it: ``provider/name``, ``auto`` or ``none``."""

    embedding: str = "auto"
    chat: str = "auto"
    vision: str = "none"
    reranker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Makers:
    """What makes the parts that live outside of the providers. None means that there is no such part.

    `gguf` gets a role and a reference to a model file, and returns the provider that serves it.
    """

    builtin_embedder: Callable[[], EmbedderLike] | None = None
    embedder: Callable[[EmbeddingProvider, ModelRef], EmbedderLike] | None = None
    reranker: Callable[[RerankProvider, ModelRef], RerankerLike] | None = None
    gguf: Callable[[str, ModelRef], object] | None = None


@runtime_checkable
class _Describing(Protocol):
    """A provider that can ask its server about its model."""

    def about(self) -> Mapping[str, Any]: ...


class Router:
    """Finds the model of each role when it is asked for, and builds each once. Threads may share it.

    Roles are independent: each may be local, remote or switched off. The prefix of a reference chooses the provider;
    with `remote_only`, litellm serves them all. The router closes what it built.
    """

    def __init__(
        self,
        specs: Sequence[ProviderSpec],
        *,
        models: RoleModels | Callable[[], RoleModels],
        services: Mapping[str, ProviderServices],
        makers: Makers,
        remote_only: bool = False,
    ) -> None:
        self._specs = {spec.prefix: spec for spec in specs}
        self._models = models if callable(models) else lambda: models
        self._services = services
        self._makers = makers
        self._remote_only = remote_only
        self._built: dict[tuple[str, str], object] = {}
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ roles

    def embedding(self) -> EmbedderLike | None:
        """Return the embedder: the built-in one for ``auto``, None for ``none``.

        Raises:
            SettingsError: If the reference names no provider that can embed.
        """
        ref = self._ref(EMBED, self._models().embedding, auto=BUILTIN_EMBEDDING)
        return None if ref is None else self._once(EMBED, ref, lambda: self._embedder(ref))

    def chat(self) -> ChatProvider | None:
        """Return the chat model; None for ``none``, and for ``auto`` since no model is named.

        Raises:
            SettingsError: If the reference names no provider that can chat.
        """
        ref = self._ref(CHAT, self._models().chat)
        return None if ref is None else self._once(CHAT, ref, lambda: cast("ChatProvider", self._provider(CHAT, ref)))

    def vision(self) -> VisionProvider | None:
        """Return the model that reads page images, or None.

        Raises:
            SettingsError: If the reference names no provider that can see.
        """
        ref = self._ref(VISION, self._models().vision)
        if ref is None:
            return None
        return self._once(VISION, ref, lambda: cast("VisionProvider", self._provider(VISION, ref)))

    def reranker(self) -> RerankerLike | None:
        """Return the reranker, or None.

        Raises:
            SettingsError: If the reference names no provider that can rerank.
        """
        ref = self._ref(RERANK, self._models().reranker)
        return None if ref is None else self._once(RERANK, ref, lambda: self._reranker(ref))

    def check(self, role: str) -> ModelRef | None:
        """Return the model of a role by its settings, None if it has none, without building it.

        Raises:
            SettingsError: If no provider serves the role by that reference.
        """
        models = self._models()
        text = {EMBED: models.embedding, CHAT: models.chat, VISION: models.vision, RERANK: models.reranker}[role]
        ref = self._ref(role, text)
        if ref is None or ref.provider == "gguf" or (ref == BUILTIN_EMBEDDING and role == EMBED):
            return ref
        if ref.provider == BUILTIN and role != EMBED:
            raise _only_embeds(ref, role)
        self._spec(ref, role)
        return ref

    def describe(self, ref: ModelRef) -> ModelDescription:
        """Return what is known of a model; a server is asked, and what it does not say stays open.

        Raises:
            SettingsError: If the reference names no provider.
            ProviderError: If the server cannot be asked, or does not have the model.
        """
        if ref.provider == BUILTIN:
            embedder = self._once(EMBED, ref, lambda: self._embedder(ref))
            return ModelDescription(
                ref=ref,
                roles=frozenset({EMBED}),
                dimension=embedder.dimension,
                max_tokens=embedder.max_tokens,
                languages=embedder.languages,
            )
        if ref.provider == "gguf":
            return ModelDescription(ref=ref, managed=True)
        spec = self._spec(ref, None)
        role = CHAT if CHAT in spec.roles else min(spec.roles)
        model = self._once("describe", ref, lambda: self._build(spec, ref, role))
        about: Mapping[str, Any] = {}
        if isinstance(model, _Describing):
            about = model.about()
        return ModelDescription(ref=ref, roles=spec.roles, max_tokens=context_tokens(about))

    def close(self) -> None:
        """Close what was built. The router may be used again, and builds anew."""
        with self._lock:
            built, self._built = list(self._built.values()), {}
        for one in built:
            close = getattr(one, "close", None)
            if callable(close):
                close()

    def __enter__(self) -> Router:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # ------------------------------------------------------------------ references

    def _ref(self, role: str, text: str, auto: ModelRef | None = None) -> ModelRef | None:
        value = text.strip()
        if value.lower() in _OFF:
            return None
        if value.lower() == "auto":
            return auto
        return parse_reference(value, role)

    def _spec(self, ref: ModelRef, role: str | None) -> ProviderSpec:
        prefix = "litellm" if self._remote_only else ref.provider
        spec = self._specs.get(prefix)
        if spec is None:
            raise unknown_provider(ref, role, self._specs)
        if role is not None and role not in spec.roles:
            raise SettingsError(
                f"{ref} cannot be the {_ROLE_WORDS[role]} model: {spec.name} serves {_listed(spec.roles)}",
                hint=f"Choose a model of {_listed(self._serving(role))} for {_setting(role)}.",
            )
        return spec

    def _serving(self, role: str) -> list[str]:
        return [prefix for prefix, spec in self._specs.items() if role in spec.roles]

    # ------------------------------------------------------------------ building

    def _once(self, role: str, ref: ModelRef, build: Callable[[], T]) -> T:
        key = (role, str(ref))
        with self._lock:
            if key not in self._built:
                self._built[key] = build()
            return cast("T", self._built[key])

    def _embedder(self, ref: ModelRef) -> EmbedderLike:
        if ref.provider == BUILTIN:
            if ref.name.lower() != BUILTIN_EMBEDDING.name.lower() or self._makers.builtin_embedder is None:
                raise ModelNotFound(
                    f"There is no built-in model {ref.name!r}",
                    hint=f"Set embedding_model to {BUILTIN_EMBEDDING}, or to provider/name.",
                )
            return self._makers.builtin_embedder()
        if self._makers.embedder is None:
            raise ValueError("the router was given no maker of embedders")
        return self._makers.embedder(cast("EmbeddingProvider", self._provider(EMBED, ref)), ref)

    def _reranker(self, ref: ModelRef) -> RerankerLike:
        if self._makers.reranker is None:
            raise ValueError("the router was given no maker of rerankers")
        return self._makers.reranker(cast("RerankProvider", self._provider(RERANK, ref)), ref)

    def _provider(self, role: str, ref: ModelRef) -> object:
        if ref.provider == BUILTIN:
            raise _only_embeds(ref, role)
        if ref.provider == "gguf":
            return self._file(role, ref)
        return self._build(self._spec(ref, role), ref, role)

    def _file(self, role: str, ref: ModelRef) -> object:
        if self._makers.gguf is None:
            raise SettingsError(
                f"{ref} is a model file, and nothing here can run it",
                hint="Serve it with llama-server and name it openai/NAME with openai_base_url set to its address.",
            )
        return self._makers.gguf(role, ref)

    def _build(self, spec: ProviderSpec, ref: ModelRef, role: str) -> object:
        name = str(ref) if spec.prefix != ref.provider else ref.name
        services = self._services.get(spec.prefix, ProviderServices())
        try:
            return spec.build(name, role, services)
        except LilbeeError:
            raise
        except Exception as error:
            raise ProviderError(
                f"The provider {spec.name!r} could not make the model {ref}: {type(error).__name__}: {error}",
                hint=f"Check the options of {spec.name}, or choose another provider.",
            ) from error


def parse_reference(text: str, role: str) -> ModelRef:
    """Return a model reference as a setting gives it.

    Raises:
        SettingsError: If it is none.
    """
    try:
        return ModelRef.parse(text)
    except ValueError as error:
        raise SettingsError(
            f"{_setting(role)} is {text!r}, which names no provider",
            hint="Write provider/name, for example ollama/qwen3:0.6b, or none.",
        ) from error


def unknown_provider(ref: ModelRef, role: str | None, specs: Mapping[str, ProviderSpec]) -> SettingsError:
    """Return the error for a reference whose provider nobody offers, with the nearest one as hint."""
    near = get_close_matches(ref.provider, specs, n=1)
    known = f"Use one of {_listed(sorted([BUILTIN, *specs]))}, or install the plugin that serves {ref.provider}/."
    hint = f"Did you mean {near[0]}/{ref.name}? {known}" if near else known
    place = f" ({_setting(role)})" if role else ""
    return SettingsError(f"There is no provider {ref.provider!r} for the model {ref}{place}", hint=hint)


def _only_embeds(ref: ModelRef, role: str) -> SettingsError:
    return SettingsError(
        f"{ref} cannot be the {_ROLE_WORDS[role]} model: what is built in only embeds",
        hint=f"Set {_setting(role)} to provider/name, or to none.",
    )


def context_tokens(about: Mapping[str, Any]) -> int | None:
    """Return how many tokens a model reads, from what servers say about it in their lists of models."""
    places: list[Mapping[str, Any]] = [about, *(one for one in about.values() if isinstance(one, dict))]
    for key in ("n_ctx", "max_model_len", "max_context_length", "context_length", "context_window", "n_ctx_train"):
        for place in places:
            value = place.get(key)
            if isinstance(value, int) and value > 0:
                return value
    return None


def _setting(role: str) -> str:
    return f"{_ROLE_WORDS[role]}_model"


def _listed(words: Sequence[str] | frozenset[str]) -> str:
    return ", ".join(sorted(words)) or "nothing"

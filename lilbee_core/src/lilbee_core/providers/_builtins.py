"""The providers that come with lilbee, as specs, and where their servers are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lilbee_core.errors import SettingsError
from lilbee_core.plugins.specs import ProviderServices, ProviderSpec

if TYPE_CHECKING:
    from lilbee_core.providers._client import OpenAIClient

CHAT, EMBED, RERANK, VISION = "chat", "embed", "rerank", "vision"
ROLES = frozenset({CHAT, EMBED, RERANK, VISION})

OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://localhost:11434"
LM_STUDIO_URL = "http://localhost:1234/v1"


def builtin_providers() -> tuple[ProviderSpec, ...]:
    """Return the providers that come with lilbee. Nothing is imported or opened until one is used."""
    return (
        ProviderSpec(
            name="openai", prefix="openai", roles=ROLES, build=_openai, summary="Any OpenAI-style server, or OpenAI"
        ),
        ProviderSpec(
            name="ollama", prefix="ollama", roles=frozenset({CHAT, EMBED, VISION}), build=_ollama, summary="Ollama"
        ),
        ProviderSpec(
            name="lmstudio",
            prefix="lmstudio",
            roles=frozenset({CHAT, EMBED, VISION}),
            build=_lm_studio,
            summary="LM Studio",
        ),
        ProviderSpec(
            name="litellm",
            prefix="litellm",
            roles=ROLES,
            build=_litellm,
            summary="A hundred hosted services, by the extra `litellm`",
        ),
    )


def provider_services(
    *,
    openai_base_url: str = "",
    openai_api_key: str = "",
    ollama_base_url: str = "",
    lm_studio_base_url: str = "",
    request_timeout_s: float = 120.0,
    connect_timeout_s: float = 5.0,
    retries: int = 2,
) -> Mapping[str, ProviderServices]:
    """Return what each provider may use, by prefix, from plain values of the settings.

    A blank address is the usual one. OpenAI's own address is taken only if there is a key: nobody is called because
    a setting was left out.
    """

    def services(base_url: str, api_key: str = "") -> ProviderServices:
        return ProviderServices(
            base_url=base_url,
            api_key=api_key,
            request_timeout_s=request_timeout_s,
            connect_timeout_s=connect_timeout_s,
            retries=retries,
        )

    return {
        "openai": services(openai_base_url.strip() or (OPENAI_URL if openai_api_key else ""), openai_api_key),
        "ollama": services(ollama_base_url.strip() or OLLAMA_URL),
        "lmstudio": services(lm_studio_base_url.strip() or LM_STUDIO_URL),
        "litellm": services("", ""),
    }


def _openai(name: str, role: str, services: ProviderServices) -> object:
    if not services.base_url:
        raise SettingsError(
            f"openai/{name} needs the address of a server",
            hint="Set openai_base_url (LILBEE_OPENAI_BASE_URL), for example to http://localhost:8000/v1, "
            "or openai_api_key (LILBEE_OPENAI_API_KEY) for OpenAI itself.",
        )
    return _model(role, name, _client(services, "The OpenAI-style server", "openai_base_url", "openai_api_key"))


def _ollama(name: str, role: str, services: ProviderServices) -> object:
    url = with_v1(services.base_url or OLLAMA_URL)
    return _model(role, name, _client(services, "Ollama", "ollama_base_url", "", url=url, pull="ollama pull"))


def _lm_studio(name: str, role: str, services: ProviderServices) -> object:
    url = with_v1(services.base_url or LM_STUDIO_URL)
    return _model(role, name, _client(services, "LM Studio", "lm_studio_base_url", "", url=url, pull="lms get"))


def _litellm(name: str, role: str, services: ProviderServices) -> object:
    from lilbee_core.providers._litellm import litellm_model

    return litellm_model(role, name, services)


def with_v1(url: str) -> str:
    """Return a base URL that ends in ``/v1``, where these servers speak as OpenAI does."""
    plain = url.strip().rstrip("/")
    return plain if plain.endswith("/v1") else f"{plain}/v1"


def _client(
    services: ProviderServices, name: str, url_setting: str, key_setting: str, *, url: str = "", pull: str = ""
) -> OpenAIClient:
    from lilbee_core.providers._client import OpenAIClient

    return OpenAIClient(
        url or services.base_url,
        api_key=services.api_key,
        name=name,
        url_setting=url_setting,
        key_setting=key_setting,
        pull_command=pull,
        request_timeout_s=services.request_timeout_s,
        connect_timeout_s=services.connect_timeout_s,
        retries=services.retries,
    )


def _model(role: str, name: str, client: OpenAIClient) -> object:
    """Return the model of a role that owns its client."""
    from lilbee_core.providers._chat import OpenAIChat
    from lilbee_core.providers._embedding import OpenAIEmbedding
    from lilbee_core.providers._rerank import OpenAIRerank
    from lilbee_core.providers._vision import OpenAIVision

    kinds: Mapping[str, Callable[..., object]] = {
        CHAT: OpenAIChat, EMBED: OpenAIEmbedding, RERANK: OpenAIRerank, VISION: OpenAIVision
    }  # fmt: skip
    return kinds[role](client, name, owns_client=True)

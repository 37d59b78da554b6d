"""Which models the servers on this machine have: Ollama and LM Studio, if they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from lilbee_core.errors import ProviderError
from lilbee_core.providers._builtins import CHAT, EMBED, LM_STUDIO_URL, OLLAMA_URL, VISION, with_v1

if TYPE_CHECKING:
    from lilbee_core.providers._client import OpenAIClient
    from lilbee_core.types import ModelRef

_PATIENCE_S = 0.5
_LISTING_S = 3.0
_ROLES = {
    "completion": CHAT, "llm": CHAT, "embedding": EMBED, "embeddings": EMBED, "vision": VISION, "vlm": VISION
}  # fmt: skip
"""What Ollama calls a capability and LM Studio a type."""


def local_models(*, ollama_base_url: str = "", lm_studio_base_url: str = "") -> Iterator[str]:
    """Yield references of all models that local servers offer. One that does not answer at once has none."""
    for prefix, url in _addresses(ollama_base_url, lm_studio_base_url).items():
        with _client(prefix, url) as client:
            try:
                yield from sorted(f"{prefix}/{one['id']}" for one in client.models() if one.get("id"))
            except ProviderError:
                continue


def local_roles(ref: ModelRef, *, ollama_base_url: str = "", lm_studio_base_url: str = "") -> frozenset[str]:
    """Return the roles that Ollama or LM Studio say a model has; none where they do not say, or do not run.

    Both tell that in a protocol of their own, beside the OpenAI-style one.
    """
    ask = {"ollama": _of_ollama, "lmstudio": _of_lm_studio}.get(ref.provider)
    if ask is None:
        return frozenset()
    url = _addresses(ollama_base_url, lm_studio_base_url)[ref.provider]
    with _client(ref.provider, url.removesuffix("/v1")) as client:
        try:
            told = ask(client, ref.name)
        except ProviderError:
            return frozenset()
    return frozenset(_ROLES[one] for one in told if one in _ROLES)


def _addresses(ollama_base_url: str, lm_studio_base_url: str) -> dict[str, str]:
    """Return where the servers are, by the prefix of their models."""
    return {
        "ollama": with_v1(ollama_base_url.strip() or OLLAMA_URL),
        "lmstudio": with_v1(lm_studio_base_url.strip() or LM_STUDIO_URL),
    }


def _of_ollama(client: OpenAIClient, name: str) -> Iterable[str]:
    found: object = client.post("/api/show", {"model": name}).get("capabilities")
    return map(str, cast("list[object]", found)) if isinstance(found, list) else ()


def _of_lm_studio(client: OpenAIClient, name: str) -> Iterable[str]:
    listed: object = client.get("/api/v0/models").get("data")
    for one in cast("list[object]", listed) if isinstance(listed, list) else []:
        if isinstance(one, dict) and cast("dict[str, object]", one).get("id") == name:
            kind = str(cast("dict[str, object]", one).get("type"))
            return ("llm", "vlm") if kind == "vlm" else (kind,)
    return ()


def _client(prefix: str, url: str) -> OpenAIClient:
    from lilbee_core.providers._client import OpenAIClient

    return OpenAIClient(url, name=prefix, request_timeout_s=_LISTING_S, connect_timeout_s=_PATIENCE_S, retries=0)

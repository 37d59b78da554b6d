"""Which models the servers on this machine have: Ollama and LM Studio, if they run."""

from __future__ import annotations

from collections.abc import Iterator

from lilbee_core.errors import ProviderError
from lilbee_core.providers._builtins import LM_STUDIO_URL, OLLAMA_URL, with_v1

_PATIENCE_S = 0.5
_LISTING_S = 3.0


def local_models(*, ollama_base_url: str = "", lm_studio_base_url: str = "") -> Iterator[str]:
    """Yield references of all models that local servers offer. One that does not answer at once has none."""
    from lilbee_core.providers._client import OpenAIClient

    servers = (
        ("ollama", ollama_base_url.strip() or OLLAMA_URL),
        ("lmstudio", lm_studio_base_url.strip() or LM_STUDIO_URL),
    )
    for prefix, url in servers:
        client = OpenAIClient(
            with_v1(url), name=prefix, request_timeout_s=_LISTING_S, connect_timeout_s=_PATIENCE_S, retries=0
        )
        try:
            yield from sorted(f"{prefix}/{one['id']}" for one in client.models() if one.get("id"))
        except ProviderError:
            continue
        finally:
            client.close()

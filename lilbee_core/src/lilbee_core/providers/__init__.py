"""Models of other servers: one HTTP client, a class per role, and the router that finds them by reference."""

from __future__ import annotations

from lilbee_core.providers._builtins import builtin_providers, provider_services
from lilbee_core.providers._chat import OpenAIChat
from lilbee_core.providers._client import OpenAIClient, shown_url
from lilbee_core.providers._embedding import OpenAIEmbedding
from lilbee_core.providers._guard import Breaker, Guard, Watch
from lilbee_core.providers._guarded import GuardedChat, GuardedEmbedder, GuardedReranker
from lilbee_core.providers._local import local_models, local_roles
from lilbee_core.providers._rerank import OpenAIRerank
from lilbee_core.providers._router import Makers, RoleModels, Router
from lilbee_core.providers._vision import OpenAIVision

__all__ = [
    "Breaker", "Guard", "GuardedChat", "GuardedEmbedder", "GuardedReranker", "Makers", "OpenAIChat", "OpenAIClient",
    "OpenAIEmbedding", "OpenAIRerank", "OpenAIVision", "RoleModels", "Router", "Watch", "builtin_providers",
    "local_models", "local_roles", "provider_services", "shown_url",
]  # fmt: skip

"""A plugin's provider serves every role for the references with its prefix (R004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from lilbee_core.builtins import plugin_host
from lilbee_core.errors import ProviderError, SettingsError
from lilbee_core.library._models import build_router
from lilbee_core.plugins import PluginHost, ProviderServices, ProviderSpec, hookimpl
from lilbee_core.settings import Settings
from lilbee_core.testing import HashProvider, ScriptedChat, ScriptedReranker, open_test_library
from lilbee_core.types import Message
from tests.core.plugins._samples import Named

FILES = {"bees.md": "# Bees\n\nBees find home by the sun.\n", "honey.md": "# Honey\n\nHoney keeps for years.\n"}


class AcmeSettings(BaseModel):
    place: str = "nowhere"


@dataclass
class Eyes:
    """Reads what it was told to."""

    text: str

    def read(self, image: bytes, *, prompt: str = "") -> str:
        return self.text


class Served(Named):
    """Serves all roles, and remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str, ProviderServices]] = []
        self.models: dict[str, Any] = {
            "embed": HashProvider(48),
            "chat": ScriptedChat("Bees find home by the sun [1]."),
            "rerank": ScriptedReranker(),
            "vision": Eyes("a page"),
        }

    def build(self, model: str, role: str, services: ProviderServices) -> object:
        self.asked.append((model, role, services))
        return self.models[role]

    @hookimpl
    def lilbee_providers(self) -> Sequence[ProviderSpec]:
        roles = frozenset(self.models)
        return [ProviderSpec(name="acme-all", prefix="acme", roles=roles, build=self.build, options=AcmeSettings)]


def settings(**more: object) -> Settings:
    return Settings().changed({"embedding_model": "acme/tiny", **more})


def no_fleet() -> Any:
    raise AssertionError("no model file is asked for")


def router_of(plugin: object, chosen: Settings, **options: object) -> Any:
    host = plugin_host(plugins=[plugin], options={"acme": options} if options else None)
    return build_router(chosen, host, lambda: None, fleet=no_fleet)


def test_each_role_is_served() -> None:
    plugin = Served()
    chosen = settings(chat_model="acme/talk:1b", reranker_model="acme/rank", vision_model="acme/eyes")
    router = router_of(plugin, chosen, place="here")
    assert router.embedding().embed("bees").shape == (48,)
    assert list(router.chat().chat([Message(role="user", content="hello")]))
    assert len(router.reranker().score("bees", ["bees", "honey"])) == 2
    assert router.vision().read(b"png") == "a page"
    assert [(model, role) for model, role, _ in plugin.asked] == [
        ("tiny", "embed"), ("talk:1b", "chat"), ("rank", "rerank"), ("eyes", "vision"),
    ]  # fmt: skip


def test_options_and_waits_reach_the_provider() -> None:
    plugin = Served()
    router_of(plugin, settings(request_timeout_s=7.0, request_retries=0), place="here").embedding()
    services = plugin.asked[0][2]
    assert (services.options, services.request_timeout_s, services.retries) == ({"place": "here"}, 7.0, 0)
    assert (services.base_url, services.api_key) == ("", "")


def test_keys_of_other_providers_are_not_told() -> None:
    plugin = Served()
    router_of(plugin, settings(openai_api_key="hunter2", openai_base_url="http://127.0.0.1:9/v1")).embedding()
    assert "hunter2" not in repr(plugin.asked)


def test_a_role_that_it_does_not_serve_is_refused() -> None:
    class OnlyEmbeds(Named):
        @hookimpl
        def lilbee_providers(self) -> Sequence[ProviderSpec]:
            return [ProviderSpec(name="acme-e", prefix="acme", roles=frozenset({"embed"}), build=lambda *_: None)]

    with pytest.raises(SettingsError, match="acme/talk cannot be the chat model"):
        router_of(OnlyEmbeds(), settings(chat_model="acme/talk")).chat()


def test_one_that_cannot_be_built_is_told() -> None:
    class Breaks(Served):
        def build(self, model: str, role: str, services: ProviderServices) -> object:
            raise OSError("no such file")

    with pytest.raises(ProviderError, match=r"acme-all.*no such file"):
        router_of(Breaks(), settings()).embedding()


def test_prefixes_of_lilbee_are_taken() -> None:
    class Impostor(Named):
        @hookimpl
        def lilbee_providers(self) -> Sequence[ProviderSpec]:
            return [ProviderSpec(name="acme-o", prefix="openai", roles=frozenset({"chat"}), build=lambda *_: None)]

    host: PluginHost = plugin_host(plugins=[Impostor()])
    assert "acme-o" not in [offer.spec.name for offer in host.providers()]
    assert ["serves the prefix 'openai' already" in failure.message for failure in host.failures] == [True]


@pytest.mark.slow
def test_a_library_works_with_it() -> None:
    plugin = Served()
    chosen = settings(chat_model="acme/talk", reranker_model="acme/rank")
    with open_test_library([plugin], files=FILES, settings=chosen) as bee:
        status = bee.status()
        assert (status.embedder, status.dimension, status.embedded) == ("acme/tiny", 48, status.chunks)
        result = bee.search("how do bees find home")
        assert result[0].path == "bees.md"
        assert "rerank" in [report.name for report in result.reports]
        answer = bee.ask("how do bees find home?")
        assert answer.text.startswith("Bees find home by the sun")
        assert [citation.path for citation in answer.citations] == ["bees.md"]

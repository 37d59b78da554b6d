"""Which provider serves which role (R012, R079-R082, R087, R088, R374)."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from lilbee_core.errors import (
    EmptyReply,
    ExtraMissing,
    InputTooLong,
    ModelNotFound,
    ProviderError,
    ProviderUnavailable,
    SettingsError,
)
from lilbee_core.plugins.specs import ProviderServices, ProviderSpec
from lilbee_core.protocols import ChatProvider, EmbedderLike, EmbeddingProvider, RerankerLike, RerankProvider
from lilbee_core.providers import (
    Makers,
    OpenAIChat,
    OpenAIEmbedding,
    OpenAIVision,
    RoleModels,
    Router,
    builtin_providers,
    provider_services,
)
from lilbee_core.types import Message, ModelRef
from tests.support.openai_fake import FakeOpenAI

ASK = (Message(role="user", content="Hello"),)


class Wrapped:
    """Stands for an embedder or a reranker around a provider."""

    dimension, max_tokens, languages, model = 3, 256, ("en",), "wrapped"

    def __init__(self, provider: object, ref: ModelRef | None) -> None:
        self.provider, self.ref, self.closed = provider, ref, 0

    def close(self) -> None:
        self.closed += 1
        if isinstance(self.provider, OpenAIEmbedding):
            self.provider.close()


def wrap(provider: object, ref: ModelRef) -> Any:
    return Wrapped(provider, ref)


_OPEN = ExitStack()


@pytest.fixture(autouse=True)
def _closed_in_the_end() -> Iterator[None]:
    with _OPEN:
        yield


def make_router(
    models: RoleModels | Callable[[], RoleModels],
    *,
    gguf: Callable[[str, ModelRef], object] | None = None,
    specs: tuple[ProviderSpec, ...] = (),
    remote_only: bool = False,
    **values: Any,
) -> Router:
    router = Router(
        (*builtin_providers(), *specs),
        models=models,
        services=provider_services(**values),
        makers=Makers(
            builtin_embedder=lambda: cast("EmbedderLike", Wrapped("built in", None)),
            embedder=cast("Callable[[EmbeddingProvider, ModelRef], EmbedderLike]", wrap),
            reranker=cast("Callable[[RerankProvider, ModelRef], RerankerLike]", wrap),
            gguf=gguf,
        ),
        remote_only=remote_only,
    )
    return _OPEN.enter_context(router)


def inside(wrapped: object) -> Any:
    assert isinstance(wrapped, Wrapped)
    return wrapped.provider


# --------------------------------------------------------------------------- roles


def test_by_default_only_the_built_in_embedder_is_there() -> None:
    router = make_router(RoleModels())
    assert inside(router.embedding()) == "built in"
    assert (router.chat(), router.vision(), router.reranker()) == (None, None, None)


@pytest.mark.parametrize("off", ["none", "", "None", " none "])
def test_every_role_can_be_switched_off(off: str) -> None:
    router = make_router(RoleModels(embedding=off, chat=off, vision=off, reranker=off))
    assert (router.embedding(), router.chat(), router.vision(), router.reranker()) == (None, None, None, None)


def test_roles_are_independent_and_mix_freely(server: FakeOpenAI) -> None:
    router = make_router(
        RoleModels(
            embedding="ollama/nomic-embed-text", chat="openai/fake", vision="lmstudio/qwen-vl", reranker="openai/rank"
        ),
        openai_base_url=server.url,
    )
    embedding, chat, vision = inside(router.embedding()), router.chat(), router.vision()
    assert isinstance(embedding, OpenAIEmbedding)
    assert isinstance(chat, OpenAIChat)
    assert isinstance(vision, OpenAIVision)
    assert (embedding.model, chat.model, vision.model) == ("nomic-embed-text", "fake", "qwen-vl")
    assert inside(router.reranker()).model == "rank"
    assert "".join(delta.text for delta in chat.chat(ASK)) == "You said: Hello"
    assert [one.path for one in server.requests] == ["/v1/chat/completions"]


def test_a_model_is_built_once_and_again_when_the_setting_changes() -> None:
    named = ["ollama/a"]
    router = make_router(lambda: RoleModels(chat=named[0]))
    first = router.chat()
    again = router.chat()
    assert again is first
    named[0] = "ollama/b"
    second = router.chat()
    assert isinstance(second, OpenAIChat)
    assert second.model == "b"
    named[0] = "ollama/a"
    assert router.chat() is first


def test_closing_closes_what_was_built() -> None:
    with make_router(RoleModels(embedding="ollama/a")) as router:
        embedder: object = router.embedding()
    assert isinstance(embedder, Wrapped)
    assert embedder.closed == 1
    router.close()
    assert embedder.closed == 1


# --------------------------------------------------------------------------- where servers are


@pytest.mark.parametrize(
    ("ref", "values", "path"),
    [
        ("ollama/fake", {"ollama_base_url": "{root}"}, "/v1/chat/completions"),
        ("ollama/fake", {"ollama_base_url": "{root}/"}, "/v1/chat/completions"),
        ("ollama/fake", {"ollama_base_url": "{root}/v1"}, "/v1/chat/completions"),
        ("lmstudio/fake", {"lm_studio_base_url": "{root}"}, "/v1/chat/completions"),
        ("openai/fake", {"openai_base_url": "{root}/v1/"}, "/v1/chat/completions"),
    ],
)
def test_each_prefix_has_its_server(server: FakeOpenAI, ref: str, values: dict[str, Any], path: str) -> None:
    root = server.url.removesuffix("/v1")
    chat = make_router(RoleModels(chat=ref), **{key: value.format(root=root) for key, value in values.items()}).chat()
    assert chat is not None
    assert list(chat.chat(ASK))
    assert server.requests[0].path == path
    assert "authorization" not in server.requests[0].headers


def test_blank_addresses_are_the_usual_ones() -> None:
    services = provider_services(ollama_base_url=" ", lm_studio_base_url="")
    assert services["ollama"].base_url == "http://localhost:11434"
    assert services["lmstudio"].base_url == "http://localhost:1234/v1"
    assert services["openai"].base_url == ""
    assert provider_services(openai_api_key="k")["openai"].base_url == "https://api.openai.com/v1"


def test_openai_without_address_and_key_calls_nobody() -> None:
    with pytest.raises(SettingsError) as caught:
        make_router(RoleModels(chat="openai/gpt")).chat()
    assert "LILBEE_OPENAI_BASE_URL" in caught.value.hint


def test_a_server_that_is_down_is_named_with_its_setting() -> None:
    chat = make_router(
        RoleModels(chat="ollama/qwen3"), ollama_base_url="http://127.0.0.1:9", retries=0, connect_timeout_s=2.0
    ).chat()
    assert chat is not None
    with pytest.raises(ProviderUnavailable) as caught:
        list(chat.chat(ASK))
    assert "Ollama at http://127.0.0.1:9/v1" in str(caught.value)
    assert "LILBEE_OLLAMA_BASE_URL" in caught.value.hint


def test_a_missing_model_of_ollama_says_how_to_get_it(server: FakeOpenAI) -> None:
    chat = make_router(RoleModels(chat="ollama/qwen3:8b"), ollama_base_url=server.url).chat()
    assert chat is not None
    with pytest.raises(ModelNotFound) as caught:
        list(chat.chat(ASK))
    assert "`ollama pull qwen3:8b`" in caught.value.hint


# --------------------------------------------------------------------------- bad references


@pytest.mark.parametrize(
    ("models", "words", "hint"),
    [
        (RoleModels(chat="olama/qwen3"), "no provider 'olama'", "Did you mean ollama/qwen3?"),
        (RoleModels(embedding="acme/x"), "embedding_model", "builtin, litellm, lmstudio, ollama, openai"),
        (RoleModels(chat="qwen3"), "chat_model is 'qwen3'", "provider/name"),
        (RoleModels(reranker="ollama/x"), "cannot be the reranker model", "litellm, openai"),
        (RoleModels(chat="builtin/all-MiniLM-L6-v2"), "only embeds", "chat_model"),
        (RoleModels(chat="org/repo/model.gguf"), "is a model file", "llama-server"),
    ],
)
def test_references_that_cannot_be_served_are_told(models: RoleModels, words: str, hint: str) -> None:
    router = make_router(models)
    with pytest.raises(SettingsError, match=words) as caught:
        [role() for role in (router.embedding, router.chat, router.vision, router.reranker)]
    assert hint in caught.value.hint


def test_the_built_in_model_may_be_named_and_others_are_not_there() -> None:
    assert inside(make_router(RoleModels(embedding="builtin/all-MiniLM-L6-v2")).embedding()) == "built in"
    with pytest.raises(ModelNotFound, match="no built-in model 'bert'"):
        make_router(RoleModels(embedding="builtin/bert")).embedding()


def test_model_files_go_to_whoever_runs_them() -> None:
    served: list[tuple[str, str]] = []

    def serve(role: str, ref: ModelRef) -> object:
        served.append((role, str(ref)))
        return "provider"

    router = make_router(RoleModels(chat="a/b/c.gguf", embedding="/models/e.gguf"), gguf=serve)
    assert router.chat() == cast("ChatProvider", "provider")
    assert inside(router.embedding()) == "provider"
    assert served == [("chat", "a/b/c.gguf"), ("embed", "/models/e.gguf")]


def test_a_plugin_serves_its_prefix_with_its_services() -> None:
    asked: list[tuple[str, str, ProviderServices]] = []

    def build(name: str, role: str, services: ProviderServices) -> object:
        asked.append((name, role, services))
        return "toy model"

    toy = ProviderSpec(name="acme-toy", prefix="toy", roles=frozenset({"chat"}), build=build)
    assert make_router(RoleModels(chat="toy/one"), specs=(toy,)).chat() == cast("ChatProvider", "toy model")
    assert asked == [("one", "chat", ProviderServices())]


def test_a_provider_that_cannot_be_built_is_named() -> None:
    def build(name: str, role: str, services: ProviderServices) -> object:
        raise RuntimeError("no wings")

    toy = ProviderSpec(name="acme-toy", prefix="toy", roles=frozenset({"chat"}), build=build)
    with pytest.raises(ProviderError, match=r"'acme-toy' .* toy/one: RuntimeError: no wings"):
        make_router(RoleModels(chat="toy/one"), specs=(toy,)).chat()


# --------------------------------------------------------------------------- describing


@pytest.mark.parametrize(
    "about", [{"max_model_len": 4096}, {"meta": {"n_ctx": 4096, "n_ctx_train": 9}}, {"max_context_length": 4096}]
)
def test_a_server_is_asked_how_much_a_model_reads(server: FakeOpenAI, about: dict[str, Any]) -> None:
    server.json({"data": [{"id": "fake", **about}]})
    router = make_router(RoleModels(), openai_base_url=server.url)
    described = router.describe(ModelRef("openai", "fake"))
    assert (described.max_tokens, described.managed) == (4096, False)
    assert "chat" in described.roles


def test_what_a_server_does_not_say_stays_open(server: FakeOpenAI) -> None:
    router = make_router(RoleModels(), openai_base_url=server.url)
    assert router.describe(ModelRef("openai", "fake")).max_tokens is None
    with pytest.raises(ModelNotFound):
        router.describe(ModelRef("openai", "absent"))


def test_the_built_in_model_describes_itself() -> None:
    described = make_router(RoleModels()).describe(ModelRef("builtin", "all-MiniLM-L6-v2"))
    assert (described.dimension, described.max_tokens, described.roles) == (3, 256, frozenset({"embed"}))


# --------------------------------------------------------------------------- litellm


class FakeLiteLlm(types.ModuleType):
    """As much of the package as is used."""

    def __init__(self) -> None:
        super().__init__("litellm")
        self.requests: list[dict[str, Any]] = []
        self.error: Exception | None = None
        self.pieces: list[str] = ["<think>Hm.</think>", "Be", "es."]

    def _take(self, request: dict[str, Any]) -> None:
        self.requests.append(request)
        if self.error is not None:
            raise self.error

    def completion(self, **request: Any) -> Iterator[Any]:
        self._take(request)
        return (
            SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=piece))]) for piece in self.pieces
        )

    def embedding(self, **request: Any) -> Any:
        self._take(request)
        rows = [{"index": place, "embedding": [float(place), 1.0]} for place in range(len(request["input"]))]
        return SimpleNamespace(data=rows[::-1])

    def rerank(self, **request: Any) -> Any:
        self._take(request)
        return SimpleNamespace(results=[{"index": place, "relevance_score": 0.5} for place in range(2)][::-1])


@pytest.fixture
def litellm(monkeypatch: pytest.MonkeyPatch) -> FakeLiteLlm:
    fake = FakeLiteLlm()
    monkeypatch.setitem(sys.modules, "litellm", fake)
    return fake


def test_litellm_serves_every_role(litellm: FakeLiteLlm) -> None:
    name = "litellm/anthropic/claude"
    router = make_router(RoleModels(embedding=name, chat=name, vision=name, reranker=name), request_timeout_s=9.0)
    chat, vision = router.chat(), router.vision()
    assert chat is not None
    assert vision is not None
    deltas = list(chat.chat(ASK))
    assert [(one.kind, one.text) for one in deltas] == [("reasoning", "Hm."), ("text", "Be"), ("text", "es.")]
    assert vision.read(b"png") == "Bees."
    np.testing.assert_array_equal(inside(router.embedding()).embed(["a", "b"]), [[0, 1], [1, 1]])
    assert inside(router.reranker()).rank("q", ["a", "b"]) == (0.5, 0.5)
    assert {one["model"] for one in litellm.requests} == {"anthropic/claude"}
    assert {one["timeout"] for one in litellm.requests} == {9.0}


def test_remote_sends_everything_through_litellm(litellm: FakeLiteLlm) -> None:
    router = make_router(RoleModels(chat="ollama/qwen3"), remote_only=True)
    chat = router.chat()
    assert chat is not None
    assert list(chat.chat(ASK))
    assert litellm.requests[0]["model"] == "ollama/qwen3"
    assert inside(router.embedding()) == "built in"


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    chat = make_router(RoleModels(chat="litellm/gpt")).chat()
    assert chat is not None
    with pytest.raises(ExtraMissing) as caught:
        list(chat.chat(ASK))
    assert "lilbee-core[litellm]" in caught.value.hint


def test_litellm_fetches_no_prices_at_import(litellm: FakeLiteLlm, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP", raising=False)
    chat = make_router(RoleModels(chat="litellm/gpt")).chat()
    assert chat is not None
    list(chat.chat(ASK))
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (404, "model gpt-9 does not exist", ModelNotFound),
        (400, "maximum context length is 5 tokens", InputTooLong),
        (503, "down", ProviderUnavailable),
        (None, "odd", ProviderError),
    ],
)
def test_failures_of_litellm_become_ours(
    litellm: FakeLiteLlm, status: int | None, text: str, kind: type[ProviderError]
) -> None:
    litellm.error = type("Failed", (Exception,), {"status_code": status})(text)
    router = make_router(RoleModels(chat="litellm/gpt", embedding="litellm/e"))
    chat = router.chat()
    assert chat is not None
    for call in (lambda: list(chat.chat(ASK)), lambda: inside(router.embedding()).embed(["a"])):
        with pytest.raises(ProviderError, match=text) as caught:
            call()
        assert type(caught.value) is kind


def test_an_empty_reply_of_litellm_is_an_error(litellm: FakeLiteLlm) -> None:
    litellm.pieces = []
    chat = make_router(RoleModels(chat="litellm/gpt")).chat()
    assert chat is not None
    with pytest.raises(EmptyReply):
        list(chat.chat(ASK))

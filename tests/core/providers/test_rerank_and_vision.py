from __future__ import annotations

import base64
from collections.abc import Sequence

import pytest

from lilbee_core.errors import ProviderError
from lilbee_core.providers import OpenAIClient, OpenAIRerank, OpenAIVision
from lilbee_core.testing.contracts import RerankProviderContract, VisionProviderContract
from tests.support.openai_fake import FakeOpenAI

PNG = b"\x89PNG\r\n\x1a\n..."


class TestOpenAIRerank(RerankProviderContract):
    @pytest.fixture(autouse=True)
    def _server(self, client: OpenAIClient) -> None:
        self._client = client

    def make(self) -> OpenAIRerank:
        return OpenAIRerank(self._client, "fake", logits=True)


class TestOpenAIVision(VisionProviderContract):
    @pytest.fixture(autouse=True)
    def _server(self, client: OpenAIClient, server: FakeOpenAI) -> None:
        server.reply("# Page")
        self._client = client

    def make(self) -> OpenAIVision:
        return OpenAIVision(self._client, "fake")

    def images(self) -> Sequence[bytes]:
        return (PNG,)


def results(*scores: float) -> dict[str, object]:
    found = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
    return {"results": found[::-1]}


def test_scores_stand_in_the_order_of_the_texts(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.json(results(0.1, 0.9))
    assert OpenAIRerank(client, "fake").rank("q", ["a", "b"]) == (0.1, 0.9)
    assert server.requests[0].body == {"model": "fake", "query": "q", "documents": ["a", "b"], "top_n": 2}


def test_logits_become_probabilities(server: FakeOpenAI, client: OpenAIClient) -> None:
    rerank = OpenAIRerank(client, "fake")
    server.json(results(0.0, 5.0, -5.0, -2000.0))
    middle, high, low, lowest = rerank.rank("q", ["a", "b", "c", "d"])
    assert middle == 0.5
    assert high == pytest.approx(0.99331, abs=1e-5)
    assert low == pytest.approx(1 - high)
    assert 0 <= lowest < 1e-300
    server.json(results(0.5))
    (score,) = rerank.rank("q", ["a"])
    assert score == pytest.approx(0.62246, abs=1e-5), "once logits, always logits"


def test_a_server_is_believed_when_told_what_it_gives(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.json(results(1.5))
    assert OpenAIRerank(client, "fake", logits=False).rank("q", ["a"]) == (1.5,)


@pytest.mark.parametrize(
    "answer",
    [
        {}, {"results": []}, {"results": [{"index": 0}]}, {"results": [{"index": 5, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": "x"}]}, {"results": ["x"]},
    ],
)  # fmt: skip
def test_scores_that_cannot_be_used_are_told(server: FakeOpenAI, client: OpenAIClient, answer: object) -> None:
    server.json(answer)
    with pytest.raises(ProviderError, match="cannot be read"):
        OpenAIRerank(client, "fake").rank("q", ["a"])


def test_an_image_is_sent_and_its_text_comes_back(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.reply("<think>I see a page.</think>", "# Title\n", "Text.\n")
    assert OpenAIVision(client, "fake").read(PNG, prompt="Read it.") == "# Title\nText."
    words, image = server.requests[0].body["messages"][0]["content"]
    assert words == {"type": "text", "text": "Read it."}
    assert base64.b64decode(image["image_url"]["url"].removeprefix("data:image/png;base64,")) == PNG


def test_an_empty_page_is_no_error(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.reply("")
    assert OpenAIVision(client, "fake").read(PNG) == ""


def test_a_fence_around_everything_is_taken_off(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.reply("```markdown\n# Title\n```\n")
    assert OpenAIVision(client, "fake").read(PNG) == "# Title"

"""The models of a library, asked by themselves and from the documents (R259)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from lilbee_core import Filter, Lilbee
from lilbee_core.errors import EmptyQuery, InvalidArgument, LilbeeError, ModelNotFound, NotFound
from lilbee_core.testing import HashEmbedder, ScriptedChat
from lilbee_core.types import ChatOptions, Delta, Message, Usage

Open = Callable[..., Lilbee]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / "boats.md").write_text("# Boats\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    libraries: list[Lilbee] = []

    def open_(**given: object) -> Lilbee:
        bee = Lilbee(root, embedder=HashEmbedder(), **given)  # type: ignore[arg-type]
        bee.sync()
        libraries.append(bee)
        return bee

    yield open_
    for bee in libraries:
        bee.close()


def said(text: str) -> Message:
    return Message(role="user", content=text)


def test_models_are_named_without_being_asked(opened: Open) -> None:
    chat = ScriptedChat("never asked")
    models = [one.to_dict() for one in opened(chat=chat).inference.models()]
    assert [(one["id"], one["role"]) for one in models] == [
        ("lilbee", "chat"),
        ("given", "chat"),
        (HashEmbedder().model, "embed"),
    ]
    assert [one["from_documents"] for one in models] == [True, False, False]
    assert chat.requests == []
    assert [one.id for one in opened().inference.models()][:1] == ["lilbee"]


def test_the_chat_model_goes_on_by_itself(opened: Open) -> None:
    chat = ScriptedChat("Good day to you")
    options = ChatOptions(temperature=0.5, max_tokens=20)
    deltas = list(opened(chat=chat).inference.chat([said("Hello")], options))
    assert "".join(one.text for one in deltas) == "Good day to you"
    (request,) = chat.requests
    assert request.messages == (said("Hello"),)
    assert request.options.temperature == 0.5


def test_models_that_are_not_there_are_named(opened: Open) -> None:
    bee = opened(chat=ScriptedChat("x"))
    with pytest.raises(ModelNotFound, match="gpt-9"):
        list(bee.inference.chat([said("Hello")], model="gpt-9"))
    with pytest.raises(ModelNotFound, match="gpt-9"):
        bee.inference.embed(["x"], model="gpt-9")
    with pytest.raises(ModelNotFound) as none:
        bee.inference.rerank("x", ["y"])
    assert none.value.hint == "Set reranker_model."
    with pytest.raises(ModelNotFound):
        list(opened().inference.chat([said("Hello")]))


def test_vectors_are_those_of_the_index(opened: Open) -> None:
    bee = opened()
    texts = ["The queen", "The ferry"]
    assert np.array_equal(bee.inference.embed(texts), HashEmbedder().embed_batch(texts))
    assert np.array_equal(bee.inference.embed(texts, queries=True), HashEmbedder().embed_query_batch(texts))
    assert bee.inference.count_tokens("The queen") == HashEmbedder().count_tokens("The queen")


def test_an_answer_comes_from_the_documents_with_its_citations(opened: Open) -> None:
    usage = Usage(prompt_tokens=7, completion_tokens=3)
    reply = [Delta(kind="text", text="The queen lays eggs in spring [1]."), Delta(kind="usage", usage=usage)]
    chat = ScriptedChat(reply)
    asked = [Message(role="system", content="Speak like a pirate."), said("When does the queen lay eggs?")]
    deltas = list(opened(chat=chat).inference.answer(asked))
    answer = deltas[-1].answer
    assert answer is not None
    assert [one.path for one in answer.citations] == ["bees.md"]
    assert [one.usage for one in deltas if one.kind == "usage"] == [usage]
    assert "pirate" in chat.requests[-1].messages[0].content


def test_a_follow_up_is_searched_with_what_it_leaves_out(opened: Open) -> None:
    bee = opened(overrides={"chat_rewrite": "rules"})
    history = [said("When does the ferry leave?"), Message(role="assistant", content="At noon.")]
    answer = list(bee.inference.answer([*history, said("And where does it leave from?")]))[-1].answer
    assert answer is not None
    assert answer.trace is None or "ferry" in answer.trace.query.text
    assert {one.path for one in answer.citations} <= {"boats.md"}
    assert answer.found


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([], InvalidArgument),
        ([Message(role="assistant", content="Hm")], InvalidArgument),
        ([said("  ")], EmptyQuery),
    ],
)
def test_there_must_be_a_question(opened: Open, messages: list[Message], error: type[LilbeeError]) -> None:
    with pytest.raises(error):
        list(opened().inference.answer(messages))


def test_only_collections_that_are_there(opened: Open) -> None:
    with pytest.raises(NotFound):
        list(opened().inference.answer([said("eggs")], filters=Filter(collections=("secrets",))))

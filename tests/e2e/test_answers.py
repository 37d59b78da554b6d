"""A library that answers by SmolLM2-135M through its own fleet: streams, a schema, and what such a model gets wrong.

No model is smaller; whatever it says, nothing reaches the reader that is not checked (R090, R184, R193, R283).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from lilbee_core import Lilbee
from lilbee_core.answer._prompt import build_prompt
from lilbee_core.fleet import Engine
from lilbee_core.types import Answer, ChatOptions, Delta, Message
from tests.e2e.conftest import Models

pytestmark = pytest.mark.model
FENCE = re.compile(r"#{5}[0-9a-f]{6,12}")
MARK = re.compile(r"\[(\d+)\]")
NOTES = {
    "bees.md": "# Swarms\n\nThe queen leaves with the swarm in May.\n",
    "boats.md": "# Ferries\n\nThe ferry leaves at noon from the pier.\n",
}


@pytest.fixture(scope="module")
def bee(engine: Callable[[], Engine], models: Models, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lilbee]:
    """A library of two notes with the chat model alone, planned for this machine."""
    folder = tmp_path_factory.mktemp("answers")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATA", "CACHE", "CONFIG"):
            patch.setenv(f"LILBEE_{name}_DIR", str(folder / name.lower()))
        notes = folder / "notes"
        notes.mkdir()
        for name, text in NOTES.items():
            (notes / name).write_text(text, "utf-8")
        chosen = {
            "embedding_model": "none",
            "chat_model": str(models.chat),
            "engine_threads": 1,
            "num_ctx": 2048,
            "answer_max_tokens": 40,
            "query_expansion_count": 0,
            "first_token_timeout_s": 120.0,
        }
        with Lilbee(notes, overrides=chosen) as bee:
            bee.sync()
            yield bee


def asked(bee: Lilbee, question: str) -> tuple[list[Delta], Answer]:
    deltas = list(bee.ask_stream(question))
    assert deltas[-1].answer is not None
    return deltas, deltas[-1].answer


def raw(bee: Lilbee, question: str) -> str:
    """What the model says to the same prompt, before anything is checked."""
    prompt = build_prompt(question, bee.search(question, profile="full").hits[:5])
    options = ChatOptions(temperature=0.0, max_tokens=40)
    return "".join(one.text for one in bee.inference.chat(prompt.messages, options) if one.kind == "text")


def test_an_answer_streams_and_is_whole_at_the_end(bee: Lilbee, models: Models) -> None:
    deltas, answer = asked(bee, "When does the queen leave with the swarm?")
    told = [one.text for one in deltas if one.kind == "text"]
    assert len(told) > 3
    assert "".join(told).rstrip() == answer.text
    assert (answer.model, answer.broken_off) == (str(models.chat), None)
    assert [one.role for one in bee.fleet.status() if one.state == "ready"] == ["chat"]


def test_a_schema_binds_what_it_says(bee: Lilbee) -> None:
    schema = {
        "type": "object",
        "properties": {"month": {"enum": ["May", "June"]}, "sure": {"type": "boolean"}},
        "required": ["month", "sure"],
        "additionalProperties": False,
    }
    options = ChatOptions(temperature=0.0, max_tokens=40, json_schema=json.dumps(schema))
    question = Message(role="user", content="The queen leaves in May. When does the queen leave? Answer in JSON.")
    said = json.loads("".join(one.text for one in bee.inference.chat([question], options) if one.kind == "text"))
    assert set(said) == {"month", "sure"}
    assert said["month"] in ("May", "June")
    assert isinstance(said["sure"], bool)


QUESTIONS = ("Where does the swarm go in May?", "List the passages.")


def test_bad_marks_and_lines_of_the_prompt_never_reach_the_reader(bee: Lilbee) -> None:
    """The model repeats the lines around its passages, and cites what it was not given: it does, at least once here."""
    wrong = 0
    for question in QUESTIONS:
        said = raw(bee, question)
        deltas, answer = asked(bee, question)
        shown = "".join(one.text for one in deltas if one.kind == "text")
        for text in (shown, answer.text):
            assert not FENCE.search(text), (question, said)
            assert {int(mark) for mark in MARK.findall(text)} <= {one.marker for one in answer.citations}, (
                question,
                said,
            )
        for one in answer.citations:
            assert one.quote in NOTES[one.path]
        wrong += bool(FENCE.search(said) or MARK.search(said))
    if not wrong:
        pytest.skip("the model repeated and cited nothing with this engine")

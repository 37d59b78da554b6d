"""Wordings in layers (R383-R385)."""

from __future__ import annotations

import pytest

from lilbee_core.chat import Prompts, texts_of
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.testing import MemoryState
from lilbee_core.text import fill, gaps

DEFAULTS = {"answer.system": "Be brief. Today is {{date}}.", "task.compact": "Sum up {{messages}}."}


class Setup:
    def __init__(self, **instance: str) -> None:
        self.state = MemoryState()
        self.model = "ollama/a"
        self.instance = instance
        self.prompts = self.of(DEFAULTS)

    def of(self, defaults: dict[str, str]) -> Prompts:
        return Prompts(
            defaults,
            lambda: self.state,
            model=lambda: self.model,
            instance=lambda: self.instance,
            values=lambda: {"date": "2026-03-14"},
        )


def test_the_most_specific_layer_wins_outright() -> None:
    """R383: layers replace each other, they are never put together."""
    setup = Setup()
    prompts = setup.prompts
    assert prompts.get("answer.system").layer == "default"
    prompts.set("answer.system", "For all.")
    assert prompts.text("answer.system") == "For all."
    prompts.set("answer.system", "For a.", model="ollama/a")
    assert prompts.text("answer.system") == "For a."
    assert prompts.text_within({"answer.system": "Here."}, "answer.system") == "Here."
    assert prompts.get("answer.system", own={"answer.system": ""}).text == "", "a blank text is a text"
    setup.model = "ollama/b"
    assert prompts.get("answer.system").layer == "instance"
    assert prompts.unset("answer.system")
    assert prompts.get("answer.system").layer == "default"
    assert not prompts.unset("answer.system")


def test_a_setting_is_the_librarys_layer_until_another_text_is_kept() -> None:
    setup = Setup(**{"answer.system": "From the settings."})
    assert setup.prompts.get("answer.system").text == "From the settings."
    setup.prompts.set("answer.system", "Kept.")
    assert setup.prompts.get("answer.system").text == "Kept."


def test_a_better_default_arrives_where_nothing_was_changed() -> None:
    """R384: defaults are never stored."""
    setup = Setup()
    setup.prompts.set("task.compact", "Mine.")
    newer = setup.of({"answer.system": "Better.", "task.compact": "Better."})
    assert newer.text("answer.system") == "Better."
    assert newer.text("task.compact") == "Mine."


def test_every_wording_is_listed_and_can_be_changed() -> None:
    """R384."""
    prompts = Setup().prompts
    for one in prompts.list():
        prompts.set(one.name, "changed")
    assert {one.layer for one in prompts.list()} == {"instance"}
    assert prompts.default("task.compact") == DEFAULTS["task.compact"]


def test_variables_are_filled_and_unknown_ones_pass_through() -> None:
    """R385."""
    prompts = Setup().prompts
    assert prompts.text("answer.system") == "Be brief. Today is 2026-03-14."
    prompts.set("answer.system", "{{date}} {{ date }} {{nobody}} {single} {{}}")
    assert prompts.text("answer.system") == "2026-03-14 2026-03-14 {{nobody}} {single} {{}}"
    assert prompts.get("answer.system").variables == ("date", "nobody")


def test_what_looks_like_a_variable_in_a_value_stays() -> None:
    assert fill("{{a}} {{b}}", a="{{b}}", b="1") == "{{b}} 1"
    assert gaps("{{a}} {{b}} {{a}}") == ("a", "b")


def test_unknown_names_and_endless_texts_are_refused() -> None:
    prompts = Setup().prompts
    for use in (lambda: prompts.get("x"), lambda: prompts.set("x", ""), lambda: prompts.unset("x")):
        with pytest.raises(NotFound, match="'x'"):
            use()
    with pytest.raises(InvalidArgument):
        prompts.set("answer.system", "x" * 200_000)


def test_the_wordings_that_come_with_lilbee_have_their_variables() -> None:
    texts = {**texts_of("lilbee_core.answer"), **texts_of("lilbee_core.chat")}
    assert {"fence", "passages", "question", "attached"} <= set(gaps(texts["answer.question"]))
    assert gaps(texts["answer.rules"]) == ("not_found",)
    for name in ("task.compact", "task.title", "task.rewrite"):
        assert {"fence", "messages"} <= set(gaps(texts[name])), name
    assert "summary" in gaps(texts["compact.summary"])
    assert texts["compact.reply"].strip()

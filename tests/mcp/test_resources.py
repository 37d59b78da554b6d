"""Documents as resources, and prompts for common jobs."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from mcp import Client
from mcp.types import PromptReference, ResourceTemplateReference

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_mcp import resources
from tests.mcp.conftest import BEES, refused, talk

DOCUMENT = "lilbee://document/{collection}/{+path}"


def test_documents_are_listed_page_by_page_and_read(shared: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PAGE", 3)

    async def work(client: Client) -> tuple[list[Any], list[Any]]:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        assert second.next_cursor is None
        every = [*first.resources, *second.resources]
        return every, [(await client.read_resource(one.uri)).contents[0] for one in every]

    listed, read = talk(shared, work)
    assert [unquote(str(one.uri)) for one in listed] == [
        "lilbee://document/diary/secret.md",
        "lilbee://document/notes/bees.md",
        "lilbee://document/notes/long.md",
        "lilbee://document/notes/wörter und mehr.txt",
    ]
    assert listed[1].mime_type == "text/markdown"
    assert read[1].text == BEES
    assert read[3].text == "Ein Wort über Bienen.\n"


def test_a_huge_document_is_cut_and_says_where_the_rest_is(shared: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "RESOURCE_CHARS", 1_000)
    read: Any = talk(shared, lambda client: client.read_resource("lilbee://document/notes/long.md")).contents[0]
    text = read.text
    assert len(text) < 1_200
    assert "the tool read, with offset 1000, gives the rest" in text


@pytest.mark.parametrize(
    "uri",
    [
        "lilbee://document/notes/gone.md",
        "lilbee://document/bees.md",
        "lilbee://document/notes/../diary/secret.md",
        "lilbee://document/notes/%2e%2e/diary/secret.md",
        "lilbee://document/",
        "lilbee://wiki/bees",
        "file:///etc/hostname",
        "x",
    ],
)
def test_what_is_no_resource_is_refused_with_its_address(shared: Lilbee, uri: str) -> None:
    error = refused(shared, lambda client: client.read_resource(uri)).error
    assert error.code == -32602
    assert error.data["uri"] == uri
    assert error.data["code"] in {"library.not_found", "argument.invalid"}
    assert error.data["hint"]


@pytest.mark.parametrize("cursor", ["nonsense", "b3g=", "bzk5OTk5OTk5OTk5OTk5", "é"])
def test_a_made_up_cursor_is_refused(shared: Lilbee, cursor: str) -> None:
    error = refused(shared, lambda client: client.list_resources(cursor=cursor)).error
    assert (error.code, error.data["code"]) == (-32602, "argument.invalid")
    assert "is no cursor" in error.message


def test_a_library_without_an_index_has_no_resources(tmp_path: Any) -> None:
    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee:
        assert talk(bee, lambda client: client.list_resources()).resources == []


def test_addresses_are_completed(shared: Lilbee) -> None:
    template = ResourceTemplateReference(type="ref/resource", uri=DOCUMENT)
    prompt = PromptReference(type="ref/prompt", name="summarize")

    async def work(client: Client) -> list[list[str]]:
        asked: list[tuple[Any, str, str, dict[str, str] | None]] = [
            (template, "collection", "d", None),
            (template, "path", "", {"collection": "diary"}),
            (template, "path", "BE", None),
            (prompt, "document", "lon", None),
            (prompt, "nothing", "x", None),
        ]
        return [
            (await client.complete(ref, {"name": name, "value": value}, context)).completion.values
            for ref, name, value, context in asked
        ]

    assert talk(shared, work) == [["diary"], ["secret.md"], ["bees.md"], ["long.md"], []]


def test_templates_name_documents_and_the_wiki_only_where_it_is_on(shared: Lilbee) -> None:
    async def templates(client: Client) -> list[str]:
        return [one.uri_template for one in (await client.list_resource_templates()).resource_templates]

    assert talk(shared, templates) == [DOCUMENT]
    assert talk(shared, templates, enable=("wiki",)) == [DOCUMENT, "lilbee://wiki/{+slug}"]


def test_prompts_are_filled_in(shared: Lilbee) -> None:
    async def work(client: Client) -> tuple[list[Any], str]:
        listed = (await client.list_prompts()).prompts
        written: Any = await client.get_prompt("answer", {"question": "Why {bees}?"})
        return listed, written.messages[0].content.text

    listed, text = talk(shared, work)
    assert [one.name for one in listed] == ["answer", "summarize", "compare", "brief"]
    assert all(one.arguments and one.arguments[0].description for one in listed)
    assert "Why {bees}?" in text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nope", {}, "there is no prompt 'nope'. Get one of answer"),
        ("answer", {}, "question is missing"),
        ("answer", {"question": " "}, "question is missing"),
        ("answer", {"question": "x" * 30_000}, "question is too long"),
        ("answer", {"question": "x", "more": "y"}, "there is no argument 'more'"),
    ],
)
def test_prompts_that_cannot_be_written_say_why(
    shared: Lilbee, name: str, arguments: dict[str, str], said: str
) -> None:
    error = refused(shared, lambda client: client.get_prompt(name, arguments)).error
    assert said in error.message
    assert error.code == -32602

"""Whatever is passed to the public API, nothing but an error of lilbee comes out."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lilbee_core import AsyncLilbee, Document, Filter, Lilbee, LilbeeError, Query
from lilbee_core.errors import InvalidArgument

JUNK: tuple[Any, ...] = (
    None, 3, 0, -1, 1.5, math.nan, math.inf, True, "", "no such thing", "\x00", b"bytes", [], ["a"], [1, 2], (), {},
    {"a": 1}, object(), Filter(), Filter(paths="notes/"), Query(text=3), len, Path("nowhere"), int,
)  # fmt: skip
SAMPLES: dict[str, Any] = {
    "query": "bees", "question": "bees?", "ref": "bees.md", "path": "bees.md", "paths": "bees.md", "refs": "bees.md",
    "documents": (), "name": "notes", "names": "notes", "old": "notes", "new": "other", "queries": {"1": "bees"},
    "qrels": {"1": {"bees.md": 1}}, "profiles": ["default", "keyword"], "folder": ".", "kind": "sync", "id": "none",
    "url": "https://example.org", "urls": "https://example.org", "value": 3, "values": {}, "file": Path("bees.md"),
    "text": "bees", "title": "bees", "message_id": "none", "revision": 1, "budget_tokens": 10, "record": None,
    "concept": "bees", "alias": "bee", "slug": "bees", "words": "bees", "task": "chat", "placement": {},
}  # fmt: skip
NOUNS = (
    "collections", "config", "doctor", "evaluation", "jobs", "web", "conversations", "notes", "facts", "skills",
    "concepts", "models", "placement", "wiki",
)  # fmt: skip
OVERRIDES = {"embedding_model": "none", "lock_timeout_s": 5.0, "hub_url": "http://127.0.0.1:9"}
SKIPPED = {"close", "crawl", "rebuild", "save", "send", "stream"}
"""Ends the library; calls the web or a model; is slow and takes nothing but a token; is for the inside."""


@pytest.fixture
def bee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lilbee]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    monkeypatch.chdir(root)
    with Lilbee(root, overrides=OVERRIDES) as made:
        made.sync()
        yield made


def methods(of: object) -> Iterator[tuple[str, Callable[..., object]]]:
    for name, member in inspect.getmembers(type(of), inspect.isfunction):
        if not name.startswith("_") and name not in SKIPPED and len(inspect.signature(member).parameters) > 1:
            yield name, getattr(of, name)


def calls(method: Callable[..., object]) -> Iterator[Callable[[], object]]:
    """Yield calls with one argument that is junk, and the others as they should be."""
    parameters = inspect.signature(method).parameters
    for wrong in parameters.values():
        if wrong.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for junk in JUNK:
            places: list[object] = []
            options: dict[str, object] = {}
            for one in parameters.values():
                value = junk if one is wrong else SAMPLES.get(one.name)
                if one.kind in {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}:
                    if one is wrong or one.default is inspect.Parameter.empty:
                        places.append(value)
                    elif wrong.kind is not inspect.Parameter.KEYWORD_ONLY:
                        places.append(one.default)
                elif one is wrong:
                    options[one.name] = value
            yield lambda places=places, options=options: _spent(method(*places, **options))


def _spent(found: object) -> object:
    return list(found) if inspect.isgenerator(found) or isinstance(found, Iterator) else found


@pytest.mark.slow
@pytest.mark.parametrize("noun", ["", *NOUNS])
def test_only_errors_of_lilbee_come_out(bee: Lilbee, noun: str) -> None:
    of = getattr(bee, noun) if noun else bee
    wrong: list[str] = []
    for name, method in methods(of):
        for call in calls(method):
            try:
                call()
            except LilbeeError as error:
                if isinstance(error, InvalidArgument) and not error.hint:
                    wrong.append(f"{noun}.{name}: no hint: {error.message}")
            except Exception as error:  # noqa: BLE001 - this is what is looked for
                wrong.append(f"{noun}.{name}{call.__defaults__}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


CASES: list[tuple[Callable[[Lilbee], object], str]] = [
    (lambda bee: bee.search(None), "query must be a text (str) or a Query, got None"),
    (lambda bee: bee.search(3), "query must be a text (str) or a Query, got 3"),
    (lambda bee: bee.search(["bees"]), "got ['bees']"),
    (lambda bee: bee.search("bees", top_k="3"), "top_k must be a whole number (int) or None, got '3'"),
    (lambda bee: bee.search("bees", top_k=math.nan), "got nan"),
    (lambda bee: bee.search("bees", top_k=True), "got True"),
    (lambda bee: bee.search("bees", top_k=1.5), "got 1.5"),
    (lambda bee: bee.search("bees", profile=3), "profile must be a text (str) or None, got 3"),
    (lambda bee: bee.search("bees", filters={}), "filters must be a Filter or None, got {}"),
    (lambda bee: bee.search("bees", filters=Filter(paths="notes/")), "Filter.paths must be a list of texts, got"),
    (lambda bee: bee.search("bees", scope=3), "scope must be a Scope or a text (str), got 3"),
    (lambda bee: bee.search(Query(text="bees", top_k="3")), "Query.top_k must be a whole number (int), got '3'"),
    (lambda bee: bee.search(Query(text="bees", top_k=None)), "Query.top_k must be a whole number (int), got None"),
    (lambda bee: bee.search(Query(text=None)), "Query.text must be a text (str), got None"),
    (lambda bee: bee.explain_path(None), "path must be a text (str) or a path, got None"),
    (lambda bee: bee.remove(None), "refs must be a text (str), got None"),
    (lambda bee: bee.get_text(None), "ref must be a text (str), got None"),
    (lambda bee: bee.add(None), "paths must be a text (str) or a path, got None"),
    (lambda bee: bee.add_documents("x"), "documents must be a list of Document values, got 'x'"),
    (lambda bee: bee.add_documents(["x"]), "documents[0] must be a Document, got 'x'"),
    (lambda bee: bee.add_documents([Document(path="a", text=3)]), "Document.text must be a text (str), got 3"),
    (lambda bee: bee.documents(state=3), "state must be a text (str) or None, got 3"),
    (lambda bee: bee.sync(collections="notes"), "collections must be a list of texts, got 'notes'"),
    (lambda bee: bee.evaluation.run([1, 2], "x"), "queries must be a mapping (dict), got [1, 2]"),
    (lambda bee: bee.collections.add(3), "path must be a text (str) or a path, got 3"),
    (lambda bee: Lilbee(3), "path must be a text (str), a path or None, got 3"),
    (lambda bee: AsyncLilbee(3), "path must be a text (str), a path or None, got 3"),
]


@pytest.mark.parametrize(("call", "message"), CASES)
def test_what_is_wrong_and_what_to_pass_is_told(bee: Lilbee, call: Callable[[Lilbee], object], message: str) -> None:
    with pytest.raises(InvalidArgument) as told:
        call(bee)
    assert message in told.value.message
    assert told.value.code == "argument.invalid"
    assert told.value.hint


def test_the_async_library_refuses_alike(bee: Lilbee) -> None:
    async def run() -> None:
        async with AsyncLilbee(bee.root, overrides={"embedding_model": "none"}) as later:
            with pytest.raises(InvalidArgument, match="query must be"):
                await later.search(None)
            with pytest.raises(InvalidArgument, match="top_k must be"):
                await later.ask("bees", top_k="3")
            with pytest.raises(InvalidArgument, match="state must be"):
                _ = [row async for row in later.documents(state=3)]
            with pytest.raises(InvalidArgument, match="threads must be"):
                AsyncLilbee(threads="8")

    asyncio.run(run())


def test_a_call_of_another_shape_is_left_to_python(bee: Lilbee) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'topk'"):
        bee.search("bees", topk=3)

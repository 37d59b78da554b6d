"""lilbee in a notebook and under a running event loop, and what a notebook shows (R010)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lilbee_core import AsyncLilbee, Document, Lilbee, Settings
from lilbee_core.evaluation import Comparison, EvaluationReport
from lilbee_core.settings import ConceptSettings
from lilbee_core.testing import HashEmbedder, open_test_library
from lilbee_core.testing.builders import a_hit
from lilbee_core.types import (
    Answer,
    Citation,
    CollectionInfo,
    FileProblem,
    LibraryStatus,
    Location,
    Query,
    SearchResult,
)
from tests.support.hostile import PAYLOADS, STEERS

FILES = {
    "bees.md": "# Bees\n\nThe queen lays eggs in spring.\n",
    "boats.md": "# Boats\n\nThe ferry leaves at noon.\n",
}
QUESTION = "When does the queen lay eggs?"


def test_the_library_works_where_a_loop_runs_already() -> None:
    async def cell() -> tuple[str, str, int]:
        assert asyncio.get_running_loop().is_running()
        with open_test_library(files=FILES) as bee:
            streamed = "".join(delta.text for delta in bee.ask_stream(QUESTION) if delta.kind == "text")
            assert bee.ask(QUESTION).text == streamed
            return bee.search("queen eggs")[0].path, streamed, bee.status().chunks

    path, streamed, chunks = asyncio.run(cell())
    assert path == "bees.md"
    assert "lays eggs in spring" in streamed
    assert chunks == 2


def test_its_asynchronous_twin_leaves_the_loop_free(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def cell() -> list[str]:
        turning = asyncio.create_task(turn())
        async with AsyncLilbee(tmp_path, Settings(), embedder=HashEmbedder()) as bee:
            before = turns
            await bee.sync()
            assert turns > before, "the loop stood still while the library worked"
            found = await asyncio.gather(*(bee.search(words, top_k=1) for words in ("queen eggs", "ferry noon")))
        turning.cancel()
        return [result[0].path for result in found]

    assert asyncio.run(cell()) == ["bees.md", "boats.md"]


# --------------------------------------------------------------------------- what is shown

HOSTILE = '<img src=x onerror="alert(1)"> \'</table><script>alert("queen")</script>&lt;b&gt; &amp;'
ALLOWED = {"div", "p", "b", "small", "br", "table", "caption", "tr", "th", "td", "mark", "ol", "li", "q"}
"""What our own tables are made of; anything else came out of a document."""


class Shown(HTMLParser):
    """Reads markup as a browser does: its elements, their attributes, and the text that a person sees."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(value: Any) -> Shown:
    page = Shown(value._repr_html_())
    assert page.elements <= ALLOWED
    assert page.attributes <= {"style", "value", "scope"}
    assert value._repr_mimebundle_()["text/html"] == value._repr_html_()
    return page


@pytest.fixture
def hostile(tmp_path: Path) -> Any:
    """A library whose folder, file, title, heading, text and collection are all markup."""
    root = tmp_path / "<svg onload=alert(1)>"
    root.mkdir()
    document = Document(
        path=f"notes/{HOSTILE}.md",
        collection="<script>alert(2)<&script>",
        title=HOSTILE,
        text=f"The queen lays eggs in spring {HOSTILE} and rests in winter.",
    )
    with open_test_library(root=root) as bee:
        bee.add_documents([document])
        yield bee


def test_results_show_hits_with_place_and_marked_words() -> None:
    with open_test_library(files=FILES) as bee:
        result = bee.search("queen eggs")
    markup = result._repr_html_()
    assert "<mark>queen</mark>" in markup
    page = shown(result)
    assert {"table", "mark"} <= page.elements
    assert "bees.md" in page.text
    assert "lines 1-3" in page.text


def test_markup_in_documents_is_shown_as_it_stands(hostile: Lilbee) -> None:
    page = shown(hostile.search(f"queen eggs {HOSTILE}"))
    assert HOSTILE in page.text.replace("…", "")
    assert f"notes/{HOSTILE}.md" in page.text


def test_answers_show_their_citations_and_no_markup_of_others(hostile: Lilbee) -> None:
    answer = hostile.ask(QUESTION)
    assert answer.citations
    page = shown(answer)
    assert {"ol", "li", "q"} <= page.elements
    assert answer.text in page.text
    for citation in answer.citations:
        assert citation.quote in page.text
        assert citation.path in page.text


def test_status_shows_names_as_they_are(hostile: Lilbee) -> None:
    page = shown(hostile.status())
    assert str(hostile.root) in page.text
    assert "chunks" in page.text


def test_one_hit_shows_its_whole_text(hostile: Lilbee) -> None:
    hit = hostile.search("queen eggs")[0]
    page = shown(hit)
    assert hit.text in page.text
    assert page.text.startswith(hit.path)


def values(evil: str) -> list[Any]:
    """Everything that a notebook shows, holding this wherever others write."""
    hit = replace(
        a_hit(text=f"The queen {evil} lays {evil}", path=f"{evil}.md", headings=(evil,)), highlights=((4, 9),)
    )
    citation = Citation(
        marker=1, chunk_id=hit.chunk_id, document_id=hit.document_id, collection=evil, path=evil, quote=evil,
        location=Location(label=evil),
    )  # fmt: skip
    report = EvaluationReport(per_query=(), documents=0, chunks=0, profile=evil)
    return [
        hit, SearchResult(query=Query(text=evil), hits=(hit,), found=True, warnings=(evil,)),
        Answer(question=evil, text=evil, found=True, citations=(citation,), model=evil, warnings=(evil,),
               broken_off=evil),
        LibraryStatus(root=evil, data_dir=evil, states=((evil, 1),), chunks=0, embedded=0, embedder=evil,
                      dimension=None, size_bytes=0, index_bytes=0, collections=(CollectionInfo(name=evil, root=evil),),
                      problems=(FileProblem(path=evil, code="x", reason=evil),), warnings=(evil,)),
        report, Comparison(base=report, other=report),
    ]  # fmt: skip


def test_nothing_hostile_leaves_its_text_or_steers() -> None:
    """Of whatever a value holds, the elements and attributes stay those of a harmless one."""
    harmless = [Shown(one._repr_html_()) for one in values("x")]
    for evil in PAYLOADS:
        for value, plain in zip(values(evil), harmless, strict=True):
            made = value._repr_mimebundle_()
            page = Shown(made["text/html"])
            assert (page.elements, page.attributes) == (plain.elements, plain.attributes), evil
            assert made["text/html"].count("<") == made["text/html"].count(">"), evil
            for text in made.values():
                assert STEERS.search(text) is None, (evil, text)


def test_concepts_that_are_missing_are_told() -> None:
    with open_test_library(files=FILES, settings=Settings(concepts=ConceptSettings(concepts=False))) as bee:
        told = bee.concepts._repr_mimebundle_()
    assert "concepts is off" in told["text/plain"] or "extra graph" in told["text/plain"]
    assert told["text/html"].startswith("<p>")


def test_a_text_for_those_that_show_no_markup() -> None:
    with open_test_library(files=FILES) as bee:
        told = [
            one._repr_mimebundle_()["text/plain"] for one in (bee.search("queen eggs"), bee.ask(QUESTION), bee.status())
        ]
    assert " 1  bees.md (lines 1-3)" in told[0]
    assert "[1] bees.md" in told[1]
    assert "indexed            2" in told[2]


# --------------------------------------------------------------------------- a real kernel

CELLS = (
    "from lilbee_core import AsyncLilbee, Lilbee\nbee = Lilbee('notes')\nbee.sync().added",
    "bee.search('queen eggs')",
    f"bee.ask({QUESTION!r})",
    "bee.status()",
    "async with AsyncLilbee('notes') as other:\n    found = await other.search('ferry')\nfound",
    "bee.close()",
)


@pytest.mark.slow
def test_a_real_kernel_runs_it_and_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same by a real kernel, in which a loop runs all the time."""
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    for variable in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    (tmp_path / "notes").mkdir()
    for name, text in FILES.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    client = nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120)
    client.execute(cwd=str(tmp_path))

    added, found, answer, status, other, nothing = (
        [{**output.get("data", {}), "name": output.get("name")} for output in cell.outputs] for cell in notebook.cells
    )
    assert added[0]["text/plain"] == "2"
    assert "<mark>queen</mark>" in found[0]["text/html"]
    assert "lays eggs in spring" in answer[0]["text/html"]
    assert "chunks" in status[0]["text/html"]
    assert "boats.md" in other[0]["text/html"]
    assert nothing == []

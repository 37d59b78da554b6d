"""What is promised of the JSON form, field by field, of the values themselves and of `--json` (R026)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lilbee_cli.main import run
from lilbee_core import Lilbee, LilbeeError

ROOT = Path(__file__).resolve().parents[3]
PDF = ROOT / "examples" / "library" / "handbook.pdf"
QUESTION = "When does the queen lay eggs?"

TEXT, WHOLE, NUMBER, FLAG = "text", "whole number", "number", "true or false"
MAYBE_TEXT, MAYBE_WHOLE = "text or null", "whole number or null"
KINDS: Mapping[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    WHOLE: lambda value: type(value) is int and value >= 0,
    NUMBER: lambda value: type(value) in (int, float) and math.isfinite(value),
    FLAG: lambda value: type(value) is bool,
    MAYBE_TEXT: lambda value: value is None or isinstance(value, str),
    MAYBE_WHOLE: lambda value: value is None or (type(value) is int and value >= 1),
}
SYNC = {
    "added": WHOLE, "updated": WHOLE, "removed": WHOLE, "moved": WHOLE, "unchanged": WHOLE,
    "failed": [{"path": TEXT, "code": TEXT, "message": TEXT}], "skipped": [{"path": TEXT, "reason": TEXT}],
    "chunks": WHOLE, "embedded": WHOLE, "seconds": NUMBER,
}  # fmt: skip
HIT = {
    "rank": WHOLE, "score": NUMBER, "document_id": TEXT, "chunk_id": TEXT, "collection": TEXT, "path": TEXT,
    "text": TEXT, "line_start": MAYBE_WHOLE, "line_end": MAYBE_WHOLE, "page_start": MAYBE_WHOLE,
    "page_end": MAYBE_WHOLE, "heading": MAYBE_TEXT, "symbol": MAYBE_TEXT, "scores": {"*": NUMBER}, "stale": FLAG,
}  # fmt: skip
SEARCH = {"query": TEXT, "hits": [HIT], "timings_ms": {"*": NUMBER}, "found": FLAG, "warnings": [TEXT]}
CITATION = {
    "marker": WHOLE, "path": TEXT, "line_start": MAYBE_WHOLE, "line_end": MAYBE_WHOLE, "page_start": MAYBE_WHOLE,
    "quote": TEXT, "verdict": TEXT,
}  # fmt: skip
ASK = {"answer": TEXT, "found": FLAG, "citations": [CITATION], "model": MAYBE_TEXT, "warnings": [TEXT]}
STATES = {"indexed", "skipped", "failed", "missing", "excluded"}
STATUS = {
    "documents": dict.fromkeys(STATES, WHOLE), "chunks": WHOLE, "embedder": MAYBE_TEXT, "size_bytes": WHOLE,
    "index_bytes": WHOLE,
}  # fmt: skip
ROW = {
    "path": TEXT, "collection": TEXT, "state": TEXT, "code": MAYBE_TEXT, "reason": MAYBE_TEXT, "media_type": TEXT,
    "title": MAYBE_TEXT, "size": WHOLE, "chunks": WHOLE,
}  # fmt: skip
ERROR = {"code": TEXT, "message": TEXT, "hint": TEXT}


def faults(value: Any, shape: Any, at: str = "") -> Iterator[str]:
    """Name what of a promised shape does not hold. More fields than promised are allowed."""
    if isinstance(shape, str):
        if not KINDS[shape](value):
            yield f"{at} is {value!r}, no {shape}"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{at} is no list"
            return
        for index, one in enumerate(value):
            yield from faults(one, shape[0], f"{at}[{index}]")
    elif not isinstance(value, dict):
        yield f"{at} is no object"
    elif "*" in shape:
        for name, one in value.items():
            yield from faults(one, shape["*"], f"{at}.{name}")
    else:
        yield from (f"{at}.{name} is missing" for name in shape if name not in value)
        for name in shape.keys() & value.keys():
            yield from faults(value[name], shape[name], f"{at}.{name}")


def keeps(value: Any, shape: Any) -> None:
    assert list(faults(value, shape)) == []


def plain(value: Any) -> Any:
    """A value as it looks after the way through JSON, which must not change it."""
    sent = json.loads(json.dumps(value, allow_nan=False))
    assert sent == value, "it changes on its way through JSON"
    return sent


# --------------------------------------------------------------------------- a library with everything in it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, place in (("CONFIG", "config"), ("DATA", "data"), ("CACHE", "cache")):
        monkeypatch.setenv(f"LILBEE_{name}_DIR", str(tmp_path / place))
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("LILBEE_IGNORE", "secret.md")
    root = tmp_path / "notes"
    (root / "code").mkdir(parents=True)
    (root / "bees.md").write_text("---\ntitle: On bees\n---\n# Bees\n\nThe queen lays eggs in spring.\n", "utf-8")
    (root / "code" / "hive.py").write_text("def lay(queen):\n    return queen.eggs\n", "utf-8")
    (root / "handbook.pdf").write_bytes(PDF.read_bytes())
    (root / "broken.pdf").write_bytes(b"%PDF-1.4 nothing of the kind")
    (root / "secret.md").write_text("hush\n", "utf-8")
    return root


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run a command with `--json`; stdout must hold one document and nothing else."""

    def call(*arguments: str) -> Any:
        capsys.readouterr()
        run([*arguments, "--json", "--library", str(folder)])
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def bee(folder: Path) -> Iterator[Lilbee]:
    with Lilbee(folder) as library:
        yield library


def a_report(bee: Lilbee, command: Callable[..., Any], front: str) -> Any:
    return plain(bee.sync().to_dict()) if front == "python" else command("sync")


def on_both_fronts(test: Any) -> Any:
    return pytest.mark.slow(pytest.mark.parametrize("front", ["python", "command line"])(test))


@on_both_fronts
def test_sync(bee: Lilbee, folder: Path, command: Callable[..., Any], front: str) -> None:
    value = a_report(bee, command, front)
    keeps(value, SYNC)
    assert (value["added"], value["updated"], value["removed"], value["moved"], value["unchanged"]) == (3, 0, 0, 0, 0)
    assert [one["path"] for one in value["failed"]] == ["broken.pdf"]
    assert re.fullmatch(r"[a-z_]+\.[a-z_]+", value["failed"][0]["code"])
    assert "secret.md" in [one["path"] for one in value["skipped"]]
    assert all(one["reason"] for one in value["skipped"])
    (folder / "bees.md").write_text("The drones fly out at noon.\n", "utf-8")
    (folder / "code" / "hive.py").rename(folder / "hive.py")
    (folder / "handbook.pdf").unlink()
    again = a_report(bee, command, front)
    keeps(again, SYNC)
    assert (again["added"], again["updated"], again["removed"], again["moved"]) == (0, 1, 1, 1)


@on_both_fronts
def test_search(bee: Lilbee, folder: Path, command: Callable[..., Any], front: str) -> None:
    bee.sync()
    rows = {row.path: row.id for row in bee.documents()}

    def search(query: str) -> Any:
        return plain(bee.search(query).to_dict()) if front == "python" else command("search", query)

    value = search("queen eggs honey")
    keeps(value, SEARCH)
    assert value["query"] == "queen eggs honey"
    assert value["found"] is True
    assert "total" in value["timings_ms"]
    hits = value["hits"]
    assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert {hit["path"] for hit in hits} == {"bees.md", "code/hive.py", "handbook.pdf"}
    for hit in hits:
        assert hit["document_id"] == rows[hit["path"]]
        assert hit["scores"]
        assert hit["stale"] is False
        if hit["path"].endswith(".pdf"):
            assert (hit["line_start"], hit["line_end"]) == (None, None)
            assert 1 <= hit["page_start"] <= hit["page_end"]
        else:
            lines = (folder / hit["path"]).read_text("utf-8").splitlines()[hit["line_start"] - 1 : hit["line_end"]]
            assert hit["text"] == "\n".join(lines)
            assert (hit["page_start"], hit["page_end"]) == (None, None)
    by_path = {hit["path"]: hit for hit in hits}
    assert by_path["bees.md"]["heading"] == "Bees"
    assert by_path["code/hive.py"]["symbol"] == "lay"
    (folder / "bees.md").write_text("Something else altogether, and longer.\n", "utf-8")
    assert {hit["path"]: hit["stale"] for hit in search("queen eggs")["hits"]}["bees.md"] is True


@on_both_fronts
def test_a_search_that_finds_nothing(bee: Lilbee, command: Callable[..., Any], front: str) -> None:
    bee.sync()
    value = plain(bee.search("xylophone").to_dict()) if front == "python" else command("search", "xylophone")
    keeps(value, SEARCH)
    assert (value["hits"], value["found"]) == ([], False)


@on_both_fronts
def test_ask(bee: Lilbee, folder: Path, command: Callable[..., Any], front: str) -> None:
    bee.sync()
    value = plain(bee.ask(QUESTION).to_dict()) if front == "python" else command("ask", QUESTION)
    keeps(value, ASK)
    assert value["found"] is True
    assert value["model"] is None
    assert value["citations"]
    for citation in value["citations"]:
        assert f"[{citation['marker']}]" in value["answer"]
        assert citation["verdict"] == "supported"
        assert citation["quote"] in (folder / citation["path"]).read_text("utf-8")
        assert citation["line_start"] <= citation["line_end"]
    nothing = "Who won the chess final on Mars?"
    missed = plain(bee.ask(nothing).to_dict()) if front == "python" else command("ask", nothing)
    keeps(missed, ASK)
    assert (missed["found"], missed["citations"]) == (False, [])


@on_both_fronts
def test_status(bee: Lilbee, folder: Path, command: Callable[..., Any], front: str) -> None:
    bee.sync()
    value = plain(bee.status().to_dict()) if front == "python" else command("status")
    keeps(value, STATUS)
    assert set(value["documents"]) == STATES
    assert {state: count for state, count in value["documents"].items() if count} == {
        "indexed": 3,
        "skipped": len(list(bee.documents(state="skipped"))),
        "failed": 1,
    }
    assert value["chunks"] == sum(row.chunks for row in bee.documents())
    assert 0 < value["index_bytes"] <= value["size_bytes"]


@on_both_fronts
def test_documents(bee: Lilbee, folder: Path, command: Callable[..., Any], front: str) -> None:
    bee.sync()
    bee.remove("code/hive.py")
    rows = plain([row.to_dict() for row in bee.documents()]) if front == "python" else command("documents")["documents"]
    keeps(rows, [ROW])
    by_path = {row["path"]: row for row in rows}
    assert {path: row["state"] for path, row in by_path.items() if row["state"] != "skipped"} == {
        "bees.md": "indexed",
        "handbook.pdf": "indexed",
        "broken.pdf": "failed",
        "code/hive.py": "excluded",
    }
    assert by_path["bees.md"]["title"] == "On bees"
    assert by_path["bees.md"]["media_type"] == "text/markdown"
    assert by_path["bees.md"]["size"] == (folder / "bees.md").stat().st_size
    assert (by_path["bees.md"]["code"], by_path["bees.md"]["reason"]) == (None, None)
    assert all(row["code"] and row["reason"] for row in rows if row["state"] != "indexed")
    assert {row["collection"] for row in rows} == {"notes"}


ERRORS: Mapping[str, tuple[Callable[[Lilbee], object], tuple[str, ...]]] = {
    "search.empty_query": (lambda bee: bee.search(" "), ("search", " ")),
    "argument.invalid": (lambda bee: bee.search("queen", top_k=0), ("search", "queen", "--top", "0")),
    "library.not_found": (lambda bee: bee.get_text("nothing.md"), ("show", "nothing.md")),
    "settings.unknown": (lambda bee: bee.config.get("topk"), ("config", "get", "topk")),
}


@pytest.mark.parametrize("code", ERRORS)
def test_errors_are_told_in_the_same_words(bee: Lilbee, command: Callable[..., Any], code: str) -> None:
    bee.sync()
    act, arguments = ERRORS[code]
    with pytest.raises(LilbeeError) as caught:
        act(bee)
    told, printed = plain(caught.value.to_dict()), command(*arguments)
    keeps(told, ERROR)
    keeps(printed, {"error": ERROR})
    assert told["code"] == code
    assert printed["error"] == told
    assert told["message"]
    assert told["hint"]


# --------------------------------------------------------------------------- the promise itself


@pytest.mark.parametrize(
    ("value", "shape", "fault"),
    [
        ({"added": "1"}, {"added": WHOLE}, ".added is '1', no whole number"),
        ({"added": True}, {"added": WHOLE}, ".added is True, no whole number"),
        ({"score": math.nan}, {"score": NUMBER}, ".score is nan, no number"),
        ({}, {"added": WHOLE}, ".added is missing"),
        ({"hits": [{}]}, {"hits": [{"rank": WHOLE}]}, ".hits[0].rank is missing"),
        ({"line": 0}, {"line": MAYBE_WHOLE}, ".line is 0, no whole number or null"),
        ({"scores": {"dense": None}}, {"scores": {"*": NUMBER}}, ".scores.dense is None, no number"),
    ],
)
def test_a_broken_promise_is_seen(value: Any, shape: Any, fault: str) -> None:
    assert list(faults(value, shape)) == [fault]


def test_every_promised_field_stands_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "json.md").read_text("utf-8")
    named = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]+)`", page))))
    promised = {name for shape in (SYNC, HIT, SEARCH, CITATION, ASK, STATUS, ROW, ERROR) for name in shape}
    assert promised - named == set()

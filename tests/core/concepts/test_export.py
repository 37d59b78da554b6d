"""The graph for other programs and for people: JSON, GraphML, a page that needs nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from lilbee_core.concepts import ConceptGraph
from lilbee_core.errors import InvalidArgument
from tests.core.concepts.test_graph import Given, chunk, two_cliques

NAMES = {"bee", "hive", "wax", "honey", "moon", "star", "sky", "night"}
EVIL = "</script><img/src=x&'\""


def test_json_has_everything():
    value = json.loads(two_cliques().export("json"))

    assert value["chunks"] == 9
    assert {one["id"] for one in value["concepts"]} == NAMES
    assert {"source", "target", "weight", "count"} == set(value["relations"][0])
    assert all(one["weight"] > 0 for one in value["relations"])


def test_a_limit_keeps_the_most_frequent_and_what_is_between_them():
    value = json.loads(two_cliques().export("json", limit=2))

    assert [one["id"] for one in value["concepts"]] == ["bee", "moon"]
    assert all({one["source"], one["target"]} <= {"bee", "moon"} for one in value["relations"])
    with pytest.raises(InvalidArgument, match="limit must be at least 1"):
        two_cliques().export("json", limit=0)


def test_graphml_is_what_networkx_reads():
    networkx = pytest.importorskip("networkx")
    graph = two_cliques()
    read = networkx.parse_graphml(graph.export("graphml"))
    made = graph.to_networkx()

    assert set(read.nodes) == set(made.nodes)
    assert {frozenset(edge) for edge in read.edges} == {frozenset(edge) for edge in made.edges}
    for one, other, values in made.edges(data=True):
        assert read.edges[one, other]["weight"] == pytest.approx(values["weight"], abs=1e-6)
        assert read.edges[one, other]["count"] == values["count"]
    assert made.nodes["bee"] == {
        "label": "bee", "kind": "phrase", "chunks": 4, "community": graph.require("bee").community,
    }  # fmt: skip


def evil() -> ConceptGraph:
    graph = ConceptGraph(Given())
    graph.update([chunk(at, f"{EVIL} bee \x0bnull") for at in range(3)] + [chunk(9, "moon"), chunk(10, "sun")])
    return graph


def test_what_documents_say_is_data_in_every_format():
    ElementTree.fromstring(evil().export("graphml"))
    assert EVIL in [one["label"] for one in json.loads(evil().export("json"))["concepts"]]
    page = evil().export("html")
    assert EVIL not in page
    assert page.count("</script>") == 2
    data = re.search(r'<script id="graph" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert EVIL in [one["label"] for one in json.loads(data[1])["nodes"]]


def test_the_page_needs_nothing_else():
    page = two_cliques().export("html")

    assert "http" not in page.replace("http-equiv", "")
    assert not re.search(r"\b(?:src|href)=", page)
    assert "default-src 'none'" in page
    assert "8 concepts" in page
    assert "{{" not in page


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_of_the_page_is_whole(tmp_path):
    script = re.findall(r"<script>(.*?)</script>", two_cliques().export("html"), re.DOTALL)[0]
    file = tmp_path / "page.js"
    file.write_text(script, encoding="utf-8")

    assert subprocess.run(["node", "--check", str(file)], capture_output=True, check=False).returncode == 0


def test_an_unknown_format_is_refused():
    with pytest.raises(InvalidArgument, match="'svg' is no format") as caught:
        two_cliques().export("svg")
    assert "json, graphml, html" in (caught.value.hint or "")

"""Charts of a library and of its search: in the terminal, and as pictures that stay the same (issue: pictures)."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_cli.render import plots
from lilbee_cli.render.charts import Chart, ChartRow, of_evaluation, of_status
from lilbee_cli.render.svg import WIDTH, picture
from lilbee_core.evaluation import Comparison, EvaluationReport, JudgedQuery, RankedDocument
from lilbee_core.testing.builders import a_row
from lilbee_core.types import LibraryStatus
from tests.cli.conftest import Run
from tests.support.hostile import PAYLOADS, STEERS

SVG = "{http://www.w3.org/2000/svg}"


def status(*states: tuple[str, int]) -> LibraryStatus:
    return LibraryStatus(root="/notes", data_dir="/notes/.lilbee", states=states, chunks=0, embedded=0, embedder=None,
                         dimension=None, size_bytes=0, index_bytes=0)  # fmt: skip


def report(profile: str, *found: bool) -> EvaluationReport:
    metrics = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5")
    queries = tuple(
        JudgedQuery(id=f"q{at}", text="?", ranking=(RankedDocument("a", 1.0),) if one else (),
                    scores=tuple((metric, float(one)) for metric in metrics), seconds=0.004 + 0.003 * at)
        for at, one in enumerate(found)
    )  # fmt: skip
    return EvaluationReport(per_query=queries, documents=3, chunks=9, profile=profile)


def test_what_charts_of_a_library_count() -> None:
    rows = [
        a_row(path=f"a{at}.{ending}", chunks=2, collection=where)
        for at, (ending, where) in enumerate([("MD", "notes"), ("md", "notes"), ("pdf", "work"), ("x/LICENSE", "work")])
    ]
    rows.append(a_row(path="broken.pdf", chunks=0))
    states, kinds, chunks = of_status(status(("indexed", 4), ("failed", 1), ("missing", 0)), rows)
    assert [(row.label, row.value) for row in states.rows] == [("indexed", 4), ("failed", 1)]
    assert [(row.label, row.told) for row in kinds.rows] == [(".md", "2"), (".pdf", "1"), ("no ending", "1")]
    assert [(row.label, row.value) for row in chunks.rows] == [("notes", 4), ("work", 4)]
    assert states.description == "5 files: indexed 4, failed 1."
    assert of_status(status(("indexed", 0)), []) == ()
    many = [a_row(path=f"x.{at:02}", chunks=1) for at in range(40)]
    assert of_status(status(), many)[0].rows[-1] == ChartRow(label="29 others", value=29, told="29")


def test_what_charts_of_an_evaluation_say() -> None:
    base, other = report("default", True, True, False, False), report("keyword", True, False, False, False)
    figures, gains, latency, _ = of_evaluation([base, other], [Comparison(base=base, other=other)])
    assert [row.label for row in figures.rows[:2]] == ["ndcg@10 default", "ndcg@10 keyword"]
    assert figures.rows[0].value == 0.5
    span = base.interval("ndcg@10")
    assert figures.rows[0].interval == (span.low, span.high)
    assert gains.low == -gains.high <= gains.rows[0].value == -0.25
    assert sum(row.value for row in latency.rows) == 4
    assert "Half of 4 searches took" in latency.description
    assert of_evaluation([base], [])[0].rows[0].label == "ndcg@10"


def test_pictures_say_in_words_what_they_show_and_stay_the_same() -> None:
    charts = of_evaluation([report("<b>default", True, False, True)], [])
    made = picture(charts, title="How well search finds")
    assert made == picture(charts, title="How well search finds")
    root = ElementTree.fromstring(made)
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "title description")
    assert (root[0].tag, root[0].text, root[1].tag) == (f"{SVG}title", "How well search finds", f"{SVG}desc")
    assert charts[0].description in (root[1].text or "")
    assert "prefers-color-scheme:dark" in made
    height = int(root.get("height") or 0)
    for one in root.iter():
        for name, limit in (("x", WIDTH), ("y", height)):
            assert 0 <= float(one.get(name) or 0) <= limit


@given(st.lists(st.tuples(st.sampled_from(PAYLOADS) | st.text(), st.floats(0, 1e6)), min_size=1, max_size=5),
       st.integers(20, 200), st.booleans())  # fmt: skip
def test_rows_of_a_terminal_keep_their_width_and_steer_nothing(values, columns, ascii_only) -> None:
    from rich.cells import cell_len

    from lilbee_cli.render.text import line

    rows = tuple(ChartRow(label=line(name), value=value, told=f"{value:.3g}") for name, value in values)
    chart = Chart(title="t", description="d", rows=rows, high=max(row.value for row in rows))
    drawn = list(plots.rows(chart, columns=columns, ascii_only=ascii_only))
    assert len({cell_len(row) for row in drawn}) == 1
    assert cell_len(drawn[0]) <= max(columns, 40)
    assert not any(STEERS.search(row) for row in drawn)
    if ascii_only:
        assert all(row[-60:].isascii() or not name.isascii() for row, (name, _) in zip(drawn, values, strict=True))


def test_nothing_that_a_name_holds_leaves_its_text() -> None:
    harmless = picture(of_status(status(), [a_row(path="a.md", collection="x", chunks=1)]), title="x")
    tags = [one.tag for one in ElementTree.fromstring(harmless).iter()]
    for evil in PAYLOADS:
        charts = of_status(status(), [a_row(path=f"a.{evil}", collection=f"{evil}", chunks=1)])
        made = picture(charts, title=evil)
        assert STEERS.search(made) is None, evil
        assert [one.tag for one in ElementTree.fromstring(made).iter()] == tags, evil


def test_an_interval_in_ascii_and_its_zero() -> None:
    chart = Chart(title="", description="", low=-1, high=1,
                  rows=(ChartRow(label="a", value=-0.5, told="-0.5", interval=(-0.75, 0.25)),
                        ChartRow(label="b", value=0.5, told="+0.5", interval=(0.4, 0.6))))  # fmt: skip
    ascii_rows = list(plots.rows(chart, columns=31, ascii_only=True))
    assert ascii_rows == ["  a    |--o------|         -0.5", "  b            :   |o|     +0.5"]
    assert "├" in next(iter(plots.rows(chart, columns=31)))


def test_the_commands(lilbee: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "bees.md").write_text("Bees find home by the sun.\n", "utf-8")
    assert lilbee("init", str(folder)).code == 0
    assert lilbee("sync", "--library", str(folder)).code == 0
    file = tmp_path / "status.svg"
    done = lilbee("status", "--plot", "--svg", str(file), "--library", str(folder))
    assert "Files by state" in done.out
    assert ".md" in done.out
    assert ElementTree.parse(file).getroot()[0].text == "The state of a library"
    assert lilbee("status", "--svg", str(file), "--json", "--library", str(folder)).json()["chunks"] == 1
    missing = lilbee("status", "--svg", str(tmp_path / "no" / "x.svg"), "--library", str(folder))
    assert missing.code != 0
    assert "Traceback" not in missing.err
    judged = tmp_path / "judged"
    judged.mkdir()
    (judged / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "how do bees find home"}) + "\n", "utf-8")
    (judged / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tbees.md\t1\n", "utf-8")
    command = ("eval", str(judged), "--compare", "default,keyword", "--plot", "--svg", str(file))
    done = lilbee(*command, "--library", str(folder))
    assert "What keyword gains over default" in done.out
    assert "How long searches took, keyword" in file.read_text("utf-8")

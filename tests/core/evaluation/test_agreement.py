"""A whole library, judged by us and, from the run file, by the usual scoring library."""

from __future__ import annotations

import json
import os
import statistics
from pathlib import Path

import ir_measures
import pytest
from ir_measures import RR, R, Success, nDCG

from lilbee_core import Lilbee, Settings
from lilbee_core.aio import AsyncLilbee
from lilbee_core.evaluation import EvaluationReport
from lilbee_core.testing import HashEmbedder

MEASURES = {
    "ndcg@10": nDCG @ 10,
    "recall@10": R @ 10,
    "recall@100": R @ 100,
    "mrr@10": RR @ 10,
    "success@5": Success @ 5,
}
TEXTS = {
    "sun": "Bees find their way home by the sun and by polarized light.",
    "wax": "Wax is made of honey, and combs are made of wax.",
    "dance": "A dance on the comb tells other bees where the flowers are.",
    "queen": "The queen lays eggs all summer. " + "Workers feed her day and night. " * 40 + "She leaves with a swarm.",
    "swarm": "A swarm hangs in a tree until scouts agree on a new home.",
    "winter": "In winter the cluster shivers to keep warm.",
}
QUERIES = {
    "q1": "how do bees find home",
    "q2": "what is wax made of",
    "q3": "when does the queen leave with a swarm",
    "q4": "submarine telegraph",
}
QRELS = {"q1": {"sun": 2, "swarm": 1}, "q2": {"wax": 1}, "q3": {"queen": 1, "swarm": 1}, "q4": {"winter": 1}}


def write_set(folder: Path) -> Path:
    folder.mkdir()
    corpus = [{"_id": name, "title": "Bees", "text": text} for name, text in TEXTS.items()]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in corpus), "utf-8")
    queries = [{"_id": name, "text": text} for name, text in QUERIES.items()]
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in queries), "utf-8")
    lines = [f"{query}\t{name}\t{grade}\n" for query, judged in QRELS.items() for name, grade in judged.items()]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines), "utf-8")
    return folder


def judged_by_the_library(run_file: Path, qrels: dict[str, dict[str, int]]) -> dict[str, float]:
    """Score a run file as it lies there: order by score, ties by name, queries without an answer count 0."""
    run: dict[str, dict[str, float]] = {}
    for line in run_file.read_text("utf-8").splitlines():
        query, name, score = line.split("\t")
        assert name not in run.setdefault(query, {}), "a document twice"
        run[query][name] = float(score)
    for query, found in run.items():
        order = sorted(found, key=lambda name: (-found[name], name))
        run[query] = {name: float(len(order) - place) for place, name in enumerate(order)}
    relevant = {query: judged for query, judged in qrels.items() if any(grade > 0 for grade in judged.values())}
    values: dict[str, dict[str, float]] = {name: dict.fromkeys(relevant, 0.0) for name in MEASURES}
    for one in ir_measures.iter_calc(list(MEASURES.values()), relevant, run):
        values[next(name for name, measure in MEASURES.items() if measure == one.measure)][one.query_id] = one.value
    return {name: statistics.fmean(per_query.values()) for name, per_query in values.items()}


def measure(bee: Lilbee, folder: Path, run_file: Path, *, profile: str, limit: int | None = None) -> EvaluationReport:
    judged = bee.evaluation.open(folder)
    report = bee.evaluation.run(judged.queries(), judged.qrels(), profile=profile, limit=limit)
    report.write_run(run_file)
    qrels = {query.id: judged.qrels()[query.id] for query in report.per_query}
    expected = judged_by_the_library(run_file, qrels)
    assert {name: report[name] for name in MEASURES} == pytest.approx(expected, abs=1e-4)
    return report


@pytest.fixture
def bee(tmp_path: Path) -> Lilbee:
    return Lilbee(settings=Settings(), data_dir=tmp_path / "data", embedder=HashEmbedder())


@pytest.mark.parametrize("profile", ["default", "keyword", "semantic"])
def test_a_small_set_is_judged_alike(bee: Lilbee, tmp_path: Path, profile: str) -> None:
    folder = write_set(tmp_path / "set")
    with bee:
        added = bee.add_documents(bee.evaluation.open(folder).documents())
        assert (added.added, added.unchanged) == (len(TEXTS), 0)
        report = measure(bee, folder, tmp_path / "run.tsv", profile=profile)
    assert report.documents == len(TEXTS)
    assert report.chunks > len(TEXTS), "the long document has several chunks and still counts once"
    assert report.queries == 4
    if profile == "keyword":
        assert report["recall@10"] == 0.75
        assert report["ndcg@10"] > 0.6


def test_documents_that_are_there_already_are_not_indexed_again(bee: Lilbee, tmp_path: Path) -> None:
    judged = write_set(tmp_path / "set")
    with bee:
        bee.add_documents(bee.evaluation.open(judged).documents())
        again = bee.add_documents(bee.evaluation.open(judged).documents())
    assert (again.added, again.updated, again.unchanged, again.embedded) == (0, 0, len(TEXTS), 0)


@pytest.mark.slow
def test_the_asynchronous_library_says_the_same(bee: Lilbee, tmp_path: Path) -> None:
    import anyio

    folder = write_set(tmp_path / "set")

    async def measured() -> EvaluationReport:
        async with AsyncLilbee(settings=Settings(), data_dir=tmp_path / "data", embedder=HashEmbedder()) as library:
            judged = await library.evaluation.open(folder)
            await library.add_documents(judged.documents())
            return await library.evaluation.run(judged.queries(), judged.qrels(), profile="keyword")

    other = anyio.run(measured)
    with bee:
        report = measure(bee, folder, tmp_path / "run.tsv", profile="keyword")
    assert [one.ranking for one in other.per_query] == [one.ranking for one in report.per_query]


@pytest.mark.slow
def test_a_public_set_is_judged_alike(bee: Lilbee, tmp_path: Path) -> None:
    folder = os.environ.get("LILBEE_EVAL_DIR")
    if not folder:
        pytest.skip("LILBEE_EVAL_DIR names no folder of judged collections")
    sets = [one.parent for one in sorted(Path(folder).glob("*/qrels.tsv"))]
    assert sets, f"there is no judged collection in {folder}"
    smallest = min(sets, key=lambda one: (one / "corpus.jsonl.gz").stat().st_size)
    with bee:
        bee.add_documents(bee.evaluation.open(smallest).documents())
        report = measure(bee, smallest, tmp_path / "run.tsv", profile="keyword", limit=100)
    assert report.queries == 100
    assert report["recall@100"] > 0.5

"""Settings that find more are kept only where they hold on queries they were not chosen on (R194)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import Cancelled, InvalidArgument, NotFound, SettingsError
from lilbee_core.evaluation import TuningReport, is_held_out
from lilbee_core.testing import HashEmbedder, Switch
from lilbee_core.types import Document
from tests.core.evaluation.test_evaluation import Library

QUERIES = {f"q{number}": f"text {number}" for number in range(60)}
QRELS = {name: {"a.txt": 1} for name in QUERIES}
NAMES = {text: name for name, text in QUERIES.items()}


def tune(library: Library, **options: object) -> TuningReport:
    return library.evaluation.tune(QUERIES, QRELS, **options)  # type: ignore[arg-type]


def test_what_gains_on_both_halves_is_saved() -> None:
    library = Library({})
    library.bench.found_by = lambda values, text: values["fusion_dense_weight"] == 0.7 or NAMES[text] < "q3"
    found = tune(library, name="mine")
    assert dict(found.values) == {"fusion_dense_weight": 0.7}
    assert library.bench.saved == {"mine": {"fusion_dense_weight": 0.7}}
    assert found.saved
    assert found.held_out["ndcg@10"].mean > 0.1
    assert all(is_held_out(one.id) for one in found.held_out.base.per_query)
    assert not any(is_held_out(one.id) for one in found.fitted.base.per_query)
    assert found.verdict.startswith("Kept as profile mine: ndcg@10 +0.")
    told = found.to_dict()
    assert told["values"] == {"fusion_dense_weight": 0.7}
    assert told["saved"] is True


def test_what_gains_on_one_half_only_is_not() -> None:
    library = Library({})
    library.bench.found_by = lambda values, text: (values["max_distance"] == 0.7) != is_held_out(NAMES[text])
    found = tune(library)
    assert dict(found.values) == {"max_distance": 0.7}
    assert found.fitted["ndcg@10"].mean > 0 > found.held_out["ndcg@10"].mean
    assert (found.saved, library.bench.saved) == (False, {})
    assert "nothing is written" in found.verdict


def test_where_nothing_is_better_nothing_is_written() -> None:
    library = Library({})
    library.bench.found_by = lambda values, text: values == library.bench.present
    found = tune(library)
    assert found.values == ()
    assert library.bench.saved == {}
    assert "No other setting finds more" in found.verdict


def test_settings_that_help_only_together_with_an_earlier_one_are_found() -> None:
    library = Library({})
    library.bench.found_by = lambda values, text: (
        values["mmr_lambda"] == 1.0 and (values["fusion_dense_weight"] == 0.2 or NAMES[text] < "q4")
    )
    assert dict(tune(library).values) == {"fusion_dense_weight": 0.2, "mmr_lambda": 1.0}


def test_the_weight_is_not_tried_where_it_counts_for_nothing_and_nothing_twice() -> None:
    library = Library({})
    library.bench.found_by = lambda values, text: values["fusion"] == "rrf"
    assert dict(tune(library).values) == {"fusion": "rrf"}
    tried = [tuple(sorted(one.items())) for one in library.bench.tried]
    assert not any("fusion_dense_weight" in dict(one) for one in tried)
    fitted = tried[:-2]  # the last two judge on the held-out half
    assert len(set(fitted)) == len(fitted)


def test_a_dry_run_writes_nothing_and_says_so() -> None:
    library = Library({})
    library.bench.found_by = lambda values, text: values["mmr_lambda"] == 1.0
    found = tune(library, save=False)
    assert found.is_better
    assert not found.saved
    assert library.bench.saved == {}
    assert found.verdict.startswith("Better, and not written")


@pytest.mark.parametrize("name", ["default", "keyword", "Mine", "", "a b", "-x", "x" * 41])
def test_names_that_no_profile_can_have(name: str) -> None:
    library = Library({})
    with pytest.raises(SettingsError, match=r"built in|cannot be a profile"):
        tune(library, name=name)
    assert library.bench.tried == []


def test_too_few_queries_unknown_metrics_and_documents_are_refused() -> None:
    library = Library({})
    few = {name: QRELS[name] for name in list(QRELS)[:19]}
    with pytest.raises(InvalidArgument, match="19 judged queries are too few"):
        library.evaluation.tune(QUERIES, few)
    with pytest.raises(InvalidArgument, match="recall@100"):
        tune(library, metric="recall@100")
    with pytest.raises(NotFound, match="nowhere"):
        library.evaluation.tune(QUERIES, {name: {"nowhere": 1} for name in QUERIES})


def test_it_can_be_cancelled() -> None:
    library, switch = Library({}), Switch()
    switch.cancel()
    with pytest.raises(Cancelled):
        tune(library, cancel=switch)
    assert library.bench.saved == {}


# --------------------------------------------------------------------------- with a library

DOCUMENTS = {
    f"{number}.txt": f"Hive {number} stands in row {number % 7}. Its queen was marked with color {number % 5}."
    for number in range(40)
}


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    with Lilbee(data_dir=tmp_path / "data", embedder=HashEmbedder()) as library:
        library.add_documents(Document(path=path, text=text) for path, text in DOCUMENTS.items())
        yield library


def judged() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, int]]]:
    queries = {f"n{number}": f"which color has hive {number}" for number in range(40)}
    return queries, {f"n{number}": {f"{number}.txt": 1} for number in range(40)}


@pytest.mark.slow
def test_trials_find_what_the_library_itself_would_find(bee: Lilbee) -> None:
    from lilbee_core.library._tuning import TuningBench
    from lilbee_core.types import Query

    bench = TuningBench(bee._parts)
    bee.config.set_profile("mine", {"fusion_dense_weight": 0.9, "diversity_max_per_source": 1})
    for values, profile in (({}, "default"), (bee.config.profiles["mine"], "mine")):
        trial = bench.trial(values)
        for text in judged()[0].values():
            tried = trial(Query(text=text, top_k=5))
            again = trial(Query(text=text, top_k=5))
            found = bee.search(text, top_k=5, profile=profile)
            assert [hit.chunk_id for hit in tried] == [hit.chunk_id for hit in found]
            assert [hit.score for hit in again] == [hit.score for hit in tried]


@pytest.mark.slow
def test_a_library_is_tuned_and_forgets_it_again(bee: Lilbee, tmp_path: Path) -> None:
    queries, qrels = judged()
    before = [bee.search("queen of hive 7") for _ in range(3)][-1]  # the first ones read vectors from disk
    found = bee.evaluation.tune(queries, qrels, name="hives")
    again = bee.evaluation.tune(queries, qrels, name="hives")
    assert (again.values, again.held_out["ndcg@10"]) == (found.values, found.held_out["ndcg@10"])
    assert found.held_out["ndcg@10"].mean >= 0 or not found.saved
    if not found.saved:
        bee.config.set_profile("hives", {"fusion_dense_weight": 0.3})
    assert bee.search("queen of hive 7", profile="hives").hits
    assert bee.search("queen of hive 7").hits == before.hits, "default stays what it is"
    with Lilbee(data_dir=tmp_path / "data", embedder=HashEmbedder()) as other:
        assert other.config.profiles == bee.config.profiles != {}
        assert other.search("hive", profile="hives").query.profile == "hives"
    bee.config.unset_profile("hives")
    with pytest.raises(InvalidArgument, match="no search profile 'hives'"):
        bee.search("hive", profile="hives")

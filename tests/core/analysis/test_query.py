from __future__ import annotations

import pickle
import threading
from dataclasses import FrozenInstanceError

import pytest

from lilbee_core.analysis import AnalyzedQuery, Analyzer

ANALYZER = Analyzer()


def weights(text: str, *languages: str) -> dict[str, int]:
    query = ANALYZER.query(text, languages=languages)
    return dict(zip(query.terms, query.weights, strict=True))


def test_terms_are_repeated_as_often_as_they_count() -> None:
    query = ANALYZER.query("hives", languages=("en",))
    assert query.terms == ("hives", "˜hive")
    assert query.match_text.split() == ["hives"] + ["˜hive"] * query.weights[1]
    assert not query.is_empty


def test_stems_are_made_for_each_language_once() -> None:
    found = weights("Laternen", "de", "en", "de")
    assert list(found) == ["laternen", "˜latern", "˜laternen"]
    assert set(weights("Garten", "en", "de")) == {"garten", "˜garten", "˜gart"}
    assert set(weights("houses", "vi", "en")) == {"houses", "˜houses", "˜hous"}


def test_a_word_found_as_typed_counts_more_than_an_inflected_one() -> None:
    found = weights("hives", "en")
    assert found["hives"] > 0
    assert found["˜hive"] > 0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("what's the budget, roughly?", ("budget", "roughly")),
        ("Where is the hive", ("hive",)),
        ("the of and", ("the", "of", "and")),
        ("AND OR NOT budget", ("budget",)),
        ("don't touch it", ("touch",)),
        ("who will fly in May", ("fly", "May")),
        ("vitamin d", ("vitamin", "d")),
        ("hive hive HIVE", ("hive", "HIVE")),
        ("to-do list", ("to-do", "list")),
    ],
)
def test_function_words_are_dropped_unless_nothing_else_is_left(text: str, kept: tuple[str, ...]) -> None:
    query = ANALYZER.query(text, languages=("en",))
    assert query.highlights == kept


def test_the_language_of_a_query_must_be_told_before_its_words_are_dropped() -> None:
    both = ("en", "de")
    assert ANALYZER.query("world war", languages=both).highlights == ("world", "war")
    assert ANALYZER.query("wo war der Imker", languages=both).highlights == ("Imker",)
    assert ANALYZER.query("where was the beekeeper", languages=both).highlights == ("beekeeper",)
    assert ANALYZER.query("l'eau de la ruche", languages=("fr", "en")).highlights == ("l'eau", "ruche")


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('"amber lamp" flashes', (("amber", "lamp"),)),
        ('"read-only v2.3 driver"', (("read", "only", "v2.3", "driver"),)),
        ('"don\'t-touch lever"', (("don", "t", "touch", "lever"),)),
        ('"flush_ledger_rows"', (("flush_ledger_rows",),)),
        ('"before and after the"', (("before", "and", "after", "the"),)),
        ("„alte Lampe“ «vieux phare» “old lamp”", (("alte", "lampe"), ("vieux", "phare"), ("old", "lamp"))),
        ("「灌溉水」", (("灌溉", "溉水"),)),
        ('"第3章节"', (("3", "章节"),)),
        ('"unclosed budget', ()),
        ('5" pipe and 6" hose', ()),
        ('"" " " "?!"', ()),
        ('"twice" and "twice"', (("twice",),)),
    ],
)
def test_quotes_make_phrases_of_exact_tokens(text: str, phrases: tuple[tuple[str, ...], ...]) -> None:
    assert ANALYZER.query(text, languages=("en",)).phrases == phrases


def test_runs_without_blanks_keep_their_pairs_together() -> None:
    query = ANALYZER.query("花园什么 油 NAS备份", languages=("zh",))
    assert query.runs == (("花园", "园什", "什么"),)
    assert query.phrases == ()
    assert {"花园", "油", "备份", "nas"} <= set(query.terms)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!…", "&& || + - !", '""', "\u200b", "____", "\ud800"])
def test_without_words_a_query_is_empty(text: str) -> None:
    query = ANALYZER.query(text)
    assert query.is_empty
    assert query.match_text == ""
    assert query == AnalyzedQuery(languages=("en",))


def test_a_pasted_page_is_a_query_of_bounded_size() -> None:
    assert len(ANALYZER.query("Marigold " * 2200).terms) == 2
    page = " ".join(f"word{number}" for number in range(30_000))
    assert 500 < len(ANALYZER.query(page).terms) <= 1024


def test_terms_and_weights_belong_together() -> None:
    with pytest.raises(ValueError, match="2 terms have 1 weights"):
        AnalyzedQuery(terms=("a", "b"), weights=(1,))
    with pytest.raises(FrozenInstanceError):
        ANALYZER.query("hive").terms = ()  # type: ignore[misc]


def test_analyzers_and_queries_travel_between_processes() -> None:
    query = ANALYZER.query("Straßenlaternen", languages=("de",))
    assert pickle.loads(pickle.dumps(query)) == query
    copy = pickle.loads(pickle.dumps(ANALYZER))
    assert copy.query("Straßenlaternen", languages=("de",)) == query


def test_threads_share_an_analyzer() -> None:
    texts = [f"running houses number{number} größere Häuser" for number in range(400)]
    expected = [Analyzer().index_text(text, language="de") for text in texts]
    shared = Analyzer()
    results: dict[int, list[str]] = {}

    def work(worker: int) -> None:
        results[worker] = [shared.index_text(text, language="de") for text in texts]

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[worker] == expected for worker in range(4))


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("金閣寺の入場料はいくらですか", ("金閣寺", "入場料")),
        ("京都まで何分かかりますか", ("京都",)),
        ("りんごはいくらですか", ("りんご",)),
        ("かにはどこですか", ("かに",)),
        ("店が閉まるのはいつですか", ("店", "閉まる")),
        ("ラーメンについて教えてください", ("ラーメン",)),
        ("猫はいくつですか", ("猫",)),
        ("もも", ("もも",)),
        ("故宫的门票多少钱", ("故宫", "门票")),
        ("目的是什么", ("目的",)),
        ("금각사의 입장료는 얼마입니까", ("금각사", "입장료")),
        ("나이", ("나이",)),
        ("ค่าเข้าชมเท่าไหร่", ("ค่าเข้าชม",)),
        ("いくらですか", ("いくらですか",)),
    ],
)
def test_what_only_asks_is_left_out_where_no_blanks_part_it(text: str, about: tuple[str, ...]) -> None:
    assert ANALYZER.query(text, languages=("en",)).highlights == about


def test_what_every_sentence_of_a_script_without_blanks_has_is_not_looked_for() -> None:
    terms = ANALYZER.query("金閣寺の入場料はいくらですか", languages=("en",)).terms
    assert {"金閣", "閣寺", "入場", "場料"} <= set(terms)
    assert not {"いく", "くら", "です", "すか"} & set(terms)

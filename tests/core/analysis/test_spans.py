from __future__ import annotations

import pytest

from lilbee_core.analysis import Analyzer, _spans, _table

ANALYZER = Analyzer()


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("The hives of the queen.", "hive", ["hives"]),
        ("The budget and the plan", "the budget", ["budget"]),
        ("call flush_ledger_rows now", "ledger", ["ledger"]),
        ("call flush_ledger_rows now", "flush_ledger_rows", ["flush_ledger_rows"]),
        ("parseTariffTable(raw)", "tariff tables", ["TariffTable"]),
        ("use os.path.join here", "os.path.join", ["os.path.join"]),
        ("read-only, read often", "read", ["read", "read"]),
        ("written in C++ or C", "C++", ["C++"]),
        ("written in C++ or C", "C", ["C"]),
        ("花园每周二和周五清晨灌溉，水泵", "灌溉", ["灌溉"]),
        ("自転車の油と油圧", "油", ["油", "油"]),
        ("Die Straßenlaternen", "strassenlaterne", ["Straßenlaternen"]),
        ("Die Straßenlaternen", "Laternen", ["Straßenlaternen"]),
        (
            "co\u00adoperate e\u0301te\u0301",
            "cooperate été",
            ["co\u00adoperate", "e\u0301te\u0301"],
        ),
        ("ＦＵＬＬ width", "full", ["ＦＵＬＬ"]),
        ("ทำงานที่บ้าน", "บ้าน", ["บ้าน"]),
        ("Rechnung 1.250,50 EUR", "1250.50", ["1.250,50"]),
        ("my to-do list", "to-do", ["to-do"]),
        ("they co-operate", "cooperate", ["co-operate"]),
        ("The hive", "wasp", []),
        ("", "hive", []),
    ],
)
def test_what_was_found_is_marked(text: str, query: str, marked: list[str]) -> None:
    analyzed = ANALYZER.query(query, languages=("en", "de"))
    assert [text[start:end] for start, end in ANALYZER.spans(text, analyzed)] == marked


def test_a_language_the_query_has_no_stems_of_marks_by_those_it_has() -> None:
    query = ANALYZER.query("hives", languages=("en",))
    assert ANALYZER.spans("one hive", query, language="de") == ((4, 8),)
    assert ANALYZER.spans("one hive", query, language="en") == ((4, 8),)


def test_an_empty_query_marks_nothing() -> None:
    assert ANALYZER.spans("all of it", ANALYZER.query("?!")) == ()


def test_what_it_remembers_of_other_texts_and_queries_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        "The hives of HIVE and Hive; parseHive(hive_rows, hive-rows) of bees.hive.rows, BEES2hive",
        "Laternen, Straßenlaternen und strassenlaterne.laterne; der Bienenstock der Hive",
        "花园每周二和周五清晨灌溉，水泵 hive 1.250,50 C++ c++17 a@hive.example",
    ]
    queries = ["hive rows", "Laternen Bienen", "灌溉 1250.50 C++", "bees.hive", "the of der"]
    asked = [(text, ANALYZER.query(query, languages=("en", "de"))) for query in queries for text in texts * 2]
    alone = [Analyzer().spans(text, query) for text, query in asked]
    assert any(alone)
    for most in (1, 5, 10_000):
        monkeypatch.setattr(_spans, "_MOST_UNITS", most)
        monkeypatch.setattr(_table, "_MOST_CUT", most)
        together = Analyzer()
        assert [together.spans(text, query) for text, query in asked] == alone

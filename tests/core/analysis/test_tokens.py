from __future__ import annotations

import pytest

from lilbee_core.analysis import Analyzer
from tests.core.analysis.tiny_index import split

ANALYZER = Analyzer()
MARKER = "˜"


def forms(text: str, language: str | None = "en") -> tuple[list[str], set[str]]:
    """Return the exact tokens in order, and the marked ones."""
    tokens = split(ANALYZER.index_text(text, language=language))
    exact = [token for token in tokens if not token.startswith(MARKER)]
    return exact, {token.removeprefix(MARKER) for token in tokens if token.startswith(MARKER)}


@pytest.mark.parametrize(
    ("text", "exact", "others"),
    [
        ("flush_ledger_rows", ["flush_ledger_rows"], {"flushledgerrow", "flush", "ledger", "row"}),
        ("parseTariffTable", ["parsetarifftable"], {"pars", "tariff", "tabl"}),
        ("HTTPServer2D", ["httpserver2d"], {"http", "server", "2d"}),
        ("NavigationServer2D", ["navigationserver2d"], {"navig", "server", "2d"}),
        ("ERR_CONN_REFUSED", ["err_conn_refused"], {"err", "conn", "refus"}),
        ("E0308", ["e0308"], {"e0308", "0308"}),
        ("0x80070005", ["0x80070005"], {"0x80070005"}),
        ("sha256", ["sha256"], {"sha", "256"}),
        ("v1.2.3", ["v1.2.3"], {"1.2.3"}),
        ("10.0.19041", ["10.0.19041"], {"10.0.19041", "19041"}),
        ("1,000,000", ["1,000,000"], {"1000000"}),
        ("1.250,50", ["1.250,50"], {"1250.50"}),
        ("3,5", ["3,5"], {"3.5"}),
        ("C++", ["c++"], {"c++"}),
        ("C++17", ["c++"], {"c++", "c++17"}),
        ("C#", ["c#"], {"c#"}),
        ("F#", ["f#"], {"f#"}),
        (".NET", [".net"], {".net"}),
        ("node.js", ["node", "js"], {"node", "js", "node.js"}),
        ("i++", ["i"], set()),
        ("os.path.join", ["os", "path", "join"], {"os.path.join", "path", "join"}),
        ("self.stream.write", ["self", "stream", "write"], {"stream.write"}),
        ("self.read-only", ["self", "read", "only"], {"read-only"}),
        ("\u0301-x", ["x"], {"x"}),
        ("std::vector", ["std", "vector"], {"std::vector", "vector"}),
        ("/usr/lib/read-me.md", ["usr", "lib", "read", "me", "md"], {"usr/lib/read-me.md", "read-me.md"}),
        ("C:\\Users\\bee", ["c", "users", "bee"], {"users\\bee", "user"}),
        ("bee@hive.example", ["bee", "hive", "example"], {"bee@hive.example", "hive.example"}),
        ("https://a.example/b", ["https", "a", "example", "b"], {"https://a.example/b", "a.example"}),
        ("#swarm", ["swarm"], {"#swarm", "swarm"}),
        ("2026-03-14", ["2026", "03", "14"], {"2026-03-14", "2026"}),
        ("CVE-2031-77120", ["cve", "2031", "77120"], {"cve-2031-77120"}),
        ("co-operate", ["co", "operate"], {"co-operate", "cooper"}),
        ("U.S.A.", ["u", "s", "a"], {"usa", "u.s.a"}),
        ("l’eau", ["l", "eau"], {"leau", "eau"}),
        ("the bee's hive", ["the", "bee", "s", "hive"], {"bee", "hive"}),
        ("don't", ["don", "t"], {"dont"}),
        ("花园灌溉", ["花园", "园灌", "灌溉"], {"花", "园", "灌", "溉"}),
        ("油", ["油"], {"油"}),
        ("NAS备份", ["nas", "备份"], {"nas", "备", "份"}),
        ("ทำงาน", ["ทํางา", "งาน"], {"งา"}),
        ("🪵 und 🐝", ["🪵", "und", "🐝"], {"🪵"}),
        ("ﬁnal\u00adly ＡＢ", ["finally", "ab"], {"final"}),
        ("Crème", ["creme"], {"crème", "creme"}),
    ],
)
def test_a_unit_has_its_exact_tokens_and_other_forms(text: str, exact: list[str], others: set[str]) -> None:
    found, marked = forms(text)
    assert found == exact
    assert others <= marked


def test_function_words_have_no_stem_in_the_index() -> None:
    exact, marked = forms("where the bees are")
    assert exact == ["where", "the", "bees", "are"]
    assert marked == {"bee"}


def test_rulers_and_signs_are_no_words() -> None:
    assert ANALYZER.index_text("____ ---- *** ?! … «» \u200b \ufeff", language="en") == ""


def test_a_hash_is_one_word_and_a_blob_ends_somewhere() -> None:
    assert forms("a3f5e9c2d1b4")[1] == {"a3f5e9c2d1b4"}
    exact, _ = forms("A" * 5000)
    assert exact == ["a" * 64]


@pytest.mark.parametrize("blank", ["\u00a0", "\u3000", "\u2028", "\u0085", "\x0b", "\x1f", "\u2003", "\u1680"])
def test_every_blank_parts_words(blank: str) -> None:
    assert ANALYZER.tokens(f"queen{blank}bee") == ("queen", "bee")


def test_context_counts_more_than_text_and_keeps_its_order() -> None:
    column = split(ANALYZER.index_text("wax", language="en", context=("Queen Bees", "docs/hive.md")))
    assert column.count("˜queen") == 2
    assert column.index("queen") + 1 == column.index("bees")
    assert "˜docs/hive.md" in column


def test_german_words_are_found_in_both_spellings() -> None:
    exact, marked = forms("Müller", "de")
    assert exact == ["muller"]
    assert {"müller", "mull"} <= marked
    assert "mueller" in forms("Müller", "en")[1]


def test_the_end_of_a_compound_is_found() -> None:
    assert {"strassenlatern", "latern"} <= forms("Straßenlaternen", "de")[1]
    assert "latern" not in forms("Straßenlaternen", "en")[1]


def test_words_are_stemmed_by_their_script() -> None:
    _, marked = forms("бегущие houses", "ru")
    assert "hous" in marked
    assert "бегущие" not in marked
    assert forms("бегущие", "en")[1] == forms("бегущие", "ru")[1]
    assert forms("nhà máy houses", "vi")[1] >= {"nha", "may", "houses"}


def test_the_version_names_the_stemmer() -> None:
    number, _, stemmer = ANALYZER.version.partition("/")
    assert number.isdigit()
    assert stemmer.startswith("snowball-")


@pytest.mark.slow
def test_full_caches_change_nothing() -> None:
    texts = [" ".join(f"word{number}x{batch}" for number in range(15_000)) for batch in range(6)]
    crowded = Analyzer()
    columns = [crowded.index_text(text, language="en") for text in texts]
    assert columns[0] == Analyzer().index_text(texts[0], language="en")
    assert columns[0] == crowded.index_text(texts[0], language="en")

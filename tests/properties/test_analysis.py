"""What holds for every text: nothing raises, tokens hold no blanks, what was indexed is found, places are right."""

from __future__ import annotations

import pickle
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from lilbee_core.analysis import AnalyzedQuery, Analyzer, detect_language, fold
from lilbee_core.analysis._units import unit_pattern

ANALYZER = Analyzer()
MARKER = "˜"
LANGUAGES = st.sampled_from([None, "en", "de", "fr", "ru", "tr", "ar", "hi", "th", "zh", "vi", "xx"])
PIECES = st.sampled_from(
    [
        "flush_ledger_rows", "HTTPServer2D", "os.path.join", "read-only", "C++", "C#", ".NET", "node.js",
        "v1.2.3", "1,000", "1.250,50", "0x80070005", "E0308", "a@b.example", "https://a.example/b?c=d",
        "#tag", "@name", "don't", "l’eau", "U.S.A.", "Größe", "Straße", "Muellergasse", "Straßenlaternen",
        "crème", "İstanbul", "ısı", "Ёлка", "σίσυφος", "مُحَمَّد", "ﷺ", "हिन्दी", "ทำงาน", "花园灌溉", "油",
        "NAS备份", "ブレーキ", "ｶﾞｷﾞ", "한국어", "ＡＢ", "ﬁ", "co\u00adop", "a\u200bb", "🪵", "👍🏽", "e\u0301", "ǅ", "ß",
        "½", "x²", "___", "'", '"', "„", "“", "«", "»", "++", "#", "..", "--", "the", "und", "de",
    ]
)  # fmt: skip
GAPS = st.sampled_from([" ", "", "\n", "\t", "\u00a0", "\u3000", "\u2028", ".", "-", "/", "'", "_", ":", ","])
MIXED = st.lists(st.tuples(PIECES, GAPS), max_size=20).map(lambda pairs: "".join(map("".join, pairs)))
TEXT = st.one_of(MIXED, st.text(max_size=60), st.text(alphabet=st.characters(codec="utf-8"), max_size=60))


def column(text: str, language: str | None = None, context: tuple[str, ...] = ()) -> list[str]:
    """Return the tokens as the index sees them: split at ASCII white space only."""
    return re.split(r"[\t\n\v\f\r ]", ANALYZER.index_text(text, language=language, context=context))


@given(TEXT)
@example("ͺ")
@example("ﱞﱟ")
@example("\ud800a")
@example("a\u0300" * 40)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(TEXT, LANGUAGES, st.lists(TEXT, max_size=2).map(tuple))
def test_index_tokens_are_never_empty_and_hold_no_blank(
    text: str, language: str | None, context: tuple[str, ...]
) -> None:
    tokens = column(text, language, context)
    if tokens == [""]:
        return
    for token in tokens:
        assert token.removeprefix(MARKER)
        assert MARKER not in token[1:]
        assert len(token.split()) == 1
        assert not any(char.isspace() for char in token)


@given(TEXT)
def test_exact_tokens_stand_first_in_text_order(text: str) -> None:
    tokens = ANALYZER.tokens(text)
    assert tuple(column(text)[: len(tokens)]) == tokens or tokens == ()
    assert all(fold(token) == token for token in tokens)


@given(TEXT, LANGUAGES)
def test_what_was_indexed_is_found_by_itself(text: str, language: str | None) -> None:
    tokens = set(column(text, language))
    query = ANALYZER.query(text, languages=(language,) if language else ())
    assert query.is_empty == (tokens == {""})
    if not query.is_empty:
        assert tokens & set(query.terms)
    for token in ANALYZER.tokens(text):
        assert token in tokens


@given(TEXT, st.lists(st.sampled_from(["en", "de", "fr", "zh", "ar"]), max_size=3))
def test_any_text_is_a_query(text: str, languages: list[str]) -> None:
    query = ANALYZER.query(text, languages=languages)
    assert len(set(query.terms)) == len(query.terms) == len(query.weights)
    assert all(weight > 0 for weight in query.weights)
    assert len(query.match_text.split(" ")) == sum(query.weights) or query.is_empty
    assert all(len(term.split()) == 1 for term in query.terms)
    assert all(phrase and all(phrase) for phrase in (*query.phrases, *query.runs))
    assert all(not token.startswith(MARKER) for phrase in query.phrases for token in phrase)
    assert pickle.loads(pickle.dumps(query)) == query


@given(TEXT)
def test_a_phrase_finds_the_text_it_was_taken_from(text: str) -> None:
    quoted = text.replace('"', " ").strip()
    column_text = f" {ANALYZER.index_text(quoted, language=None)} "
    for phrase in ANALYZER.query(f'"{quoted}"').phrases:
        if not set("“”„«»「」『』＂") & set(quoted):
            assert f" {' '.join(phrase)} " in column_text


@given(TEXT, TEXT)
def test_spans_are_sorted_and_inside_the_text(text: str, searched: str) -> None:
    query = ANALYZER.query(searched, languages=("en", "de"))
    end = 0
    for first, last in ANALYZER.spans(text, query):
        assert end <= first < last <= len(text)
        end = last


@given(TEXT, st.lists(TEXT, min_size=1, max_size=3), LANGUAGES)
def test_spans_do_not_depend_on_what_was_marked_before(searched: str, texts: list[str], language: str | None) -> None:
    query = ANALYZER.query(searched, languages=("en", "de"))
    for text in texts:
        assert ANALYZER.spans(text, query, language=language) == _spans_of_units(text, query, language)


def _spans_of_units(text: str, query: AnalyzedQuery, language: str | None) -> tuple[tuple[int, int], ...]:
    """Return the spans by asking an analyzer that knows nothing for each unit, one alone after the other."""
    found: list[tuple[int, int]] = []
    for unit in unit_pattern(text).finditer(text):
        for first, last in Analyzer().spans(unit[0], query, language=language):
            start, end = unit.start() + first, unit.start() + last
            if found and start <= found[-1][1]:
                start = found.pop()[0]
            found.append((start, end))
    return tuple(found)


@given(TEXT)
def test_a_text_that_is_its_own_query_is_marked(text: str) -> None:
    query = ANALYZER.query(text)
    assert bool(ANALYZER.spans(text, query)) != query.is_empty


@given(TEXT)
def test_detecting_a_language_answers_the_same_twice(text: str) -> None:
    language = detect_language(text)
    assert language == detect_language(text)
    assert language is None or (language.islower() and len(language) == 2)


@given(st.lists(TEXT, max_size=5), LANGUAGES)
@settings(max_examples=30)
def test_what_came_before_does_not_matter(texts: list[str], language: str | None) -> None:
    used = [ANALYZER.index_text(text, language=language) for text in texts]
    assert used == [Analyzer().index_text(text, language=language) for text in texts]

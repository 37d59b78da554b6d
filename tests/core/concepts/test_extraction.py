"""What chunks talk about, by rules: names, abbreviations, phrases, symbols, in several languages (R209)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.concepts import RuleExtractor
from lilbee_core.concepts._acronyms import explained
from lilbee_core.concepts._normal import Normalizer, singular
from lilbee_core.testing.builders import a_chunk
from lilbee_core.types import Mention

EXTRACTOR = RuleExtractor()


def of(text: str, language: str | None = "en", **chunk: object) -> dict[str, Mention]:
    found = EXTRACTOR.extract([a_chunk(text, language=language, title=None, **chunk)])[0]
    return {one.concept: one for one in found}


def test_names_abbreviations_and_phrases_of_a_text():
    found = of(
        "The World Health Organization (WHO) met in Geneva. The WHO counts honey bees, and the honey bee visits "
        "almond orchards near Geneva."
    )

    assert {key: (one.surface, one.kind, one.count) for key, one in found.items()}.items() >= {
        ("world health organization", ("World Health Organization", "entity", 2)),
        ("who", ("WHO", "entity", 2)),
        ("geneva", ("Geneva", "entity", 2)),
        ("honey bee", ("honey bees", "phrase", 2)),
        ("almond orchard", ("almond orchards", "phrase", 1)),
    }
    assert found["who"].stands_for == "world health organization"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Ursula K. Le Guin at the University of California in San Diego.",
         {"ursula k le guin", "university of california", "san diego"}),
        ("The Bank of England and Apollo 11 were discussed by Dr. Jane Goodall.",
         {"bank of england", "apollo 11", "jane goodall"}),
        ("Nobody in the United States knew.", {"united states"}),
    ],
)  # fmt: skip
def test_names_are_whole(text, names):
    assert names <= set(of(text))


def test_signs_tell_languages_apart():
    found = of(
        "The C++ compiler is old. C# code runs, F# code does not. We wrote C++ and the C compiler reads C. ##### x # y"
    )

    assert {"c++", "c#", "f#"} <= set(found)
    assert found["c++"].surface == "C++"
    assert {"c++ compiler", "c compiler"} <= set(found)
    assert not any(key.endswith(("# ", "x #")) for key in found)


def test_a_capital_letter_at_the_beginning_of_a_sentence_makes_no_name():
    found = of("Pollen is yellow. Pollen was here. We saw pollen.")

    assert {key: one.kind for key, one in found.items()} == {"pollen": "phrase"}


def test_capitals_all_over_a_line_say_nothing():
    assert "annual report of the honey board" not in of("ANNUAL REPORT OF THE HONEY BOARD OF TODAY")
    assert all(one.kind == "phrase" for one in of("How To Keep Honey Bees Warm In Winter Storms").values())


def test_words_without_a_topic_stand_at_no_edge():
    found = set(of("We found that it shows quickly increased crop yields in the following year, which is important."))

    assert found == {"crop yield"}


def test_general_nouns_say_something_only_behind_another_word():
    found = set(of("The immune system is a system. Sea level is a level, and the type of transcription factor counts."))

    assert {"immune system", "sea level", "transcription factor"} <= found
    assert not found & {"system", "level", "type", "factor"}


def test_urls_addresses_and_code_in_prose_are_no_concepts():
    found = of("See https://example.org/honey-bees/page or mail Bob@example.org about `make_honey` in Rome.")

    assert set(found) == {"rome"}


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("In den Vereinigten Staaten liegt Washington. Die Honigbienen sammeln Nektar, und Nektar ist süß.", "de",
         {"vereinigten staaten", "nektar"}),
        ("Las abejas melíferas visitan flores silvestres cerca de Madrid; las flores silvestres abren en mayo.", "es",
         {"madrid", "flores silvestr"}),
        ("В городе Москва стоит башня.", "ru", {"москва"}),
        ("दिल्ली विश्वविद्यालय में लोग पढ़ते हैं।", "hi", {"दिल्ली विश्वविद्यालय"}),
        ("蜜蜂的社会和蜂群崩溃。", "zh", {"蜜蜂", "社会", "蜂群崩溃"}),
        ("ミツバチの巣箱とアカシアの花粉を研究する。", "ja", {"アカシア", "花粉"}),
        ("꿀벌은 꽃가루를 모은다. 꿀벌의 여왕은 벌집에서 산다.", "ko", {"꿀벌", "꽃가루"}),
    ],
)  # fmt: skip
def test_other_languages(text, language, expected):
    assert expected <= set(of(text, language))


def test_thai_is_left_alone_but_latin_names_in_it_are_found():
    assert set(of("ผึ้งเก็บน้ำหวานจากดอกไม้ ที่ Chiang Mai มีผึ้งมากมาย", "th")) == {"chiang mai"}


def test_symbols_of_code():
    code = """
class HoneyStore(BaseStore):
    def weigh_all(self, hives):
        return sum(weigh_hive(hive) for hive in hives if hive.isOpen)
"""
    found = of(code, None, symbol="HoneyStore.weigh_all", symbol_kind="method", media_type="text/x-python")

    assert {key: one.kind for key, one in found.items()} == dict.fromkeys(
        ["honeystore", "weigh_all", "basestore", "weigh_hive", "isopen"], "symbol"
    )
    assert found["honeystore"].surface == "HoneyStore"


def test_the_heading_counts_more_than_the_text():
    chunk = a_chunk(
        "Rome, Paris, Berlin, Madrid, Lisbon, Vienna, Prague, Warsaw, Oslo, Athens and Dublin were visited.",
        title="Travels of the honey bee",
        language="en",
    )
    found = EXTRACTOR.extract([chunk])[0]

    assert len(found) == 10
    assert "honey bee" in [one.concept for one in found]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("magnetic resonance imaging (MRI) helps", [("MRI", "magnetic resonance imaging")]),
        ("the European Union (EU)", [("EU", "European Union")]),
        ("DNA (deoxyribonucleic acid) strands", [("DNA", "deoxyribonucleic acid")]),
        ("He said so (in Paris).", []),
        ("Figure (AB) is empty", []),
        ("(WHO)", []),
    ],
)
def test_abbreviations_that_a_text_explains(text, pairs):
    assert list(explained(text)) == pairs


@pytest.mark.parametrize(
    ("word", "one"),
    [
        ("bees", "bee"), ("berries", "berry"), ("boxes", "box"), ("churches", "church"), ("glass", "glass"),
        ("virus", "virus"), ("analysis", "analysis"), ("physics", "physics"), ("series", "series"), ("gas", "gas"),
        ("is", "is"), ("ties", "tie"),
    ],
)  # fmt: skip
def test_plurals(word, one):
    assert singular(word) == one


def test_spelling_does_not_tell_concepts_apart():
    normal = Normalizer()

    assert normal.key(["Café", "Owners"], "en") == normal.key(["cafe", "owner's"], "en") == "cafe owner"
    assert normal.key(["PCs"], "en", name=True) == "pc"
    assert normal.name_key(["United", "States"]) == "united states"


@given(st.text(max_size=300), st.sampled_from(["en", "de", "zh", "ja", "ko", "ru", "hi", "th", None]))
def test_any_text_gives_at_most_ten_concepts_each_once(text, language):
    chunk = a_chunk(text or " ", language=language)
    first, second = EXTRACTOR.extract([chunk, chunk])

    assert first == second
    assert len(first) <= 10
    assert len({one.concept for one in first}) == len(first)
    assert all(one.concept and one.surface and one.count >= 1 for one in first)

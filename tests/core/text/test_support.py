"""Statements held against passages: what is borne out, and each way of not being (R193)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.text import Evidence, check_citations, says_something, support
from lilbee_core.types import Verdict

BRIDGE = (
    "The Avocet bridge was built in 1911 by John Smith. It is painted grey every fifth year. "
    "On 12 May 1920 about 1,200 people crossed it, 25% of them on foot. The old tower was not moved in 1931. "
    "Anna Miller wrote to Peter Brown about the toll of $3.5 million."
)
OTHER = "Swifts nest in the harbor wall. The ferry Dunlin carries 40 cars over 12 km."
GERMAN = "Die Brücke wurde 1911 nicht aus Holz gebaut. Am 12. Mai 1920 überquerten sie 1.200 Menschen."
FRENCH = "Le pont n'a pas été construit en bois. Il mesure 3,5 km."
SPANISH = "El puente no fue construido en 1911. Mide 12 kilómetros."


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("The Avocet bridge was built in 1911 by John Smith.", BRIDGE),
        ("Built in 1911", BRIDGE),
        ("John Smith built the Avocet bridge in 1911", BRIDGE),
        ("In 1911 the Avocet bridge was built", BRIDGE),
        ("It is painted grey", BRIDGE),
        ("1200 people crossed it on May 12, 1920", BRIDGE),
        ("1,200 people crossed it on 1920-05-12, 25 percent of them on foot", BRIDGE),
        ("Twelve hundred people", "Twelve hundred people came."),
        ("The old tower wasn't moved in 1931", BRIDGE),
        ("Peter Brown was written to by Anna Miller", BRIDGE),
        ("The toll was 3,500,000 dollars", BRIDGE),
        ("The Avocet bridge was built in 1911 and is painted grey every fifth year", BRIDGE),
        ("The Dunlin carries forty cars over 12,000 m", OTHER),
        ("Die Brücke wurde 1911 nicht aus Holz gebaut", GERMAN),
        ("1200 Menschen überquerten sie am 12.05.1920", GERMAN),
        ("Le pont n'a pas été construit en bois", FRENCH),
        ("El puente no fue construido en 1911", SPANISH),
        ("桥是1911年建造的", "桥是1911年建造的。它是灰色的。"),
    ],
)
def test_borne_out(statement, passage):
    found = support(statement, passage)

    assert found.supported, found
    assert found.span is not None
    assert found.span.cut(passage).strip()


@pytest.mark.parametrize(
    ("statement", "passage", "reason"),
    [
        ("The Avocet bridge was built in 1912", BRIDGE, "number"),
        ("1,300 people crossed it on 12 May 1920", BRIDGE, "number"),
        ("1,200 people crossed it on 13 May 1920", BRIDGE, "date"),
        ("1,200 people crossed it on 12 May 1921", BRIDGE, "date"),
        ("25 people of them were on foot", BRIDGE, "unit"),
        ("The ferry Dunlin carries 40 cars over 12 miles", OTHER, "unit"),
        ("The toll was €3.5 million", BRIDGE, "unit"),
        ("The toll was $3.5 billion", BRIDGE, "number"),
        ("The Avocet bridge was built in 1911 by Peter Brown", BRIDGE, "name"),
        ("Chopin built the Avocet bridge in 1911", BRIDGE, "name"),
        ("Peter Brown wrote to Anna Miller about the toll", BRIDGE, "order"),
        ("The old tower was moved in 1931", BRIDGE, "negation"),
        ("The Avocet bridge was not built in 1911", BRIDGE, "negation"),
        ("The new tower was not moved in 1931", BRIDGE, "opposite"),
        ("Die Brücke wurde 1911 aus Holz gebaut", GERMAN, "negation"),
        ("Le pont a été construit en bois", FRENCH, "negation"),
        ("El puente fue construido en 1911", SPANISH, "negation"),
        ("El puente no fue construido en 1912", SPANISH, "number"),
        ("It was repaired twice", BRIDGE, "words"),
    ],
)
def test_what_is_wrong_is_told(statement, passage, reason):
    found = support(statement, passage)

    assert not found.supported
    assert found.reason == reason
    assert found.span is None


def test_two_sentences_made_into_one_are_stitched():
    assert support("The Avocet bridge was built in the old tower", BRIDGE).verdict is Verdict.STITCHED
    assert support("The Avocet bridge was nest in the harbor wall", BRIDGE, [OTHER]).verdict is Verdict.STITCHED


def test_another_passage_that_says_it_is_named():
    found = support("Swifts nest in the harbor wall", BRIDGE, ["Nothing.", OTHER])

    assert (found.verdict, found.source) == (Verdict.MISATTRIBUTED, 1)


def test_headings_name_what_a_sentence_leaves_out():
    passage = Evidence(text="It was built in 1911.", context="Avocet bridge")

    assert support("The Avocet bridge was built in 1911", passage).supported
    assert not support("The Curlew bridge was built in 1911", passage).supported


def test_lists_and_tables():
    listed = "Causes of the fire:\n\n- old cables\n- dry wood\n- wind\n"
    table = "| bridge | built |\n|---|---|\n| Avocet | 1911 |\n| Curlew | 1920 |\n"

    assert support("Causes of the fire were old cables, dry wood and wind", listed).supported
    assert support("The Avocet bridge was built in 1911", table).supported
    assert not support("The Avocet bridge was built in 1920", table).supported


def test_several_marks_share_a_statement():
    both = check_citations(
        "The bridge was built in 1911, and the ferry Dunlin carries 40 cars", (1, 2), (BRIDGE, OTHER)
    )
    one = check_citations("Swifts nest in the harbor wall", (1, 2, 9), (BRIDGE, OTHER))

    assert [it.verdict for it in both] == [Verdict.SUPPORTED, Verdict.SUPPORTED]
    assert [it.verdict for it in one] == [Verdict.MISATTRIBUTED, Verdict.SUPPORTED, Verdict.FABRICATED]
    assert one[0].source == 2


def test_nearness_helps_where_words_differ_and_never_against_a_number():
    asked = []

    def near(one, other):
        asked.append((one, other))
        return 1.0

    passage = "Every bridge along the coast road receives a fresh coat of paint each summer."
    assert not support("Bridges at the coast get new paint in summertime", passage).supported
    assert support("Bridges at the coast road get new paint in summertime", passage, near=near).supported
    assert asked
    assert not support("Bridges at the coast road get 4 new coats in summertime", passage, near=near).supported


@pytest.mark.parametrize(
    ("statement", "says"), [("See", False), ("According to the", False), ("", False), ("1911", True)]
)
def test_words_that_say_nothing(statement, says):
    assert says_something(statement) is says
    assert says or not support(statement, BRIDGE).supported


@given(st.text(max_size=60), st.text(max_size=120), st.lists(st.text(max_size=40), max_size=2))
def test_any_text_gets_a_verdict(statement, cited, others):
    found = support(statement, cited, others)

    assert (found.span is not None) == found.supported
    assert (found.source is not None) == (found.verdict is Verdict.MISATTRIBUTED)
    assert 0 <= found.coverage <= 1


@given(st.integers(2, 999), st.integers(2, 999))
def test_a_changed_number_never_passes(one, other):
    passage = f"The harbor holds {one} boats in winter. It is old."

    assert support(f"The harbor holds {other} boats in winter", passage).supported == (one == other)

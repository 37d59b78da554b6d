import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.text import check_quote, find_quote, place_in
from lilbee_core.types import Location, Span, Verdict

TEXT = "The bridge was built\nin 1911 by hand.  It is\tgrey."
OTHER = "Swifts nest in the old tower every spring."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("built in 1911", "built\nin 1911"),
        ("hand. It is grey.", "hand.  It is\tgrey."),
        ("The bridge", "The bridge"),
        ("the bridge", None),
        ("build in 1911", None),
        ("a.b", None),
        ("", None),
        ("  ", None),
    ],
)
def test_white_space_counts_as_one_blank_and_nothing_else_is_forgiven(quote, found):
    span = find_quote(quote, TEXT)

    assert (span.cut(TEXT) if span else None) == found


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ("built in 1911 by hand", Verdict.SUPPORTED),
        ("Swifts nest in the old tower", Verdict.MISATTRIBUTED),
        ("The bridge was built ... It is grey", Verdict.STITCHED),
        ("The bridge was built […] every spring", Verdict.STITCHED),
        ("The bridge was nest in the old tower", Verdict.STITCHED),
        ("The bridge was sold to a museum in Rome", Verdict.FABRICATED),
        ("bridge tower grey spring hand", Verdict.FABRICATED),
        ("", Verdict.FABRICATED),
    ],
)
def test_verdicts(quote, verdict):
    assert check_quote(quote, TEXT, [OTHER]).verdict is verdict


def test_what_is_known_of_a_quote():
    assert check_quote("1911 by", TEXT).span.cut(TEXT) == "1911 by"
    assert check_quote("Swifts nest", TEXT, ["x", OTHER]).source == 1
    assert check_quote("Swifts nest", TEXT).verdict is Verdict.FABRICATED


@pytest.mark.parametrize(
    ("span", "lines"),
    [((0, 3), (10, 10)), ((4, 7), (11, 11)), ((0, 8), (10, 11)), ((0, 4), (10, 10)), ((8, 13), (12, 12))],
)
def test_lines_of_a_part(span, lines):
    place = place_in(Location(line_start=10, line_end=12, page_start=2), "one\ntwo\nthree\n", Span(*span))

    assert (place.line_start, place.line_end) == lines
    assert place.page_start == 2


def test_lines_that_do_not_follow_each_other_are_kept():
    place = Location(line_start=10, line_end=40)

    assert place_in(place, "one\ntwo", Span(4, 7)) == place
    assert place_in(Location(page_start=3), "one\ntwo", Span(4, 7)) == Location(page_start=3)


words = st.text(alphabet="ab \n\t.", max_size=30)


@given(words, words, words)
def test_what_was_cut_out_is_found(before, quote, after):
    text = before + quote + after
    span = find_quote(quote, text)

    if quote.split():
        assert span is not None
        assert span.cut(text).split() == quote.split()
        assert check_quote(quote, text).verdict is Verdict.SUPPORTED
    else:
        assert span is None


@given(st.text(max_size=40), st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_gets_a_verdict(quote, cited, others):
    checked = check_quote(quote, cited, others)

    assert (checked.span is not None) == (checked.verdict is Verdict.SUPPORTED)
    assert (checked.source is not None) == (checked.verdict is Verdict.MISATTRIBUTED)

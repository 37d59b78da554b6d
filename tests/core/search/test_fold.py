"""One hit for one text, however many files hold it."""

from __future__ import annotations

import pytest

from lilbee_core.search import Fold
from lilbee_core.testing import StageContext, a_hit, a_state
from lilbee_core.types import Hit, SearchState

CONTEXT = StageContext()


def paths(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.path for hit in hits]


def folded(*hits: Hit) -> SearchState:
    return Fold().run(a_state(*hits), CONTEXT)


def test_the_same_text_in_other_documents_is_one_hit_with_other_places():
    state = folded(
        a_hit("Bees  fly.", score=3, path="a.md"),
        a_hit("Bees\nfly.", score=2, path="b.md"),
        a_hit("Else.", path="c.md"),
    )

    assert paths(state.hits) == ["a.md", "c.md"]
    assert [place.path for place in state.hits[0].also_at] == ["b.md"]
    assert state.dropped[0].reason == "the same text as a.md"


def test_one_document_may_hold_a_text_twice():
    first, second = (
        a_hit("Same.", score=2, start=0, document_id="d"),
        a_hit("Same.", start=0, ordinal=1, id="x", document_id="d"),
    )
    elsewhere = a_hit("Same.", score=0.5, path="b.md")
    state = folded(first, second, elsewhere)

    assert len(state.hits) == 2
    assert [place.path for place in state.hits[0].also_at] == ["b.md"]


LONG = "the water meter in the cellar shows a fault and must be started again by the plumber on duty tonight "
OTHER = "the gas pipe in the attic was sealed by a chimney sweep who came at noon on a Monday in the month of May "


@pytest.mark.parametrize(
    ("other", "is_one"),
    [
        (LONG * 3 + "Thanks.", True),
        (LONG * 3 + "Invoice 13.", False),
        (
            LONG * 2
            + "the gas meter in the attic was sealed by the chimney sweep who came at noon on a Monday in May ",
            False,
        ),
        ("Something else entirely, of about the same length as the other one is. " * 4, False),
    ],
    ids=["a word more", "another number", "a third differs", "another text"],
)
def test_nearly_the_same_text_is_one_unless_a_number_differs(other, is_one):
    state = folded(a_hit(LONG * 3, score=2, path="a.md"), a_hit(other, path="b.md"))

    assert (len(state.hits) == 1) == is_one


def test_texts_far_apart_in_meaning_are_not_compared():
    near = (("dense", 0.9),)
    far = (("dense", 0.2),)
    state = folded(a_hit(LONG * 3, score=2, path="a.md", scores=near), a_hit(LONG * 3 + "Ok.", path="b.md", scores=far))

    assert len(state.hits) == 2


def test_folding_works_without_blanks():
    text = "花园的灌溉系统每天早上六点启动，请检查水泵和过滤器是否干净。如果水压太低，先关闭总阀，再更换密封圈。"
    text += "冬天来临之前必须把管道里的水全部放掉，否则会结冰。"
    state = folded(a_hit(text, score=2, path="a.md"), a_hit(text + "好。", path="b.md"))

    assert len(state.hits) == 1


WORDS = ("dry", "summer", "bees", "found", "water", "near", "old", "mill", "where", "wheel", "still", "turns", "spring")


@pytest.mark.parametrize(("words", "is_one"), [(100, True), (40, False)])
def test_another_word_counts_in_a_short_text_and_not_in_a_long_one(words, is_one):
    text = [f"{WORDS[at % len(WORDS)]}{'abcdefgh'[at // len(WORDS)]}" for at in range(words)]
    changed = [*text[: words // 2], "otherwise", *text[words // 2 + 1 :]]
    state = folded(a_hit(" ".join(text), score=2, path="a.md"), a_hit(" ".join(changed), path="b.md"))

    assert (len(state.hits) == 1) == is_one
    assert not is_one or state.dropped[0].reason == "nearly the same text as a.md"


def test_white_space_and_case_do_not_count():
    state = folded(a_hit("Bees fly HOME.", score=2, path="a.md"), a_hit(" bees\tfly\nhome. ", path="b.md"))

    assert paths(state.hits) == ["a.md"]
    assert state.dropped[0].reason == "the same text as a.md"


def test_behind_the_most_only_the_same_text_is_folded():
    hits = [a_hit(LONG * 3 + tail, score=3 - at, path=f"{at}.md") for at, tail in enumerate(("Ok.", "Thanks.", "Ok."))]

    assert paths(Fold(most=1).run(a_state(*hits), CONTEXT).hits) == ["0.md", "1.md"]
    assert paths(folded(*hits).hits) == ["0.md"]

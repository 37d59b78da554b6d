from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.chunking import _ruler
from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.text import EstimatedTokens


class LetterTokens:
    def count_tokens(self, text: str) -> int:
        return len(text)

    def token_starts(self, text: str) -> range:
        return range(len(text))


@given(st.text("ab ", max_size=80), st.data())
def test_places_are_the_same_in_small_blocks(text: str, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ruler, "_BLOCK_CHARS", 5)
        patch.setattr(_ruler, "_BLOCKS_KEPT", 2)
        ruler = TokenRuler(text, 0, LetterTokens())
        for _ in range(6):
            at, tokens = data.draw(st.integers(0, len(text))), data.draw(st.integers(1, 30))
            assert ruler.advance(at, tokens) == min(len(text), at + tokens)
            assert ruler.retreat(at, tokens) == max(0, at - tokens)
            end = data.draw(st.integers(at, len(text)))
            assert ruler.count(at, end, tokens) == min(tokens, end - at)


def test_a_token_stands_for_a_bounded_number_of_characters() -> None:
    class OneToken(LetterTokens):
        def count_tokens(self, text: str) -> int:
            return 1

        def token_starts(self, text: str) -> range:
            return range(1)

    ruler = TokenRuler("x" * 10_000, 0, OneToken())
    assert ruler.advance(0, 10) == 120
    assert ruler.retreat(10_000, 10) == 9_880
    assert ruler.count(0, 1_200, 500) == 100


@given(st.text(st.sampled_from("ab. 蜜蜂をไทย한"), max_size=200))
def test_estimated_tokens_start_at_characters_in_order(text: str) -> None:
    counter = EstimatedTokens()
    starts = list(counter.token_starts(text))
    assert starts == sorted(set(starts))
    assert all(0 <= one < len(text) for one in starts)
    assert len(starts) == counter.count_tokens(text)


def test_scripts_without_blanks_count_by_the_character() -> None:
    assert EstimatedTokens().count_tokens("蜜" * 100) == 100
    assert EstimatedTokens().count_tokens("b" * 350) == 100
    assert EstimatedTokens().count_tokens("ü" * 350) == 100

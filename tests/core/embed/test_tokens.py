"""Token counts, places and ids: exactly the tokenizer's, however the text is cut on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.embed._tokens import Encoding, Tokenizer, WordPieces, load_tokenizer
from lilbee_core.embed._weights import tokenizer_file

ODD = [
    "a", "é", "ß", "ﬁ", "İ", "語", "字", "가", "ا", "न", "ก", "😀", "１", "½", "ΑΣ", "x" * 60, "y" * 101,
    " ", "\t", "\n", "\r", "\x00", "\x0b", "\x0c", "\x85", "\xa0", "\xad", "\u0301", "\u0308", "\u200b", "\u2028",
    "\u3000", "\ufeff", "\ufffd", "\ud83d", ".", "-", "_", "[", "]", "[CLS]", "[MASK]", "[SEP", " the ", "unbelievable",
]  # fmt: skip
odd_texts = st.lists(st.sampled_from(ODD), max_size=80).map("".join)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer(tokenizer_file())


@pytest.fixture
def pieces(tokenizer: Tokenizer) -> WordPieces:
    return WordPieces(tokenizer)


def expected_starts(tokenizer: Tokenizer, text: str) -> list[int]:
    # One character for each lone half of a surrogate pair, so that offsets stay.
    legal = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return [start for start, _ in tokenizer.encode(legal, add_special_tokens=False).offsets]


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(odd_texts, st.text(max_size=200)))
def test_counts_and_places_are_the_tokenizers(text: str) -> None:
    tokenizer = _shared_tokenizer()
    expected = expected_starts(tokenizer, text)
    pieces = WordPieces(tokenizer)
    for _ in range(2):  # the second time from the table
        assert list(pieces.starts(text)) == expected
        assert pieces.count(text) == len(expected)


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(odd_texts, st.text(max_size=200)), huge=st.integers(17, 40), piece=st.integers(1, 40))
def test_counts_and_places_stay_right_when_everything_is_cut(text: str, huge: int, piece: int) -> None:
    """With sizes that make short texts take the way of huge ones."""
    expected = expected_starts(_shared_tokenizer(), text)
    pieces = WordPieces(_shared_tokenizer(), piece_chars=piece, huge_word_chars=huge, table_words=5)
    assert list(pieces.starts(text)) == expected
    assert pieces.count(text) == len(expected)


@settings(max_examples=200, deadline=None)
@given(text=odd_texts, limit=st.integers(1, 40))
def test_ids_are_the_first_of_the_whole_text(text: str, limit: int) -> None:
    tokenizer = _shared_tokenizer()
    long = f"{text} and then {text}" * 12
    legal = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in long)
    assert WordPieces(tokenizer).ids(long, limit) == tokenizer.encode(legal, add_special_tokens=False).ids[:limit]


def test_nothing_in_nothing(pieces: WordPieces) -> None:
    for text in ("", " ", "\n\t \r\n", "\x00"):
        assert pieces.count(text) == 0
        assert list(pieces.starts(text)) == []
        assert pieces.ids(text, 5) == []


def test_the_shipped_padding_and_truncation_are_off(pieces: WordPieces) -> None:
    assert pieces.count("bee " * 1000) == 1000
    assert len(pieces.ids("bee", 254)) == 1


class CountingTokenizer:
    """Remembers how many characters went through, and the most at once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.chars = self.most = 0

    def encode(self, sequence: str, *, add_special_tokens: bool) -> Encoding:
        self.chars += len(sequence)
        self.most = max(self.most, len(sequence))
        return self.tokenizer.encode(sequence, add_special_tokens=add_special_tokens)


def words(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"word{number % 700}"


def test_a_word_seen_before_is_not_tokenized_again(tokenizer: Tokenizer) -> None:
    counting = CountingTokenizer(tokenizer)
    pieces = WordPieces(counting)
    text = " ".join(words(20_000))
    pieces.starts(text)
    assert counting.chars < 10_000
    seen = counting.chars
    pieces.count(text)
    assert counting.chars == seen


@pytest.mark.parametrize("text", ["語" * 200_000, "bee " * 50_000, "ab-" * 60_000, "x" * 200_000])
def test_huge_texts_go_through_the_tokenizer_in_small_pieces(tokenizer: Tokenizer, text: str) -> None:
    counting = CountingTokenizer(tokenizer)
    pieces = WordPieces(counting)
    count = pieces.count(text)
    assert count == len(pieces.starts(text))
    if text[0] != "x":  # a single word cannot be cut
        assert counting.most <= 70_000


def test_ids_of_a_huge_text_need_only_its_beginning(tokenizer: Tokenizer) -> None:
    counting = CountingTokenizer(tokenizer)
    text = "The hive is quiet at night. " * 40_000
    assert len(WordPieces(counting).ids(text, 254)) == 254
    assert counting.chars < 5_000


def test_time_grows_with_the_length_and_no_faster(tokenizer: Tokenizer) -> None:
    def cpu(chars: int) -> float:
        pieces = WordPieces(tokenizer)
        start = time.process_time()
        pieces.starts("語字" * (chars // 2))
        return time.process_time() - start

    cpu(1000)
    assert cpu(160_000) < 40 * max(cpu(20_000), 0.005)  # 8 when linear, 64 when quadratic


_tokenizers: list[Tokenizer] = []


def _shared_tokenizer() -> Tokenizer:
    if not _tokenizers:
        _tokenizers.append(load_tokenizer(tokenizer_file()))
    return _tokenizers[0]

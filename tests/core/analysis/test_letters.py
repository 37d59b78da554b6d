from __future__ import annotations

import unicodedata

import pytest

from lilbee_core.analysis import Analyzer, fold

ANALYZER = Analyzer()


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Größe", "grosse"),
        ("GROẞE", "grosse"),
        ("crème brûlée", "creme brulee"),
        ("Łódź", "lodz"),
        ("Ærøskøbing", "aeroskobing"),
        ("İSTANBUL ısı", "istanbul isi"),
        ("Ἑλλάς ΣΊΣΥΦΟΣ", "ελλασ σισυφοσ"),
        ("Ёлка й їжак", "елка й їжак"),
        ("ﬁne ＡＢＣ１２", "fine abc12"),
        ("co\u00adoper\u200bate\ufeff", "cooperate"),
        ("e\u0301te\u0301", "ete"),
        ("مُحَمَّــد", "محمد"),
        ("أحمد إلى", "احمد الي"),
        ("שָׁלוֹם", "שלום"),
        ("١٢٣ ४५", "123 45"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("Việt Nam đường", "viet nam duong"),
    ],
)
def test_spelling_that_does_not_count_is_folded_away(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


@pytest.mark.parametrize("word", ["हिन्दी", "ทํางาน", "தமிழ்", "မြန်မာ", "বাংলা", "ខ្មែរ"])
def test_vowel_signs_stay(word: str) -> None:
    assert fold(word) == word


# Scripts without blanks are cut at every letter anyhow.
UNSPACED = ("THAI", "LAO", "MYANMAR", "KHMER", "HANGUL", "HIRAGANA", "IDEOGRAPHIC")


def test_words_of_every_spaced_script_hold_together_at_their_marks() -> None:
    marks = [chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    spaced = [mark for mark in marks if not any(script in unicodedata.name(mark) for script in UNSPACED)]
    assert [f"U+{ord(mark):04X}" for mark in spaced if len(ANALYZER.tokens(f"b{mark}d")) != 1] == []


def test_no_sign_or_blank_is_taken_for_a_letter() -> None:
    separators = [
        chr(code)
        for code in range(0x20, 0x10000)
        if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Ps", "Pe", "Sc", "Sm")
    ]
    glued = [f"U+{ord(char):04X}" for char in separators if ANALYZER.tokens(f"left{char}right") != ("left", "right")]
    assert glued == []

"""Bytes to text in whatever encoding."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.extract._decode import NotText, decode, looks_like_text

GERMAN = "Für die Übernahme am 3. März gilt das „Angebot Wacholder“ – Preis 1.250 €.\nStraße, Größe, Bücher.\n"
SAMPLES = {
    "cp1252": GERMAN,
    "cp1251": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "koi8_r": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "cp866": "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "iso8859_2": "Zażółć gęślą jaźń, mówi się w Łodzi.",
    "cp1253": "Η γρήγορη αλεπού πηδάει πάνω από το τεμπέλικο σκυλί.",
    "cp1254": "İğne ışık şoför çağdaş ürün, güneş doğuyor.",
    "cp1255": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "cp1256": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
    "cp1257": "Ąžuolas ėjo į šiltą žemę, kur žydi gėlės.",
    "cp874": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน",
    "cp932": "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n",
    "euc_jp": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "gb18030": "中华人民共和国万岁，世界人民大团结万岁。",
    "big5": "中華民國萬歲，世界人民大團結萬歲。",
    "cp949": "모든 국민은 법 앞에 평등하다. 누구든지 차별을 받지 아니한다.",
    "iso2022_jp_2": "吾輩は猫である。名前はまだ無い。",
    "mac_roman": "Café crème à l’école, façade d’été, où est le garçon ?",
}


@pytest.mark.parametrize("encoding", sorted(SAMPLES))
def test_national_encodings_are_told_by_their_letters(encoding: str) -> None:
    decoded = decode(SAMPLES[encoding].encode(encoding))
    assert decoded.text == SAMPLES[encoding]
    assert decoded.warning is None


@pytest.mark.parametrize("text", ["crème brûlée", "Der Preis betrug 15,50 €\n", "año", "Åse så Øystein", "naïve café"])
def test_short_western_texts_are_right(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize("text", [GERMAN, "2026-02-03 WARNUNG Drosselklappe\n", "数据库，用户 1234\n你好，世界。\n"])
def test_unicode_is_read_with_and_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_declarations_are_believed_when_they_fit() -> None:
    assert decode('<?xml version="1.0" encoding="ISO-8859-5"?><a>Ж</a>'.encode("iso8859_5")).text.endswith("<a>Ж</a>")
    assert decode('<meta charset="windows-1253"><p>é'.encode("cp1252")).text.endswith("<p>ι")
    assert decode("# -*- coding: koi8-r -*-\nx = 'Ы'".encode("koi8_r")).text.endswith("x = 'Ы'")
    assert decode('<meta charset="no-such-thing"><p>é'.encode("cp1252")).text.endswith("<p>é")
    assert decode('<meta charset="iso-8859-5"><p>é'.encode()).text.endswith("<p>é")
    assert decode("Ж".encode("koi8_r"), declared="koi8-r").text == "Ж"


def test_stray_bytes_in_utf8_are_read_and_told() -> None:
    decoded = decode("Grüße, 你好\n".encode() * 20 + b"caf\xe9\n")
    assert decoded.text.endswith("café\n")
    assert decoded.encoding == "utf-8"
    assert "1 bytes are no UTF-8" in (decoded.warning or "")


@pytest.mark.parametrize(
    ("good", "bad", "read"),
    [
        ("Grüße aus Köln, schönes Wetter", b"caf\xe9 cr\xe8me br\xfbl\xe9e"[:12], "café crème"),
        ("für", b"\xe9\xe8\xfb", "éèû"),
        ("Съешь ещё", b"\xff\xfe!", "ÿþ!"),
        ("名前", b"\x80\x81", "€"),
        ("Kosten: 5 € – mehr nicht", b"\xa0\xa0\xa0", "\xa0\xa0\xa0"),
    ],
)
def test_a_short_text_in_utf8_stays_so_with_some_stray_bytes(good: str, bad: bytes, read: str) -> None:
    decoded = decode(f"{good} ".encode() + bad)
    assert decoded.text.startswith(good)
    assert read in decoded.text
    assert decoded.encoding == "utf-8"
    assert "bytes are no UTF-8" in (decoded.warning or "")


@pytest.mark.parametrize("encoding", sorted(set(SAMPLES) - {"iso2022_jp_2"}))
def test_other_encodings_are_not_taken_for_utf8_with_stray_bytes(encoding: str) -> None:
    """Each line of its own, so that short pieces are tried, too."""
    for line in [*SAMPLES[encoding].splitlines(), SAMPLES[encoding] * 30]:
        assert decode(line.encode(encoding)).encoding != "utf-8" or line.isascii()


@pytest.mark.parametrize(
    "text", ["abc\0def", "Größe\0 und mehr", "a\0b\0c\0 and some words", "a line\n\0\nmore lines\n"]
)
def test_a_short_text_with_few_zero_bytes_is_text(text: str) -> None:
    data = text.encode()
    assert looks_like_text(data)
    decoded = decode(data)
    assert decoded.text == text.replace("\0", " ")
    assert "zero bytes" in (decoded.warning or "")


@pytest.mark.parametrize("data", [b"\0\0\0", b"ab\0\x01cd", b"ELF\0\0\0\0rest", b"\x93NUMPY\x01\0\0\0"])
def test_few_bytes_with_zeros_among_them_are_no_text(data: bytes) -> None:
    assert not looks_like_text(data)


def test_zero_bytes_become_spaces_and_are_told() -> None:
    decoded = decode(b"word " * 2000 + b"\x00\x00end")
    assert decoded.text.endswith("  end")
    assert "zero bytes" in (decoded.warning or "")


def test_newlines_are_line_feeds_and_their_number_stays() -> None:
    assert decode(b"a\r\nb\rc\nd\n").text == "a\nb\nc\nd\n"


@pytest.mark.parametrize("size", [64, 500, 4096, 70_000])
def test_random_bytes_are_refused(size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert not looks_like_text(data)
    with pytest.raises(NotText):
        decode(data)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])))
def test_utf8_is_always_read_as_it_is(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode(text.encode()).text == text


@given(st.binary(max_size=400))
def test_any_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        decoded = decode(data)
    except NotText:
        return
    assert "\x00" not in decoded.text
    assert "\r" not in decoded.text
    decoded.text.encode()

"""Which national encoding a text is in, told by what its letters would spell.

Each candidate encoding is tried; what comes out is compared with the letters that its languages use. A wrong one
gives letters that no single language has together, symbols inside words, or rare ideographs.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass

_SAMPLE_BYTES = 32 * 1024
_GOOD_ENOUGH = 0.25
_HANDICAP = 0.06
_TYPOGRAPHY = frozenset("\u00a0“”„‘’‚–—…€£«»‹›°§©®™•·\u00ad¡¿ºª№")
_NOT_IN_WORDS = _TYPOGRAPHY - frozenset("’‘\u00ad·–—\u00a0°…”“»,")
_UNUSED = frozenset(("Cc", "Co", "Cn", "Cs"))
_IDEOGRAPHIC = frozenset(("cp932", "gb18030", "big5"))
_LEADING_VOWELS = frozenset("เแโใไ")
_MARKS = frozenset("ัิีึืฺุู็่้๊๋์ํ๎")
_LATIN_END, _WIDE_START = 0x02FF, 0x2FFF
_WIDE = frozenset("\u3000、。，．：；？！「」『』（）【】《》〈〉・ー～〜＝／％＋＆０１２３４５６７８９")


@dataclass(frozen=True, slots=True)
class _Profile:
    """A language in an encoding: the letters beyond ASCII that make up its texts, the frequent ones first."""

    encodings: tuple[str, ...]
    letters: frozenset[str]
    frequent: frozenset[str]
    share: float = 1.0


def _latin(encodings: str, lower: str, share: float = 1.0) -> _Profile:
    letters = frozenset(lower + lower.upper().replace("SS", ""))
    return _Profile(tuple(encodings.split()), letters, letters, share)


def _script(encodings: str, letters: str, frequent: str) -> _Profile:
    return _Profile(tuple(encodings.split()), frozenset(letters), frozenset(frequent))


def _span(first: int, last: int) -> str:
    return "".join(map(chr, range(first, last + 1)))


_CYRILLIC = _span(0x0401, 0x045F) + "Ґґ"
# In the order in which ties are decided.
_PROFILES = (
    _latin("cp1252 mac_roman cp850", "äöüß"),
    _latin("cp1252 mac_roman cp850", "àâæçéèêëîïôœùûüÿ"),
    _latin("cp1252 mac_roman cp850", "áéíñóúü"),
    _latin("cp1252 mac_roman cp850", "àáâãçéêíóôõúü"),
    _latin("cp1252 mac_roman cp850", "àèéìòù"),
    _latin("cp1252 mac_roman cp850", "åäöæøé"),
    _latin("cp1250 iso8859_2", "ąćęłńóśźż"),
    _latin("cp1250 iso8859_2", "áčďéěíňóřšťúůýž"),
    _latin("cp1250 iso8859_2", "áäčďéíĺľňóôŕšťúýž"),
    _latin("cp1250 iso8859_2", "áéíóöőúüű"),
    _latin("cp1250 iso8859_2", "čćđšž"),
    _latin("cp1250 iso8859_16", "ăâîșț"),
    _latin("cp1250 iso8859_2", "ăâîşţ"),
    _latin("cp1254", "âçğıöşüîİ"),
    _latin("cp1252", "áðéíóúýþæö"),
    _latin("cp1257", "ąčęėįšųūž"),
    _latin("cp1257", "āčēģīķļņšūž"),
    _latin("cp1257", "äõöüšž"),
    # A text in several languages of Western Europe.
    _latin("cp1252", "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœß", 0.9),
    _script("cp1251 koi8_r cp866 iso8859_5 mac_cyrillic", _CYRILLIC, "оеаинтсрвлкмдпуя"),
    _script("cp1251 koi8_u iso8859_5", _CYRILLIC, "оанивіретсклудпмзь"),
    _script("cp1253 iso8859_7", _span(0x0384, 0x03CE), "αοιετσηρνυκπςάίέό"),
    _script("cp1255 iso8859_8", _span(0x05B0, 0x05EA), "יהולאמרבתשנםדכ"),
    _script("cp1256 iso8859_6", _span(0x060C, 0x0652) + "پچژگ", "ايلمنوترهبعدسفكأةقحى"),
    _script("cp874", _span(0x0E01, 0x0E5B), "านรอกเงมยลวดทสต่้ีิั"),
    _script("cp932 euc_jp", _span(0x3041, 0x30FE), _span(0x3041, 0x3093) + "ンスルトイラリ日本人年大国会一中事者的名"),
    _script(
        "gb18030", "",
        "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家"
        "种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实民文名市日月号"
    ),
    _script(
        "big5 big5hkscs", "",
        "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家"
        "種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實民文名市日月號"
    ),
    _script(
        "cp949", _span(0xAC00, 0xD7A3),
        "이다는을의에가고를한지로은하도기사리자인대시아어수나서해정일과전부제그라보상스만구장주유원동공조안중비우용",
    ),
)  # fmt: skip

_ENCODINGS = tuple(dict.fromkeys(name for profile in _PROFILES for name in profile.encodings))


def guess_encoding(data: bytes) -> str | None:
    """Return the encoding of a text that is not UTF-8, or None when none fits."""
    sample = _telling_lines(data)
    texts = {name: _Reading(text) for name in _ENCODINGS if (text := _decoded(sample, name)) is not None}
    best, best_score = None, _GOOD_ENOUGH
    for profile in _PROFILES:
        for rank, encoding in enumerate(profile.encodings):
            if encoding in texts:
                score = texts[encoding].score(profile) - _HANDICAP * rank
                if score > best_score + 1e-9:
                    best, best_score = encoding, score
    return best


def _telling_lines(data: bytes) -> bytes:
    """Return the lines that hold more than ASCII; the rest says nothing."""
    if data.isascii():
        return b""
    found: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            found.append(line[:_SAMPLE_BYTES])
            size += len(line)
            if size > _SAMPLE_BYTES:
                break
    return b"".join(found)


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except UnicodeDecodeError as error:
        # A stray byte in a long text is no proof against the encoding; many are.
        if len(sample) < 2000 or error.start < len(sample) // 20:
            return None
    text = sample.decode(encoding, "replace")
    return text if text.count("\ufffd") < len(text) * 0.002 else None


class _Reading:
    """What the bytes say in one encoding."""

    def __init__(self, text: str) -> None:
        self._counts = Counter(char for char in text if char > "\x7f")
        self._total = sum(self._counts.values())
        self._broken = _broken_words(text)

    def score(self, profile: _Profile) -> float:
        """Return about 1 for a text of this language, 0 and less for one that reads as nonsense."""
        if not self._total:
            return 0.0
        points = sum(count * _worth(char, profile) for char, count in self._counts.items())
        return profile.share * (points - self._broken) / self._total


def _worth(char: str, profile: _Profile) -> float:
    if char in profile.frequent:
        return 1.0
    if char in profile.letters:
        return 0.4
    if char in _TYPOGRAPHY or char in _WIDE:
        return 0.95
    if unicodedata.category(char) in _UNUSED:
        return -3.0
    if "\u4e00" <= char <= "\u9fff":
        return 0.3 if profile.encodings[0] in _IDEOGRAPHIC else -1.0
    # Names from other languages occur; symbols and scripts that do not belong are worse.
    return -0.4 if char < "\u0250" and char.isalpha() else -1.0


def _broken_words(text: str) -> float:
    """Count what does not occur inside words: symbols between letters, capitals after small letters."""
    broken = 0.0
    before, last = " ", " "
    run = 0
    for char in text:
        # Words of Latin letters are mostly ASCII; three marked letters in a row are none.
        run = run + 1 if "\x7f" < char < "\u0250" and char.isalpha() else 0
        broken += run > 2
        if char > "\x7f":
            if last.isalpha():
                broken += _breach(last, char)
            if char in _LEADING_VOWELS or char in _MARKS:
                broken += _misplaced(before, last, char)
        elif last in _LEADING_VOWELS:
            broken += 1.0
        before, last = last, char
    return broken


def _breach(last: str, char: str) -> float:
    if char.isupper() and last.islower():
        return 0.5
    if char.isalpha() and last.isascii() and _LATIN_END < ord(char) <= _WIDE_START:
        return 1.0  # Greek, Cyrillic, Hebrew, Arabic or Thai in the middle of a Latin word
    return 1.0 if char in _NOT_IN_WORDS else 0.0


def _misplaced(before: str, last: str, char: str) -> float:
    """Thai vowels and tone marks stand on a consonant, and no more than two of them."""
    if char in _LEADING_VOWELS:
        return 1.0 if last in _LEADING_VOWELS else 0.0
    bare = not ("\u0e01" <= last <= "\u0e2e" or last in _MARKS)
    return 1.0 if bare or (last in _MARKS and before in _MARKS) else 0.0

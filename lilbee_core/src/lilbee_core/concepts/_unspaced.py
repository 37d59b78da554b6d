"""Concepts of Chinese, Japanese and Korean: runs of characters between those that only bind."""

from __future__ import annotations

import re
from collections import Counter

from lilbee_core.analysis import fold
from lilbee_core.concepts._candidates import Candidates

HAS_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_JAPANESE = re.compile("[\u3400-\u9fff\u3005\u30a1-\u30fa\u30fc]+")
_HANGUL = re.compile("[\uac00-\ud7af]+")
# Characters that bind, ask, count or point; hardly any word for a thing has one of the first group in it.
_BINDING = re.compile(
    "[的是在和与與或把被也不这這那但就还還又再很更最已将將让讓给給对對从從于於而之吗嗎呢吧啊么麼什哪谁誰因若则則且每各该該它他她我你您们們]+"
)
_PARTICLES = re.compile(
    "(?:에서는|에서의|으로는|으로서|으로써|에서|에게|까지|부터|으로|이라는|라는|이나|이며|에는|에도|와의|과의|"
    "은|는|이|가|을|를|의|에|로|와|과|도|만)$"
)
_LEAST, _LONGEST = 2, 6
_LONGEST_JAPANESE = 10
_GRAMS = (4, 3, 2)
_TELLING, _REPEATED = 2.0, 1.5


def collect(text: str, found: Candidates) -> None:
    """Add what the parts of `text` in these scripts talk about."""
    if _KANA.search(text):
        _collect_japanese(text, found)
    else:
        _collect_chinese(text, found)
    if _HANGUL.search(text):
        _collect_korean(text, found)


def runs(text: str) -> list[str]:
    """Return the runs of characters in which concepts may be looked for."""
    return [*_JAPANESE.findall(text), *_HANGUL.findall(text)]


def _collect_japanese(text: str, found: Candidates) -> None:
    for run in _JAPANESE.findall(text):
        if _LEAST <= len(run) <= _LONGEST_JAPANESE:
            found.add(fold(run), run, "phrase", _TELLING)


def _collect_chinese(text: str, found: Candidates) -> None:
    long: list[str] = []
    for run in _HAN.findall(text):
        for piece in _BINDING.split(run):
            if _LEAST <= len(piece) <= _LONGEST:
                found.add(fold(piece), piece, "phrase", _TELLING)
            elif len(piece) > _LONGEST:
                long.append(piece)
    for gram, count in _repeated(long):
        for _ in range(count):
            found.add(fold(gram), gram, "phrase", _REPEATED)


def _repeated(pieces: list[str]) -> list[tuple[str, int]]:
    """Return the sequences that occur more than once, and not only as a part of a longer one."""
    kept: list[tuple[str, int]] = []
    for size in _GRAMS:
        counts = Counter(piece[at : at + size] for piece in pieces for at in range(len(piece) - size + 1))
        for gram, count in counts.items():
            if count > 1 and not any(gram in longer and count <= times for longer, times in kept):
                kept.append((gram, count))
    return kept


def _collect_korean(text: str, found: Candidates) -> None:
    words = _HANGUL.findall(text)
    bare = [_PARTICLES.sub("", word) if len(word) > _LEAST else word for word in words]
    counts = Counter(bare)
    for word, stem in zip(words, bare, strict=True):
        if len(stem) >= _LEAST and (counts[stem] > 1 or len(stem) < len(word)):
            found.add(stem, stem, "phrase", _REPEATED)

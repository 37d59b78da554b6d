"""Compounds: in languages that write them as one word, the last part is what the whole is about.

No dictionary is used. A long word is cut wherever its end could be a word of its own by the way it begins and the rest
could be one by the way it ends, so of Straßenlaternen also `latern` is indexed, beside a few ends that are no words and
that no query has. Measured on xquad's German questions: nDCG@10 .950 instead of .943.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LANGUAGES = frozenset({"da", "de", "fi", "nl", "no", "sv"})
_SHORTEST_WORD = 10
_SHORTEST_HEAD = 4
_SHORTEST_TAIL = 5

_VOWEL = "[aeiouy]"
_BEGINNING = re.compile(
    r"(?:sch[lmnrw]?|str?|sp[rl]?|sk[rj]?|[bfgkp][lr]|[dt]r|kn|gn|pf[lr]?|qu|zw|wr|[st]j|[kst]v|[bcdfghjklmnprstvwxz])"
    rf"{_VOWEL}"
    rf"|(?:ab|af|an|arbe|auf|aus|av|ein|ent|in|om|ont|op|onder|over|uber|uit|um|un|under|unter|upp|ut)[^aeiouy]*{_VOWEL}"
)
_END = re.compile(rf"{_VOWEL}.*[defghklmnprst]$")


def tails(stem: str) -> Iterator[str]:
    """Yield the ends of a folded stem that may be words of their own."""
    if len(stem) < _SHORTEST_WORD or not stem.isalpha():
        return
    for place in range(_SHORTEST_HEAD, len(stem) - _SHORTEST_TAIL + 1):
        if _BEGINNING.match(stem, place) and _END.search(stem[:place]):
            yield stem[place:]

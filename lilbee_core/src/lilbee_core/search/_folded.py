"""The text of a hit as it is compared: several stages ask for it, and so does the next search that finds it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from lilbee_core.text import fold_space

_DIGITS = re.compile(r"\d+")
_MOST_TEXTS = 500
"""At two or three KB each."""


class Folded(NamedTuple):
    """A text of which white space and case do not count."""

    text: str
    numbers: tuple[str, ...]
    """In the order of the text."""


@lru_cache(maxsize=_MOST_TEXTS)
def folded(text: str) -> Folded:
    """Return the text in lower case, with single blanks."""
    plain = fold_space(text).casefold()
    return Folded(plain, tuple(_DIGITS.findall(plain)))

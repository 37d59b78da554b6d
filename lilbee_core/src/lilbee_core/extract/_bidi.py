"""Lines of right-to-left pages put back into reading order.

Some PDF texts come out with each word right but the words of a line in the order in which they stand on the page.
"""

from __future__ import annotations

import re
import unicodedata

_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_HAS_RTL = re.compile(f"[{_RTL}]")
# A mark that closes a phrase stands after its word; on a page read from the left it comes before it.
_CLOSES = "،؛؟.,:!"
_BEFORE = re.compile(f"(?:^|\\s)[{_CLOSES}][{_RTL}]")
_AFTER = re.compile(f"[{_RTL}][{_CLOSES}](?:\\s|$)")
_RUNS = re.compile(f"(?:(?![،؛؟])[{_RTL}])+|[^\\W{_RTL}]+(?:[ .,:/@_+-]+[^\\W{_RTL}]+)*|\\s+|.")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")


def in_reading_order(text: str) -> str:
    """Return `text` with the words of right-to-left lines in reading order, if they are not."""
    if not _HAS_RTL.search(text) or len(_BEFORE.findall(text)) <= len(_AFTER.findall(text)):
        return text
    return "\n".join(_reordered(line) if _is_rtl(line) else line for line in text.split("\n"))


def _is_rtl(line: str) -> bool:
    letters = [char for char in line if char.isalpha()]
    return sum(unicodedata.bidirectional(char) in {"R", "AL"} for char in letters) * 2 > len(letters)


def _reordered(line: str) -> str:
    runs = [_mirrored(run) for run in _RUNS.findall(line)]
    return "".join(reversed(runs)).strip()


def _mirrored(run: str) -> str:
    return run.translate(_MIRRORED) if len(run) == 1 else run

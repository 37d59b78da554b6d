"""What programs write to steer a terminal: colors, titles, links, movements of the cursor."""

from __future__ import annotations

import re
from typing import AnyStr

# A sequence ends by its own grammar; one that does not end is only its first two characters.
_SEQUENCE = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colors and movements
    r"|\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # titles and links
    r"|[PX^_][^\x1b\n]*\x1b\\"  # strings for devices
    r"|[ -/]+[0-~]"  # choice of a character set
    r"|[0-~])"
)
_IN_TEXT = re.compile(_SEQUENCE)
_IN_BYTES = re.compile(_SEQUENCE.encode("ascii"))


def without_escapes(text: AnyStr) -> AnyStr:
    """Return the text, or the bytes of one, as a terminal shows it: without the sequences that begin with escape."""
    if isinstance(text, str):
        return _IN_TEXT.sub("", text) if "\x1b" in text else text
    return _IN_BYTES.sub(b"", text) if b"\x1b" in text else text

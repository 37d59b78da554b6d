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


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return a text of several lines with control characters, and those that turn text around, made visible."""
    return _CONTROL.sub(lambda match: _escaped(ord(match[0])), text)


def visible_line(text: str) -> str:
    """Return a name or a message on one line, with control characters, line ends and tabs made visible."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


OUTPUT_BELOW = "Its last lines:"
"""Ends the message about a program; what the program wrote follows on lines of its own."""


def visible_message(text: str) -> str:
    """Return a message on one line as `visible_line` does; what a program wrote stands below it, line by line."""
    told, below, output = text.partition(f"{OUTPUT_BELOW}\n")
    if not below:
        return visible_line(text)
    # Indented, so that no line of it is taken for one of ours.
    return "\n".join([visible_line(told + OUTPUT_BELOW), *(f"    {visible(one)}" for one in output.split("\n"))])


def without_output(text: str) -> str:
    """Return a message without what a program wrote, for places where only the reason is wanted."""
    told, below, _ = text.partition(f" {OUTPUT_BELOW}\n")
    return told.removesuffix(".") if below else text


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def without_escapes(text: AnyStr) -> AnyStr:
    """Return the text, or the bytes of one, as a terminal shows it: without the sequences that begin with escape."""
    if isinstance(text, str):
        return _IN_TEXT.sub("", text) if "\x1b" in text else text
    return _IN_BYTES.sub(b"", text) if b"\x1b" in text else text

"""Server-sent events: the ``data`` of each, as it comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def event_data(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of each event of a byte stream; comments and other fields are left out.

    Only line feeds and carriage returns end a line: a reply may hold any other separator that Unicode knows.
    """
    data: list[str] = []
    for line in _lines(pieces):
        if not line:
            if data:
                yield "\n".join(data)
                data = []
        elif line.startswith(b"data:"):
            value = line[5:].removeprefix(b" ").decode("utf-8", "replace")
            if data and _is_whole(data):  # some servers leave out the empty line between events
                yield "\n".join(data)
                data = []
            data.append(value)
    if data:
        yield "\n".join(data)


def _is_whole(data: list[str]) -> bool:
    text = "".join(data)
    return text == "[DONE]" or (text.startswith("{") and text.endswith("}"))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        held += piece
        *whole, held = held.split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r")
    if held:
        yield held.removesuffix(b"\r")

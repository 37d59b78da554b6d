"""Handing texts to a chat model as data: marks that it could take for somebody's turn, and fences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

# Marks by which chat templates tell who speaks; a document must not speak for anybody.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<[|｜][^<>\n]{1,40}[|｜]>"
    r"|</?(?:bos|eos|sop|eop|think|tool_call|tool_response|tools|function_call|system|unk|pad)>"
    r"|\[/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|IMG|gMASK|sMASK|BOS|EOS)\]"
    r"|<(?:reserved|unused|extra_id)_?\d{1,4}>|<__media__>",
    re.IGNORECASE,
)
# Signs that nobody sees, and that models read: tags, zero widths, changes of direction. The joiners of Persian and
# Indic scripts and of emoji stay.
_UNSEEN = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)


def defuse(text: str) -> str:
    """Return `text` as a chat model may read it: marks of chat templates are plain text, nothing is unseen."""
    seen = _UNSEEN.sub("", text)
    return _CONTROL.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", seen)


def fenced(fence: str, what: str, label: str, text: str) -> str:
    """Return a text between two lines that begin with the fence and say what it is; the first one has the label too."""
    return f"{fence} begin {what} {label}\n{text}\n{fence} end {what}"


def fence_for(texts: Iterable[str]) -> str:
    """Return a line head that none of the texts holds: it depends on all of them, so no writer can foresee it."""
    held = tuple(texts)
    digest = hashlib.blake2b(digest_size=6)
    for text in held:
        digest.update(f"{text}\0".encode("utf-8", "surrogatepass"))
    fence = f"#####{digest.hexdigest()}"
    while any(fence in text for text in held):
        digest.update(b"again")
        fence = f"#####{digest.hexdigest()}"
    return fence


_FENCE = re.compile(r"#{5}[0-9a-f]{12}(?![0-9a-f])")
_OPENING = re.compile(r"#{1,5}$|#{5}[0-9a-f]{1,12}$")
_CUT_OFF = re.compile(r"#{5}[0-9a-f]{1,11}$")
_MARKER = re.compile(r"(?: (?:begin|end)\b(?: (?:\[\d{1,3}\]|attached|result|message)(?!\w))?)?")
_HEAD = re.compile(r" begin (?!\n)")
_LONGEST_HEAD = 400


class EchoFilter:
    """Takes our fences out of a reply while it is told: small models repeat the lines that stand around what they read.

    A line that begins with a fence and says what begins there goes as a whole, since its label is no statement; of
    others only the fence goes. What stands in one of the `known` texts is theirs, and stays.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = tuple(known)
        self._held = ""
        self._at_start = True
        """Whether nothing of the present line has been told."""

    def feed(self, text: str) -> str:
        """Return what can be told of another piece."""
        self._held += text
        return "".join(self._pieces(final=False))

    def close(self) -> str:
        """Return what was held back."""
        return "".join(self._pieces(final=True))

    def _pieces(self, *, final: bool) -> Iterator[str]:
        while (fence := self._next_fence()) is not None:
            yield self._told(self._held[: fence.start()])
            rest = self._held[fence.end() :]
            self._held = self._held[fence.start() :]
            end = self._echo(rest, final=final)
            if end is None:
                return
            self._held = rest[end:]
        whole = len(self._held)
        if final:
            cut = _CUT_OFF.search(self._held)
            whole = cut.start() if cut is not None and not self._is_known(cut[0]) else whole
        elif opening := _OPENING.search(self._held):
            whole = opening.start()
        told, self._held = self._held[:whole], "" if final else self._held[whole:]
        yield self._told(told)

    def _next_fence(self) -> re.Match[str] | None:
        return next((one for one in _FENCE.finditer(self._held) if not self._is_known(one[0])), None)

    def _is_known(self, fence: str) -> bool:
        return any(fence in text for text in self._known)

    def _told(self, text: str) -> str:
        if text:
            last = text.rpartition("\n")[2]
            self._at_start = not last.strip() and ("\n" in text or self._at_start)
        return text

    def _echo(self, rest: str, *, final: bool) -> int | None:
        """Return how much of what stands behind a fence goes with it; None to wait for more."""
        line = rest.find("\n")
        if line < 0 and not final and len(rest) <= _LONGEST_HEAD:
            return None
        line = len(rest) if line < 0 else line
        if self._at_start and line <= _LONGEST_HEAD and _HEAD.match(rest):
            return min(line + 1, len(rest))
        if final and any(head.startswith(rest) for head in (" begin ", " end ")):
            return len(rest)  # the reply was cut off within it
        marker = _MARKER.match(rest)
        end = marker.end() if marker is not None else 0
        return end + 1 if self._at_start and end == line < len(rest) else end


def without_echoes(text: str, known: Iterable[str] = ()) -> str:
    """Return a model's text without our fences."""
    echoes = EchoFilter(known)
    return echoes.feed(text) + echoes.close()

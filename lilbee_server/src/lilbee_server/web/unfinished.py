"""Markdown that breaks off in its midst, as that of a reply which is being written."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
_SIGNS = re.compile(r"\*+|~~|(?<![\w_])__?(?=\w)|(?<=[^\s_])__?(?![\w_])")
_BARE_LINE = re.compile(r"\s*(?:[-=*_+|>:\s]+|#{1,6}|\d{1,9}[.)]?)\s*")
_OPEN_MARK = re.compile(r"!?\[\^?\d{0,4}\Z")
_OPEN_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\Z")
_TRAILING = re.compile(r"(?<!\S)(?:\*+|~+|_+)\Z|(?<=\S)~\Z")
_HALF_CLOSED = re.compile(r"(?<![*\s])\*\Z")
_ROUNDS, _MOST_OPEN = 10, 20
_OPEN_WORDS = re.compile(r"!?\[([^\[\]\n]*)\Z")


def completed(text: str) -> str:
    """Return a text as it would be if it ended here: what is open at its end is closed, or left out.

    A reader sees words become bold, and code become code, from their first letter on, and no signs that vanish later.
    """
    head, last = _last_block(text)
    if last is None:
        return head
    return head + _closed(_without_bare_line(last))


def _last_block(text: str) -> tuple[str, str | None]:
    """Part a text before its last paragraph; within fenced code there is none, and nothing to close."""
    fence, begins, at = "", 0, 0
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence, begins = "", at + len(line)
        elif found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
        elif not line.strip():
            begins = at + len(line)
        at += len(line)
    if not fence:
        return text[:begins], text[begins:]
    last = text[text.rfind("\n") + 1 :]
    is_closing = bool(last.strip()) and set(last.strip()) == {fence[0]} and "\n" in text
    return (text[: len(text) - len(last)] if is_closing else text), None


def _without_bare_line(block: str) -> str:
    """Leave out a last line that is only signs: it may become a list, a table, a heading, or turn into none."""
    start = block.rfind("\n") + 1
    return block[:start] if _BARE_LINE.fullmatch(block[start:]) else block


def _closed(block: str) -> str:
    """Close what is open in a paragraph. What is left out may uncover something else that is open, a few times over."""
    for _ in range(_ROUNDS):
        plain = _CODE.sub(lambda found: " " * len(found[0]), _ESCAPED.sub("  ", block))
        code = re.search(r"`+", plain)
        if code is not None and block[code.end() :].strip():
            # Within code nothing else is read; signs before it stay open around it.
            return block + code[0] + _ends(plain[: code.start()])
        shorter = block[: code.start()] if code is not None else _without_end(block, plain)
        if shorter == block:
            break
        block = shorter
    else:
        return block
    stripped = block.rstrip(" ")
    ends = _ends(plain[: len(stripped)])
    return stripped + ends if ends else block


def _without_end(block: str, plain: str) -> str:
    """Leave out signs at the end whose meaning is not known yet. `plain` is the paragraph without its code."""
    for pattern in (_OPEN_MARK, _OPEN_LINK, _OPEN_WORDS):
        found = pattern.search(plain)
        if found is not None:
            kept = block[found.start(1) : found.end(1)] if found.re.groups else ""
            return block[: found.start()] + kept
    length = len(block.rstrip(" "))
    trailing = _TRAILING.search(plain[:length])
    if trailing is not None:
        return block[: trailing.start()]
    if _HALF_CLOSED.search(plain[:length]) and _ends(plain[: length - 1]) == "**":
        return block[: length - 1]
    return block


def _ends(text: str) -> str:
    """Return the signs that close what is open, the last one first."""
    paragraph = re.sub(r"(?m)^\s*(?:[*+-]|\d+[.)])\s", lambda found: " " * len(found[0]), text)
    open_: list[str] = []
    for found in _SIGNS.finditer(paragraph):
        sign, before, after = found[0], paragraph[: found.start()][-1:], paragraph[found.end() :][:1]
        for one in _parts(sign):
            if one in open_ and before.strip():
                del open_[len(open_) - 1 - open_[::-1].index(one)]
            elif after.strip():
                open_ = [*open_[-_MOST_OPEN:], one]
    return "".join(reversed(open_))


def _parts(sign: str) -> list[str]:
    """Part a run of stars as markdown does: three are bold and italic."""
    if sign.startswith("*"):
        return ["**"] * (len(sign) // 2) + ["*"] * (len(sign) % 2)
    return [sign]

"""Lines of right-to-left writing in reading order.

The engine gives each word of such a line rightly, but the words from left to right as they stand on the page; what
lies between two words to be read from the right, it turns over. Two kinds of files differ: those whose letters were
drawn in reading order from the left by programs that know nothing of such writing (their words come out reversed),
and layers of recognized text that are drawn as in a mirror (their Latin words and numbers do).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lilbee_core.extract._letters import letters_of

_R = "\u0590-\u05ff\u0608\u060b\u060d\u061b-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
"""Letters and marks that are read from the right; digits and the Arabic comma are not among them."""
_HAS_RTL = re.compile(f"[{_R}]")
_ARABIC = re.compile("[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")
_TOKENS = re.compile(f"(?P<right>[{_R}]+)|(?P<left>[^\\W_{_R}]+)|(?P<weak>[.,:/+\\-\u060c%#$€£¥₪°])|(?P<between>.)")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_OPENS, _CLOSES = "([{«", ")]}»"
_JOINS = frozenset(".,:/")
_HEBREW_JOINS = frozenset(".,:/+-")
_UNITS = frozenset("%#$€£¥₪°")
# Where the letters of a word stand at its ends tells which end is which.
_FINAL = frozenset("ךםןףץةى")
_ARTICLE = "ال"
_MOSTLY = 0.5
# A sentence of another language on a page that is read from the right.
_STARTS_LEFT = re.compile(f"[A-Z][^{_R}]*[a-z][^{_R}]* .*[.!?:]$")
# A mark that closes a phrase stands after its word; on a page read from the left it comes before it.
_BEFORE = re.compile(f"(?:^|\\s)[\u061b\u061f\u060c.,:!][{_R}]", re.MULTILINE)
_AFTER = re.compile(f"[{_R}][\u061b\u061f\u060c.,:!](?:\\s|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Seen:
    """The letters of a page as they stand on it: its rows from left to right, and whether they are mirrored."""

    rows: Sequence[str] = ()
    mirrored: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def has_rtl(text: str) -> bool:
    """Say whether a text holds letters that are read from the right."""
    return _HAS_RTL.search(text) is not None


def is_rtl(text: str) -> bool:
    """Say whether a text is read from the right: half of its letters at least are."""
    right = len(_HAS_RTL.findall(text))
    return right > 0 and right >= _MOSTLY * sum(char.isalpha() for char in text)


def in_reading_order(text: str, seen: Seen = Seen()) -> str:
    """Return the text of a page with its right-to-left lines in reading order, if they are not."""
    if not has_rtl(text):
        return text
    lines = text.split("\n")
    if _is_spelled_backwards(text):
        return "\n".join(_spelled(line) if has_rtl(line) else line for line in lines)
    visual, logical = _placed_lines(lines, seen)
    if logical > visual or (logical == visual and len(_AFTER.findall(text)) > len(_BEFORE.findall(text))):
        return text
    rtl = is_rtl(text)
    return "\n".join(_reordered(line, rtl=rtl, mirrored=seen.mirrored) if has_rtl(line) else line for line in lines)


def _tokens(line: str) -> list[_Token]:
    """Cut a line into words, marks that stand for themselves, and what lies between."""
    found: list[_Token] = []
    for match in _TOKENS.finditer(line):
        kind = str(match.lastgroup)
        if kind == "between" and found and found[-1].kind == "between":
            found[-1] = _Token(kind, found[-1].text + match[0])
        else:
            found.append(_Token(kind, match[0]))
    return found


# ------------------------------------------------------------------ evidence


def _is_spelled_backwards(text: str) -> bool:
    """Say whether words begin with the letters that end words: they were drawn from the left."""
    right = wrong = 0
    for word in re.findall(f"[{_R}]+", text):
        bare = "".join(char for char in word if char.isalpha())
        if len(bare) > 1:
            right += (bare[-1] in _FINAL) + bare.startswith(_ARTICLE)
            wrong += (bare[0] in _FINAL) + bare.endswith(_ARTICLE[::-1])
    return wrong > right


def _placed_lines(lines: Sequence[str], seen: Seen) -> tuple[int, int]:
    """Count lines that are in the order of the page, and those in that of reading, by where their letters stand."""
    rows = {"".join(sorted(row)): row for row in seen.rows}
    visual = logical = 0
    for line in lines:
        tokens = _tokens(line) if has_rtl(line) else []
        row = rows.get("".join(sorted(letters_of(line)))) if len(tokens) > 1 else None
        if row is None:
            continue
        as_drawn = _letters_drawn(tokens)
        as_read = _letters_drawn(_tokens(_reordered(line, rtl=is_rtl(line), mirrored=False)))
        if as_drawn != as_read:
            drawn, read = _alike(as_drawn, row), _alike(as_read, row)
            visual, logical = visual + (drawn > read), logical + (read > drawn)
    return visual, logical


def _letters_drawn(tokens: Sequence[_Token]) -> str:
    return "".join(
        letters_of(token.text)[::-1] if token.kind == "right" else letters_of(token.text) for token in tokens
    )


def _alike(one: str, other: str) -> int:
    return sum(first == second for first, second in zip(one, other, strict=False))


# ------------------------------------------------------------------ order


def _reordered(line: str, *, rtl: bool, mirrored: bool) -> str:
    tokens = _tokens(line)
    if mirrored:
        tokens = [_Token(one.kind, one.text[::-1]) if one.kind == "left" else one for one in tokens]
        return _with_brackets(tokens[::-1]).strip()
    if is_rtl(line) or (rtl and not _STARTS_LEFT.match(line)):
        return _with_brackets(_from_the_right(tokens)).strip()
    return "".join(_within_left_to_right(tokens))


def _within_left_to_right(tokens: Sequence[_Token]) -> Iterator[str]:
    """Yield a line that is read from the left, with phrases in it that are read from the right."""
    at = 0
    places = [at for at, token in enumerate(tokens) if token.kind == "right"]
    phrases: list[list[int]] = []
    for place in places:
        if phrases and all(token.kind != "left" or token.text.isdecimal() for token in tokens[phrases[-1][1] : place]):
            phrases[-1][1] = place + 1
        else:
            phrases.append([place, place + 1])
    for first, behind in phrases:
        yield from (token.text for token in tokens[at:first])
        yield _with_brackets(_from_the_right(tokens[first:behind]))
        at = behind
    yield from (token.text for token in tokens[at:])


def _from_the_right(tokens: Sequence[_Token]) -> list[_Token]:
    """Return tokens in the order of reading from the right; what is read from the left inside stays so."""
    hebrew = not any(_ARABIC.search(token.text) for token in tokens)
    runs: list[list[_Token]] = []
    at = 0
    while at < len(tokens):
        end = _end_of_left_run(tokens, at, hebrew=hebrew)
        runs.append(list(tokens[at:end]))
        at = end
    return [token for run in reversed(runs) for token in run]


def _end_of_left_run(tokens: Sequence[_Token], at: int, *, hebrew: bool) -> int:
    """Return where the run ends that begins at a token: words of Latin letters, or a number."""
    stop = next((place for place in range(at, len(tokens)) if tokens[place].kind == "right"), len(tokens))
    lefts = [place for place in range(at, stop) if tokens[place].kind == "left"]
    starts_unit = hebrew and tokens[at].text in _UNITS and lefts[:1] == [at + 1]
    if not lefts or (lefts[0] != at and not starts_unit):
        return at + 1
    if any(not tokens[place].text.isdecimal() for place in lefts):
        return _with_closing(tokens, at, lefts[-1] + 1, stop)
    end = _end_of_number(tokens, lefts, hebrew=hebrew)
    trails = end < stop and (tokens[end].text == "%" or (hebrew and tokens[end].text in _UNITS))
    return end + 1 if trails else end


def _end_of_number(tokens: Sequence[_Token], lefts: Sequence[int], *, hebrew: bool) -> int:
    """Return where a number ends, with its decimals, or a date or a time."""
    joins = _HEBREW_JOINS if hebrew else _JOINS
    if _DATE.match("".join(token.text for token in tokens[lefts[0] : lefts[0] + 5])):
        return lefts[0] + 5
    end = lefts[0] + 1
    for one, following in pairwise(lefts):
        if following != one + 2 or tokens[one + 1].text not in joins:
            break
        end = following + 1
    return end


def _with_closing(tokens: Sequence[_Token], at: int, end: int, stop: int) -> int:
    """Take the marks with a run of Latin words that belong to its last one: C++, or a bracket opened inside."""
    while end < stop and tokens[end].text in ("+", "#", "%"):
        end += 1
    inside = "".join(token.text for token in tokens[at:end])
    behind = tokens[end].text if end < stop else ""
    opened = [inside.count(one) > inside.count(other) for one, other in zip(_OPENS, _CLOSES, strict=True)]
    closes = behind[:1] in _CLOSES and behind != "" and opened[_CLOSES.index(behind[0])]
    return end + 1 if closes and len(behind) == 1 else end


def _spelled(line: str) -> str:
    """Return a line whose words were drawn from the left, which the engine has turned over each by itself."""
    before = ""
    pieces: list[_Token] = []
    for token in _tokens(line):
        turned = token.kind == "right" or (token.kind == "between" and before == "right")
        pieces.append(_Token(token.kind, _turned(token.text)) if turned else token)
        before = token.kind if token.kind in ("right", "left") else before
    return _with_brackets(pieces)


def _turned(text: str) -> str:
    return text[::-1].translate(_MIRRORED)


# ------------------------------------------------------------------ brackets


def _with_brackets(tokens: Sequence[_Token]) -> str:
    """Join tokens; brackets stand as they must to open and close, whichever way their file tells them."""
    plain = "".join(token.text for token in tokens)
    if not any(char in _OPENS + _CLOSES for char in plain):
        return plain
    pieces = [token.text for token in tokens]
    for at, token in enumerate(tokens):
        if token.kind == "between" and any(char in _OPENS + _CLOSES for char in token.text):
            pieces[at] = min(_forms(token.text), key=lambda form: _odd_brackets("".join(_with(pieces, at, form))))
    return "".join(pieces)


def _forms(text: str) -> Iterator[str]:
    """Yield what lies between two words as it is, turned and mirrored, mirrored, and turned."""
    yield text
    yield _turned(text)
    yield text.translate(_MIRRORED)
    yield text[::-1]


def _with(pieces: Sequence[str], at: int, form: str) -> Iterator[str]:
    yield from pieces[:at]
    yield form
    yield from pieces[at + 1 :]


def _odd_brackets(text: str) -> int:
    """Count brackets that close what is not open, stay open, or stand away from what they hold."""
    odd = 0
    opened: list[str] = []
    for before, char, behind in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if char in _OPENS:
            opened.append(char)
            odd += behind.isspace() + before.isalnum()
        elif char in _CLOSES:
            matches = bool(opened) and opened[-1] == _OPENS[_CLOSES.index(char)]
            odd += before.isspace() + behind.isalnum() + (not matches)
            opened = opened[:-1] if matches else opened
    return odd + len(opened)

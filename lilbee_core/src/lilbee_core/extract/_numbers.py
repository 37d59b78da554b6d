"""Numbers as a spreadsheet shows them: by the code of their cell, rounded, with their signs and units. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from lilbee_core.extract._moments import shown_moment
from lilbee_core.extract._number_codes import GENERAL, Plain, Section, Token, read_code

_DIGITS = 15
"""As many digits of a number as a spreadsheet keeps."""
_GENERAL_DIGITS = 10
_EXACT_BELOW, _PLAIN_BELOW = 1e15, 1e21
_MOST_DECIMALS = 30
_ROUNDING = Context(prec=400, rounding=ROUND_HALF_UP)


@lru_cache(maxsize=8192)
def shown_number(value: float, code: str, *, from_1904: bool = False) -> str:
    """Return a number as its cell shows it, in the separators of the file (``1,234.50``).

    Args:
        value: The number.
        code: How the cell is formatted (``0.0%``).
        from_1904: Whether days are counted from 1904 on, as old Macs did.
    """
    if value != value or value in {float("inf"), float("-inf")}:
        return str(value)
    if code == GENERAL:
        return general(value)
    section, unsigned = read_code(code).section(value)
    if section is None:
        return general(value)
    if section.plain is not None and -_PLAIN_BELOW < value < _PLAIN_BELOW:
        return _plain(abs(value) if unsigned else value, section.plain)
    if section.is_date:
        moment = shown_moment(value, section.tokens, from_1904=from_1904)
        return general(value) if moment is None else moment
    return _numeric(abs(value) if unsigned else value, section).strip()


def _plain(value: float, form: Plain) -> str:
    exact = _exact(value)
    if form.percents:
        exact = exact.scaleb(2 * form.percents)
    rounded = abs(_rounded(exact, min(form.places, _MOST_DECIMALS)))
    digits = f"{rounded:,f}" if form.grouped else f"{rounded:f}"
    wide = form.zeros + (form.places + 1 if form.places else 0)
    return f"{'-' if value < 0 else ''}{form.before}{digits.zfill(wide)}{form.after}".strip()


def shown_text(value: str, code: str) -> str:
    """Return a text as its cell shows it: most codes leave it alone."""
    section = read_code(code).text if "@" in code or ";" in code else None
    if section is None:
        return value
    return "".join(value if kind in {"value", "general"} else written for kind, written in section.tokens)


def general(value: float) -> str:
    """Return a number without a format: without the noise of its last digits, and whole ones in full."""
    if -_EXACT_BELOW < value < _EXACT_BELOW and value == int(value):
        return str(int(value))
    exact = _exact(value)
    size = abs(exact)
    if exact == exact.to_integral_value() and size < _PLAIN_BELOW:
        return f"{int(exact)}"
    if size >= _PLAIN_BELOW or size < Decimal("0.0001"):
        mantissa, _, power = f"{exact:.5E}".partition("E")
        return f"{mantissa.rstrip('0').rstrip('.')}E{int(power):+03d}"
    places = _GENERAL_DIGITS - max(1, size.adjusted() + 1)
    shown = f"{_rounded(exact, max(0, places)):f}"
    shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    return "0" if shown == "-0" else shown


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.{_DIGITS}g}")


def _rounded(value: Decimal, places: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-places), context=_ROUNDING)


def _numeric(value: float, section: Section) -> str:
    kinds = section.kinds
    if not kinds & {"digit", "general", "value"}:
        # Nothing but words, or nothing at all: the number itself is not shown.
        return "".join(written for _, written in section.tokens)
    if abs(value) >= _PLAIN_BELOW and "exponent" not in kinds:
        return general(value)
    sign = "-" if value < 0 else ""
    size = abs(_exact(value)).scaleb(2 * sum(kind == "percent" for kind, _ in section.tokens))
    if "digit" not in kinds:
        number = general(float(size))
        return sign + "".join(number if kind in {"general", "value"} else written for kind, written in section.tokens)
    if "slash" in kinds and (fraction := _fraction(size, section.tokens)) is not None:
        return sign + fraction
    if "exponent" in kinds:
        return sign + _scientific(size, section.tokens)
    return sign + _fixed(size, section.tokens)


# ---------------------------------------------------------------------- plain numbers


def _fixed(size: Decimal, tokens: Sequence[Token]) -> str:
    tokens, thousands, grouped = _without_commas(tokens)
    point = next((at for at, (kind, _) in enumerate(tokens) if kind == "point"), len(tokens))
    whole, rest = tokens[:point], tokens[point + 1 :]
    places = min(sum(kind == "digit" for kind, _ in rest), _MOST_DECIMALS)
    number = f"{_rounded(size.scaleb(-3 * thousands), places):f}"
    digits, _, decimals = number.partition(".")
    shown = _whole(digits if digits != "0" else "", whole, grouped=grouped)
    if point == len(tokens):
        return shown
    return f"{shown}.{_decimals(decimals, rest)}"


def _without_commas(tokens: Sequence[Token]) -> tuple[list[Token], int, bool]:
    """Return the tokens without commas, how many thousands they take away, and whether digits stand in groups."""
    last = max((at for at, (kind, _) in enumerate(tokens) if kind == "digit"), default=-1)
    point = next((at for at, (kind, _) in enumerate(tokens) if kind == "point"), len(tokens))
    scale = 0
    grouped = False
    kept: list[Token] = []
    for at, (kind, written) in enumerate(tokens):
        if kind != "comma":
            kept.append((kind, written))
        elif at > last or (at < point and not any(one == "digit" for one, _ in tokens[at + 1 : point])):
            if at and tokens[at - 1][0] in {"digit", "comma"}:
                scale += 1
            else:
                kept.append(("text", ","))
        else:
            grouped = grouped or at < point
    return kept, scale, grouped


def _whole(digits: str, tokens: Sequence[Token], *, grouped: bool) -> str:
    """Fill the places before the point from the right; the first one takes all digits that are left."""
    first = next((at for at, (kind, _) in enumerate(tokens) if kind == "digit"), None)
    if first is None:
        # The code begins with its point.
        return "".join(written for _, written in tokens) + digits
    out: list[str] = []
    used = 0

    def put(digit: str) -> None:
        nonlocal used
        if grouped and used and used % 3 == 0:
            out.append(",")
        out.append(digit)
        used += 1

    for at in range(len(tokens) - 1, -1, -1):
        kind, written = tokens[at]
        if kind != "digit":
            out.append(written[::-1])
            continue
        if digits or written == "0":
            put(digits[-1] if digits else "0")
            digits = digits[:-1]
        elif written == "?":
            out.append(" ")
        if at == first:
            while digits:
                put(digits[-1])
                digits = digits[:-1]
    return "".join(out)[::-1]


def _decimals(digits: str, tokens: Sequence[Token]) -> str:
    significant = len(digits.rstrip("0"))
    out: list[str] = []
    at = 0
    for kind, written in tokens:
        if kind != "digit":
            out.append(written)
            continue
        if at < significant or written == "0":
            out.append(digits[at] if at < len(digits) else "0")
        at += 1
    return "".join(out)


# ---------------------------------------------------------------------- powers and fractions


def _scientific(size: Decimal, tokens: Sequence[Token]) -> str:
    at = next(at for at, (kind, _) in enumerate(tokens) if kind == "exponent")
    front, back = tokens[:at], tokens[at + 1 :]
    point = next((at for at, (kind, _) in enumerate(front) if kind == "point"), len(front))
    step = max(1, sum(kind == "digit" for kind, _ in front[:point]))
    places = sum(kind == "digit" for kind, _ in front[point:])
    power = size.adjusted() if size else 0
    power -= power % step if step > 1 else 0
    mantissa = size.scaleb(-power)
    if size and _rounded(mantissa, places) >= Decimal(10) ** step:
        power += step
        mantissa = size.scaleb(-power)
    sign = "-" if power < 0 else "+" if tokens[at][1].endswith("+") else ""
    return f"{_fixed(mantissa, front)}E{sign}{_fixed(Decimal(abs(power)), back)}"


def _fraction(size: Decimal, tokens: Sequence[Token]) -> str | None:
    """Return a number as a fraction, or None when the slash of the code is none of a fraction."""
    slash = next(at for at, (kind, _) in enumerate(tokens) if kind == "slash")
    upper = _run_before(tokens, slash)
    lower = tokens[slash + 1 :]
    written = "".join(one for kind, one in lower if kind == "digit" or (kind == "text" and one.isdecimal()))
    if upper == slash or not written:
        return None
    whole = any(kind == "digit" for kind, _ in tokens[:upper])
    fixed = int(written) if written.isdecimal() and int(written) else 0
    exact = Fraction(size)
    units = int(exact) if whole else 0
    rest = exact - units
    if fixed:
        over, under = int(rest * fixed + Fraction(1, 2)), fixed
    else:
        near = rest.limit_denominator(10 ** len(written) - 1)
        over, under = near.numerator, near.denominator
    if whole and over == under:
        units, over = units + 1, 0
    before = "".join(one for kind, one in tokens[:upper] if kind == "text").rstrip() if not whole else ""
    after = "".join(one for kind, one in lower if kind == "text" and not one.isdecimal()).rstrip()
    parts = ([str(units)] if units or (whole and not over) else []) + ([f"{over}/{under}"] if over or not whole else [])
    return before + " ".join(parts) + after


def _run_before(tokens: Sequence[Token], at: int) -> int:
    """Return where the digits begin that stand right before a place."""
    while at and tokens[at - 1][0] == "digit":
        at -= 1
    return at

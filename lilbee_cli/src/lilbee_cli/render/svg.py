"""Charts as one SVG picture: the same bytes for the same values, readable on light and on dark ground, and by voice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from lilbee_cli.render.charts import Chart, ChartRow

WIDTH, _EDGE = 760, 16
_TITLE, _ROW, _GAP = 30, 24, 18
_LABELS, _TOLD = 190, 180
_ACROSS = WIDTH - 2 * _EDGE - _LABELS - _TOLD - 24
_LONGEST_LABEL = 26
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Both sets of colors have a contrast of at least 4.5 (text) and 3 (marks) against their ground.
_STYLE = """\
.ground{fill:#ffffff}.text,.title{fill:#1c2024;font:14px system-ui,sans-serif}.title{font-weight:600;font-size:16px}
.mark{fill:#b45309}.line{stroke:#b45309;stroke-width:2;fill:none}.axis{stroke:#687076;stroke-width:1}
@media (prefers-color-scheme:dark){.ground{fill:#16181a}.text,.title{fill:#eceef0}.mark{fill:#f5a623}
.line{stroke:#f5a623}.axis{stroke:#9ba1a6}}"""


def write(file: str | Path, charts: Sequence[Chart], *, title: str) -> None:
    """Write charts to a file as one picture."""
    Path(file).write_text(picture(charts, title=title), encoding="utf-8", newline="\n")


def picture(charts: Sequence[Chart], *, title: str) -> str:
    """Return charts below each other as one picture. Its title and description say in words what it shows."""
    body: list[str] = []
    top = _EDGE
    for chart in charts:
        body += _panel(chart, top)
        top += _TITLE + _ROW * len(chart.rows) + _GAP
    height = max(top - _GAP + _EDGE, 2 * _EDGE)
    described = " ".join(f"{chart.title}: {chart.description}" for chart in charts)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-labelledby="title description">'
    )
    return "\n".join([
        head, f'<title id="title">{_text(title)}</title>', f'<desc id="description">{_text(described)}</desc>',
        f"<style>{_STYLE}</style>", f'<rect class="ground" width="{WIDTH}" height="{height}"/>', *body, "</svg>", "",
    ])  # fmt: skip


def _panel(chart: Chart, top: int) -> Iterator[str]:
    left = _EDGE + _LABELS + 12
    yield f'<text class="title" x="{_EDGE}" y="{top + 16}">{_text(chart.title)}</text>'
    first, last = top + _TITLE, top + _TITLE + _ROW * len(chart.rows)
    zero = left + _places(chart, min(max(0.0, chart.low), chart.high))
    yield f'<path class="axis" d="M{_number(zero)} {first}V{last}"/>'
    for at, row in enumerate(chart.rows):
        middle = first + _ROW * at + _ROW // 2
        yield f'<text class="text" x="{left - 12}" y="{middle + 5}" text-anchor="end">{_text(_short(row.label))}</text>'
        yield from _whiskers(chart, row, left, middle) if row.interval else _bar(chart, row, left, middle)
        yield f'<text class="text" x="{left + _ACROSS + 12}" y="{middle + 5}">{_text(row.told)}</text>'


def _bar(chart: Chart, row: ChartRow, left: int, middle: int) -> Iterator[str]:
    width = _number(max(_places(chart, row.value), 1 if row.value else 0))
    yield f'<rect class="mark" x="{left}" y="{middle - 7}" width="{width}" height="14"/>'


def _whiskers(chart: Chart, row: ChartRow, left: int, middle: int) -> Iterator[str]:
    low, high = row.interval or (row.value, row.value)
    first, last = _number(left + _places(chart, low)), _number(left + _places(chart, high))
    ends = f"M{first} {middle - 5}V{middle + 5}M{last} {middle - 5}V{middle + 5}"
    yield f'<path class="line" d="M{first} {middle}H{last}{ends}"/>'
    yield f'<circle class="mark" cx="{_number(left + _places(chart, row.value))}" cy="{middle}" r="4"/>'


def _places(chart: Chart, value: float) -> float:
    return chart.share(value) * _ACROSS


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _short(label: str) -> str:
    """Return the end of a long label: of a path that is what tells it from others."""
    return label if len(label) <= _LONGEST_LABEL else f"…{label[1 - _LONGEST_LABEL :]}"


def _text(text: str) -> str:
    from lilbee_core.text import visible_line

    return escape(_NO_XML.sub("\ufffd", visible_line(text)))

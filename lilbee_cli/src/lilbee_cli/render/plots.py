"""Charts in the terminal. Every value is written out beside its bar."""

from __future__ import annotations

import locale
from collections.abc import Iterator, Sequence

import click

from lilbee_cli.render.charts import Chart, ChartRow
from lilbee_cli.render.text import width

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEAST_BAR, _LONGEST_BAR = 10, 60


def show(charts: Sequence[Chart]) -> None:
    """Print charts below each other, in ASCII where the terminal has nothing else."""
    ascii_only = locale.getencoding().lower().replace("-", "") != "utf8"
    for chart in charts:
        click.echo()
        click.echo(click.style(chart.title, bold=True))
        for row in rows(chart, columns=width(), ascii_only=ascii_only):
            click.echo(row)


def rows(chart: Chart, *, columns: int, ascii_only: bool = False) -> Iterator[str]:
    """Yield the rows of a chart, each at most so many columns wide where labels and values leave room."""
    from rich.cells import cell_len, set_cell_size

    told = max((len(row.told) for row in chart.rows), default=0)
    widest = max((cell_len(row.label) for row in chart.rows), default=0)
    names = min(widest, max(8, columns - told - _LEAST_BAR - 6))
    across = max(_LEAST_BAR, min(_LONGEST_BAR, columns - names - told - 6))
    for row in chart.rows:
        mark = _whiskers(chart, row, across, ascii_only) if row.interval else _bar(chart, row, across, ascii_only)
        yield f"  {set_cell_size(row.label, names)}  {mark}{' ' * (across - len(mark))}  {row.told:>{told}}"


def _bar(chart: Chart, row: ChartRow, across: int, ascii_only: bool) -> str:
    filled = chart.share(row.value) * across
    if ascii_only:
        return "#" * max(1, round(filled)) if row.value else ""
    whole, rest = divmod(round(filled * 8), 8)
    bar = "█" * whole + (_EIGHTHS[rest] if rest else "")
    return bar or ("▏" if row.value else "")


def _whiskers(chart: Chart, row: ChartRow, across: int, ascii_only: bool) -> str:
    """Draw an interval with the value in it, and 0 where it lies amid the scale."""
    signs = ("|", "-", "|", "o", ":") if ascii_only else ("├", "─", "┤", "●", "┊")
    places = [" "] * across

    def at(value: float) -> int:
        return min(across - 1, int(chart.share(value) * across))

    if chart.low < 0 < chart.high:
        places[at(0)] = signs[4]
    low, high = row.interval or (row.value, row.value)
    first, last = at(low), at(high)
    places[first : last + 1] = signs[1] * (last + 1 - first)
    places[first], places[last] = signs[0], signs[2]
    places[at(row.value)] = signs[3]
    return "".join(places).rstrip()

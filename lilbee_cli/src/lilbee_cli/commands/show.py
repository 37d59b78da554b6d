"""`lilbee show`."""

from __future__ import annotations

import re

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean

_LINES = re.compile(r"^(?P<ref>.+?):(?P<lines>\d+(?:-\d+)?)$")


@click.command("show")
@click.argument("ref")
@click.option("--lines", metavar="A-B", help="Only these lines.")
@click.option("--page", metavar="N", help="Only this page.")
@click.option("--around", metavar="N", type=click.IntRange(min=0), default=0, help="So many lines before and after.")
@click.option("--numbers", "-n", is_flag=True, help="Put line numbers in front.")
@common
def command(told: Common, ref: str, *, lines: str | None, page: str | None, around: int, numbers: bool) -> None:
    """Show the extracted text of a document, or a part of it.

    REF is a path, collection/path or id, and may name its place: notes/a.md:12-20, report.pdf#page=3,
    fees.xlsx#Fees!A1:C20, talk.pptx#slide=3, box.zip#notes/a.md, box.zip#report.pdf#page=3.
    """
    from lilbee_core.errors import NotFound

    place = lines or (f"p{page}" if page else None)
    with told.open(there=True) as bee:
        match = _LINES.match(ref) if place is None else None
        try:
            passage = bee.get_text(ref, place, around=around)
        except NotFound:
            # Only now: a name may itself end in `:12`.
            if match is None:
                raise
            passage = bee.get_text(match["ref"], match["lines"], around=around)
        if told.as_json:
            emit(passage.to_dict())
            return
        first = passage.location.line_start
        for offset, line in enumerate(passage.text.rstrip("\n").split("\n")):
            prefix = f"{first + offset:>6}  " if numbers and first is not None else ""
            click.echo(prefix + clean(line))

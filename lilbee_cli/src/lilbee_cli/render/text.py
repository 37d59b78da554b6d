"""Text for people."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lilbee_core import Answer, Citation, Hit, SearchResult, SyncReport
    from lilbee_core.evaluation import Comparison, DraftedQueries, EvaluationReport, TuningReport
    from lilbee_core.types import CrawlReport, EmbedderChange, LibraryStatus, WebPage


def clean(text: str) -> str:
    """Return a text of several lines with control characters made visible."""
    # A document must not move the cursor, color the screen or turn the reading direction.
    from lilbee_core.text import visible

    return visible(text)


def line(text: str) -> str:
    """Return a name, a heading or a message on one line, with control characters, line ends and tabs made visible."""
    from lilbee_core.text import visible_line

    return visible_line(text)


def with_output(text: str) -> str:
    """Return a message on one line, like `line`; what a program wrote stands below it, line by line."""
    from lilbee_core.text import visible_message

    return visible_message(text)


def counted(number: int, name: str) -> str:
    """Return a number and what is counted: ``1 chunk``, ``2 chunks``."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def width() -> int:
    """Columns of the terminal, at most 100."""
    return min(100, shutil.get_terminal_size((100, 24)).columns)


def place(hit: Hit | Citation) -> str:
    """Return ``path:line``, ``path p. N`` or the path with its member or label."""
    from lilbee_core.text import place_name

    return place_name(hit)


def snippet(hit: Hit) -> str:
    """Return the part of the passage where most of the query's words stand, with these marked."""
    from lilbee_core.text import snippet_pieces

    out = "".join(_mark(text) if marked else text for text, marked in snippet_pieces(hit))
    return " ".join(out.split())


def _mark(text: str) -> str:
    return click.style(text, bold=True, fg="yellow") if _colored() else f"**{text}**"


def _colored() -> bool:
    import sys

    return sys.stdout.isatty()


def warn(message: str) -> None:
    """Write a warning to stderr."""
    click.echo(click.style("warning: ", fg="yellow") + with_output(message), err=True)


def hits(result: SearchResult) -> None:
    """Print hits, best first."""
    for message in result.warnings:
        warn(message)
    if not result.hits:
        click.echo("Nothing found.")
    for hit in result.hits:
        stale = click.style("  (changed since it was indexed)", fg="red") if hit.stale else ""
        # A score is a share of the best hit's: beside an answer that is none, a 1.000 would be a lie.
        score = f"{hit.score:.3f}" if result.found else "weak"
        click.echo(click.style(f"{hit.rank:>2}  {place(hit)}", bold=True) + f"  {score}{stale}")
        if hit.url:
            click.echo(click.style(f"    {line(hit.url)}", underline=True))
        name = hit.symbol or hit.heading or hit.chunk.title
        if name:
            click.echo(click.style(f"    {line(name)}", fg="cyan"))
        click.echo(_indented(snippet(hit)))
        for other in hit.also_at[:3]:
            click.echo(click.style(f"    also in {line(other.path)}", dim=True))
    if result.hits and not result.found:
        click.echo("None of these looks like an answer; the nearest passages are shown.", err=True)


def _indented(text: str) -> str:
    return textwrap.indent(textwrap.fill(text, width() - 4, break_long_words=False, break_on_hyphens=False), "    ")


def answer(value: Answer) -> None:
    """Print an answer with its citations."""
    click.echo(clean(value.text))
    citations(value)


def citations(value: Answer) -> None:
    """Print the citations of an answer, and its warnings to stderr, last why it is not whole."""
    if value.citations:
        click.echo()
    for one in value.citations:
        click.echo(click.style(f"[{one.marker}] {place(one)}", bold=True) + (f"  {line(one.url)}" if one.url else ""))
        click.echo(_indented(f'"{line(" ".join(one.quote.split()))}"'))
        behind(one)
    for message in value.warnings:
        click.echo(click.style(f"note: {line(message)}", dim=True), err=True)
    if value.broken_off is not None:
        click.echo(f"error: {line(value.broken_off)}", err=True)


def behind(value: Citation) -> None:
    """Print the places in documents behind what a page of the wiki says."""
    for at in dict.fromkeys(map(place, value.sources)):
        click.echo(f"    from {at}")


def context(value: Answer) -> None:
    """Print the passages that an answer is made from, as they were given."""
    heading("Passages:")
    for number, hit in enumerate(value.trace or (), start=1):
        click.echo(click.style(f"[{number}] {place(hit)}", bold=True) + f"  {hit.score:.3f}")
        click.echo(textwrap.indent(clean(hit.text.strip()), "    "))


def report(value: SyncReport) -> None:
    """Print what a sync did."""
    verb = "would be " if value.dry_run else ""
    counts = [(value.added, "added"), (value.updated, "updated"), (value.removed, "removed"), (value.moved, "moved")]
    parts = [f"{count} {verb}{name}" for count, name in counts if count] or [f"nothing {verb}changed"]
    parts.append(f"{value.unchanged} unchanged")
    click.echo(", ".join(parts) + f" ({counted(value.chunks, 'chunk')}, {value.seconds:.1f} s)")
    for one in value.failed:
        click.echo(click.style("failed:  ", fg="red") + line(f"{one.path}: {one.reason} [{one.code}]"))
    if value.skipped:
        click.echo(f"{len(value.skipped)} skipped (`lilbee status --skipped` says why)")
    if value.owed:
        warn(f"{counted(value.owed, 'chunk')} still without vectors; sync again when the embedder works")
    for message in value.warnings:
        warn(message)
    if value.cancelled:
        click.echo("stopped: what was finished is kept; run it again to go on")


def embedder_change(value: EmbedderChange) -> None:
    """Print which model makes the vectors from now on, and what that took."""
    if value.fetched:
        click.echo(line(f"fetched {value.embedder}"))
    report = value.report
    if report is None:
        like = "" if value.likeness is None else f" (cosine {value.likeness:.3f} with those of {value.was})"
        click.echo(line(f"{value.embedder} is used from now on; the vectors are kept{like}"))
        return
    done = f"{counted(report.embedded, 'passage')} embedded with {value.embedder}"
    click.echo(line(f"{done} ({value.dimension} numbers, {report.seconds:.1f} s)"))
    if report.owed:
        warn(f"{counted(report.owed, 'passage')} still without vectors; run `lilbee sync` to go on")
    for message in report.warnings:
        warn(message)


_LEFT_OUT = {
    "crawl.depth": "too deep",
    "crawl.empty": "without text",
    "crawl.endless": "of endlessly many",
    "crawl.excluded": "by include or exclude",
    "crawl.noindex": "that ask not to be indexed",
    "crawl.other_site": "on other sites",
    "crawl.pages": "beyond the number of pages",
    "crawl.robots": "by robots.txt",
    "crawl.unsupported": "of a kind that is not read",
}


def crawl(value: CrawlReport, *, verbose: bool = False) -> None:
    """Print what a crawl did, and what the index made of it; if `verbose`, also the pages that it left out."""
    counts = [(value.new, "new"), (value.updated, "updated"), (value.unchanged, "unchanged")]
    left_out = sum(count for _, count in value.skipped_counts)
    counts += [(value.duplicates, "duplicate"), (len(value.failed), "failed"), (left_out, "skipped")]
    told = ", ".join(f"{count} {name}" for count, name in counts if count) or "none"
    click.echo(f"pages: {told} ({value.seconds:.1f} s)")
    for one in value.failed:
        click.echo(click.style("failed:  ", fg="red") + line(f"{one.url}: {one.reason} [{one.code}]"))
    if left_out:
        reasons = ", ".join(f"{count} {_LEFT_OUT.get(code, line(code))}" for code, count in value.skipped_counts)
        click.echo(f"skipped: {reasons}" + ("" if verbose else " (`--verbose` names them)"))
    for one in value.skipped if verbose else ():
        click.echo(line(f"  {one.url}: {one.reason} [{one.code}]"))
    for message in value.warnings:
        warn(message)
    if value.sync is not None:
        report(value.sync)
    if value.cancelled:
        click.echo(f"stopped with {counted(value.waiting, 'page')} to go: run it again to go on")


def pages(value: Sequence[WebPage]) -> None:
    """Print the pages that are kept, one a line."""
    for page in value:
        click.echo(line(f"{page.collection}/{page.path}  {page.url}") + (f"  {line(page.title)}" if page.title else ""))


def status(value: LibraryStatus) -> None:
    """Print the state of a library."""
    for name, one in value.summary():
        click.echo(f"{line(name):<14} {line(str(one))}")
    for collection in value.collections:
        missing = "" if collection.available else click.style("  (folder is missing)", fg="red")
        click.echo(
            f"{'collection':<14} {line(collection.name)}: {counted(collection.documents, 'document')}, "
            f"{line(collection.root or 'from memory')}{missing}"
        )
    for problem in value.problems:
        click.echo(click.style("failed:  ", fg="red") + line(f"{problem.path}: {problem.reason} [{problem.code}]"))
    for message in value.warnings:
        warn(message)


def figures(reports: Sequence[EvaluationReport]) -> None:
    """Print the figures of evaluations, one column each."""
    for cells in zip(*(report.summary() for report in reports), strict=True):
        click.echo(f"{cells[0][0]:<16}" + "".join(f"{line(value):>18}" for _, value in cells))


def heading(title: str) -> None:
    """Print a line above what follows."""
    click.echo(f"\n{title}")


def comparison(value: Comparison, *, where: str = "") -> None:
    """Print what one profile gains over another."""
    names = f"{line(value.other.profile)} against {line(value.base.profile)}"
    heading(f"{names}, {where}{value.base.queries} queries")
    click.echo(f"{'metric':<12}{'difference [95 %]':>28}{'wins / ties / losses':>24}{'p':>9}")
    for metric, difference, counts, p in value.summary():
        click.echo(f"{metric:<12}{difference:>28}{counts:>24}{p:>9}")


def tuning(value: TuningReport) -> None:
    """Print what tuning found."""
    for name, shown in value.summary():
        click.echo(f"{name:<26}{line(shown)}")
    click.echo(line(value.verdict))


def drafted(value: DraftedQueries, folder: str) -> None:
    """Print what was drafted, and what to do with it."""
    click.echo(f"{len(value)} queries drafted to {line(folder)}/queries.jsonl, with qrels.tsv")
    click.echo(
        "They repeat words of the documents, so word search looks better than it is: rewrite them as you would ask."
    )
    click.echo(line(f"Then: lilbee eval {folder} --compare default,keyword   or   lilbee tune {folder}"))

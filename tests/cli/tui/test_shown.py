"""What comes from documents, names, models and the wiki steers no terminal, wherever it is shown."""

from __future__ import annotations

import pytest

from lilbee_cli.tui import shown
from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.wiki import links_of
from lilbee_core.testing.builders import a_hit
from lilbee_core.types import (
    Citation,
    ConversationMessage,
    FileProblem,
    LibraryStatus,
    Location,
    Passage,
    Span,
    WikiDiff,
)
from tests.support.hostile import PAYLOADS, STEERS


def texts(evil: str) -> list[str]:
    """Everything that the screens make of values that hold this."""
    hit = a_hit(text=f"The queen {evil} lays", path=f"{evil}.md")
    around = Passage(
        document_id=hit.document_id, collection="c", path=evil, text=f"{evil}\n{hit.text}\n{evil}",
        span=Span(hit.chunk.span.start, hit.chunk.span.start + 1), location=Location(line_start=1, line_end=3),
    )  # fmt: skip
    citation = Citation(
        marker=1, chunk_id=hit.chunk_id, document_id=hit.document_id, collection=evil, path=evil, quote=evil,
        location=Location(label=evil),
    )  # fmt: skip
    reply = ConversationMessage(
        id="1", role="assistant", content=evil, created_at="", citations=(citation,), warnings=(evil,), model=evil
    )
    status = LibraryStatus(
        root=evil, data_dir=evil, states=(), chunks=0, embedded=0, embedder=evil, dimension=None, size_bytes=0,
        index_bytes=0, problems=(FileProblem(path=evil, code="x", reason=evil),), warnings=(evil,),
    )  # fmt: skip
    diff = WikiDiff(slug=evil, title=evil, reason=evil, diff=f"+{evil}", dropped=(evil,))
    made = [
        shown.hit_entry(hit, found=True), shown.passage_in_place(hit, around)[0],
        shown.passage_alone(hit), shown.citation_entry(citation),
        shown.message(reply), shown.status(status), shown.page(evil, f"# {evil}\n{evil}"), shown.draft(diff),
    ]  # fmt: skip
    assert not any("click" in str(span.style) or "link" in str(span.style) for one in made for span in one.spans)
    return [one.plain for one in made]


def test_nothing_steers_the_terminal() -> None:
    assert len(PAYLOADS) >= 100
    for evil in PAYLOADS:
        for text in texts(evil):
            assert STEERS.search(text) is None, (evil, text)
    assert "[red]rich[/red]" in texts("[red]rich[/red]")[4], "what looks like markup is text"


@pytest.mark.parametrize(("done", "total", "told"), [(0, None, ""), (3, None, "3"), (5, 10, "[#####.....] 5/10")])
def test_how_far_something_is(done: int, total: int | None, told: str) -> None:
    assert shown.share(done, total) == told


def test_lines_are_numbered_as_in_the_file() -> None:
    assert shown.numbered([("a\nb", ""), ("c\n\nd", "bold")], 9).plain == " 9 a\n10 bc\n11 \n12 d"
    assert shown.numbered([("a\nb", "")], None).plain == "a\nb"


def test_links_of_a_page() -> None:
    assert links_of("[[Queen]] and [[hive|the hive]], [[Queen]] again, [[]] not") == ["Queen", "hive"]
    assert Line.TooMuch(7).chars == 7

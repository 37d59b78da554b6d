"""Whatever values hold where others write, nothing that the command line prints steers a terminal."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import click
import pytest

from lilbee_cli import failures
from lilbee_cli.render import graph, models, plots, talk, text, wiki
from lilbee_cli.render.charts import of_evaluation, of_status
from lilbee_core.errors import LilbeeError
from lilbee_core.evaluation import Comparison, EvaluationReport
from lilbee_core.testing.builders import a_hit, a_row
from lilbee_core.types import (
    Answer,
    Citation,
    Community,
    Concept,
    ConversationInfo,
    ConversationMessage,
    CrawlReport,
    Delta,
    EmbedderChange,
    LibraryStatus,
    ModelEntry,
    Note,
    Query,
    Relation,
    SearchResult,
    SyncReport,
    WebPage,
    WikiDiff,
)
from tests.support.hostile import PAYLOADS, STEERS

MARK = "evil"


def filled(kind: Any, text: str, *, inside: tuple[Any, ...] = ()) -> Any:
    """Return a value of this type with the text wherever one stands: in each field, and once in every list."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return filled(next(one for one in inner if one is not type(None)), text, inside=inside)
    if origin is tuple:
        kinds = [one for one in (inner[:1] if inner[-1] is ... else inner) if one not in inside]
        return tuple(filled(one, text, inside=inside) for one in kinds)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints, within = typing.get_type_hints(kind), (*inside, kind)
        made = {one.name: filled(hints[one.name], text, inside=within) for one in dataclasses.fields(kind) if one.init}
        return kind(**made)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    return {int: 1, float: 1.0, bool: True}.get(kind, text)


def printed(evil: str) -> list[Callable[[], object]]:
    """Everything that is printed for people, of values that hold this."""
    hit = dataclasses.replace(
        a_hit(text=f"The queen {evil} lays", path=f"{evil}.md", headings=(evil,), collection=evil), url=evil,
        highlights=((4, 9),), stale=True,
    )  # fmt: skip
    result = SearchResult(query=Query(text=evil), hits=(hit,), found=True, warnings=(evil,))
    citation = filled(Citation, evil)
    answer = Answer(question=evil, text=evil, found=True, citations=(citation,), model=evil, warnings=(evil,),
                    broken_off=evil, trace=result)  # fmt: skip
    report = EvaluationReport(per_query=(), documents=0, chunks=0, profile=evil)
    pair, status = Comparison(base=report, other=report), filled(LibraryStatus, evil)
    concept, message = filled(Concept, evil), filled(ConversationMessage, evil)
    return [
        lambda: text.hits(result), lambda: text.answer(answer), lambda: text.context(answer),
        lambda: text.report(filled(SyncReport, evil)), lambda: text.embedder_change(filled(EmbedderChange, evil)),
        lambda: text.crawl(filled(CrawlReport, evil), verbose=True), lambda: text.pages([filled(WebPage, evil)]),
        lambda: text.status(status), lambda: text.figures([report]), lambda: text.comparison(pair),
        lambda: plots.show(of_status(status, [a_row(path=f"a.{evil}", collection=evil, chunks=1)])),
        lambda: plots.show(of_evaluation([report], [pair])),
        lambda: graph.topics([filled(Community, evil)], lambda _: concept),
        lambda: graph.related(concept, [filled(Relation, evil)], lambda _: None),
        lambda: graph.decisions({evil: evil}), lambda: graph.decisions({evil: None}),
        lambda: models.entries([filled(ModelEntry, evil)], nothing=""), lambda: models.entry(filled(ModelEntry, evil)),
        lambda: talk.conversations([filled(ConversationInfo, evil)]), lambda: talk.message(message),
        lambda: talk.sources(message), lambda: talk.delta(Delta(kind="text", text=evil)),
        lambda: talk.delta(Delta(kind="status", text=evil)), lambda: talk.notes([filled(Note, evil)]),
        lambda: talk.note(filled(Note, evil)), lambda: wiki.diff(filled(WikiDiff, evil)),
        lambda: failures.fail(LilbeeError(evil, hint=evil), 1, as_json=False), lambda: text.warn(evil),
    ]  # fmt: skip


@pytest.fixture
def unstyled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Print as to a terminal, which filters nothing, but without the styles that are ours."""
    for module in ("click", "click.termui"):
        monkeypatch.setattr(f"{module}.style", lambda text, **_: str(text))
    with click.Context(click.Command("lilbee"), color=True):
        yield


@pytest.mark.usefixtures("unstyled")
def test_every_value_is_told_and_none_steers(capsys: pytest.CaptureFixture[str]) -> None:
    for at, show in enumerate(printed(MARK)):
        show()
        out, err = capsys.readouterr()
        assert MARK in out + err, f"number {at} tells nothing of what it was given"
    # Several at a time: what steers is a matter of single characters.
    for evil in (" ".join(PAYLOADS[at : at + 8]) for at in range(0, len(PAYLOADS), 8)):
        for at, show in enumerate(printed(evil)):
            show()
            out, err = capsys.readouterr()
            assert STEERS.search(out + err) is None, (at, evil, out + err)

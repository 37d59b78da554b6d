"""Search and answers for agents: short, bounded, with places to cite."""

from __future__ import annotations

from contextlib import aclosing
from typing import Annotated, Any

from pydantic import Field

from lilbee_core import Hit, SearchResult
from lilbee_core.errors import EmptyReply
from lilbee_core.types import Answer
from lilbee_mcp.offers import RESULT_CHARS, Arguments, Call, offer, without_blanks

MOST_HITS = 50
HIT_CHARS = 1_500
_FEWEST_CHARS = 300
_LONGEST_QUERY = 20_000
_MOST_OFFSET = 1_000

Text = Annotated[str, Field(max_length=_LONGEST_QUERY)]
Names = Annotated[tuple[str, ...], Field(max_length=100)]
_PLACE = (
    "collection",
    "line_start",
    "line_end",
    "page_start",
    "page_end",
    "label",
    "member",
    "heading",
    "symbol",
    "url",
    "stale",
)


class Search(Arguments):
    """What `search` takes."""

    query: Text
    top_k: int = 8
    offset: Annotated[int, Field(ge=0, le=_MOST_OFFSET)] = 0
    paths: Names = ()
    collections: Names = ()
    scope: str = "raw"
    explain: str | None = None


class Ask(Arguments):
    """What `ask` takes."""

    question: Text
    top_k: int | None = None
    paths: Names = ()
    collections: Names = ()
    scope: str = "raw"


@offer(Search, "Search", reads=True, scoped=True)
async def search(call: Call, asked: Search) -> dict[str, Any]:
    """Find passages in the user's documents by words and meaning; each hit has its path and lines or page to cite.

    The query may hold "exact phrases" and path: type: after: filters. `paths` are globs. `offset` pages on. `explain`
    names a document to say why it is, or is not, among the hits.
    """
    only, top_k = call.grant.filter(asked.collections, asked.paths), min(asked.top_k, MOST_HITS)
    wanted = top_k + asked.offset if top_k > 0 else top_k
    result: SearchResult = await call.run(
        call.library.search, asked.query, top_k=wanted, filters=only, scope=asked.scope
    )
    hits = result.hits[asked.offset :]
    room = max(_FEWEST_CHARS, min(HIT_CHARS, RESULT_CHARS // max(len(hits), 1)))
    answer: dict[str, Any] = {"found": result.found, "hits": [_short(hit, room) for hit in hits]}
    if len(hits) >= top_k and asked.offset + top_k <= _MOST_OFFSET:
        answer["next_offset"] = asked.offset + top_k
    answer["warnings"] = call.grant.shown({"warnings": list(result.warnings)})["warnings"]
    if asked.explain is not None:
        ref = await call.run(call.grant.document, call.library, asked.explain)
        trace = await call.run(call.library.explain_document, ref, asked.query, top_k=top_k, filters=only)
        answer["explained"] = trace.to_dict()
    return answer


@offer(Ask, "Ask", reads=True, scoped=True)
async def ask(call: Call, asked: Ask) -> dict[str, Any]:
    """Answer a question from the user's documents. Every statement carries a mark like [1] that `citations` explain.

    `found` is false where the documents do not say.
    """
    only = call.grant.filter(asked.collections, asked.paths)
    pieces = call.write(
        lambda: call.library.ask_stream(asked.question, top_k=asked.top_k, filters=only, scope=asked.scope)
    )
    count = 0
    async with aclosing(pieces) as deltas:
        async for delta in deltas:
            if delta.answer is not None:
                return _answer(call, delta.answer)
            count += 1
            await call.tell(count, None, delta.text if delta.kind == "status" else "writing")
    raise EmptyReply("the answer has no end", hint="Ask again.")


def _answer(call: Call, answer: Answer) -> dict[str, Any]:
    names = ("document_id", "path", *_PLACE, "quote", "verdict")
    whole: dict[str, Any] = call.grant.shown(answer.to_dict())
    cited = [
        {"marker": one.marker, **without_blanks({name: one.to_dict().get(name) for name in names}, names)}
        for one in answer.citations
    ]
    return {
        "answer": whole["answer"],
        "found": whole["found"],
        "citations": cited,
        "model": whole["model"],
        "warnings": whole["warnings"],
        **({"broken_off": answer.broken_off} if answer.broken_off else {}),
    }


def _short(hit: Hit, room: int) -> dict[str, Any]:
    text = hit.text if len(hit.text) <= room else hit.text[:room] + " […]"
    kept = without_blanks(hit.to_dict(), _PLACE)
    return {"path": hit.path, **kept, "score": round(hit.score, 4), "text": text}

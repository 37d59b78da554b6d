"""Values of conversations as JSON for the state, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from lilbee_core.types import (
    Attachment,
    ChunkId,
    Citation,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    DocumentId,
    Location,
    ReplyState,
    Span,
    ToolCall,
    Usage,
    Verdict,
)

Json = Mapping[str, Any]


def info_to(info: ConversationInfo) -> dict[str, object]:
    """Return what is kept of a conversation beside its messages."""
    kept = info.to_dict()
    for name in ("messages", "problem"):
        del kept[name]
    return kept


def info_from(value: Mapping[str, object]) -> ConversationInfo:
    """Return the conversation that `info_to` made `value` of.

    Raises:
        ValueError, TypeError, KeyError: If it did not.
    """
    kept = cast("Json", value)
    compaction = kept.get("compaction")
    return ConversationInfo(
        id=_text(kept["id"]),
        title=_text(kept["title"]),
        titled_by=_text(kept.get("titled_by", "question")),
        created_at=_text(kept["created_at"]),
        updated_at=_text(kept["updated_at"]),
        collections=tuple(_text(one) for one in kept.get("collections", ())),
        scope=_text(kept.get("scope", "raw")),
        prompts=tuple((_text(name), _text(text)) for name, text in dict(kept.get("prompts", {})).items()),
        compaction=None if compaction is None else Compaction(**compaction),
    )


def message_to(message: ConversationMessage) -> dict[str, object]:
    """Return what is kept of a message."""
    return {
        **message.to_dict(),
        "citations": [_citation_to(one) for one in message.citations],
        "rejected": [_citation_to(one) for one in message.rejected],
        "attachments": [{**one.to_dict(), "text": one.text, "file": one.file} for one in message.attachments],
        "tool_calls": [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in message.tool_calls],
    }


def message_from(value: Mapping[str, object]) -> ConversationMessage:
    """Return the message that `message_to` made `value` of.

    Raises:
        ValueError, TypeError, KeyError: If it did not.
    """
    kept = cast("Json", value)
    usage = kept.get("usage")
    return ConversationMessage(
        id=_text(kept["id"]),
        role=_text(kept["role"]),
        content=_text(kept["content"]),
        created_at=_text(kept["created_at"]),
        reply_to=kept.get("reply_to"),
        state=ReplyState(kept.get("state", "done")),
        reasoning=_text(kept.get("reasoning", "")),
        reasoning_seconds=float(kept.get("reasoning_seconds", 0.0)),
        seconds=float(kept.get("seconds", 0.0)),
        found=kept.get("found"),
        model=kept.get("model"),
        query=_text(kept.get("query", "")),
        citations=_citations(kept.get("citations", ())),
        rejected=_citations(kept.get("rejected", ())),
        warnings=tuple(_text(one) for one in kept.get("warnings", ())),
        attachments=tuple(_attachment(one) for one in kept.get("attachments", ())),
        tool_calls=tuple(ToolCall(**one) for one in kept.get("tool_calls", ())),
        usage=None if usage is None else Usage(**usage),
        context_tokens=kept.get("context_tokens"),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _attachment(value: Json) -> Attachment:
    return Attachment(
        name=_text(value["name"]),
        media_type=_text(value["media_type"]),
        text=_text(value["text"]),
        source=_text(value.get("source", "")),
        file=value.get("file"),
        size=int(value.get("size", 0)),
    )


def _citation_to(citation: Citation) -> dict[str, object]:
    return {
        **citation.to_dict(),
        "answer_span": _span_to(citation.answer_span),
        "quote_span": _span_to(citation.quote_span),
        **({"sources": [_citation_to(one) for one in citation.sources]} if citation.sources else {}),
    }


def _span_to(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _citations(values: Sequence[Json]) -> tuple[Citation, ...]:
    return tuple(_citation(one) for one in values)


def _citation(value: Json) -> Citation:
    answer, quote = value.get("answer_span"), value.get("quote_span")
    return Citation(
        marker=int(value["marker"]),
        chunk_id=ChunkId(_text(value["chunk_id"])),
        document_id=DocumentId(_text(value["document_id"])),
        collection=_text(value["collection"]),
        path=_text(value["path"]),
        quote=_text(value["quote"]),
        location=Location(
            line_start=value.get("line_start"),
            line_end=value.get("line_end"),
            page_start=value.get("page_start"),
            page_end=value.get("page_end"),
            label=value.get("label"),
            member=value.get("member"),
        ),
        answer_span=None if answer is None else Span(*answer),
        quote_span=None if quote is None else Span(*quote),
        verdict=Verdict(value.get("verdict", "supported")),
        stale=bool(value.get("stale", False)),
        url=value.get("url"),
        sources=_citations(value.get("sources", ())),
    )

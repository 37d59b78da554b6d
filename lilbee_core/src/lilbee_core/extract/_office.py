"""What readers of office files hand over: the text that was written, and what the file says about itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lilbee_core.extract._reading import check_length
from lilbee_core.types import Document

if TYPE_CHECKING:
    from lilbee_core.extract._package import Facts
    from lilbee_core.extract._writer import TextWriter
    from lilbee_core.protocols import ExtractContext
    from lilbee_core.types import Source


def written(
    source: Source,
    context: ExtractContext,
    out: TextWriter,
    facts: Facts,
    *,
    warnings: Iterable[str],
    title: str | None = None,
) -> Document:
    """Return the document that was written; `title` is what it is called where its facts do not say.

    Raises:
        LimitExceeded: If the text is too long.
    """
    text = out.text
    check_length(source, text, context)
    return Document(
        path=source.path,
        collection=source.collection,
        media_type=source.media_type,
        text=text,
        title=facts.get("title") or title,
        date=facts.date,
        metadata=facts.metadata(),
        has_lines=False,
        segments=tuple(out.segments),
        headings=tuple(out.headings),
        warnings=tuple(warnings),
    )

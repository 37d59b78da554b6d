"""Markdown: the file as it stands, its headings, and what its front matter says."""

from __future__ import annotations

from lilbee_core.extract._front_matter import read_front_matter
from lilbee_core.extract._headings import markdown_headings
from lilbee_core.extract._reading import read_text
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Source


class MarkdownExtractor:
    """Reads Markdown without rewriting it: the text is the whole file, `body_start` is where the prose begins.

    Title, date, language and tags come from the front matter, else the title is the first heading of level 1.
    Threads may share it.
    """

    name = "markdown"
    version = "1"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the whole text with its headings.

        Raises:
            ExtractError: If the file cannot be read, is no text or is too long.
        """
        decoded = read_text(source, context)
        front = read_front_matter(decoded.text)
        headings = markdown_headings(decoded.text, start=front.body_start)
        first = next((heading.title for heading in headings if heading.level == 1), None)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=decoded.text,
            title=front.title or first,
            language=front.language,
            date=front.date,
            metadata=front.metadata,
            body_start=front.body_start,
            headings=headings,
            warnings=tuple(one for one in (decoded.warning, front.warning) if one),
        )

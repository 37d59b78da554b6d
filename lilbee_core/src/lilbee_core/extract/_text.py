"""Plain text of any kind: notes, logs, subtitles, configuration, light markup with its headings."""

from __future__ import annotations

from lilbee_core.extract._reading import read_text
from lilbee_core.extract._titles import headings_of
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source


class TextExtractor:
    """Reads text as it stands: the document's lines are those of the file. Threads may share it."""

    name = "text"
    version = "2"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the whole text.

        Raises:
            ExtractError: If the file cannot be read, is no text or is too long.
        """
        decoded = read_text(source, context)
        headings = headings_of(decoded.text, source.media_type)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=decoded.text,
            metadata=Metadata(encoding=decoded.encoding) if decoded.encoding != "utf-8" else Metadata(),
            title=next((one.title for one in headings if one.level == 1), None),
            headings=headings,
            warnings=(decoded.warning,) if decoded.warning else (),
        )

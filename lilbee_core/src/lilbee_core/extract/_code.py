"""Source code: the text as it stands, and the definitions in it."""

from __future__ import annotations

from lilbee_core.extract._languages import language_of, language_of_media_type
from lilbee_core.extract._reading import read_text
from lilbee_core.extract._symbols import MAX_BYTES, symbols_of
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source

_HEAD_CHARS = 8192


class CodeExtractor:
    """Reads source code with its definitions. Threads may share it.

    Runs in a worker: a grammar that does not return can only be ended together with its process.
    """

    name = "code"
    version = "1"
    in_process = False

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the whole text, with a symbol for every definition.

        Files over two megabytes and languages without a grammar give their text alone.

        Raises:
            ExtractError: If the file cannot be read, is no text or is too long.
        """
        decoded = read_text(source, context)
        head = decoded.text[:_HEAD_CHARS].encode("utf-8", "replace")
        language = language_of_media_type(source.media_type) or language_of(source.path, head)
        warnings = [decoded.warning] if decoded.warning else []
        if language and len(decoded.text) > MAX_BYTES:
            warnings.append(
                f"{source.path} is too long to look for definitions in it; its text is indexed as it stands"
            )
        metadata = {"encoding": decoded.encoding} if decoded.encoding != "utf-8" else {}
        if language:
            metadata["programming_language"] = language
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=f"text/x-{language}" if language else source.media_type,
            text=decoded.text,
            symbols=symbols_of(decoded.text, language) if language else (),
            metadata=Metadata(**metadata),
            warnings=tuple(warnings),
        )

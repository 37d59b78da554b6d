"""Mailboxes in one file: each message is a part of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes

from lilbee_core.extract._mail import MailParts, headers_of, shown
from lilbee_core.extract._reading import check_length, damaged, read_bytes
from lilbee_core.extract._writer import TextWriter
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source

_START = re.compile(rb"^From [^\r\n]{1,300}\r?\n", re.MULTILINE)
_MAX_SUBJECT_CHARS = 80


class MboxExtractor:
    """Reads mailboxes (mbox), in a worker process. Attachments are named, not read."""

    name = "mbox"
    version = "1"
    in_process = False

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return all messages in the order of the file; a hit names its message.

        Raises:
            ExtractError: If the file is no mailbox, cannot be read or is too long.
        """
        out = TextWriter()
        for number, data in enumerate(_messages(read_bytes(source)), start=1):
            message = message_from_bytes(data)
            headers = headers_of(message)
            parts = MailParts(context)
            parts.walk(message)
            part = TextWriter()
            part.block("\n\n".join(shown(headers, parts)))
            subject = headers.get("Subject", "")[:_MAX_SUBJECT_CHARS]
            out.part(part, label=f"message {number}: {subject}" if subject else f"message {number}")
            context.check()
        if not out.segments:
            raise damaged(source, "it holds no messages")
        text = out.text
        check_length(source, text, context)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=text,
            metadata=Metadata(messages=len(out.segments)),
            has_lines=False,
            segments=tuple(out.segments),
        )


def _messages(data: bytes) -> Iterator[bytes]:
    starts = list(_START.finditer(data))
    for match, following in zip(starts, [*starts[1:], None], strict=False):
        yield data[match.end() : following.start() if following is not None else len(data)]

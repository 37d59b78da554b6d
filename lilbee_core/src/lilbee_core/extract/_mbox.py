"""Mailboxes in one file: each message is a part of the document, its attachments are members."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes

from lilbee_core.errors import LimitExceeded
from lilbee_core.extract._mail import MailParts, attached, headers_of, shown
from lilbee_core.extract._members import Joined, Member, MemberReader, Nesting
from lilbee_core.extract._reading import check_length, damaged, read_bytes
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Metadata, Source

_START = re.compile(rb"^From [^\r\n]{1,300}\r?\n", re.MULTILINE)
_MAX_SUBJECT_CHARS = 80


class MboxExtractor(Nesting):
    """Reads mailboxes (mbox), in a worker process."""

    name = "mbox"
    version = "2"
    in_process = False

    def inside(self, members: MemberReader) -> Extractor:
        return MboxExtractor(members)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        for _, _, parts in _messages(source, context):
            yield from attached(parts, reader)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return all messages in the order of the file, each followed by what is attached to it.

        Attachments beyond the limits of an archive are named in a warning; the messages are read all the same.

        Raises:
            ExtractError: If the file is no mailbox, cannot be read or is too long.
        """
        joined = Joined()
        reader = self.reader(source)
        count = members = 0
        full = False
        for label, body, parts in _messages(source, context):
            count += 1
            joined.append(body, label)
            try:
                for member in () if full else attached(parts, reader):
                    joined.add_read(reader.read(member, context), member.name, members, "attachment")
                    members += 1
            except LimitExceeded as error:
                full = True
                joined.warn(f"attachments from {label} on not read: {error.message}")
        if not joined.segments:
            raise damaged(source, "it holds no messages")
        text = joined.text
        check_length(source, text, context)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=text,
            metadata=Metadata(messages=count),
            has_lines=False,
            segments=tuple(joined.segments),
            headings=tuple(joined.headings),
            warnings=joined.warnings,
            scans=tuple(joined.scans),
            tables=tuple(joined.tables),
        )


def _messages(source: Source, context: ExtractContext) -> Iterator[tuple[str, str, MailParts]]:
    """Yield what each message is called, its text and its parts."""
    for number, data in enumerate(_pieces(read_bytes(source)), start=1):
        context.check()
        message = message_from_bytes(data)
        headers = headers_of(message)
        parts = MailParts(context)
        parts.walk(message)
        subject = headers.get("Subject", "")[:_MAX_SUBJECT_CHARS]
        label = f"message {number}: {subject}" if subject else f"message {number}"
        yield label, "\n\n".join(shown(headers, parts)), parts


def _pieces(data: bytes) -> Iterator[bytes]:
    starts = list(_START.finditer(data))
    for match, following in zip(starts, [*starts[1:], None], strict=False):
        yield data[match.end() : following.start() if following is not None else len(data)]

"""Mail: who, what, when, the text once, and the attachments by their own readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import collapse_rfc2231_value

from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._decode import NotText, decode
from lilbee_core.extract._html import read_page
from lilbee_core.extract._loose import items
from lilbee_core.extract._members import Joined, Member, MemberReader, Nesting, held
from lilbee_core.extract._reading import check_length, damaged, no_text, read_bytes
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Metadata, Source

_SHOWN = ("Subject", "From", "To", "Cc", "Date")
_MAX_PARTS = 1000
_MAX_DEPTH = 50
_TOO_MANY = f"parts of the mail beyond {_MAX_PARTS}, or nested too deeply, were left out"
_MAX_HEADER_CHARS = 2000
_STUB_CHARS = 200


class MailExtractor(Nesting):
    """Reads a mail, or a web page saved as one (``.mht``). Attachments are members of the document."""

    name = "mail"
    version = "2"
    in_process = False

    def inside(self, members: MemberReader) -> Extractor:
        return MailExtractor(members)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        parts = MailParts(context)
        parts.walk(_message(source))
        return attached(parts, reader)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return headers, text and the text of attachments.

        Raises:
            ExtractError: If the file is no mail, cannot be read or is too long.
        """
        message = _message(source)
        headers = headers_of(message)
        parts = MailParts(context)
        parts.walk(message)
        if not headers and not parts.bodies:
            raise damaged(source, "it has no headers of a mail")
        saved_page = source.media_type == "multipart/related"
        text = Joined("\n\n".join(shown(headers, parts, saved_page=saved_page)))
        reader = self.reader(source)
        text.add_all(attached(parts, reader), reader, context, "attachment")
        if not text.scans and not any(char.isalnum() for char in text.text):
            raise no_text(source)
        check_length(source, text.text, context)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=text.text,
            title=headers.get("Subject") or parts.title,
            language=parts.language,
            date=iso_date(headers.get("Date")),
            metadata=_metadata(headers, parts),
            has_lines=False,
            segments=tuple(text.segments),
            headings=tuple(text.headings),
            warnings=(*parts.warnings, *text.warnings),
            scans=tuple(text.scans),
            tables=tuple(text.tables),
        )


def attached(parts: MailParts, reader: MemberReader) -> Iterator[Member]:
    """Yield what is attached to a mail, counted against a reader's budget."""
    for name, data in parts.attachments:
        reader.spend(len(data))
        yield held(name, data)


def _message(source: Source) -> Message:
    return message_from_bytes(_mail_bytes(read_bytes(source)))


def headers_of(message: Message) -> dict[str, str]:
    """Return the headers that people read."""
    return {name: header for name in (*_SHOWN, "Message-ID") if (header := header_text(message, name))}


def shown(headers: dict[str, str], parts: MailParts, *, saved_page: bool = False) -> Iterator[str]:
    """Yield the block of headers and the bodies of a mail."""
    lines = [f"{name}: {headers[name]}" for name in _SHOWN if name in headers and not saved_page]
    if parts.names and not saved_page:
        lines.append(f"Attachments: {', '.join(parts.names)}")
    if lines:
        yield "\n".join(lines)
    yield from parts.bodies


def _metadata(headers: dict[str, str], parts: MailParts) -> Metadata:
    names = {"From": "author", "To": "to", "Cc": "cc", "Message-ID": "message_id"}
    found: dict[str, object] = {names[name]: value for name, value in headers.items() if name in names}
    if parts.names:
        found["attachments"] = parts.names
    return Metadata(found)


def _mail_bytes(data: bytes) -> bytes:
    """Undo what programs wrap around a mail: UTF-16 and Apple Mail's length line."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = decode(data).text.encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    first, newline, rest = data.partition(b"\n")
    if newline and first.strip().isdigit():
        return rest[: int(first)]
    return data


def header_text(message: Message, name: str) -> str:
    """Return a header as people read it, whatever its encoding."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return _words(str(raw))[:_MAX_HEADER_CHARS]


def _words(raw: str) -> str:
    try:
        value = decode(raw.encode("ascii", "surrogateescape")).text
    except (UnicodeEncodeError, NotText):
        value = raw.encode("utf-8", "replace").decode()
    value = re.sub(r"\n[ \t]+", " ", value)
    try:
        parts = decode_header(value)
    except (ValueError, LookupError, MessageError):
        return " ".join(value.split())
    return " ".join("".join(_word(text, charset) for text, charset in parts).split())


def _word(text: bytes | str, charset: str | None) -> str:
    if isinstance(text, str):
        return text
    try:
        return decode(text, declared=charset).text if charset else text.decode("utf-8")
    except (NotText, UnicodeDecodeError):
        return text.decode("latin-1")


@dataclass(slots=True)
class MailParts:
    """What a mail consists of."""

    context: ExtractContext
    bodies: list[str] = field(default_factory=list[str])
    attachments: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    names: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    title: str | None = None
    language: str | None = None
    seen: int = 0

    def walk(self, part: Message, depth: int = 0) -> None:
        """Collect bodies and attachments of a part and what lies in it."""
        self.seen += 1
        if self.seen > _MAX_PARTS or depth > _MAX_DEPTH:
            if _TOO_MANY not in self.warnings:
                self.warnings.append(_TOO_MANY)
            return
        self.context.check()
        kind = part.get_content_type()
        name = _file_name(part)
        if kind == "message/rfc822":
            self._add_mail(part, name)
        elif part.is_multipart():
            self._walk_all(part, kind, depth)
        elif name or part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
            self._add_attachment(part, name, kind)
        elif body := self._body(part, kind):
            self.bodies.append(body)

    def _walk_all(self, part: Message, kind: str, depth: int) -> None:
        children = _children(part)
        if kind == "multipart/alternative":
            self._choose(children, depth)
        elif kind == "multipart/related" and children:
            # The rest are the pictures and styles of the first one.
            self.walk(children[0], depth + 1)
            for child in children[1:]:
                if not child.get("Content-ID") and not child.get("Content-Location"):
                    self.walk(child, depth + 1)
        else:
            for child in children:
                self.walk(child, depth + 1)

    def _choose(self, children: list[Message], depth: int) -> None:
        """Take one of several forms of the same text: the plain one, unless it is a stub."""
        plain = next((child for child in children if child.get_content_type() == "text/plain"), None)
        rich = next((child for child in children if child.get_content_type() != "text/plain"), None)
        text = self._body(plain, "text/plain") if plain is not None else ""
        if rich is not None and len(text) < _STUB_CHARS:
            forms = MailParts(self.context)
            forms.walk(rich, depth + 1)
            longest = "\n\n".join(forms.bodies)
            self.attachments += forms.attachments
            self.names += forms.names
            self.title, self.language = self.title or forms.title, self.language or forms.language
            if len(longest) > 3 * len(text):
                text = longest
        elif rich is not None and rich.is_multipart():
            forms = MailParts(self.context)
            forms.walk(rich, depth + 1)
            self.attachments += forms.attachments
            self.names += forms.names
        if text:
            self.bodies.append(text)

    def _body(self, part: Message, kind: str) -> str:
        data = _payload(part)
        try:
            decoded = decode(data, declared=part.get_content_charset())
        except NotText:
            self.warnings.append("a part of the mail is no text and was left out")
            return ""
        if kind != "text/html":
            return decoded.text.strip("\n")
        page = read_page(decoded.text, self.context)
        self.title = self.title or page.title
        self.language = self.language or page.language
        return page.text

    def _add_attachment(self, part: Message, name: str, kind: str) -> None:
        if kind.startswith(("image/", "audio/", "video/")) and not name:
            return
        data = _payload(part)
        if data or name:
            shown = name or f"part {self.seen}"
            self.names.append(shown)
            self.attachments.append((shown, data))

    def _add_mail(self, part: Message, name: str) -> None:
        inner = next(iter(_children(part)), None)
        if inner is None:
            return
        shown = name or f"{header_text(inner, 'Subject')[:80] or 'message'}.eml"
        shown = shown if shown.lower().endswith(".eml") else f"{shown}.eml"
        self.names.append(shown)
        self.attachments.append((shown, inner.as_bytes()))


def _children(part: Message) -> list[Message]:
    return [child for child in items(part.get_payload()) if isinstance(child, Message)]


def _file_name(part: Message) -> str:
    raw = part.get_param("filename", None, "content-disposition") or part.get_param("name", None, "content-type")
    if not raw:
        return ""
    # Only the last part of a path: the name is for showing and for telling the format.
    return _words(collapse_rfc2231_value(raw)).replace("\\", "/").rsplit("/", 1)[-1]


def _payload(part: Message) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""

"""Mail with attachments, mailboxes and archives: members are cited by name, limits hold, nothing is unpacked."""

from __future__ import annotations

import base64
import gzip
import io
import os
import tarfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, NoText
from lilbee_core.extract._outlook import attachments
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.types import Document
from tests.core.extract._files import docx, paragraph, zipped
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]
EVALUATION = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / "files"


def members(document: Document) -> dict[str | None, str]:
    return {segment.member: segment.span.cut(document.text) for segment in document.segments}


def mail(subject: str = "Hello", body: str = "Body.") -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = subject, "Börje <b@x.example>", "c@x.example"
    message["Date"] = "Mon, 02 Mar 2026 08:15:00 +0100"
    message.set_content(body)
    return message


def test_mail_headers_body_and_facts(document: ReadDocument) -> None:
    found = document("a.eml", mail("Kranführer für Möwenkai", "Der Kran wird geprüft.\n").as_bytes())
    assert found.text == (
        "Subject: Kranführer für Möwenkai\nFrom: Börje <b@x.example>\nTo: c@x.example\n"
        "Date: Mon, 02 Mar 2026 08:15:00 +0100\n\nDer Kran wird geprüft."
    )
    assert (found.title, found.date) == ("Kranführer für Möwenkai", "2026-03-02T08:15:00+01:00")
    assert found.metadata["author"] == "Börje <b@x.example>"


def test_mail_in_two_forms_is_read_once(document: ReadDocument) -> None:
    message = mail(body="Der Kran am Möwenkai.")
    message.add_alternative("<p>Der Kran am <b>M&ouml;wenkai</b>.</p>", subtype="html")
    assert document("a.eml", message.as_bytes()).text.count("Möwenkai") == 1


def test_a_stub_gives_way_to_the_rich_form(document: ReadDocument) -> None:
    message = mail(body="See HTML.")
    message.add_alternative(f"<style>x</style><p>{'The whole story. ' * 9}</p>", subtype="html")
    text = document("a.eml", message.as_bytes()).text
    assert "The whole story. The whole story." in text
    assert "See HTML." not in text


def test_attachments_are_read_by_their_own_readers(document: ReadDocument) -> None:
    message = mail()
    message.add_attachment(
        docx(paragraph("in Word")), maintype="application", subtype="octet-stream", filename="Ü b.docx"
    )
    message.add_attachment("one\ntwo\n", filename="../../notes.txt")
    message.add_attachment(b"\x00\x01\x02" * 99, maintype="application", subtype="octet-stream", filename="x.bin")
    message.add_attachment(mail("Inner", "deep inside"), filename="inner.eml")
    found = document("a.eml", message.as_bytes())
    assert "Attachments: Ü b.docx, notes.txt, x.bin, inner.eml" in found.text
    assert members(found)["Ü b.docx"] == "in Word"
    assert members(found)["notes.txt"] == "one\ntwo"
    assert members(found)["inner.eml"].endswith("deep inside")
    assert found.warnings == ("attachment not read: x.bin is application/octet-stream, which no extractor reads",)
    assert base64.b64encode(docx(paragraph("in Word")))[:40].decode() not in found.text


def test_pictures_of_a_page_are_no_attachments(document: ReadDocument) -> None:
    page = (
        "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n"
        "<title>Saved</title><p>Text of the page</p>\n--b\nContent-Type: image/png\nContent-Location: a.png\n"
        "Content-Transfer-Encoding: base64\n\nAAAA\n--b--\n"
    )
    found = document("a.mht", page.encode())
    assert (found.title, found.text) == ("Saved", "Text of the page")


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: =?no-such-charset?Q?a=FF?=\n\nbody",
        b"Subject: =?utf-8?B?!!!?=\n\nbody",
        b"Subject: raw \xfc\xe4\xf6 bytes\n\nbody",
        b"Content-Type: text/plain; charset=no-such\n\nb\xf6dy",
        b"Content-Type: ;;;\nSubject: x\n\nbody",
        b"Content-Type: multipart/mixed\nSubject: x\n\nno boundary body",
        b"Content-Type: message/rfc822\nSubject: x\n\n",
        b"Subject: x\nContent-Disposition: attachment; filename*=utf-8''%FF%FE\n\nbody",
        b"Date: not a date\nSubject: x\n\nbody",
        b"42\nSubject: Apple\n\nbody",
    ],
)
def test_odd_mails_are_read(data: bytes, document: ReadDocument) -> None:
    assert document("a.eml", data).text


def test_no_mail_is_damaged(read: Read) -> None:
    error = read("a.eml", b"\n\n")
    assert isinstance(error, ExtractError)
    assert error.code == "extract.damaged"


def test_mailboxes_are_read_message_by_message(document: ReadDocument, read: Read) -> None:
    box = b"".join(
        b"From x Mon Mar  2 08:15:00 2026\n" + mail(f"No {n}", f"text {n}").as_bytes() + b"\n" for n in (1, 2)
    )
    found = document("a.mbox", box)
    assert [one.label for one in found.segments] == ["message 1: No 1", "message 2: No 2"]
    assert found.segments[1].span.cut(found.text).endswith("text 2")
    assert isinstance(read("a.mbox", b"nothing"), ExtractError)


# --------------------------------------------------------------------------- archives


def test_archive_members_are_cited_through_all_levels(document: ReadDocument) -> None:
    inner = zipped({"notes/deep.md": "# Deep\nGuillemot\n"})
    found = document(
        "a.zip", zipped({"readme.md": "# Read\nRazorbill\n", "inner.zip": inner, "dir/": "", "x.bin": b"\x00" * 9})
    )
    assert members(found) == {"readme.md": "# Read\nRazorbill", "inner.zip/notes/deep.md": "# Deep\nGuillemot"}
    assert [found.text[one.start :].split("\n")[0] for one in found.headings] == ["# Read", "# Deep"]
    assert found.warnings == ("member not read: x.bin is application/octet-stream, which no extractor reads",)


def test_names_of_members_are_labels_that_lead_nowhere(document: ReadDocument) -> None:
    found = document("a.zip", zipped({"../evil.md": "a", "/abs.md": "b", "c:\\d\\..\\e.md": "c"}))
    assert list(members(found)) == ["evil.md", "abs.md", "c:/d/e.md"]


def test_tar_and_gzip_are_read(document: ReadDocument) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("a.txt", "b/c.txt"):
            entry = tarfile.TarInfo(name)
            entry.size = 5
            archive.addfile(entry, io.BytesIO(b"words"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert members(document("a.tar.gz", buffer.getvalue())) == {"a.txt": "words", "b/c.txt": "words"}
    assert members(document("a.tar", gzip.decompress(buffer.getvalue()))) == {"a.txt": "words", "b/c.txt": "words"}
    assert members(document("notes.txt.gz", gzip.compress(b"words"))) == {"notes.txt": "words"}


def test_archives_too_deep_are_named(document: ReadDocument) -> None:
    data = b"bottom"
    name = "bottom.txt"
    for level in range(MemberLimits().depth + 1):
        data, name = zipped({name: data, f"level{level}.txt": f"level {level}"}), f"level{level}.zip"
    found = document("a.zip", data)
    assert "bottom" not in found.text
    assert any("lies too deep" in warning for warning in found.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.zip", "a.txt.gz"])
def test_bombs_are_refused(name: str, read: Read) -> None:
    zeros = bytes(150 * 1024 * 1024)
    data = zipped({"zeros": zeros}) if name == "a.zip" else gzip.compress(zeros, 1)
    assert isinstance(read(name, data), LimitExceeded)


def test_too_many_members_are_refused(read: Read) -> None:
    assert isinstance(read("a.zip", zipped({f"{n}": "" for n in range(MemberLimits().members + 1)})), LimitExceeded)


def test_headers_in_broken_code_are_read_as_they_stand(document: ReadDocument) -> None:
    found = document("a.eml", b"Subject: =?utf-8?B?Zm9vY?= and =?x\nFrom: a@x.example\n\nwords\n")
    assert "=?utf-8?B?Zm9vY?=" in found.text
    assert "words" in found.text


@pytest.mark.parametrize("name", ["a.zip", "a.gz", "a.tar"])
def test_broken_archives_are_damaged(name: str, read: Read) -> None:
    whole = {"a.zip": zipped({"a": "b" * 99}), "a.gz": gzip.compress(b"b" * 99), "a.tar": b"x" * 700}[name]
    error = read(name, whole[: len(whole) - 20])
    assert isinstance(error, ExtractError)
    assert error.code == "extract.damaged"


def test_archives_of_nothing_readable_hold_no_text(read: Read) -> None:
    assert isinstance(read("a.zip", zipped({"x.bin": b"\x00" * 99})), NoText)


def test_protected_archives_say_so(read: Read) -> None:
    data = bytearray(zipped({"a.txt": "words"}))
    for place in (6, data.index(b"PK\x01\x02") + 8):
        data[place] |= 1
    assert isinstance(read("a.zip", bytes(data)), EncryptedDocument)
    error = read("a.zip", bytes(data), password="wrong")
    assert isinstance(error, EncryptedDocument)


def test_attachments_of_an_outlook_mail_without_any_are_none() -> None:
    assert list(attachments(b"no container")) == []


@pytest.mark.skipif(not (EVALUATION / "msg").is_dir(), reason="LILBEE_EVAL_DIR names no folder with files/msg")
def test_attachments_of_an_outlook_mail_are_members(document: ReadDocument) -> None:
    data = (EVALUATION / "msg" / "with_attachment.msg").read_bytes()
    names = [name for name, _ in attachments(data)]
    found = document("a.msg", data)
    assert names
    assert "This email contains an attachment" in found.text
    read = {one.member for one in found.segments if one.member}
    assert read <= set(names)
    assert read

"""Mail with attachments, mailboxes and archives: members are cited by name, limits hold, nothing is unpacked."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import os
import tarfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from pathlib import Path
from random import Random

import pytest

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, NoText
from lilbee_core.extract._compound import Storage, compound_file
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._mbox import MboxExtractor
from lilbee_core.extract._outlook import attachments
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.types import Document, Source
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


def test_a_mail_of_very_many_parts_says_what_was_left_out(document: ReadDocument) -> None:
    message = mail(body="The first part.")
    for number in range(1_100):
        message.add_attachment("x", filename=f"{number}.txt")
    found = document("a.eml", message.as_bytes())
    assert "The first part." in found.text
    assert sum("beyond 1000" in warning for warning in found.warnings) == 1


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


def test_attachments_in_mailboxes_are_members_of_their_message(document: ReadDocument) -> None:
    first, second = mail("One", "first"), mail("Two", "second")
    first.add_attachment(docx(paragraph("in Word")), maintype="application", subtype="msword", filename="a.docx")
    second.add_attachment("in a text", filename="b.txt")
    box = b"".join(b"From x Mon Mar  2 08:15:00 2026\n" + one.as_bytes() + b"\n" for one in (first, second))
    found = document("a.mbox", box)
    assert [one.label or one.member for one in found.segments] == [
        "message 1: One",
        "a.docx",
        "message 2: Two",
        "b.txt",
    ]
    assert found.metadata["messages"] == 2


def test_a_mailbox_with_more_attachments_than_allowed_is_read_without_the_rest() -> None:
    message = mail("One", "first")
    for number in range(3):
        message.add_attachment(f"text {number}", filename=f"{number}.txt")
    box = b"".join(b"From x Mon Mar  2 08:15:00 2026\n" + one + b"\n" for one in 2 * [message.as_bytes()])
    source = Source(collection="c", path="a.mbox", media_type="application/mbox", data=box)
    found = MboxExtractor(limits=MemberLimits(members=2)).extract(source, FileContext(max_chars=10**6))
    assert [one.label or one.member for one in found.segments] == ["message 1: One", "0.txt", "1.txt", "message 2: One"]
    assert "attachments from message 1: One on not read" in found.warnings[0]


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
    plain = gzip.decompress(buffer.getvalue())
    for name, pack in (("a.tar.bz2", bz2.compress), ("a.txz", lzma.compress)):
        assert members(document(name, pack(plain))) == {"a.txt": "words", "b/c.txt": "words"}
    assert members(document("notes.md.xz", lzma.compress(b"words"))) == {"notes.md": "words"}
    assert members(document("notes.bz2", bz2.compress(b"words"))) == {"notes": "words"}


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


def locked_member(data: bytes, name: bytes) -> bytes:
    """Return a zip archive one of whose members says that it is encrypted."""
    out = bytearray(data)
    for mark, flags, names in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            if data.startswith(name, at + names):
                out[at + flags] |= 1
    return bytes(out)


def tarred(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


PARTS: dict[str, str | bytes] = {"a.txt": "before", "bad.txt": "Razorbill " * 50, "z.txt": "behind"}


def test_a_member_that_is_locked_or_damaged_costs_itself_alone(document: ReadDocument) -> None:
    whole = zipped(PARTS)
    at = whole.index(b"bad.txt") + len(b"bad.txt")
    damaged = whole[: at + 4] + b"\xff\xff\xff\xff" + whole[at + 8 :]
    for data, why in ((locked_member(whole, b"bad.txt"), "protected by a password"), (damaged, "is damaged")):
        found = document("a.zip", data)
        assert [one.member for one in found.segments] == ["a.txt", "z.txt"]
        (told,) = found.warnings
        assert "bad.txt" in told
        assert why in told
    assert (
        "the given password does not open it"
        in document("a.zip", locked_member(whole, b"bad"), password="x").warnings[0]
    )


def test_what_follows_a_damaged_entry_of_a_tar_archive_is_told(document: ReadDocument) -> None:
    whole = tarred({name: str(text).encode() for name, text in PARTS.items()})
    at = whole.index(b"bad.txt")
    found = document("a.tar", whole[:at] + b"\xff" * 512 + whole[at + 512 :])
    assert [one.member for one in found.segments] == ["a.txt"]
    assert found.warnings == ("what follows the first 1 entries is damaged and was not read",)
    cut = document("a.tar", whole[: at + 600])
    assert [one.member for one in cut.segments] == ["a.txt"]
    assert "bad.txt is damaged: it is cut short" in cut.warnings[0]


PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKERS)
def test_packed_files_are_read_as_far_as_they_are_whole(ending: str, document: ReadDocument, read: Read) -> None:
    pack, name = PACKERS[ending], f"notes.txt.{ending}"
    lines = "".join(f"line {number} {Random(number).random()}\n" for number in range(40_000))
    whole = pack(lines.encode())
    assert document(name, whole + b"\0" * 512).warnings == ()
    assert document(name, whole + pack(b"and more")).text == f"{lines}and more"
    trailing = document(name, whole + b"signature")
    assert (trailing.text, trailing.warnings) == (lines.rstrip("\n"), ("the last 9 bytes of it are no part of it",))
    cut = document(name, whole[: len(whole) // 2] if ending == "gz" else whole[:-20])
    assert lines.startswith(cut.text[:1000])
    assert len(cut.text) > 100_000
    assert any("behind its first" in warning for warning in cut.warnings)
    archive = pack(tarred({"dir/x.txt": b"inside"}))
    assert document(f"a.tar.{ending}", archive + b"signature").text == "inside"
    assert isinstance(read(name, whole[:12]), ExtractError)


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


def outlook(subject: str, body: str, *attached: Storage, alone: bool = True) -> Storage:
    """Return a mail of Outlook; one that is not `alone` lies in another one."""
    texts = {"001A": "IPM.Note", "0037": subject, "1000": body, "0C1A": "Ada", "0C1F": "ada@x.example"}
    head = bytes(32 if alone else 24)
    mail = Storage({f"__substg1.0_{tag}001F": text.encode("utf-16-le") for tag, text in texts.items()})
    mail.streams["__properties_version1.0"] = head
    to = Storage(
        {"__properties_version1.0": bytes(8), "__substg1.0_3003001F": f"{subject}@x.example".encode("utf-16-le")}
    )
    mail.storages["__recip_version1.0_#00000000"] = to
    mail.storages |= {f"__attach_version1.0_#{number:08}": one for number, one in enumerate(attached)}
    return mail


def attachment(name: str, data: bytes) -> Storage:
    streams = {"__substg1.0_3707001F": name.encode("utf-16-le"), "__substg1.0_37010102": data}
    return Storage({"__properties_version1.0": bytes(8), **streams})


def forwarded(mail: Storage) -> Storage:
    return Storage({"__properties_version1.0": bytes(8)}, {"__substg1.0_3701000D": mail})


def test_forwarded_outlook_mails_are_read_with_what_they_carry(document: ReadDocument) -> None:
    long = "\n".join(f"line {number} of a long note" for number in range(900)).encode()
    inner = outlook("Inner/one", "The guillemot.", attachment("deep.txt", long), alone=False)
    data = compound_file(outlook("Outer", "The razorbill.", attachment("a.txt", b"words"), forwarded(inner)))
    found = document("a.msg", data)
    assert members(found)["a.txt"] == "words"
    assert members(found)["Inner one.msg"].endswith("The guillemot.")
    assert members(found)["Inner one.msg/deep.txt"] == long.decode()
    # The engine counts recipients of inner mails as those of the outer one.
    assert "Outer@x.example" in found.text.split("The razorbill.")[0]
    assert "Inner/one@x.example" not in found.text.split("The razorbill.")[0]
    assert members(document("b.zip", zipped({"x/a.msg": data})))["x/a.msg/Inner one.msg/deep.txt"] == long.decode()


def test_compound_files_hold_what_was_put_in() -> None:
    olefile = pytest.importorskip("olefile")
    sizes = (0, 1, 63, 64, 65, 4095, 4096, 4097, 9_000_000)
    root = Storage({f"stream {size}": bytes([size % 251]) * size for size in sizes})
    root.storages["folder"] = Storage(
        {f"s{number}": b"x" * number for number in range(200)}, {"inner": Storage({"a": b"b"})}
    )
    container = olefile.OleFileIO(io.BytesIO(compound_file(root)))
    assert container.parsing_issues == []
    for name, data in root.streams.items():
        assert container.openstream(name).read() == data
    assert container.openstream("folder/s199").read() == b"x" * 199
    assert container.openstream("folder/inner/a").read() == b"b"

"""Files under a password: opened with one of those that are configured, refused in plain words without (S24)."""

from __future__ import annotations

import io
import logging
import random
import zipfile
from collections.abc import Callable

import pytest

from lilbee_core.errors import EncryptedDocument, ExtractError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.types import Document, Source
from tests.core.extract._files import docx, paragraph, pptx, shape, xlsx
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
FILES = {
    "a.docx": docx(paragraph("Bramling at the lock")),
    "a.xlsx": xlsx({"Locks": [["Bramling", "lock"]]}),
    "a.pptx": pptx([shape("Bramling at the lock")]),
}


def locked(data: bytes, password: str = "otter") -> bytes:
    from msoffcrypto.format.ooxml import OOXMLFile

    plain, out = io.BytesIO(data), io.BytesIO()
    with zipfile.ZipFile(plain, "a") as package:
        package.writestr("padding.bin", random.Random(1).randbytes(8192))
        if "[Content_Types].xml" not in package.namelist():
            package.writestr("[Content_Types].xml", TYPES)
    OOXMLFile(plain).encrypt(password, out)
    return out.getvalue()


@pytest.mark.parametrize("name", sorted(FILES))
def test_office_files_open_with_a_configured_password(name: str, document: ReadDocument, read: Read) -> None:
    data = locked(FILES[name])
    assert "Bramling" in document(name, data, password="wrong\notter").text
    for password, words in ((None, "it is protected by a password"), ("wrong", "the given password does not open it")):
        error = read(name, data, password=password)
        assert isinstance(error, EncryptedDocument)
        assert words in error.message
        assert "extract_password" in error.hint
        assert "wrong" not in error.message + error.hint


def test_the_password_that_excel_tries_itself_opens_without_being_asked(document: ReadDocument) -> None:
    assert "Bramling" in document("a.xlsx", locked(FILES["a.xlsx"], "VelvetSweatshop")).text


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_damaged_locked_file_is_no_bug(name: str, read: Read) -> None:
    data = locked(FILES[name])
    for cut in (600, len(data) // 2, len(data) - 700):
        assert isinstance(read(name, data[:cut], password="otter"), ExtractError)


def test_no_password_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    data = locked(FILES["a.docx"])
    source = Source(collection="c", path="a.docx", media_type="", data=data, size=len(data))
    registry = ExtractorRegistry(builtin_extractors())
    with caplog.at_level(logging.DEBUG), ExtractPool(registry, workers=1, password="badger-gate") as pool:
        ((_, result),) = pool.extract([source])
    assert isinstance(result, EncryptedDocument)
    assert "badger-gate" not in caplog.text + result.message + result.hint

"""Opening files: whatever cannot be read says so, and nothing is waited for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lilbee_core.errors import LilbeeError, NotReadable
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.types import Document, Source


def read(file: str | None, media_type: str = "text/plain", name: str = "a.txt") -> Document | LilbeeError:
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=1, timeout_s=20) as pool:
        [(_, result)] = pool.extract([Source(collection="c", path=name, media_type=media_type, file=file)])
    return result


@pytest.mark.parametrize("media_type", ["text/plain", ""])
def test_a_file_that_is_gone(tmp_path: Path, media_type: str) -> None:
    error = read(str(tmp_path / "gone.txt"), media_type)
    assert isinstance(error, NotReadable)
    assert (error.code, error.message) == ("extract.not_readable", "a.txt cannot be read: it is gone")


def test_a_file_that_is_gone_before_a_worker_reads_it(tmp_path: Path) -> None:
    error = read(str(tmp_path / "gone.html"), "text/html", "a.html")
    assert isinstance(error, NotReadable)


def test_a_source_without_content() -> None:
    assert isinstance(read(None), NotReadable)


@pytest.mark.parametrize("media_type", ["text/plain", ""])
def test_a_folder(tmp_path: Path, media_type: str) -> None:
    assert isinstance(read(str(tmp_path), media_type), NotReadable)


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
@pytest.mark.parametrize("media_type", ["text/plain", "", "text/html"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, media_type: str) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert isinstance(read(str(tmp_path / "pipe.txt"), media_type), NotReadable)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no file at hand whose size is not what it says")
def test_a_file_whose_content_is_not_what_was_listed() -> None:
    error = read("/proc/self/status")
    assert isinstance(error, NotReadable)
    assert "changed while it was read" in error.message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything may be read")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    file.write_text("words")
    file.chmod(0)
    error = read(str(file))
    assert isinstance(error, NotReadable)
    assert "permission denied" in error.message


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names are Unicode there")
@pytest.mark.parametrize("ending", [b".txt", b".html"])
def test_a_name_that_is_not_utf8(tmp_path: Path, ending: bytes) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9" + ending
    with open(name, "wb") as handle:
        handle.write(b"words")
    result = read(os.fsdecode(name), "", "caf%E9" + ending.decode())
    assert isinstance(result, Document)
    assert result.text == "words"

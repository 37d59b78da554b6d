"""The pool works wherever Python runs, leaves no process behind and nothing under the home folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from lilbee_core.extract import ExtractorRegistry, ExtractPool
from lilbee_core.extract._folders import WorkFolders
from lilbee_core.types import Document, Source
from tests.core.extract import _samples
from tests.core.extract._files import docx, paragraph, pdf

ROOT = Path(__file__).parents[3]
BODY = """
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.types import Source
sources = [Source(collection="c", path="a.docx", media_type="", file={file!r})]
with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=1, timeout_s=30, memory_mb=1024) as pool:
    for source, result in pool.extract(sources):
        print(result.text, len(pool.worker_pids()))
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and folders of POSIX")


@pytest.fixture
def script(tmp_path: Path) -> str:
    file = tmp_path / "a.docx"
    file.write_bytes(docx(paragraph("words")))
    return BODY.format(file=str(file))


def run(arguments: list[str], **more: Any) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return str(done.stdout).strip()


def test_it_works_from_the_command_line(script: str) -> None:
    assert run(["-c", script]) == "words 1"


def test_it_works_from_standard_input(script: str) -> None:
    assert run(["-"], input=script) == "words 1"


def test_it_works_in_a_script_without_a_guard(script: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(script)
    # A module in the folder of the script must not stand in for one of ours.
    (tmp_path / "kreuzberg.py").write_text("raise ImportError('not this one')")
    assert run([str(tmp_path / "script.py")]) == "words 1"


def test_it_works_in_a_folder_that_is_gone(script: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n{script}"
    assert run(["-c", code]) == "words 1"


def test_it_works_under_a_running_event_loop(script: str) -> None:
    body = "".join(f"    {line}\n" for line in script.strip().splitlines())
    assert run(["-c", f"import asyncio\nasync def main():\n{body}asyncio.run(main())"]) == "words 1"


def test_modules_beside_the_working_folder_are_not_imported(script: str, tmp_path: Path) -> None:
    (tmp_path / "zipfile.py").write_text("raise ImportError('not this one')")
    code = f"import sys; sys.path = [entry for entry in sys.path if entry]\n{script}"
    assert run(["-c", code], cwd=tmp_path) == "words 1"


def test_nothing_is_written_at_home(tmp_path: Path) -> None:
    home, cache = tmp_path / "home", tmp_path / "cache"
    home.mkdir()
    file = tmp_path / "a.pdf"
    file.write_bytes(pdf([(11, "words")]))
    code = BODY.format(file=str(file)).replace("a.docx", "a.pdf").replace(
        "memory_mb=1024", f"memory_mb=1024, cache_dir=__import__('pathlib').Path({str(cache)!r})"
    )  # fmt: skip
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": ""}
    assert run(["-c", code], env=environment) == "words 1"
    assert list(home.rglob("*")) == []


def test_a_temporary_cache_is_removed(tmp_path: Path, script: str) -> None:
    assert run(["-c", script], env={**os.environ, "TMPDIR": str(tmp_path)}) == "words 1"
    assert [path.name for path in tmp_path.iterdir()] == ["a.docx"]


def test_native_libraries_are_unpacked_where_nobody_else_can_write(tmp_path: Path) -> None:
    file, native = tmp_path / "a.pdf", tmp_path / "user" / "native"
    file.write_bytes(pdf([(11, "words")]))
    shared = tmp_path / "shared"
    shared.mkdir()
    code = BODY.format(file=str(file)).replace("a.docx", "a.pdf").replace(
        "memory_mb=1024", f"memory_mb=1024, native_dir=__import__('pathlib').Path({str(native)!r})"
    )  # fmt: skip
    assert run(["-c", code], env={**os.environ, "TMPDIR": str(shared)}) == "words 1"
    assert [path.name for path in native.rglob("*") if path.is_file()]
    assert native.stat().st_mode & 0o077 == 0
    assert list(shared.iterdir()) == []


def test_a_folder_that_is_a_link_or_not_ours_is_not_used(tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "link"
    elsewhere.mkdir()
    link.symlink_to(elsewhere)
    folders = WorkFolders(None, link)
    try:
        assert Path(folders.native()) not in (link, elsewhere)
        assert Path(folders.native()).stat().st_mode & 0o077 == 0
    finally:
        folders.remove()
    assert not Path(folders._own or tmp_path / "gone").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_die_with_their_parent(number: signal.Signals, tmp_path: Path) -> None:
    code = f"""
import sys, threading, time
sys.path.insert(0, {str(ROOT)!r})
from lilbee_core.extract import ExtractorRegistry, ExtractPool
from lilbee_core.types import Source
from tests.core.extract import _samples
pool = ExtractPool(ExtractorRegistry(_samples.SPECS), workers=2, timeout_s=600, memory_mb=1024)
sources = [Source(collection="c", path=str(n), media_type="x-acme/hang", data=b"") for n in range(2)]
threading.Thread(target=lambda: list(pool.extract(sources)), daemon=True).start()
while len(pool.worker_pids()) < 2:
    time.sleep(0.02)
print(*pool.worker_pids(), flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        parent.send_signal(number)
        parent.wait(timeout=10)
        assert _gone(workers)
    finally:
        parent.kill()
        parent.wait()
        if parent.stdout is not None:
            parent.stdout.close()


def _gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_worker_killed_from_outside_costs_one_file() -> None:
    registry = ExtractorRegistry(_samples.SPECS)
    sources = [Source(collection="c", path=str(n), media_type="x-acme/slow", data=b"") for n in range(3)]
    with ExtractPool(registry, workers=1, timeout_s=30, memory_mb=1024) as pool:
        iterator = pool.extract(sources)
        next(iterator)
        os.kill(pool.worker_pids()[0], signal.SIGKILL)
        assert all(isinstance(result, Document) for _, result in iterator)


def test_workers_are_replaced_now_and_then() -> None:
    registry = ExtractorRegistry(_samples.SPECS)
    sources = [Source(collection="c", path=str(n), media_type="x-acme/count", data=b"") for n in range(5)]
    with ExtractPool(registry, workers=1, timeout_s=30, memory_mb=1024, recycle_after=2) as pool:
        counts = [result.text.split() for _, result in pool.extract(sources) if isinstance(result, Document)]
    assert [count for _, count in counts] == ["1", "2", "1", "2", "1"]
    assert len({pid for pid, _ in counts}) == 3

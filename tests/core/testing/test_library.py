"""A library to test with, and the fixtures for pytest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lilbee_core.errors import LibraryError
from lilbee_core.events import SyncFinished
from lilbee_core.settings import Settings
from lilbee_core.testing import RecordingSink, ScriptedChat, open_test_library

FILES = {"notes/bees.md": "# Bees\n\nBees find home by the sun.\n", "raw.txt": b"Honey keeps.\n"}

CONFTEST = 'pytest_plugins = ["lilbee_core.testing.plugin"]\n'
SUITE = """
from lilbee_core.errors import LibraryError
from lilbee_core.testing.contracts import ChatProviderContract
import pytest

opened = []

def test_fixtures(manual_clock, recording_sink, hash_embedder, test_library):
    manual_clock.advance(1)
    bee = test_library(files={"a.md": "Bees find home."}, events=recording_sink, embedder=hash_embedder)
    assert bee.search("bees").hits
    assert recording_sink.events and hash_embedder.texts
    opened.append(bee)

def test_the_library_was_closed():
    with pytest.raises(LibraryError):
        opened[0].status()

class Silent:
    def chat(self, messages, options=None):
        return iter(())

class TestSilent(ChatProviderContract):
    def make(self):
        return Silent()
"""


@pytest.mark.slow
def test_files_are_written_and_searchable() -> None:
    with open_test_library(files=FILES) as bee:
        assert bee.search("bees find home")[0].path == "notes/bees.md"
        assert {row.path for row in bee.documents()} == set(FILES)
        assert bee.status().embedder == "fake/hash"
        root = bee.root
    assert root is not None
    assert not root.exists()
    with pytest.raises(LibraryError):
        bee.status()


@pytest.mark.slow
def test_the_folder_may_be_given_and_stays(tmp_path: Path) -> None:
    events = RecordingSink()
    with open_test_library(files=FILES, root=tmp_path / "library", events=events) as bee:
        assert bee.root == tmp_path / "library"
    assert (tmp_path / "library" / "raw.txt").read_bytes() == b"Honey keeps.\n"
    assert [event.added for event in events.of(SyncFinished)] == [2]


@pytest.mark.slow
def test_settings_decide_and_the_environment_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_TOP_K", "1")
    chosen = Settings().changed({"embedding_model": "none"})
    with open_test_library(files={"a.md": "bees", "b.md": "bees too"}, settings=chosen) as bee:
        assert bee.status().embedder is None
        assert len(bee.search("bees")) == 2


@pytest.mark.slow
def test_a_chat_answers() -> None:
    with open_test_library(files=FILES, chat=ScriptedChat("They use the sun [1].")) as bee:
        assert bee.ask("how do bees find home?").text.startswith("They use the sun")


def test_without_files_nothing_is_read() -> None:
    with open_test_library() as bee:
        assert not bee.data_dir.exists()


@pytest.mark.slow
def test_the_fixtures_work_and_failed_checks_are_told(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    options = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-c", str(tmp_path / "none.ini"))
    (tmp_path / "none.ini").write_text("[pytest]\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LILBEE_")}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=tmp_path,
        env={**kept, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert re.search(r"4 failed, 2 passed", result.stdout), result.stdout
    assert "AssertionError: it answered nothing\nE       assert []" in result.stdout

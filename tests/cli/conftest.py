"""A small library and a command line over it, in one process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lilbee_cli.main import run

Run = Callable[..., "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Read stdout, which must hold one JSON document and nothing else."""
        return json.loads(self.out)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / "garden").mkdir(parents=True)
    (root / "bees.md").write_text(
        "---\ntitle: On bees\n---\n# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8"
    )
    (root / "garden" / "plums.txt").write_text("line one\nThe plum tree bears damsons.\nline three\n", encoding="utf-8")
    return root


@pytest.fixture
def lilbee(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LILBEE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(folder)

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = run(arguments)
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return call


@pytest.fixture
def synced(lilbee: Run, folder: Path) -> Run:
    assert lilbee("init", str(folder)).code == 0
    assert lilbee("sync").code == 0
    return lilbee

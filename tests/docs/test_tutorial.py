"""The tutorial does what it says: its commands run in the order of the page, and its pictures are there."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from lilbee_cli.main import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial" / "index.md"
PICTURES = PAGE.parent / "pictures"
MOST_BYTES = 150_000
TEXT = PAGE.read_text("utf-8")
LEFT_OUT = ("pip", "cd", "lilbee tui", "lilbee serve")
"""What installs, or stays until somebody leaves it; the screens and the page have their own tests."""
NEEDS_GRAPH = ("lilbee topics", "lilbee related", "lilbee graph", "lilbee wiki")
SAYS = {
    "lilbee sync": "16 added",
    "lilbee status": "with vectors",
    "lilbee status --plot": "Files by state",
    "lilbee explain welcome.md": "indexed",
    'lilbee search "winter stores"': "handbook.pdf p. 4",
    'lilbee search "winter stores path:notes/"': "notes/",
    'lilbee search "winter stores" --explain': "->",
    "lilbee show handbook.pdf#page=4": "Winter stores",
    'lilbee ask "When did hive seven swarm, and who caught it?"': "[2] notes/hive-seven.md:37-38",
    "lilbee show notes/hive-seven.md:37-38": "24 May 2025",
    'lilbee ask "What is the capital of Mongolia?"': "Not found",
    "lilbee conversation list": "hive seven",
    "lilbee topics": "swarm",
    "lilbee related swarm": "pear tree",
}


def commands() -> list[str]:
    """The commands of the page, in its order."""
    blocks = re.findall(r"^```console\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.slow
def test_its_commands_run_and_show_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = shutil.copytree(ROOT / "examples" / "library", tmp_path / "library",
                              ignore=shutil.ignore_patterns(".lilbee"))  # fmt: skip
    monkeypatch.chdir(library)
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LILBEE_DATA_DIR", "")
    monkeypatch.delenv("LILBEE_DATA_DIR")
    said: dict[str, str] = {}
    for command in commands():
        if command.startswith(LEFT_OUT) or (command.startswith(NEEDS_GRAPH) and find_spec("leidenalg") is None):
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = run(shlex.split(command)[1:])
        # Of what it does not know, `ask` says so by its code as well.
        assert code in ((0, 3) if "Mongolia" in command else (0,)), (command, out.getvalue())
        said.setdefault(command, out.getvalue())
    for command, part in SAYS.items():
        assert command in commands()
        assert command not in said or part in said[command], (command, said[command])
    assert {"status.svg"} <= {one.name for one in library.iterdir()}


def test_its_pictures_are_there_small_and_told_in_words() -> None:
    shown = re.findall(r"!\[([^\]]*)\]\(pictures/([^)]+)\)", TEXT)
    assert {name for _, name in shown} == {one.name for one in PICTURES.iterdir()}
    for words, name in shown:
        file = PICTURES / name
        assert len(words) > 30, name
        assert 0 < file.stat().st_size <= MOST_BYTES, name
        if name.endswith(".svg"):
            text = file.read_text("utf-8")
            assert text.lstrip().startswith("<svg")
            # They fetch nothing: a page that shows them may be read without a network.
            assert not re.search(r"url\(\s*['\"]?https?:|href=", text), name

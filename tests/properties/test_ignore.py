"""Ignore files mean what git means by them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lilbee_core.ingest import Found, Root, Walk, WalkOptions

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

NAMES = ("a", "b", "ab", "a.md", "b.log", ".x", "a b")
PIECES = ("a", "b", "ab", ".", ".md", "*", "**", "?", "/", "[ab]", "[!a]", "[^b]", "[a-", "[[:alpha:]]", "]", "\\", " ")
pattern = st.builds(
    lambda negated, parts, end: negated + "".join(parts) + end,
    st.sampled_from(("", "", "", "!")),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5),
    st.sampled_from(("", "", "/", " ", "\\ ")),
).filter(lambda text: not re.search(r"[^/!]\*\*", text))
# Stars within a name are plain ones, says git's manual; in fact `a**/b` may span folders there if no star is before.
patterns = st.lists(pattern, min_size=1, max_size=5)


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """A repository with every name at three depths, as folder (without an ending) and as file."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made) / "tree"
        for top in ("a", "b", ".x"):
            for inner in ("a", "ab"):
                for name in NAMES:
                    file = root / top / inner / f"{name}"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text("x")
            for name in set(NAMES) - {"a", "ab"}:
                (root / top / name).write_text("x")
        for name in set(NAMES) - {"a", "b", ".x"}:
            (root / name).write_text("x")
        environment = {"PATH": os.environ["PATH"], "HOME": made, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "init", "-q", str(root)], check=True, env=environment)
        yield root


def ignored_by_git(root: Path, files: list[str]) -> set[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin", "-z"],
        input="\0".join(files).encode(), cwd=root, capture_output=True, env=environment, check=False,
    )  # fmt: skip
    return set(filter(None, done.stdout.decode().split("\0")))


@pytest.mark.slow
@settings(max_examples=250)
@given(top=patterns, inner=patterns)
@example(top=["*", "!*/", "!*.md"], inner=["a"])
@example(top=["a/", "!a/"], inner=["!ab"])
@example(top=["/*", "!/a"], inner=["**/a.md", "b\\*"])
@example(top=["**/ab", "a/**/b.log", "x/**"], inner=["[", "[]a]", "a/[ab]"])
@example(top=["!a", "a b\\ ", "\\!a", "\\#a", "#a"], inner=["/", "//", "!"])
def test_files_are_ignored_as_git_ignores_them(tree: Path, top: list[str], inner: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(top))
    (tree / "a" / ".gitignore").write_text("\r\n".join(inner))
    every = [str(path.relative_to(tree)) for path in sorted(tree.rglob("*")) if path.is_file()]
    files = [path for path in every if not path.startswith(".git/")]
    walk = Walk(Root(collection="tree", folder=tree, own=(tree / ".git",)), WalkOptions(default_ignores=False))
    found = {entry.raw for entry in walk if isinstance(entry, Found)}
    assert set(files) - found == ignored_by_git(tree, files)

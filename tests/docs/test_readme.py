"""The two commands of the README are the ones that are run, and links in our pages lead somewhere (R014)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "lilbee_*/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def sh_blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_readme_has_two_commands_of_one_line_run_first() -> None:
    run, test = sh_blocks()
    assert run.count("\n") == test.count("\n") == 1
    assert run.rstrip().endswith("nox -s demo")
    assert test.rstrip().endswith("nox -s tests")


def test_ci_runs_the_test_command_of_the_readme() -> None:
    _, test = sh_blocks()
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines(keepends=True)
    assert test in lines


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = ROOT / page
    targets = [target.partition("#")[0] for target in LINK.findall(path.read_text("utf-8"))]
    local = [target for target in targets if target and "://" not in target and not target.startswith("mailto:")]
    missing = [target for target in local if not (path.parent / target).exists()]
    assert missing == []

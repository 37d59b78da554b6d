"""Set one version in all four distributions: `python tests/tools/set_version.py 0.2.0`.

The version is a literal in each pyproject.toml (and in the core's `__version__`), since a build must not need the
repository; siblings are pinned to exactly the same one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = ("lilbee_core", "lilbee_cli", "lilbee_server", "lilbee_mcp")
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
LITERALS = (
    re.compile(r'(?m)^(version = ")[^"]+(")$'),
    re.compile(r'("lilbee-core==)[^"]+(")'),
    re.compile(r'(?m)^(__version__ = ")[^"]+(")$'),
)


def set_version(text: str, version: str) -> str:
    """Return `text` with every literal of our version replaced."""
    for literal in LITERALS:
        text = literal.sub(rf"\g<1>{version}\g<2>", text)
    return text


def files(root: Path) -> list[Path]:
    """Return the files that hold the version."""
    packages = [root / name / "src" / name / "__init__.py" for name in DISTRIBUTIONS]
    return [root / name / "pyproject.toml" for name in DISTRIBUTIONS] + packages


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or not VERSION.fullmatch(arguments[0]):
        print("usage: set_version.py X.Y.Z (or X.Y.ZaN, X.Y.ZbN, X.Y.ZrcN)", file=sys.stderr)
        return 2
    for path in files(ROOT):
        before = path.read_text("utf-8")
        after = set_version(before, arguments[0])
        if after != before:
            path.write_text(after, "utf-8")
            print(path.relative_to(ROOT).as_posix())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

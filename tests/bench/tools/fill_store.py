"""Write ROWS chunks into a new store in DATA, see `_many`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.tools._many import fill


def main(arguments: Sequence[str]) -> int:
    fill(Path(arguments[0]), int(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

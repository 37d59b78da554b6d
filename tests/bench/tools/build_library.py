"""Index FOLDER with its data in DATA: everything as usual, but the vectors are hashed words."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from lilbee_core import Lilbee
from tests.bench.tools._stand_in import StandIn


def main(arguments: Sequence[str]) -> int:
    folder, data = arguments
    with StandIn() as embedder, Lilbee(folder, data_dir=data, embedder=embedder) as bee:
        report = bee.sync()
        bee.optimize()
    print(json.dumps({"chunks": report.chunks, "added": report.added, "failed": len(report.failed)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

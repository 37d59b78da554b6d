"""Change one note after the other in an open library; say how long each took to be found."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lilbee_core import Lilbee
from tests.bench._world import note


def main(arguments: Sequence[str]) -> int:
    folder, data, times = Path(arguments[0]), arguments[1], int(arguments[2])
    seconds: list[float] = []
    with Lilbee(folder, data_dir=data) as bee:
        bee.sync()
        bee.search("hive")
        for number in range(times):
            word = f"freshly{number}changed{time.time_ns()}"
            began = time.perf_counter()
            path = folder / f"{number // 100:03}" / f"note-{number:05}.md"
            path.write_text(f"{note(number)}\n{word}\n", encoding="utf-8")
            bee.sync()
            hits = bee.search(word, top_k=1).hits
            seconds.append(time.perf_counter() - began)
            if not hits or word not in hits[0].chunk.text:
                raise AssertionError(f"the changed note {number} is not found")
    print(json.dumps({"seconds": seconds}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

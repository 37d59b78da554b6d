"""Index FOLDER into DATA, change a file and sync, TIMES times in one process; then index the files anew into FRESH."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lilbee_core import Lilbee
from tests.bench._measure import folder_bytes, percentile
from tests.bench.tools._stand_in import StandIn


def main(arguments: Sequence[str]) -> int:
    folder, data, fresh, times = Path(arguments[0]), Path(arguments[1]), Path(arguments[2]), int(arguments[3])
    files = sorted(path for path in folder.rglob("*.txt") if path.stat().st_size < 20_000)
    seconds: list[float] = []
    with StandIn() as embedder:
        with Lilbee(folder, data_dir=data, embedder=embedder) as bee:
            bee.sync()
            most = folder_bytes(data)
            for turn in range(times):
                path = files[turn % len(files)]
                path.write_text(f"{path.read_text(encoding='utf-8', errors='replace')}\n# change {turn}\n")
                began = time.perf_counter()
                bee.sync()
                seconds.append(time.perf_counter() - began)
                most = max(most, folder_bytes(data)) if turn % 10 == 0 else most
            chunks = bee.status().chunks
        with Lilbee(folder, data_dir=fresh, embedder=embedder) as bee:
            bee.sync()
            anew = bee.status().chunks
    told = {
        "bytes": folder_bytes(data),
        "most_bytes": most,
        "fresh_bytes": folder_bytes(fresh),
        "chunks": [chunks, anew],
        "p50_s": percentile(seconds, 0.5),
        "p95_s": percentile(seconds, 0.95),
        "first_s": percentile(seconds[: max(times // 10, 1)], 0.5),
        "last_s": percentile(seconds[-max(times // 10, 1) :], 0.5),
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Embed the batches in TEXTS with the built-in model and do nothing else."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lilbee_core.embed import MiniLM


def main(arguments: Sequence[str]) -> int:
    batches: list[list[str]] = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    with MiniLM.load() as model:
        model.embed(["warm up"])
        began, cpu = time.perf_counter(), time.process_time()
        for batch in batches:
            model.embed(batch)
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps({"seconds": seconds, "cpu_s": cpu_s, "texts": sum(map(len, batches))}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

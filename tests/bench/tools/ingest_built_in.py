"""Index FOLDER with its data in DATA and write to TEXTS what the built-in model was given; the time without loading."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lilbee_core import Lilbee
from lilbee_core.embed import Embedder, MiniLM
from lilbee_core.types import Vectors
from tests.bench.tools._stand_in import BUILT_IN


class Recording(Embedder):
    """The built-in embedder; remembers what it was given."""

    def __init__(self) -> None:
        super().__init__(MiniLM.load(), model=BUILT_IN)
        self.batches: list[list[str]] = []

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return super().embed_batch(texts)


def main(arguments: Sequence[str]) -> int:
    folder, data, texts = arguments
    with Recording() as embedder, Lilbee(folder, data_dir=data, embedder=embedder) as bee:
        embedder.embed_query("warm up")
        list(bee.documents())  # loads the store
        began, cpu = time.perf_counter(), time.process_time()
        report = bee.sync()
        seconds, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    Path(texts).write_text(json.dumps(embedder.batches), encoding="utf-8")
    print(json.dumps({"seconds": seconds, "cpu_s": cpu_s, "chunks": report.chunks, "embedded": report.embedded}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

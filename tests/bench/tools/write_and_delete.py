"""Write and delete documents in STORE as worker NUMBER, TIMES times, with upkeep now and then; tell what failed.

Each turn writes three documents of the worker's own and two that all workers write, then deletes one of the own. A
document's texts name the turn, and turns differ in their number of chunks.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

from lilbee_core.errors import LilbeeError
from lilbee_core.protocols import IndexedDocument
from lilbee_core.store import Store
from tests.core.store._build import a_document

SHARED = 5
UPKEEP_EVERY = 10


def document(name: str, worker: int, turn: int) -> IndexedDocument:
    """Return a document as this turn of this worker writes it."""
    count = 2 + (worker + turn) % 3
    return a_document(name, [f"worker{worker} turn{turn} part{part} of {name}" for part in range(count)])


def names(worker: int, turn: int) -> list[str]:
    """Return the documents that a turn writes; the first is deleted again by it."""
    own = [f"w{worker}-t{turn}-{part}" for part in range(3)]
    return [*own, f"shared-{turn % SHARED}", f"shared-{(turn + 1) % SHARED}"]


def kept(worker: int, times: int) -> set[str]:
    """Return a worker's own documents that are there in the end."""
    return {name for turn in range(times) for name in names(worker, turn)[1:3]}


def main(arguments: Sequence[str]) -> int:
    place, worker, times = arguments[0], int(arguments[1]), int(arguments[2])
    failed: list[str] = []
    longest_s = 0.0
    with Store.open(place, lock_timeout_s=600) as store:
        for turn in range(times):
            began = time.perf_counter()
            try:
                store.put([document(name, worker, turn) for name in names(worker, turn)])
                store.remove([document(names(worker, turn)[0], worker, turn).row.id])
                if turn % UPKEEP_EVERY == worker % UPKEEP_EVERY:
                    store.maintain(force=True)
            except LilbeeError as error:
                failed.append(str(error))
            longest_s = max(longest_s, time.perf_counter() - began)
    print(json.dumps({"failed": failed, "longest_s": longest_s}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Processes that write to a store, for the tests that kill them or let them meet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lilbee_core.protocols import IndexedDocument
from lilbee_core.store import Store
from tests.core.store._build import a_document

ROOT = Path(__file__).parents[3]
BATCH = 4


def edition(number: int, edition: int) -> IndexedDocument:
    """Return a document whose every chunk names its edition; editions differ in their number of chunks."""
    count = 2 + (number + edition) % 4
    return a_document(f"doc{number}", [f"edition{edition} part{part} of doc{number}" for part in range(count)])


def write_editions(place: str, documents: int, editions: int) -> None:
    """Write every edition of every document, as a sync would: what the ledger has is not written again."""
    with Store.open(place) as store:
        for now in range(1, editions + 1):
            for first in range(0, documents, BATCH):
                batch = [edition(number, now) for number in range(first, min(first + BATCH, documents))]
                with store.writing():
                    rows = [store.row(one.row.id) for one in batch]
                    if any(row is None or int(row.extractor) < now for row in rows):
                        store.put([_marked(one, now) for one in batch])
            with store.writing():
                store.sweep()
                store.maintain(force=True)


def _marked(document: IndexedDocument, now: int) -> IndexedDocument:
    from dataclasses import replace

    return replace(document, row=replace(document.row, extractor=str(now)))


def own_documents(place: str, worker: int, rounds: int) -> None:
    """Write and delete documents of one's own, with upkeep now and then."""
    with Store.open(place, lock_timeout_s=120) as store:
        for turn in range(rounds):
            store.put([a_document(f"w{worker}-{turn}-{k}", (f"worker{worker} turn{turn}", "common")) for k in range(3)])
            if turn:
                store.remove([a_document(f"w{worker}-{turn - 1}-0").row.id])
            if turn % 3 == 0:
                store.maintain(force=True)


def start(function: str, *arguments: object) -> subprocess.Popen[bytes]:
    """Run one of the functions above in a process of its own."""
    listed = ", ".join(repr(one) for one in arguments)
    code = f"from tests.core.store._workers import {function}; {function}({listed})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait, and fail with what the process said when it failed."""
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said.decode(errors="replace")

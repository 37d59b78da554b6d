"""Type into the screens over a library and print how long each key takes to what is shown of it.

live_search.py FOLDER DATA ROUNDS
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

from textual import events

from lilbee_cli.tui.app import LilbeeApp
from lilbee_core import Lilbee
from tests.bench._measure import percentile

QUERIES = ("decode base64 data", "parse command line arguments", "open a socket", "walk the files of a folder")
BETWEEN_S = 0.15
"""How long a person takes from key to key."""
NAMES = {" ": "space"}


async def until(holds: Callable[[], bool]) -> None:
    """Look often: a person's eye would not tell half a millisecond."""
    for _ in range(120_000):
        if holds():
            return
        await asyncio.sleep(0.0005)
    raise TimeoutError("nothing came in a minute")


async def painted(app: LilbeeApp) -> None:
    """Wait until what is there now has been drawn."""
    done = asyncio.Event()
    app.screen.call_after_refresh(done.set)
    await done.wait()


def _is_typed(pane: Any, words: str) -> bool:
    return pane.words == words


def _is_new(pane: Any, before: object) -> bool:
    return pane.result is not None and pane.result is not before


async def typed(app: LilbeeApp, pane: Any, query: str, echoes: list[float], hits: list[float]) -> None:
    pane.search_for("")
    await asyncio.sleep(BETWEEN_S)
    for at, sign in enumerate(query, start=1):
        before, began = pane.result, perf_counter()
        app.post_message(events.Key(NAMES.get(sign, sign), sign))
        await until(partial(_is_typed, pane, query[:at]))
        await painted(app)
        echoes.append((perf_counter() - began) * 1000)
        # Behind a blank the words are the same, but they are searched anew all the same.
        await until(partial(_is_new, pane, before))
        await painted(app)
        hits.append((perf_counter() - began) * 1000)
        await asyncio.sleep(max(0.0, BETWEEN_S - (perf_counter() - began)))


async def main(folder: str, data: str, rounds: int) -> None:
    echoes: list[float] = []
    hits: list[float] = []
    app = LilbeeApp(lambda _, events: Lilbee(folder, data_dir=data, events=events))
    async with app.run_test(size=(120, 40)):
        await until(lambda: app.is_open and app._opening.is_idle)
        pane: Any = app.pane
        began = process_time()
        for _ in range(rounds):
            for query in QUERIES:
                await typed(app, pane, query, echoes, hits)
        cpu_s = process_time() - began
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    print(json.dumps({
        "keys": len(hits), "cpu_ms": cpu_s * 1000 / len(hits),
        "echo": {name: percentile(echoes, share) for name, share in shares.items()},
        "hits": {name: percentile(hits, share) for name, share in shares.items()},
    }))  # fmt: skip


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

"""Ask a server at ADDRESS/PATH, a query at a time by each of CLIENTS, for SECONDS; KEY may be empty.

PATH holds ``{query}``. Prints queries a second, the times of single ones, and how many were refused.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from tests.bench._measure import percentile
from tests.bench.tools.search_latency import QUERIES


class Client(threading.Thread):
    """One client with one connection."""

    def __init__(self, address: str, path: str, key: str, *, number: int, until: float) -> None:
        super().__init__(daemon=True)
        self._host = urlsplit(address).netloc
        self._path, self._number, self._until = path, number, until
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.times: list[float] = []
        self.failed = 0

    def run(self) -> None:
        link = http.client.HTTPConnection(self._host, timeout=60)
        turn = self._number
        while time.perf_counter() < self._until:
            turn += 1
            # A query that was asked before would find its vector remembered.
            query = quote(f"{QUERIES[turn % len(QUERIES)]} {self._number} {turn}")
            began = time.perf_counter()
            link.request("GET", self._path.replace("{query}", query), headers=self._headers)
            answer = link.getresponse()
            body = answer.read()
            self.times.append((time.perf_counter() - began) * 1000)
            self.failed += answer.status != 200 or not body


def asked(address: str, path: str, key: str, *, clients: int, seconds: float) -> dict[str, float]:
    """Ask, and return what it took."""
    began = time.perf_counter()
    threads = [Client(address, path, key, number=at * 1000, until=began + seconds) for at in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    took = time.perf_counter() - began
    times = [ms for one in threads for ms in one.times]
    return {
        "qps": len(times) / took,
        "p50_ms": percentile(times, 0.5),
        "p95_ms": percentile(times, 0.95),
        "failed": sum(one.failed for one in threads),
    }


def main(arguments: Sequence[str]) -> int:
    address, path, key, clients, seconds = arguments
    asked(address, path, key, clients=1, seconds=1.0)
    print(json.dumps(asked(address, path, key, clients=int(clients), seconds=float(seconds))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

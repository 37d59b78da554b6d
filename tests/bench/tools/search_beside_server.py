"""Search FOLDER and DATA here and through the server at ADDRESS with KEY, in turns, ROUNDS x 20 different queries."""

from __future__ import annotations

import http.client
import json
import sys
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from lilbee_core import Lilbee
from tests.bench.tools.search_latency import QUERIES, spread, timed_ms


def main(arguments: Sequence[str]) -> int:
    folder, data, address, key, rounds = arguments
    link = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {key}"}

    def over_http(query: str) -> None:
        link.request("GET", f"/api/search?query={quote(query)}&top_k=10", headers=headers)
        answer = link.getresponse()
        assert json.loads(answer.read())["hits"], answer.status

    here: list[float] = []
    there: list[float] = []
    with Lilbee(folder, data_dir=data) as bee:
        for query in QUERIES[:5] * 2:
            bee.search(query)
            over_http(query)
        for turn in range(int(rounds)):
            for query in QUERIES:
                fresh = f"{query} {turn}"
                here.append(timed_ms(lambda asked=fresh: bee.search(asked, top_k=10).to_dict()))
                there.append(timed_ms(lambda asked=fresh: over_http(asked)))
    print(json.dumps({"here": spread(here), "there": spread(there)}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""H6: how soon the page is there, and what a browser has to fetch for it."""

from __future__ import annotations

import re
import time
import urllib.request

from tests.bench._figures import Figure, Report, at_most
from tests.bench._libraries import Library
from tests.bench._world import World
from tests.bench.test_server import Served, served

MOST_MS, MOST_BYTES = 150, 150_000
QUERY = "decode+base64+data"


def test_how_soon_the_page_is_there(world: World, report: Report, big: Library) -> None:
    """The first request for one loads it; the server's start does not (see H3)."""
    with served(world, big.corpus.folder, big.data) as there:
        first, _ = _timed(there, "/")
        start = _p95(there, "/", world.times(40))
        _timed(there, f"/search?q={QUERY}")
        found = _p95(there, f"/search?q={QUERY}", world.times(40))
        weights = [_weight(there, path) for path in ("/", f"/search?q={QUERY}", _first_hit(there))]
        read = _p95(there, _first_hit(there), world.times(40))
    for what, value in (
        ("page for a search, p95", start),
        (f"page of hits, p95, {big.chunks} chunks", found),
        ("page of a document at its passage, p95", read),
    ):
        report.add(Figure(id="H6", what=what, value=value, unit="ms", goal=at_most(MOST_MS)))
    report.add(
        Figure(id="H6", what="the very first page of a server", value=first, unit="ms", goal=at_most(10 * MOST_MS)),
        Figure(
            id="H6", what="heaviest page, all that is fetched", value=max(weights), unit="B", goal=at_most(MOST_BYTES)
        ),
    )


def _timed(there: Served, path: str) -> tuple[float, str]:
    """Ask for a page; return how many milliseconds its answer took, and the answer."""
    asked = urllib.request.Request(f"{there.url}{path}", headers={"Authorization": f"Bearer {there.token}"})
    began = time.perf_counter()
    with urllib.request.urlopen(asked, timeout=60) as answer:
        text = answer.read().decode()
    return (time.perf_counter() - began) * 1000, text


def _p95(there: Served, path: str, times: int) -> float:
    taken = sorted(_timed(there, path)[0] for _ in range(times))
    return taken[min(len(taken) - 1, round(0.95 * len(taken)))]


def _weight(there: Served, path: str) -> int:
    _, page = _timed(there, path)
    files = sorted(set(re.findall(r'(?:src|href)="(/static/[^"]*)"', page)))
    return len(page.encode()) + sum(len(_timed(there, one)[1].encode()) for one in files)


def _first_hit(there: Served) -> str:
    _, page = _timed(there, f"/search?q={QUERY}")
    found = re.search(r'<h2><a href="(/read[^"#]*)', page)
    assert found is not None
    return found[1].replace("&amp;", "&")

"""A crawler over a folder of its own, with time in the test's hands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.crawl import Crawler, CrawlLimits, Guard, Keeper, Manifest, Manners, Pace, Visitor, WebFetcher, plan_of
from lilbee_core.protocols import CancelToken, Fetcher, Renderer
from lilbee_core.testing import ManualClock, RecordingSink, Switch
from lilbee_core.types import CrawlReport
from tests.support.websites import Website


@dataclass
class Bench:
    """Crawls into one folder, again and again."""

    folder: Path
    clock: ManualClock = field(default_factory=ManualClock)
    sink: RecordingSink = field(default_factory=RecordingSink)
    manners: Manners = field(default_factory=lambda: Manners(delay_range_s=0.0))
    limits: CrawlLimits = field(default_factory=CrawlLimits)
    sync: Callable[[], object] | None = None
    robots: bool = True
    timeout_s: float = 10.0
    max_bytes: int = 1_000_000
    allowed: tuple[str, ...] = ("127.0.0.0/8",)

    def __post_init__(self) -> None:
        self.manifest = Manifest(self.folder)

    def crawl(
        self,
        *urls: str,
        cancel: CancelToken | None = None,
        resume: bool = True,
        fetcher: Fetcher | None = None,
        renderer: Renderer | None = None,
        scripts: Any = "never",
        **plan: Any,
    ) -> CrawlReport:
        guard = Guard(self.allowed)
        web = WebFetcher(guard, max_bytes=self.max_bytes)
        visitor = Visitor(
            fetcher or web,
            self.manifest,
            Pace(self.manners, self.clock, chance=lambda: 0.0),
            Keeper(self.manifest, lambda: ""),
            robots_fetcher=web if self.robots else None,
            guard=guard if fetcher is not None else None,
            renderer=renderer,
            scripts=scripts,
            timeout_s=self.timeout_s,
        )
        crawler = Crawler(
            self.manifest, visitor, clock=self.clock, events=self.sink, limits=self.limits, sync=self.sync
        )
        try:
            wanted = {"depth": None, "pages": None, **plan}
            return crawler.run(plan_of(urls, **wanted), cancel or Switch(), resume=resume)
        finally:
            web.close()

    @property
    def files(self) -> dict[str, str]:
        """The texts that are kept, by path below the folder of their site."""
        found = [path for path in self.folder.rglob("*") if path.is_file() and ".crawl" not in path.parts]
        return {
            path.relative_to(self.folder).as_posix().partition("/")[2]: path.read_text("utf-8", "replace")
            for path in sorted(found)
        }


@pytest.fixture
def site() -> Iterator[Website]:
    with Website() as running:
        yield running


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "web")
    yield made
    made.manifest.close()

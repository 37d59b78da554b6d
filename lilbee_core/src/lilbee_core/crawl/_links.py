"""Links that a crawl does not follow: why, how many, and which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lilbee_core.crawl._manifest import Manifest, Unfollowed, Waiting
from lilbee_core.crawl._plan import CrawlPlan, Refusal
from lilbee_core.crawl._urls import shown
from lilbee_core.types import PageProblem

_MOST_NAMES = 50
"""Links that are named for each reason; all are counted."""


@dataclass(slots=True)
class Links:
    """The links of a page: those that are followed, and those that are not."""

    followed: list[Waiting] = field(default_factory=list[Waiting])
    unfollowed: list[Unfollowed] = field(default_factory=list[Unfollowed])


def unfollowed_of(
    manifest: Manifest, plan: CrawlPlan, waiting: Iterable[Waiting]
) -> Iterator[tuple[int, tuple[PageProblem, ...]]]:
    """Yield, for each reason, how many links were not followed and the first of them.

    What is still `waiting` was not fetched since the crawl has as many pages as it may.
    """
    for one in plan.refusals:
        count, urls = manifest.unfollowed(plan.name, one.code, _MOST_NAMES)
        yield count, _named(urls, one)
    left = [one.url for one in waiting]
    yield len(left), _named(left[:_MOST_NAMES], plan.at_limit)


def _named(urls: Iterable[str], why: Refusal) -> tuple[PageProblem, ...]:
    return tuple(PageProblem(url=shown(url), code=why.code, reason=why.reason) for url in urls)

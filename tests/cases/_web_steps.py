"""Steps with pages of the web: a scripted site on this machine, and crawls of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tests.cases._case import Step
from tests.cases._outcome import Outcome
from tests.cases._world import World
from tests.support.websites import Answer, Website, redirect

_REDIRECT = re.compile(r"(30[1278]) (\S+)")


def _web(world: World, step: Step) -> Outcome:
    """Put a site up: pages by path, or a status and where it leads."""
    pages = {path: _said(text) for path, text in step["site"].items()}
    world.site = Website(pages).__enter__()
    return Outcome()


def _said(text: str) -> Answer | str:
    found = _REDIRECT.fullmatch(text)
    return redirect(found[2], int(found[1])) if found else text


def _crawl(world: World, step: Step) -> Outcome:
    """Crawl as a user would who allows this machine's own addresses, or does not."""
    world.close()
    allowed = ["127.0.0.0/8", "::1"] if step.get("allow_loopback") else []
    world.settings |= {"crawl_allowed_networks": allowed, "crawl_mean_delay": 0.0, "crawl_max_delay_range": 0.0}
    start = step["start"]
    if start.startswith("/"):
        assert world.site is not None, "a crawl of the site needs a `web` step before"
        start = world.site.url(start)
    return Outcome(value=world.bee.web.crawl(start, pages=step.get("max_pages")))


WEB_STEPS: Mapping[str, Callable[[World, Step], Outcome]] = {"web": _web, "crawl": _crawl}

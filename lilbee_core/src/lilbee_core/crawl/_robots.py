"""What a site allows robots: its ``robots.txt``, read once per crawl and site."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, cast

from lilbee_core.crawl._urls import parse
from lilbee_core.errors import BlockedAddress, CrawlError
from lilbee_core.protocols import Fetched

if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT = "lilbee"
_MAX_BYTES = 500_000
_MAX_HOPS = 5
_LONGEST_DELAY_S = 60.0


class _Rules(Protocol):
    def can_fetch(self, url: str, user_agent: str) -> bool: ...

    def crawl_delay(self, user_agent: str) -> float | None: ...


class Robots:
    """Asks each site once. ``robots.txt`` that is missing allows all, one that the server fails to give nothing."""

    def __init__(self, get: Callable[[str], Fetched]) -> None:
        self._get = get
        self._known: dict[str, _Rules | bool] = {}

    def allows(self, url: str) -> bool:
        """Say whether the site lets robots read a page.

        Raises:
            BlockedAddress: If the site lies inside the user's network.
        """
        rules = self._rules(url)
        return rules if isinstance(rules, bool) else rules.can_fetch(url, AGENT)

    def delay_s(self, url: str) -> float:
        """Return how long the site wants robots to wait between two pages; a minute at most."""
        rules = self._rules(url)
        asked = None if isinstance(rules, bool) else rules.crawl_delay(AGENT)
        return min(max(float(asked or 0.0), 0.0), _LONGEST_DELAY_S)

    def _rules(self, url: str) -> _Rules | bool:
        origin = parse(url).origin
        if origin not in self._known:
            self._known[origin] = self._read(f"{origin}/robots.txt")
        return self._known[origin]

    def _read(self, url: str) -> _Rules | bool:
        try:
            answer = self._followed(url)
        except BlockedAddress:
            raise
        except CrawlError as error:
            # A page of such a site says itself what is wrong; rules that do not end are none.
            return error.code in {"crawl.too_large", "crawl.unsupported", "crawl.unreachable"}
        if answer is None or (400 <= answer.status < 500 and answer.status != 429):
            return True
        if answer.status != 200:
            return False
        return _parsed(answer.body[:_MAX_BYTES].decode("utf-8", "replace"))

    def _followed(self, url: str) -> Fetched | None:
        for _ in range(_MAX_HOPS):
            answer = self._get(url)
            target = redirect_of(answer)
            if target is None:
                return answer
            url = target
        return None


def redirect_of(answer: Fetched) -> str | None:
    """Return where an answer leads, None if it is one itself.

    Raises:
        BlockedAddress: If it leads out of the web.
        CrawlError: If it leads nowhere.
    """
    from urllib.parse import urljoin

    from lilbee_core.crawl._urls import normalized
    from lilbee_core.errors import InvalidArgument

    location = _header(answer.headers, "location")
    if not (300 <= answer.status < 400 and answer.status != 304 and location):
        return None
    try:
        return normalized(urljoin(answer.url, location))
    except (InvalidArgument, ValueError) as error:
        raise CrawlError(f"{answer.url} leads to an address that is none", code="crawl.http") from error


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


def _parsed(text: str) -> _Rules | bool:
    from importlib import import_module

    protego = import_module("protego")
    try:
        return cast("_Rules", protego.Protego.parse(text))
    except (ValueError, RecursionError):
        return True

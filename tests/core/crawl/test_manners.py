"""How sites are treated: their robots.txt, the delays between requests (R057, R065), and tries again (R058, R067)."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

import pytest

from lilbee_core.crawl._pace import Manners, Pace
from lilbee_core.crawl._robots import Robots, redirect_of
from lilbee_core.errors import BlockedAddress, CrawlError
from lilbee_core.protocols import Fetched
from lilbee_core.testing import ManualClock


def said(body: str = "", *, url: str = "http://example.org/robots.txt", status: int = 200, **headers: str) -> Fetched:
    return Fetched(url=url, status=status, media_type="text/plain", body=body.encode(), headers=headers)


def never() -> None:
    pass


# ------------------------------------------------------------------ robots.txt


def test_rules_are_kept_and_asked_for_once() -> None:
    asked: list[str] = []

    def get(url: str) -> Fetched:
        asked.append(url)
        return said("User-agent: *\nDisallow: /private\nAllow: /private/open\nDisallow: /*.php$\nCrawl-delay: 7")

    robots = Robots(get)
    assert robots.allows("http://example.org/")
    assert not robots.allows("http://example.org/private/x")
    assert robots.allows("http://example.org/private/open/x")
    assert not robots.allows("http://example.org/a.php")
    assert robots.delay_s("http://example.org/") == 7
    assert robots.allows("http://example.org:8080/")
    assert asked == ["http://example.org/robots.txt", "http://example.org:8080/robots.txt"]


def test_rules_for_lilbee_count_before_those_for_all() -> None:
    robots = Robots(lambda url: said("User-agent: *\nDisallow: /\n\nUser-agent: lilbee\nDisallow: /no\n"))
    assert robots.allows("http://example.org/yes")
    assert not robots.allows("http://example.org/no")


@pytest.mark.parametrize(
    ("status", "allowed"), [(404, True), (403, True), (410, True), (500, False), (503, False), (429, False)]
)
def test_rules_that_are_missing_allow_all_and_those_that_cannot_be_had_nothing(status: int, allowed: bool) -> None:
    robots = Robots(lambda url: said(status=status))
    assert robots.allows("http://example.org/a") is allowed
    assert robots.delay_s("http://example.org/a") == 0


@pytest.mark.parametrize(
    ("code", "allowed"), [("crawl.too_large", True), ("crawl.unreachable", True), ("crawl.timeout", False)]
)
def test_a_site_whose_rules_cannot_be_fetched(code: str, allowed: bool) -> None:
    def get(url: str) -> Fetched:
        raise CrawlError("no", code=code)

    assert Robots(get).allows("http://example.org/a") is allowed


def test_rules_are_followed_to_where_they_lie_but_not_without_end_and_not_inside() -> None:
    def get(url: str) -> Fetched:
        if url == "http://example.org/robots.txt":
            return said(status=301, location="https://www.example.org/robots.txt")
        return said("User-agent: *\nDisallow: /", url=url)

    assert not Robots(get).allows("http://example.org/a")
    assert Robots(lambda url: said(url=url, status=301, location="/robots.txt")).allows("http://example.org/a")

    def inside(url: str) -> Fetched:
        raise BlockedAddress("inside")

    with pytest.raises(BlockedAddress):
        Robots(inside).allows("http://example.org/a")


def test_a_delay_is_a_minute_at_most_and_rubbish_is_no_rule() -> None:
    assert Robots(lambda url: said("User-agent: *\nCrawl-delay: 86400")).delay_s("http://example.org/") == 60
    assert Robots(lambda url: said("\x00\xff<html>nonsense</html>")).allows("http://example.org/")


def test_where_an_answer_leads() -> None:
    assert redirect_of(said(url="http://example.org/a/b", status=302, location="../c")) == "http://example.org/c"
    assert redirect_of(said(status=304, location="/x")) is None
    assert redirect_of(said(status=200, location="/x")) is None
    with pytest.raises(BlockedAddress):
        redirect_of(said(status=302, location="file:///etc/passwd"))
    with pytest.raises(CrawlError):
        redirect_of(said(status=302, location="http://[broken"))


# ------------------------------------------------------------------ delays


def test_requests_to_a_site_wait_the_mean_delay_and_a_random_part() -> None:
    clock = ManualClock()
    chances = iter([0.0, 1.0, 0.5, 0.0])
    pace = Pace(Manners(mean_delay_s=0.5, delay_range_s=0.5), clock, chance=lambda: next(chances))
    at: list[float] = []
    for _ in range(4):
        pace.wait("example.org", never)
        at.append(clock.monotonic())
    assert at == pytest.approx([0.0, 0.5, 1.5, 2.25])


def test_sites_do_not_wait_for_each_other_and_a_longer_delay_of_the_site_counts() -> None:
    clock = ManualClock()
    pace = Pace(Manners(delay_range_s=0.0), clock)
    pace.wait("a.example", never, at_least_s=9.0)
    pace.wait("b.example", never)
    assert clock.monotonic() == 0
    pace.wait("a.example", never)
    assert clock.monotonic() == pytest.approx(9.0)


def test_a_site_that_is_held_waits_and_who_waits_can_be_stopped() -> None:
    clock = ManualClock()
    pace = Pace(Manners(), clock)
    pace.hold("example.org", 20)
    pace.hold("example.org", 5)
    pace.wait("example.org", never)
    assert clock.monotonic() >= 20

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        pace.wait("example.org", stop)


# ------------------------------------------------------------------ tries again


def pauses(manners: Manners, chance: float = 0.5, **headers: str) -> list[float | None]:
    pace = Pace(manners, ManualClock(), chance=lambda: chance)
    return [pace.pause_s(attempt, headers) for attempt in range(5)]


def test_waits_grow_from_a_random_start_up_to_the_longest_and_tries_end() -> None:
    assert pauses(Manners(), 0.0) == [1.0, 2.0, None, None, None]
    assert pauses(Manners(), 1.0) == [3.0, 6.0, None, None, None]
    assert pauses(Manners(attempts=6)) == [2.0, 4.0, 8.0, 16.0, 30.0]


def test_they_can_be_switched_off() -> None:
    assert pauses(Manners(retry=False)) == [None] * 5
    assert pauses(Manners(attempts=1)) == [None] * 5


def test_what_the_server_asks_for_counts_unless_it_is_too_long() -> None:
    assert pauses(Manners(), 0.25, **{"retry-after": "7"})[:2] == [7.25, 7.25]
    assert pauses(Manners(), **{"retry-after": "120"}) == [None] * 5
    assert pauses(Manners(), 0.0, **{"retry-after": "soon"})[0] == 1.0
    later = format_datetime(ManualClock().now() + timedelta(seconds=12), usegmt=True)
    assert pauses(Manners(), 0.0, **{"retry-after": later})[0] == pytest.approx(12.0, abs=1.0)

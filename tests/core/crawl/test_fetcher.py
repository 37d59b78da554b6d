"""The fetcher that comes with lilbee, over real connections (R059, R062): limits, lies, redirects, no cookies."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import pytest

from lilbee_core.crawl import Guard, WebFetcher
from lilbee_core.crawl._body import read_body
from lilbee_core.errors import BlockedAddress, CrawlError
from lilbee_core.testing.contracts import FetcherContract
from tests.support.websites import Answer, Website, endless, redirect

LOOPBACK = Guard(["127.0.0.0/8"])
MB = 1_000_000


@pytest.fixture
def site() -> Iterator[Website]:
    with Website() as running:
        yield running


@pytest.fixture
def fetcher() -> Iterator[WebFetcher]:
    made = WebFetcher(LOOPBACK, max_bytes=2 * MB)
    yield made
    made.close()


class TestContract(FetcherContract):
    def make(self) -> WebFetcher:
        return WebFetcher()


def test_a_page_comes_with_its_headers_and_without_cookies(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = Answer(
        body="<p>ä</p>", headers={"ETag": '"1"', "Set-Cookie": "who=you; Path=/", "X-Powered-By": "x"}
    )
    for _ in range(2):
        page = fetcher.fetch(site.url("/"), timeout_s=5)
        assert (page.status, page.media_type, page.body) == (200, "text/html", "<p>ä</p>".encode())
        assert page.headers["etag"] == '"1"'
        assert "set-cookie" not in page.headers
    asked = site.requests[-1].headers
    assert "cookie" not in asked
    assert "authorization" not in asked
    assert asked["user-agent"].startswith("lilbee")


def test_name_and_password_of_an_address_are_not_sent(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = "x"
    page = fetcher.fetch(site.url("/").replace("http://", "http://ann:secret@"), timeout_s=5)
    assert "ann" not in page.url
    assert "authorization" not in site.requests[0].headers


def test_a_redirect_is_returned_and_not_followed(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = redirect("http://169.254.169.254/latest")
    page = fetcher.fetch(site.url("/"), timeout_s=5)
    assert (page.status, page.headers["location"]) == (302, "http://169.254.169.254/latest")


def test_it_asks_whether_a_page_has_changed(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = Answer(status=304, media_type=None)
    page = fetcher.revalidate(site.url("/"), timeout_s=5, etag='"1"', last_modified="Mon, 02 Mar 2026 10:00:00 GMT")
    assert page.status == 304
    asked = site.requests[0].headers
    assert (asked["if-none-match"], asked["if-modified-since"]) == ('"1"', "Mon, 02 Mar 2026 10:00:00 GMT")


def test_proxies_of_the_environment_are_not_used(
    site: Website, fetcher: WebFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.pages["/"] = "here"
    assert fetcher.fetch(site.url("/"), timeout_s=5).body == b"here"


# ------------------------------------------------------------------ too much, too slow


def test_a_page_of_50_mb_is_given_up_after_the_limit(site: Website, fetcher: WebFetcher) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(50):
            sent += 1
            yield b"x" * MB

    site.pages["/"] = Answer(body=pieces)
    with pytest.raises(CrawlError, match="over the limit of 2 MB") as caught:
        fetcher.fetch(site.url("/"), timeout_s=30)
    assert caught.value.code == "crawl.too_large"
    assert sent < 50


def test_a_page_that_says_that_it_is_too_long_is_not_loaded(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = Answer(body=b"", headers={"Content-Length": "50000000"})
    with pytest.raises(CrawlError, match="over the limit"):
        fetcher.fetch(site.url("/"), timeout_s=30)


def test_a_page_that_never_ends_and_drips_is_given_up_in_time(site: Website, fetcher: WebFetcher) -> None:
    """Each byte comes within any limit for one read; together they never end."""
    import threading

    pause = threading.Event()

    def drip() -> Iterator[bytes]:
        for _ in range(2000):
            yield b"x"
            pause.wait(0.02)

    site.pages["/"] = Answer(body=drip)
    with pytest.raises(CrawlError, match=r"not there after 0\.3 s") as caught:
        fetcher.fetch(site.url("/"), timeout_s=0.3)
    assert caught.value.code == "crawl.timeout"
    pause.set()


def test_a_server_that_never_answers_is_given_up_in_time(fetcher: WebFetcher) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(CrawlError) as caught:
            fetcher.fetch(url, timeout_s=0.2)
    assert caught.value.code == "crawl.timeout"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb_is_given_up_at_the_limit(site: Website, fetcher: WebFetcher, encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    bomb = pack(b"\0" * 50 * MB)
    assert len(bomb) < MB
    site.pages["/"] = Answer(body=bomb, headers={"Content-Encoding": encoding})
    with pytest.raises(CrawlError) as caught:
        fetcher.fetch(site.url("/"), timeout_s=30)
    assert caught.value.code == "crawl.too_large"


def test_headers_without_end_are_refused(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = Answer(body="x", headers={f"X-{number}": "y" * 4000 for number in range(50)})
    with pytest.raises(CrawlError):
        fetcher.fetch(site.url("/"), timeout_s=5)


def test_sound_and_films_are_not_loaded(site: Website, fetcher: WebFetcher) -> None:
    site.pages["/"] = Answer(body=endless(b"x" * MB, most=50), media_type="video/mp4")
    with pytest.raises(CrawlError, match="video/mp4, which holds no text") as caught:
        fetcher.fetch(site.url("/"), timeout_s=5)
    assert caught.value.code == "crawl.unsupported"


# ------------------------------------------------------------------ packed bodies


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"honey" * 900)),
        ("x-gzip", gzip.compress(b"honey" * 900)),
        ("deflate", zlib.compress(b"honey" * 900)),
        ("deflate", zlib.compress(b"honey" * 900)[2:-4]),
        ("identity", b"honey" * 900),
        ("", b"honey" * 900),
    ],
    ids=["gzip", "x-gzip", "deflate", "raw deflate", "identity", "nothing said"],
)
def test_packed_bodies_are_unpacked_however_they_are_cut(encoding: str, body: bytes) -> None:
    for size in (1, 7, 1000, len(body)):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert read_body(pieces, encoding, max_bytes=MB, url="u") == b"honey" * 900


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"no gzip"), ("br", b"x"), ("gzip, gzip", b"x")])
def test_bodies_that_cannot_be_unpacked_are_errors(encoding: str, body: bytes) -> None:
    with pytest.raises(CrawlError):
        read_body([body], encoding, max_bytes=MB, url="u")


# ------------------------------------------------------------------ who cannot be reached


def test_a_server_that_is_not_there(fetcher: WebFetcher) -> None:
    with Website() as gone:
        url = gone.url("/")
    with pytest.raises(CrawlError, match="nothing listens there") as caught:
        fetcher.fetch(url, timeout_s=5)
    assert caught.value.code == "crawl.unreachable"


def test_a_server_that_speaks_no_http(fetcher: WebFetcher) -> None:
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            connection.sendall(b"220 mail ready\r\n")
            connection.close()

        threading.Thread(target=greet, daemon=True).start()
        with pytest.raises(CrawlError) as caught:
            fetcher.fetch(f"http://127.0.0.1:{server.getsockname()[1]}/", timeout_s=5)
    assert caught.value.code == "crawl.unreachable"


def test_no_connection_is_secure_without_a_certificate(site: Website, fetcher: WebFetcher) -> None:
    with pytest.raises(CrawlError) as caught:
        fetcher.fetch(site.url("/").replace("http:", "https:"), timeout_s=5)
    assert caught.value.code == "crawl.unreachable"


def test_loopback_is_refused_unless_allowed(site: Website) -> None:
    site.pages["/"] = "secret"
    strict = WebFetcher()
    for url in (site.url("/"), f"http://localhost.:{site.port}/", f"http://2130706433:{site.port}/",
                f"http://0x7f.1:{site.port}/", f"http://[::ffff:127.0.0.1]:{site.port}/"):  # fmt: skip
        with pytest.raises(BlockedAddress):
            strict.fetch(url, timeout_s=5)
    strict.close()
    assert site.requests == []


def test_it_cannot_be_used_once_closed(site: Website, fetcher: WebFetcher) -> None:
    fetcher.close()
    with pytest.raises(CrawlError, match="closed"):
        fetcher.fetch(site.url("/"), timeout_s=5)

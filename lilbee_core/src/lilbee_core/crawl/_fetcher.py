"""The fetcher that comes with lilbee: one request, over a checked connection, within limits of size and time."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lilbee_core.crawl._addresses import Guard
from lilbee_core.crawl._body import ACCEPTED, read_body, too_large
from lilbee_core.crawl._kinds import is_refused, media_type_of
from lilbee_core.crawl._urls import normalized, shown
from lilbee_core.errors import CrawlError, ExtraMissing
from lilbee_core.protocols import Fetched

if TYPE_CHECKING:
    import httpcore
    import httpx

    from lilbee_core.crawl._connection import Deadline

USER_AGENT = "lilbee/0.1 (+personal document search)"
_ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.7"
_KEPT_HEADERS = frozenset(
    {"content-type", "content-language", "etag", "last-modified", "location", "retry-after", "x-robots-tag"}
)
_DIGITS = re.compile(r"\d{1,18}")


class WebFetcher:
    """Fetches over HTTP. Threads may share it; nothing is opened before the first request. Close it.

    One request each: a redirect is returned as it is (3xx with ``Location``), for the crawl to check and to follow.
    No cookie is kept or sent, no proxy used, no name or password of an address told to anybody.
    """

    def __init__(
        self,
        guard: Guard | None = None,
        *,
        max_bytes: int = 20_000_000,
        user_agent: str = USER_AGENT,
        backend: httpcore.NetworkBackend | None = None,
    ) -> None:
        self._guard = guard or Guard()
        self._max_bytes = max_bytes
        self._user_agent = user_agent
        self._backend = backend
        self._client: httpx.Client | None = None
        self._deadline: Deadline | None = None
        self._closed = False
        self._lock = threading.Lock()

    def fetch(self, url: str, *, timeout_s: float) -> Fetched:
        """Return what lies at an address.

        Raises:
            BlockedAddress: If it is not of the web, or inside the user's network.
            CrawlError: If it cannot be had within the limits.
        """
        return self.revalidate(url, timeout_s=timeout_s)

    def revalidate(self, url: str, *, timeout_s: float, etag: str = "", last_modified: str = "") -> Fetched:
        """Return what lies at an address; status 304 if it is still what was fetched with these headers.

        Raises:
            BlockedAddress: If it is not of the web, or inside the user's network.
            CrawlError: If it cannot be had within the limits.
        """
        url = normalized(url)
        headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        client, deadline = self._open()
        with deadline.of(timeout_s):
            return self._get(client, url, {name: value for name, value in headers.items() if value}, timeout_s)

    def close(self) -> None:
        """Close the connections. It cannot be used afterwards."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    # ------------------------------------------------------------------ one request

    def _get(self, client: httpx.Client, url: str, headers: Mapping[str, str], timeout_s: float) -> Fetched:
        import httpcore

        try:
            with client.stream("GET", url, headers=dict(headers)) as response:
                return self._read(response, url)
        except httpcore.TimeoutException as error:
            raise CrawlError(
                f"{shown(url)} was not there after {timeout_s:g} s",
                hint="Raise crawl_timeout, or try again later.",
                code="crawl.timeout",
            ) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError) as error:
            raise CrawlError(
                f"{shown(url)} cannot be reached: {_reason(error)}",
                hint="Check the address, or try again later.",
                code="crawl.unreachable",
            ) from error

    def _read(self, response: httpx.Response, url: str) -> Fetched:
        said = media_type_of(response.headers.get("content-type", ""))
        has_body = response.is_success
        if has_body:
            self._refuse_early(response, said, url)
        pieces = response.iter_raw() if has_body else iter(())
        encoding = response.headers.get("content-encoding", "")
        body = read_body(pieces, encoding, max_bytes=self._max_bytes, url=shown(url))
        kept = {name.lower(): value for name, value in response.headers.items() if name.lower() in _KEPT_HEADERS}
        return Fetched(
            url=url,
            status=response.status_code,
            media_type=said if "/" in said else "application/octet-stream",
            body=body,
            headers=kept,
        )

    def _refuse_early(self, response: httpx.Response, said: str, url: str) -> None:
        if is_refused(said):
            raise CrawlError(f"{shown(url)} is {said}, which holds no text", code="crawl.unsupported")
        told = response.headers.get("content-length", "")
        if _DIGITS.fullmatch(told) and int(told) > self._max_bytes:
            raise too_large(shown(url), self._max_bytes)

    # ------------------------------------------------------------------ the connection

    def _open(self) -> tuple[httpx.Client, Deadline]:
        with self._lock:
            if self._closed:
                raise CrawlError("this fetcher is closed", hint="Open the library again.")
            if self._client is None or self._deadline is None:
                self._client, self._deadline = _client(self._guard, self._user_agent, self._backend)
            return self._client, self._deadline


def _client(guard: Guard, user_agent: str, backend: httpcore.NetworkBackend | None) -> tuple[httpx.Client, Deadline]:
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx

    from lilbee_core.crawl._connection import Deadline, GuardedTransport

    deadline = Deadline()
    client = httpx.Client(
        transport=GuardedTransport(guard, deadline, backend=backend),
        headers={"User-Agent": user_agent, "Accept": _ACCEPT, "Accept-Encoding": ACCEPTED},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        follow_redirects=False,
        trust_env=False,
        timeout=None,
    )
    return client, deadline


_REASONS = (
    ("certificate", "its certificate is not trusted"),
    ("ssl", "no secure connection could be made"),
    ("refused", "nothing listens there"),
    ("reset", "it closed the connection"),
    ("disconnected", "it closed the connection"),
    ("unreachable", "there is no way there"),
)


def _reason(error: BaseException) -> str:
    said = f"{type(error).__name__} {error}".lower()
    return next((reason for mark, reason in _REASONS if mark in said), "the connection failed")


def need_extra(*modules: str) -> None:
    """Make sure that what the extra brings is installed.

    Raises:
        ExtraMissing: If it is not; the hint is the pip line.
    """
    from importlib.util import find_spec

    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ExtraMissing(
            f"pages of the web need packages that are not installed: {', '.join(missing)}",
            hint="Run: pip install 'lilbee-core[crawl]'",
        )

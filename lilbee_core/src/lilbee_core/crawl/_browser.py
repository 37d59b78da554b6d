"""Runs the scripts of pages in a Chromium that reaches nothing by itself: our fetcher answers each of its requests.

So every address is checked as it is anywhere else, whatever a script asks for. Imported only when scripts are run.
"""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

from lilbee_core.crawl._robots import redirect_of
from lilbee_core.errors import CrawlError, ExtraMissing, LilbeeError
from lilbee_core.protocols import Fetched, Fetcher

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_FLAGS = (
    # Names lead nowhere, and what is left goes to a proxy that is not there.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://0.0.0.0:9",
    "--proxy-bypass-list=<-loopback>",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-first-run",
    "--no-pings",
)
_NOT_NEEDED = frozenset({"image", "media", "font", "texttrack", "eventsource", "websocket", "manifest", "ping"})
_MAX_HOPS = 5
_MAX_REQUESTS = 200
_QUIET_S = 5.0
_Task: TypeAlias = "tuple[Fetched, float, Future[Fetched]] | None"


def find_browser(path: str = "") -> str:
    """Return the program of a Chromium: the given one, or one that is installed.

    Raises:
        ExtraMissing: If the package that drives it, or the browser itself, is not there.
    """
    if find_spec("playwright") is None:
        raise ExtraMissing(
            "scripts of pages need a package that is not installed", hint="Run: pip install 'lilbee-core[crawl-js]'"
        )
    found = shutil.which(path) if path else next((one for name in BROWSERS if (one := shutil.which(name))), None)
    if found is None:
        raise ExtraMissing(
            f"there is no browser {path}" if path else "scripts of pages need a Chromium, and there is none",
            hint="Install Chromium with your system's package manager, or name one with crawl_browser.",
        )
    return found


class BrowserRenderer:
    """Runs the scripts of one page after the other, in a thread and a browser of its own. Close it.

    Threads may share it. The browser is started by the first page.
    """

    def __init__(self, fetcher: Fetcher, *, browser: str = "", sandbox: bool = True) -> None:
        self._program = find_browser(browser)
        self._fetcher = fetcher
        self._sandbox = sandbox
        self._tasks: queue.SimpleQueue[_Task] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def render(self, page: Fetched, *, timeout_s: float) -> Fetched:
        """Return the page as it is once its scripts have run.

        Raises:
            CrawlError: If it cannot be shown in time.
        """
        outcome: Future[Fetched] = Future()
        with self._lock:
            if self._closed:
                raise CrawlError("the browser is closed", hint="Open the library again.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lilbee-browser", daemon=True)
                self._thread.start()
        self._tasks.put((page, timeout_s, outcome))
        return outcome.result()

    def close(self) -> None:
        """End the browser."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._tasks.put(None)
            thread.join(_QUIET_S * 2)

    # ------------------------------------------------------------------ the browser's thread

    def _run(self) -> None:
        try:
            api: Any = import_module("playwright.sync_api")
            with api.sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=self._program,
                    args=list(_FLAGS),
                    chromium_sandbox=self._sandbox,
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                try:
                    self._serve(partial(self._shown, browser))
                finally:
                    browser.close()
        except Exception as error:  # noqa: BLE001 - told to whoever waits for a page
            if not self._closed:
                self._serve(partial(self._refuse, error))

    def _serve(self, show: Callable[[Fetched, float], Fetched]) -> None:
        while (task := self._tasks.get()) is not None:
            page, timeout_s, outcome = task
            try:
                outcome.set_result(show(page, timeout_s))
            except LilbeeError as error:
                outcome.set_exception(error)
            except Exception as error:  # noqa: BLE001 - told to whoever waits for the page
                outcome.set_exception(_failed(page, error))

    @staticmethod
    def _refuse(error: Exception, page: Fetched, timeout_s: float) -> Fetched:
        raise _failed(page, error)

    def _shown(self, browser: Any, page: Fetched, timeout_s: float) -> Fetched:
        context = browser.new_context(service_workers="block", accept_downloads=False, java_script_enabled=True)
        try:
            traffic = _Traffic(self._fetcher, page, timeout_s)
            context.route("**/*", traffic.answer)
            context.route_web_socket("**/*", _close)
            tab = context.new_page()
            tab.goto(page.url, wait_until="load", timeout=timeout_s * 1000)
            _wait_until_quiet(tab, min(timeout_s, _QUIET_S))
            body = str(tab.content()).encode("utf-8", "replace")
        finally:
            context.close()
        headers = {**page.headers, "content-type": "text/html; charset=utf-8"}
        return replace(page, body=body, media_type="text/html", headers=headers)


class _Traffic:
    """Answers the requests of one page."""

    def __init__(self, fetcher: Fetcher, page: Fetched, timeout_s: float) -> None:
        self._fetcher = fetcher
        self._page = page
        self._timeout_s = timeout_s
        self._requests = 0

    def answer(self, route: Any) -> None:
        """Answer a request: the page itself with what was fetched, what it needs from the web, the rest not."""
        request = route.request
        if request.url == self._page.url and request.is_navigation_request():
            route.fulfill(status=200, body=self._page.body, content_type=self._content_type())
            return
        self._requests += 1
        is_wanted = request.method == "GET" and request.resource_type not in _NOT_NEEDED
        if not is_wanted or request.is_navigation_request() or self._requests > _MAX_REQUESTS:
            route.abort()
            return
        try:
            found = self._fetched(request.url)
        except LilbeeError:
            route.abort()
            return
        route.fulfill(
            status=found.status,
            body=found.body,
            content_type=found.headers.get("content-type") or found.media_type,
            # Scripts of a page may ask other sites of the web only if these allow it; here nobody's name is told.
            headers={"access-control-allow-origin": "*"},
        )

    def _content_type(self) -> str:
        return self._page.headers.get("content-type") or "text/html"

    def _fetched(self, url: str) -> Fetched:
        for _ in range(_MAX_HOPS):
            found = self._fetcher.fetch(url, timeout_s=self._timeout_s)
            target = redirect_of(found)
            if target is None:
                return found
            url = target
        raise CrawlError(f"{url} leads on and on", code="crawl.http")


def _close(socket: Any) -> None:
    socket.close()


def _wait_until_quiet(tab: Any, seconds: float) -> None:
    timeout: Any = import_module("playwright.sync_api").TimeoutError
    try:
        tab.wait_for_load_state("networkidle", timeout=seconds * 1000)
    except timeout:
        return  # a page that never rests is taken as it is


def _failed(page: Fetched, error: Exception) -> CrawlError:
    is_late = "Timeout" in type(error).__name__
    said = next(iter(str(error).splitlines()), "") or type(error).__name__
    return CrawlError(
        f"{page.url} could not be shown in a browser: {'it took too long' if is_late else said[:200]}",
        hint="Try crawl_render = never.",
        code="crawl.timeout" if is_late else "crawl.failed",
    )

"""A Chromium without a window, driven in a thread of its own; and somebody at it, whose clicks and keys are counted."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

T = TypeVar("T")
WAIT_MS = 20_000
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Chromium:
    """A browser. What drives it runs in one thread: beside it no other event loop could run."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="chromium")
        self._closers: list[Callable[[], None]] = []
        self._browser: Browser = self._thread.submit(self._open).result()

    def run(self, script: Callable[[Page], T], **options: Any) -> T:
        """Run a script on a page of a fresh profile; `options` are those of its context, such as ``viewport``."""
        return self._thread.submit(self._run, script, options).result()

    def close(self) -> None:
        """End the browser."""
        for close in reversed(self._closers):
            self._thread.submit(close).result()
        self._thread.shutdown()

    def _open(self) -> Browser:
        from playwright.sync_api import sync_playwright

        driver = sync_playwright().start()
        self._closers.append(driver.stop)
        browser = driver.chromium.launch(executable_path=self._program, args=["--no-sandbox", "--disable-gpu"])
        self._closers.append(browser.close)
        return browser

    def _run(self, script: Callable[[Page], T], options: dict[str, Any]) -> T:
        wanted: Any = {"viewport": {"width": 1280, "height": 900}, **options}
        with self._browser.new_context(**wanted) as context:
            context.set_default_timeout(WAIT_MS)
            return script(context.new_page())


@contextmanager
def a_chromium() -> Generator[Chromium]:
    """Give a browser; skip the test where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for one in _PROGRAMS if (found := shutil.which(one))), None)
    if program is None:
        pytest.skip("there is no Chromium on this machine")
    browser = Chromium(program)
    try:
        yield browser
    finally:
        browser.close()


class Visitor:
    """Somebody at the page. Every click and every key counts, and so does everything that runs and should not.

    `wrong` holds errors of scripts and what the policy of the page refused.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.clicks = self.keys = 0
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)

    def enter(self, address: str) -> None:
        """Sign in by an address, which leads on to the first page by itself."""
        self.page.goto(address)
        self.until(lambda: "/sign-in" not in self.page.url, "the first page")
        self.page.wait_for_load_state()

    def click(self, role: str, name: str, *, within: str = "body") -> None:
        """Click what a reader of screens would call so."""
        found: Any = self.page.locator(within).get_by_role(role, name=name)  # type: ignore[arg-type]
        found.first.click()
        self.clicks += 1

    def type(self, text: str) -> None:
        """Type into the field that has the focus, or gets it when the page is there."""
        self.until(lambda: self.page.locator("input:focus, textarea:focus").count(), "a field to type into")
        self.page.keyboard.type(text)
        self.keys += len(text)

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
        self.keys += len(keys)

    def sees(self, *texts: str, within: str = "body") -> None:
        """Wait until all of this is on the page."""
        for text in texts:
            self.until(partial(self._shows, text, within), f"{text!r}")

    def _shows(self, text: str, within: str) -> bool:
        return text in self.text(within)

    def text(self, within: str = "body") -> str:
        """What stands on the page."""
        return " ".join(self.page.locator(within).first.inner_text().split())

    def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds; fail with what is shown."""
        end = time.monotonic() + WAIT_MS / 1000
        while True:
            try:
                if holds():
                    return
            except Exception:  # the page is on its way to another one
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                pytest.fail(f"never came: {what}\n{self.page.url}\n{self.text()[:3000]}")
            self.page.wait_for_timeout(20)

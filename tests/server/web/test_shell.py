"""What every page has: a policy, files that are pinned (R389), a theme (R388); what is mounted at `/` hides nothing."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_server.web.assets import assets
from tests.server.conftest import TOKEN
from tests.server.web.conftest import PIECE

STATIC = Path(str(sys.modules["lilbee_server.web.assets"].__file__)).parent / "static"
HTMX = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"


@pytest.mark.parametrize("path", ["/", "/search?q=queen&explain=1", "/nothing", "/sign-in", "/read?document=bees.md"])
def test_a_page_runs_and_loads_nothing_but_our_own_files(browser: TestClient[Litestar], path: str) -> None:
    page = browser.get(path)
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:|https?://", page.text)
    for tag in re.findall(r"<(?:script|link)[^>]*(?:src|href)=[^>]*(?:\.js|\.css)[^>]*>", page.text):
        address = re.search(r'(?:src|href)="(/static/([^?"]+)\?v=(\w+))"', tag)
        assert address is not None, tag
        assert assets()[address[2]].integrity in tag


def test_files_are_kept_for_good_under_the_address_of_their_version(stranger: TestClient[Litestar]) -> None:
    for asset in assets().values():
        got = stranger.get(asset.url)
        assert got.content == asset.body
        assert "immutable" in got.headers["cache-control"]
        assert stranger.get(asset.url, headers={"If-None-Match": got.headers["etag"]}).status_code == 304
        for other in (f"/static/{asset.name}", f"/static/{asset.name}?v=0"):
            assert stranger.get(other).headers["cache-control"] == "no-cache"
    for path in (
        "/static/",
        "/static/none.js",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/a%00",
        "/static/htmx.LICENSE.txt",
    ):
        assert stranger.get(path).status_code in (303, 404), path


def test_what_was_vendored_is_what_its_makers_published() -> None:
    """By the sum of npm's htmx.org 2.0.11, dist/htmx.min.js."""
    file = STATIC / "htmx.min.js"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == HTMX
    assert "Zero-Clause BSD" in (STATIC / "htmx.LICENSE.txt").read_text("utf-8")


def test_routes_of_programs_stand_beside_the_page(stranger: TestClient[Litestar]) -> None:
    """Also those with parameters; and what is not there is told as an error of the API, not as a page."""
    stranger.headers["Authorization"] = f"Bearer {TOKEN}"
    assert stranger.get("/api/health").json()["status"] == "ok"
    assert stranger.get("/schema/openapi.json").json()["info"]["title"] == "lilbee"
    assert stranger.get("/api/wiki/pages/none").headers["content-type"].startswith("application/json")
    for path in ("/api/nothing", "/api", "/v1/nothing", "/schema/nothing", "/schema/x/y", "/api/search/x"):
        answer = stranger.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "server.no_route"), path
    assert "text/html" in stranger.get("/nothing").headers["content-type"]
    assert stranger.get("/nothing").status_code == 404
    assert stranger.request("PATCH", "/search").status_code == 405


def test_a_script_gets_a_piece_and_everybody_else_a_page(browser: TestClient[Litestar]) -> None:
    whole, piece = browser.get("/search?q=queen"), browser.get("/search?q=queen", headers=PIECE)
    assert whole.text.startswith("<!doctype html>")
    assert "<html" not in piece.text
    shown = [re.sub(r"[\d.]+ ms", "", one.text).strip() for one in (piece, whole)]
    assert shown[0] in shown[1]
    for more in ({"HX-History-Restore-Request": "true"}, {"HX-Boosted": "true"}):
        assert "<html" in browser.get("/search?q=queen", headers={**PIECE, **more}).text


def test_a_theme_is_kept(browser: TestClient[Litestar]) -> None:
    assert 'data-theme="auto"' in browser.get("/").text
    for theme, kept in (("dark", "dark"), ("light", "light"), ('"><script>', "auto")):
        changed = browser.post("/theme", data={"theme": theme, "next": "/search?q=queen"})
        assert changed.headers["location"] == "/search?q=queen"
        assert f'data-theme="{kept}"' in browser.get("/").text


def test_a_bug_is_told_without_its_traceback(
    browser: TestClient[Litestar], library: Lilbee, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(library, "search", fail)
    page = browser.get("/search?q=queen")
    assert page.status_code == 500
    assert "RuntimeError" in page.text
    assert "secret inside" not in page.text
    assert "Traceback" not in page.text


def test_the_server_loads_the_page_with_the_first_request_for_one() -> None:
    """Its start must not pay for the page."""
    code = (
        "import sys; from lilbee_server import app, mounts; from lilbee_server.web import plugin;"
        "heavy = ('jinja2', 'markdown_it', 'nh3', 'pygments', 'lilbee_server.web.app');"
        "print([one for one in heavy if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"

"""Signing in: codes that work once, sessions that end, and changes that come from our own page alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.tokens import OWNER, Grant
from lilbee_server.signin import CODE_S, IDLE_S, LONGEST_S, SignIns, cookie_name
from tests.server.conftest import TOKEN
from tests.server.web.conftest import HOST, ORIGIN, PIECE, new_code, page_app

COOKIE = "lilbee_session"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def signins(clock: Clock) -> SignIns:
    return SignIns(knows=lambda name: name == "laptop", now=clock)


def test_a_code_works_once_and_not_for_long(signins: SignIns, clock: Clock) -> None:
    code, late = signins.new_code(), signins.new_code()
    secret = signins.begin(code)
    assert secret is not None
    assert signins.check(secret) is OWNER
    assert signins.begin(code) is None
    clock.now += CODE_S
    assert signins.begin(late) is None


@pytest.mark.parametrize(
    "change",
    [
        str.lower,
        lambda one: one[:-1],
        lambda one: one + "x",
        lambda _: "",
        lambda one: "\0" + one,
        lambda _: "x" * 10_000,
    ],
)
def test_a_code_that_was_changed_does_not_count(signins: SignIns, change: Callable[[str], str]) -> None:
    code = signins.new_code()
    assert signins.begin(change(code)) is None
    assert signins.begin(code) is not None, "trying another one does not use it up"


def test_sessions_end_when_they_are_idle_and_at_last_in_any_case(signins: SignIns, clock: Clock) -> None:
    idle, busy = signins.begin(signins.new_code()), signins.begin(signins.new_code())
    assert idle is not None
    assert busy is not None
    step = IDLE_S - 1
    for _ in range(int(LONGEST_S / step)):
        clock.now += step
        assert signins.check(busy) is OWNER
    assert signins.check(idle) is None
    clock.now += step
    assert signins.check(busy) is None


def test_a_session_that_a_token_began_ends_with_the_token(clock: Clock) -> None:
    tokens = {"laptop"}
    signins = SignIns(knows=tokens.__contains__, now=clock)
    secret = signins.begin(signins.new_code(Grant(name="laptop")))
    assert secret is not None
    assert signins.check(secret) == Grant(name="laptop")
    tokens.clear()
    assert signins.check(secret) is None
    tokens.add("laptop")
    assert signins.check(secret) is None


def test_neither_codes_nor_sessions_fill_the_memory(signins: SignIns) -> None:
    first = signins.new_code()
    session = signins.begin(signins.new_code())
    for _ in range(300):
        assert signins.begin(signins.new_code()) is not None
    for _ in range(40):
        signins.new_code()
    assert signins.begin(first) is None
    assert session is not None
    assert signins.check(session) is None
    kept = json.dumps([list(vars(signins)["_codes"]), list(vars(signins)["_sessions"])])
    assert session not in kept
    assert len(kept) < 50_000


def test_servers_at_two_ports_do_not_share_a_cookie() -> None:
    assert cookie_name("127.0.0.1:7421") != cookie_name("127.0.0.1:7422")
    assert {cookie_name(one) for one in ("lilbee.example", "[::1]", "x:1;y=2", "x:²", "")} == {COOKIE}


# ------------------------------------------------------------------ over HTTP


def test_a_browser_is_signed_in_by_the_address_that_the_api_gives(stranger: TestClient[Litestar]) -> None:
    assert stranger.get("/").headers["location"] == "/sign-in"
    assert (
        stranger.get("/search?q=queen&type=md").headers["location"] == "/sign-in?next=%2Fsearch%3Fq%3Dqueen%26type%3Dmd"
    )
    code = new_code(stranger)
    signed_in = stranger.get(f"/sign-in?code={code}&next=/search?q=queen")
    assert signed_in.status_code == 200
    kept = signed_in.headers["set-cookie"]
    assert all(one in kept for one in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="))
    assert 'content="0;url=/search?q=queen"' in signed_in.text
    assert "queen" in stranger.get("/search?q=queen").text
    assert code not in signed_in.text
    again = stranger.get(f"/sign-in?code={code}")
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


def test_a_code_can_be_pasted_alone_or_as_the_whole_address(stranger: TestClient[Litestar]) -> None:
    for pasted in (new_code(stranger), f" {ORIGIN}/sign-in?code={new_code(stranger)}\n"):
        stranger.cookies.clear()
        given = stranger.post("/sign-in", data={"code": pasted, "next": "/"}, headers={"Origin": ORIGIN})
        assert given.status_code == 200
        assert stranger.get("/").status_code == 200
    wrong = stranger.post("/sign-in", data={"code": "<script>alert(1)</script>"}, headers={"Origin": ORIGIN})
    assert wrong.status_code == 401
    assert "<script>alert" not in wrong.text
    assert "lilbee open" in wrong.text


@pytest.mark.parametrize(
    "to",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\n/evil.example",
        "/x\\..\\",
        "",
    ],
)
def test_signing_in_leads_to_no_other_site(stranger: TestClient[Litestar], to: str) -> None:
    page = stranger.get("/sign-in", params={"code": new_code(stranger), "next": to})
    assert page.status_code == 200
    assert 'content="0;url=/"' in page.text
    assert "evil" not in page.text


@pytest.mark.parametrize("value", ["", "x", "null", "a" * 5000, '"', "%00", "=;=", "é"])
def test_a_cookie_that_was_made_up_opens_nothing(stranger: TestClient[Litestar], value: str) -> None:
    headers = {"Cookie": f"{COOKIE}={value}".encode()}
    assert stranger.get("/", headers=headers).status_code == 303
    assert stranger.get("/api/status", headers=headers).status_code == 401


def test_a_session_ends_when_somebody_signs_out(browser: TestClient[Litestar]) -> None:
    secret = browser.cookies[COOKIE]
    assert browser.post("/sign-out").headers["location"] == "/sign-in"
    browser.cookies.clear()
    assert browser.get("/", headers={"Cookie": f"{COOKIE}={secret}"}).status_code == 303


@pytest.mark.parametrize(
    "origin", [None, "null", f"http://{HOST}:8080", "http://localhost", "http://evil.example", f"{HOST}", "http://["]
)
def test_a_cookie_changes_nothing_unless_our_own_page_asks(browser: TestClient[Litestar], origin: str | None) -> None:
    """A page of another program of this machine counts as the same site to a browser, and is none of ours."""
    del browser.headers["Origin"]
    headers = {} if origin is None else {"Origin": origin}
    for path in ("/theme", "/sign-out", "/api/sync", "/api/sign-in", "/api/documents/remove"):
        assert browser.post(path, headers=headers).status_code == 403, path
    assert browser.get("/").status_code == 200, "the session goes on"
    assert browser.post("/api/sync", json={}, headers={"Origin": ORIGIN}).status_code == 202


def test_every_page_is_closed_to_strangers(stranger: TestClient[Litestar], library: Lilbee) -> None:
    page = page_app(library)
    assert stranger.get("/").status_code == 303  # the page is loaded by the first request
    from lilbee_server.web.app import PAGES

    paths = {
        (path, method) for module in PAGES for one in module.ROUTES for path in one.paths for method in one.http_methods
    }
    assert len(paths) > 10
    for path, method in sorted(paths):
        if path != "/sign-in":
            asked = stranger.request(method, path.replace("{", "").replace("}", ""))
            assert asked.status_code == 303, (method, path)
            assert asked.headers["location"].startswith("/sign-in")
            assert asked.content == b""
    assert stranger.get("/nothing/here").status_code == 303
    assert page is not None


def test_a_piece_of_a_page_sends_the_whole_page_to_the_sign_in(stranger: TestClient[Litestar]) -> None:
    headers = {**PIECE, "HX-Current-URL": f"{ORIGIN}/search?q=queen"}
    refused = stranger.get("/search?q=que", headers=headers)
    assert refused.status_code == 401
    assert refused.headers["hx-redirect"] == "/sign-in?next=%2Fsearch%3Fq%3Dqueen"


def test_tokens_open_the_page_as_far_as_they_open_the_library(stranger: TestClient[Litestar], library: Lilbee) -> None:
    collection = library.collections.list()[0].name
    whole = library.tokens.create("laptop").secret
    reads = library.tokens.create("reads", read_only=True).secret
    scoped = library.tokens.create("one", collections=[collection]).secret
    asked = {
        name: stranger.post("/api/sign-in", headers={"Authorization": f"Bearer {one}"})
        for name, one in (("whole", whole), ("reads", reads), ("scoped", scoped))
    }
    assert {name: one.status_code for name, one in asked.items()} == {"whole": 200, "reads": 403, "scoped": 403}
    assert stranger.get("/", headers={"Authorization": f"Bearer {scoped}"}).status_code == 403
    assert stranger.get("/", headers={"Authorization": f"Bearer {reads}"}).status_code == 200
    assert (
        stranger.post("/theme", data={"theme": "dark"}, headers={"Authorization": f"Bearer {reads}"}).status_code == 403
    )
    assert stranger.get(f"/sign-in?code={asked['whole'].json()['url'].partition('code=')[2]}").status_code == 200
    assert stranger.get("/").status_code == 200
    library.tokens.revoke("laptop")
    assert stranger.get("/").status_code == 303


def test_who_signs_in_and_what_is_changed_is_written_down(browser: TestClient[Litestar], library: Lilbee) -> None:
    browser.post("/theme", data={"theme": "dark", "next": "/"})
    browser.get("/search?q=queen")
    lines = [json.loads(one) for one in (library.data_dir / "audit.log").read_text("utf-8").splitlines()]
    assert ("owner", "/sign-in") in [(one["who"], one["path"]) for one in lines]
    assert ("owner", "POST", "/theme", 303) in [
        (one["who"], one["method"], one["path"], one["status"]) for one in lines
    ]
    assert "code" not in json.dumps(lines)
    assert TOKEN not in json.dumps(lines)

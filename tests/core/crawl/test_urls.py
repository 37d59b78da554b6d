"""One form for each page (R055-R056): spelling, tracking, fragments, names and passwords; traps; patterns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.crawl._names import file_name, other_name
from lilbee_core.crawl._urls import is_trap, joined, matches, normalized, page_key, shown, site
from lilbee_core.errors import BlockedAddress, InvalidArgument


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/a", "http://example.org/a"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/../../etc", "https://example.org/etc"),
        ("https://example.org//a///b", "https://example.org/a/b"),
        ("https://example.org/%7Euser/%41", "https://example.org/~user/A"),
        ("https://example.org/a%2fb", "https://example.org/a%2Fb"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://example.org/ü b", "https://example.org/%C3%BC%20b"),
        ("https://bücher.example/x", "https://xn--bcher-kva.example/x"),
        ("https://example.org./x", "https://example.org/x"),
        ("https://example.org/a?utm_source=x&b=2&fbclid=1", "https://example.org/a?b=2"),
        ("https://example.org/a?b=2&a=1", "https://example.org/a?b=2&a=1"),
        ("https://example.org/a;jsessionid=12AB?x=1", "https://example.org/a?x=1"),
        ("https://user:secret@example.org/a", "https://example.org/a"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        (" https://example.org/a ", "https://example.org/a"),
    ],
)
def test_one_form(given_url: str, expected: str) -> None:
    assert normalized(given_url) == expected


@given(
    st.from_regex(r"https?://[a-z0-9]{1,8}(\.[a-z]{2,4})?(:[1-9][0-9]{1,3})?", fullmatch=True),
    st.text(alphabet="/ab.%2F?&=;#~äß <>\"'\\\u4e2d", max_size=30),
)
def test_the_one_form_is_its_own_one_form(origin: str, rest: str) -> None:
    url = normalized(f"{origin}/{rest}")
    assert normalized(url) == url
    assert page_key(url) == page_key(url + "#part")
    assert url.isascii()
    assert "#" not in url


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/x", "gopher://example.org/", "javascript:alert(1)", "data:x,y"]
)
def test_what_is_not_of_the_web_is_refused(url: str) -> None:
    with pytest.raises(BlockedAddress, match="not of the web"):
        normalized(url)


@pytest.mark.parametrize("url", ["", "not a url", "http://", "https:///path", "//example.org", "http://exa mple/", "x"])
def test_what_is_no_address_is_an_error(url: str) -> None:
    with pytest.raises(InvalidArgument):
        normalized(url)


def test_ways_to_one_page_have_one_key() -> None:
    ways = ["/a", "/a/", "/a#x", "/a?utm_source=y", "/./a"]
    assert len({page_key("http://example.org" + way) for way in ways} | {page_key("https://example.org/a")}) == 1
    assert page_key("http://example.org/a") != page_key("http://example.org/a?page=2")
    assert page_key("http://example.org:8080/a") != page_key("http://example.org/a")


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("b", "http://example.org/docs/b"),
        ("/b", "http://example.org/b"),
        ("//other.example/b", "http://other.example/b"),
        ("?page=2", "http://example.org/docs/a?page=2"),
        ("#top", None),
        ("", None),
        ("mailto:ann@example.org", None),
        ("javascript:void(0)", None),
        ("http://[broken", None),
        ("/" + "x" * 3000, None),
    ],
)
def test_links(href: str, expected: str | None) -> None:
    assert joined("http://example.org/docs/a", href) == expected


def test_endless_folders_are_a_trap() -> None:
    assert is_trap("http://example.org/a/b/a/b/a/b/a/b")
    assert not is_trap("http://example.org/2024/05/03/title")


def test_a_site_is_its_host_with_or_without_www() -> None:
    assert site("https://www.example.org/a") == site("http://example.org/b") == "example.org"
    assert site("http://docs.example.org/") != site("http://example.org/")
    assert site("http://example.org:8080/") != site("http://example.org/")


def test_what_is_shown_holds_no_password_and_no_control_signs() -> None:
    assert shown("https://user:secret@example.org/a#x") == "https://example.org/a"
    assert shown("http://example.org/\x1b[31m") == "http://example.org/?[31m"
    assert len(shown("http://example.org/" + "x" * 900)) == 200
    assert shown("http://user:secret@[broken/x") == "[broken/x"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [("/docs/*", True), ("docs/*", True), ("/docs", False), ("*.html", True), ("https://example.org/*", True),
     ("/docs/?.html", True), ("/other/*", False), ("*", True)],
)  # fmt: skip
def test_patterns(pattern: str, fits: bool) -> None:
    assert matches("https://example.org/docs/a.html", [pattern]) is fits


@pytest.mark.parametrize(
    ("url", "ending", "expected"),
    [
        ("http://example.org/", "md", "example.org/index.md"),
        ("http://example.org/guide/install.html", "md", "example.org/guide/install.md"),
        ("http://example.org/guide/", "md", "example.org/guide.md"),
        ("http://example.org/paper.pdf", "pdf", "example.org/paper.pdf"),
        ("http://example.org/download", "pdf", "example.org/download.pdf"),
        ("http://example.org:8080/con/.git/x", "md", "example.org_8080/_con/git/x.md"),
    ],
)
def test_file_names(url: str, ending: str, expected: str) -> None:
    assert file_name(url, ending) == expected


@given(st.text(max_size=300), st.text(max_size=40))
def test_a_file_name_never_leaves_its_folder_and_is_legal_everywhere(path: str, query: str) -> None:
    url = normalized(f"http://example.org/{path.replace('#', '')}?{query.replace('#', '')}")
    for name in (file_name(url, "md"), other_name(file_name(url, "md"), url)):
        parts = name.split("/")
        assert parts[0] == "example.org"
        assert all(part and part not in {".", ".."} and not part.startswith(".") for part in parts)
        assert not set(name) & set('<>:"\\|?*\x00\n')
        assert all(len(part.encode()) <= 130 for part in parts)
        assert len(parts) <= 16


def test_pages_that_differ_in_their_query_have_different_files() -> None:
    names = {file_name(f"http://example.org/list?page={number}", "md") for number in range(20)}
    assert len(names) == 20

"""Addresses of pages: one form for each page, so that it is fetched and kept once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit, urlunsplit

from lilbee_core.errors import BlockedAddress, InvalidArgument

MAX_URL_CHARS = 2000
_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(
    r"utm_\w+|gclid|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_hsenc|_hsmi|mkt_tok|oly_\w+_id|"
    r"vero_id|ref_src|phpsessid|jsessionid",
    re.IGNORECASE,
)
_SESSION_PATH = re.compile(r";(?:jsessionid|phpsessid)=[^/?#;]*", re.IGNORECASE)
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_REPEATS = 4


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a web address, in their one form."""

    scheme: str
    host: str
    port: int
    path: str
    query: str

    @property
    def netloc(self) -> str:
        """Host and, where it is not the usual one, port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def target(self) -> str:
        """Path and query, as a server is asked for them."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        return self.origin + self.target


def parse(url: str) -> Address:
    """Return a web address in its one form: no fragment, no user name, no tracking, no usual port.

    Raises:
        BlockedAddress: If it is of another scheme than http and https.
        InvalidArgument: If it is no address at all.
    """
    try:
        parts = urlsplit(url.strip())
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        raise _invalid(url) from error
    if scheme and scheme not in _PORTS and (host or ":" in url):
        raise BlockedAddress(
            f"{shown(url)} is not of the web: its scheme is {scheme}", hint="Give an address of http:// or https://."
        )
    if not scheme or not host:
        raise _invalid(url)
    return Address(
        scheme=scheme,
        host=_host(host, url),
        port=port or _PORTS[scheme],
        path=_path(parts.path),
        query=_query(parts.query),
    )


def normalized(url: str) -> str:
    """Return the one form of a web address.

    Raises:
        BlockedAddress: If it is of another scheme than http and https.
        InvalidArgument: If it is no address at all.
    """
    return str(parse(url))


def page_key(url: str) -> str:
    """Return what addresses of one page have in common: a slash at the end makes no other page, nor does ``https``."""
    address = parse(url)
    path = address.path.rstrip("/") or "/"
    query = f"?{address.query}" if address.query else ""
    return f"{address.netloc.removesuffix(':443').removesuffix(':80')}{path}{query}"


def joined(base: str, href: str) -> str | None:
    """Return where a link leads, None if that is no page of the web."""
    href = href.strip()
    if not href or href.startswith("#") or len(href) > MAX_URL_CHARS:
        return None
    try:
        url = normalized(urljoin(base, href))
    except (InvalidArgument, BlockedAddress, ValueError):
        return None
    return url if len(url) <= MAX_URL_CHARS else None


def is_trap(url: str) -> bool:
    """Say whether an address looks like one of endlessly many: the same folder again and again."""
    parts = [part for part in urlsplit(url).path.split("/") if part]
    return len(parts) > _REPEATS and any(parts.count(part) >= _REPEATS for part in set(parts))


def site(url: str) -> str:
    """Return the site of an address: its host, with or without ``www.``, and its port."""
    address = parse(url)
    return address.netloc.removesuffix(":443").removesuffix(":80").removeprefix("www.")


def shown(url: str) -> str:
    """Return an address as it may be told: without user name, password and fragment, and not too long."""
    try:
        parts = urlsplit(url)
        plain = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    except ValueError:
        plain = url.rpartition("@")[2]
    plain = "".join(sign if sign.isprintable() else "?" for sign in plain)
    return plain if len(plain) <= 200 else plain[:199] + "…"


def matches(url: str, patterns: Sequence[str]) -> bool:
    """Say whether an address fits one of the patterns: of the path (``/docs/*``), or of all of it (``https://…``)."""
    address = parse(url)
    return any(
        _pattern(one).fullmatch(str(address) if "://" in one else address.target) is not None for one in patterns
    )


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    start = "" if "://" in glob or glob.startswith(("/", "*")) else "/"
    signs = {"*": ".*", "?": "."}
    return re.compile("".join(signs.get(sign, re.escape(sign)) for sign in start + glob), re.DOTALL)


def _invalid(url: str) -> InvalidArgument:
    return InvalidArgument(
        f"{shown(url)!r} is no web address", hint="Write it as the browser shows it: https://example.org/page."
    )


def _host(host: str, url: str) -> str:
    host = host.lower().rstrip(".")
    if not host or any(sign in host for sign in " /\\@?#"):
        raise _invalid(url)
    if host.isascii():
        return host
    import idna

    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except idna.IDNAError as error:
        raise _invalid(url) from error


def _path(path: str) -> str:
    path = _SESSION_PATH.sub("", path)
    parts: list[str] = []
    for part in _escaped(path, safe="/!$&'()*+,;=:@").split("/"):
        if part == "..":
            parts = parts[:-1] or [""]
        elif part != ".":
            parts.append(part)
    last = path.rsplit("/", 1)[-1]
    joined_path = "/".join(parts) + ("/" if last in {".", ".."} else "")
    return re.sub(r"/{2,}", "/", "/" + joined_path)


def _query(query: str) -> str:
    kept = [pair for pair in query.split("&") if pair and not _TRACKING.fullmatch(pair.partition("=")[0])]
    return "&".join(_escaped(pair, safe="/?!$&'()*+,;=:@[]") for pair in kept)


def _escaped(text: str, *, safe: str) -> str:
    """Escape what has to be, write every escape alike, and unescape what need not be."""
    raw = quote(text, safe=safe + "%-._~", errors="surrogatepass")
    raw = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", raw)
    return _ESCAPE.sub(_one_escape, raw)


def _one_escape(found: re.Match[str]) -> str:
    byte = unquote_to_bytes(found[0])
    return byte.decode("ascii") if byte[0] in _UNRESERVED else found[0].upper()

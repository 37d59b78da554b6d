"""Which addresses of the network may be asked: the public ones, and those that the user allows."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from lilbee_core.errors import BlockedAddress, CrawlError, SettingsError

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host as text, in the order in which they should be tried."""

# Beside what the standard library calls not global, which differs between versions of Python.
_INSIDE: tuple[Network, ...] = tuple(
    ipaddress.ip_network(one)
    for one in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32",  # a public number under which a cloud answers its own machines
        "::/128", "::1/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7",
        "fe80::/10", "fec0::/10", "ff00::/8", "64:ff9b:1::/48",
    )
)  # fmt: skip
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_ISATAP = 0x00005EFE


class Guard:
    """Says which addresses may be connected to. Threads may share it.

    Private, loopback, link-local and metadata addresses are refused, also where an IPv6 address only wraps one, unless
    a network of `allowed` (``127.0.0.0/8``, ``10.1.2.3``) holds them.
    """

    def __init__(self, allowed: Iterable[str] = (), *, resolve: Resolve | None = None) -> None:
        self._allowed = tuple(_network(one) for one in allowed)
        self._resolve = resolve or _resolved

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of a host, each of which may be connected to.

        Raises:
            BlockedAddress: If one of them lies inside: a name that leads to both cannot be trusted with either.
            CrawlError: If there is no such host.
        """
        try:
            found = tuple(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError) as error:
            raise CrawlError(
                f"there is no host {host!r}", hint="Check the address, and the connection.", code="crawl.unreachable"
            ) from error
        if not found:
            raise CrawlError(f"there is no host {host!r}", hint="Check the address.", code="crawl.unreachable")
        for one in found:
            self.check(one, host)
        return found

    def check(self, address: str, host: str = "") -> None:
        """Let an address pass.

        Raises:
            BlockedAddress: If it lies inside.
        """
        one = ipaddress.ip_address(address.partition("%")[0])
        inner = next((each for each in (one, *wrapped(one)) if not self._passes(each)), None)
        if inner is None:
            return
        named = host if host and host != str(one) else ""
        raise BlockedAddress(
            f"{named} leads to {one}, an address inside your network" if named else f"{one} is inside your network",
            hint="If you mean it, add the address or its network to crawl_allowed_networks.",
        )

    def _passes(self, address: IPAddress) -> bool:
        if any(address.version == one.version and address in one for one in self._allowed):
            return True
        return not any(address.version == one.version and address in one for one in _INSIDE) and (
            address.is_global or bool(wrapped(address))
        )


def wrapped(address: IPAddress) -> tuple[ipaddress.IPv4Address, ...]:
    """Return the IPv4 addresses that an IPv6 address stands for: mapped, NAT64, 6to4, Teredo, ISATAP, compatible."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    found: list[ipaddress.IPv4Address] = []
    number = int(address)
    last = ipaddress.IPv4Address(number & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found.extend(address.teredo)
    is_compatible = address in _COMPATIBLE and number > 1
    is_isatap = (number >> 32) & 0xFFFFFFFF in {_ISATAP, _ISATAP | 0x02000000}
    if address in _NAT64 or is_compatible or is_isatap:
        found.append(last)
    return tuple(found)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise SettingsError(
            f"{text!r} in crawl_allowed_networks is no network", hint="Write 10.0.0.0/8, 127.0.0.1 or fd00::/8."
        ) from error


def _resolved(host: str, port: int) -> tuple[str, ...]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(str(entry[4][0]) for entry in found)

"""Which addresses may be asked (R059): the table, what wraps an address, names that lead inside, and rebinding."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.crawl._addresses import Guard, wrapped
from lilbee_core.crawl._connection import Deadline, GuardedBackend
from lilbee_core.errors import BlockedAddress, CrawlError, SettingsError

INSIDE = (
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.0.1", "100.64.0.1", "100.127.255.255", "192.0.0.192", "198.18.0.1", "198.19.255.255", "192.0.2.1",
    "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.88.99.1",
    # clouds tell their machines secrets here
    "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "fd00:ec2::254",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1", "100::1",
    # IPv4 in IPv6: mapped, compatible, NAT64, 6to4, Teredo, ISATAP
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::7f00:1", "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:c0a8:101::1", "2002:a9fe:a9fe::",
    "2001:0:7f00:1::", "2001:db8::5efe:127.0.0.1", "2a00::200:5efe:10.0.0.1", "2a00::5efe:192.168.0.1",
)  # fmt: skip
OUTSIDE = (
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "172.15.255.255", "100.63.255.255", "100.128.0.1",
    "11.0.0.1", "169.253.1.1", "192.167.1.1", "198.17.1.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8", "2002:808:808::1",
)  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_refused(address: str) -> None:
    with pytest.raises(BlockedAddress) as caught:
        Guard().check(address)
    assert caught.value.code == "crawl.blocked_address"
    assert "crawl_allowed_networks" in caught.value.hint


@pytest.mark.parametrize("address", OUTSIDE)
def test_addresses_of_the_web_pass(address: str) -> None:
    Guard().check(address)


@given(st.ip_addresses(v=4))
def test_an_address_is_refused_in_every_wrapping_of_it(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    forms = [
        ipaddress.IPv6Address((0xFFFF << 32) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),
        ipaddress.IPv6Address((0x64FF9B << 96) | number),
    ]
    assert all(address in wrapped(one) for one in forms)

    def passes(one: object) -> bool:
        try:
            Guard().check(str(one))
        except BlockedAddress:
            return False
        return True

    if not passes(address):
        assert not any(passes(one) for one in forms)


def test_what_the_user_allows_passes_and_nothing_else() -> None:
    guard = Guard(["127.0.0.0/8", "10.1.2.3"])
    for one in ("127.0.0.1", "10.1.2.3", "::ffff:127.0.0.1", "1.1.1.1"):
        guard.check(one)
    for one in ("10.1.2.4", "::1", "169.254.169.254", "::ffff:10.1.2.4"):
        with pytest.raises(BlockedAddress):
            guard.check(one)


def test_a_network_that_is_none_is_an_error() -> None:
    with pytest.raises(SettingsError, match="'everything'"):
        Guard(["everything"])


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::1"], ["1.1.1.1", "::ffff:169.254.169.254"]]
)
def test_a_name_that_leads_inside_is_refused_also_if_only_one_of_its_addresses_does(found: list[str]) -> None:
    with pytest.raises(BlockedAddress, match=r"innocent\.example leads to"):
        Guard(resolve=lambda host, port: found).addresses("innocent.example", 443)


@pytest.mark.parametrize("error", [OSError("no such name"), UnicodeError("label too long")])
def test_a_name_without_address_is_an_error(error: Exception) -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise error

    with pytest.raises(CrawlError, match=r"no host 'nowhere\.example'") as caught:
        Guard(resolve=resolve).addresses("nowhere.example", 80)
    assert caught.value.code == "crawl.unreachable"
    with pytest.raises(CrawlError):
        Guard(resolve=lambda host, port: ()).addresses("nowhere.example", 80)


class Recorded(httpcore.MockBackend):
    """Remembers where it was told to connect to."""

    def __init__(self, *refusing: str) -> None:
        super().__init__([b""])
        self.tried: list[str] = []
        self.refusing = refusing

    def connect_tcp(self, host: str, *args: object, **options: object) -> httpcore.NetworkStream:
        self.tried.append(host)
        if host in self.refusing:
            raise httpcore.ConnectError("refused")
        return super().connect_tcp(host, 80)


def test_the_connection_goes_to_the_address_that_was_checked_not_to_the_name() -> None:
    """A name server that says something else the second time (rebinding) is never asked a second time."""
    answers = [["8.8.8.8"], ["127.0.0.1"]]
    inner = Recorded()
    backend = GuardedBackend(Guard(resolve=lambda host, port: answers.pop(0)), Deadline(), inner=inner)
    backend.connect_tcp("rebinding.example", 80)
    assert inner.tried == ["8.8.8.8"]
    assert len(answers) == 1
    with pytest.raises(BlockedAddress):
        backend.connect_tcp("rebinding.example", 80)
    assert inner.tried == ["8.8.8.8"]


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    inner = Recorded("8.8.8.8")
    backend = GuardedBackend(Guard(resolve=lambda host, port: ["8.8.8.8", "1.1.1.1"]), Deadline(), inner=inner)
    backend.connect_tcp("two.example", 80)
    assert inner.tried == ["8.8.8.8", "1.1.1.1"]
    none = GuardedBackend(Guard(resolve=lambda host, port: ["8.8.8.8"]), Deadline(), inner=Recorded("8.8.8.8"))
    with pytest.raises(httpcore.ConnectError):
        none.connect_tcp("one.example", 80)


def test_a_socket_of_this_machine_is_no_way_in() -> None:
    with pytest.raises(CrawlError):
        GuardedBackend(Guard(), Deadline()).connect_unix_socket("/run/engine.sock")


def test_a_deadline_leaves_less_and_less_and_then_nothing() -> None:
    now = [100.0]
    deadline = Deadline(lambda: now[0])
    assert deadline.left(5.0) == 5.0
    with deadline.of(10.0):
        assert deadline.left(None) == 10.0
        now[0] += 7
        assert deadline.left(5.0) == 3.0
        now[0] += 7
        with pytest.raises(httpcore.ReadTimeout):
            deadline.left(5.0)
    assert deadline.left(None) > 0

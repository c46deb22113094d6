"""A prefix's own entry, found by questions for addresses: the kernel has no other."""

from __future__ import annotations

import random
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import pytest

from appliance.dataplane.route_answer import Entry, NextHop, Untold
from appliance.dataplane.route_lookup import PROBES, Address, Dropped, Match, Matched, answer


class Kernel:
    """A table that is asked for addresses only."""

    def __init__(self, *prefixes: str, drops: tuple[str, ...] = ()) -> None:
        self._drops = {ip_network(prefix) for prefix in drops}
        self._known = {ip_network(prefix) for prefix in prefixes} | self._drops
        self.asked = 0

    def ask(self, address: Address) -> Matched:
        self.asked += 1
        covering = [network for network in self._known if address in network]
        best = max(covering, key=lambda network: network.prefixlen, default=None)
        if best is None:
            return None
        return Dropped("blackhole") if best in self._drops else Match(best, _entry(best))


def _entry(network: IPv4Network | IPv6Network) -> Entry:
    return Entry(str(network), "unicast", (NextHop("192.0.2.1", "wan0", 1),))


@pytest.mark.parametrize(
    ("table", "destination", "found"),
    [
        (("10.0.0.0/8",), "10.0.0.0/8", "10.0.0.0/8"),
        (("10.0.0.0/8", "10.0.0.0/24", "10.0.1.0/24"), "10.0.0.0/8", "10.0.0.0/8"),
        (("0.0.0.0/0", "10.0.0.0/8"), "0.0.0.0/0", "0.0.0.0/0"),
        (("0.0.0.0/0",), "10.0.0.0/8", None),
        (("10.0.0.0/24",), "10.0.0.0/8", None),
        (("10.0.0.0/8",), "10.0.0.0/24", None),
        (("10.0.0.0/8", "10.0.0.7/32"), "10.0.0.7/32", "10.0.0.7/32"),
        (("::/0", "2001:db8::/32"), "2001:db8::/32", "2001:db8::/32"),
        (("2001:db8::/32", "2001:db8::/64"), "2001:db8::/32", "2001:db8::/32"),
        (("10.0.0.0/8",), "10.1.2.3", "10.0.0.0/8"),
        (("10.0.0.0/8",), "11.1.2.3", None),
    ],
)
def test_what_is_found(table: tuple[str, ...], destination: str, found: str | None) -> None:
    wanted = None if found is None else _entry(ip_network(found))
    assert answer(destination, Kernel(*table).ask) == wanted


def test_what_longer_prefixes_hide_is_not_guessed() -> None:
    assert isinstance(answer("10.0.0.0/24", Kernel("10.0.0.0/25", "10.0.0.128/25").ask), Untold)


def test_what_drops_has_no_prefix() -> None:
    kernel = Kernel(drops=("10.0.0.0/8",))
    assert answer("10.0.0.0/8", kernel.ask) == answer("10.1.1.1", kernel.ask) == Entry(None, "blackhole")
    # A longer prefix that drops does not hide the rest.
    partly = Kernel("10.0.0.0/8", drops=("10.0.0.0/16",))
    assert answer("10.0.0.0/8", partly.ask) == _entry(ip_network("10.0.0.0/8"))


def test_the_questions_are_few_whatever_is_in_the_prefix() -> None:
    full = Kernel("10.0.0.0/8", *(f"10.{high}.{low}.0/24" for high in range(8) for low in range(256)))
    answer("10.0.0.0/8", full.ask)
    assert full.asked <= PROBES


@pytest.mark.parametrize("seed", range(20))
def test_random_tables_are_never_told_wrongly(seed: int) -> None:
    rng = random.Random(seed)
    prefixes = {
        ip_network((int(ip_address("10.0.0.0")) + rng.randrange(1 << 12), length), strict=False)
        for length in (rng.randint(20, 32) for _ in range(rng.randint(1, 60)))
    }
    kernel = Kernel(*map(str, prefixes))
    for network in [
        *prefixes,
        *(ip_network((int(n[0]), max(20, n.prefixlen - 1)), strict=False) for n in prefixes),
    ]:
        found = answer(str(network), kernel.ask)
        if not isinstance(found, Untold):
            assert (found is not None) == (network in prefixes)

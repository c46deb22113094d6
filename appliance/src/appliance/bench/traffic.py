"""The packets of the scenarios, of ``millrace bench`` and of ``make bench``.

Clients are 16.0.0.0/8 on the left, servers 48.0.0.0/8 on the right. ``macs`` are the router's,
left and right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from appliance.bench.generator import Stream

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from vpp_config import AclRule

Streams = tuple[Stream | None, Stream | None]
IMIX = (64,) * 7 + (570,) * 4 + (1518,)
"""The simple mix: 7 short, 4 middle, 1 long; 353.8 bytes on average."""
HOSTS = 512
FIRST_CLIENT = IPv4Address("16.0.0.0")
_OTHERS = IPv4Address("17.0.0.0")
_ANYWHERE = "0.0.0.0/0"
_MOST_SESSIONS = 131_072
"""That the document takes for a worker."""
_FLOWS_OF_A_HOST = 64
_UDP = 17


def both(macs: Sequence[str], sizes_bytes: tuple[int, ...] = (64,), hosts: int = 1) -> Streams:
    """Both ways between clients and a server, a flow for each client."""
    return (
        Stream("v4", macs[0], str(FIRST_CLIENT), hosts, "48.0.0.1", 1, hosts, sizes_bytes),
        Stream("v4", macs[1], "48.0.0.1", 1, str(FIRST_CLIENT), hosts, hosts, sizes_bytes),
    )


def to_left(macs: Sequence[str], routes: int) -> Streams:
    """From a server to as many clients, each of which has a route."""
    return None, Stream("v4", macs[1], "48.0.0.1", 1, str(FIRST_CLIENT), routes, routes)


def translated(macs: Sequence[str], flows: int) -> Streams:
    """From inside hosts to 16 servers."""
    return Stream("v4", macs[0], str(FIRST_CLIENT), inside_hosts(flows), "48.0.0.0", 16, flows), None


def inside_hosts(flows: int) -> int:
    """How many hosts so many flows are of."""
    return max(1, flows // _FLOWS_OF_A_HOST)


def sessions(flows: int) -> int:
    """Room for translations of so many flows, of a worker."""
    return min(2 * flows + 1024, _MOST_SESSIONS)


def ruled_hosts(rules: int) -> Iterator[str]:
    """A prefix for each rule: those of the traffic first, then others; a single rule has all of them."""
    if rules == 1:
        yield _ANYWHERE
        return
    for number in range(rules):
        yield f"{(FIRST_CLIENT if number < HOSTS else _OTHERS) + number}/32"


def access_list(rules: int, side: int) -> list[AclRule]:
    """For packets that come in on a side."""
    from ipaddress import ip_network

    from vpp_config import AclRule

    anywhere = ip_network(_ANYWHERE)
    hosts = map(ip_network, ruled_hosts(rules))
    return [AclRule("permit", *((anywhere, one) if side else (one, anywhere)), _UDP) for one in hosts]

"""The packets of the scenarios, of ``millrace bench`` and of ``make bench``.

Clients are 16.0.0.0/8 on the left, servers 48.0.0.0/8 on the right. ``macs`` are the router's,
left and right.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address

from appliance.bench.generator import Stream

Streams = tuple[Stream | None, Stream | None]
IMIX = (64,) * 7 + (570,) * 4 + (1518,)
"""The simple mix: 7 short, 4 middle, 1 long; 353.8 bytes on average."""
HOSTS = 512
FIRST_CLIENT = IPv4Address("16.0.0.0")


def both(macs: Sequence[str], sizes_bytes: tuple[int, ...] = (64,), hosts: int = 1) -> Streams:
    """Both ways between clients and a server, a flow for each client."""
    return (
        Stream("v4", macs[0], str(FIRST_CLIENT), hosts, "48.0.0.1", 1, hosts, sizes_bytes),
        Stream("v4", macs[1], "48.0.0.1", 1, str(FIRST_CLIENT), hosts, hosts, sizes_bytes),
    )


def to_left(macs: Sequence[str], routes: int) -> Streams:
    """From a server to as many clients, each of which has a route."""
    return None, Stream("v4", macs[1], "48.0.0.1", 1, str(FIRST_CLIENT), routes, routes)

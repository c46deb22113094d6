"""Questions to the kernel about single routes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from appliance.dataplane.namespace import Namespace
from appliance.dataplane.route_answer import Entry
from appliance.dataplane.route_lookup import look_up

pytestmark = pytest.mark.root


def _ip(space: str, *words: str) -> str:
    return subprocess.run(["ip", "-n", space, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def space() -> Iterator[str]:
    """A namespace with a link to nowhere, d0."""
    name = f"sr{os.getpid() % 100000}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        _ip(name, "link", "add", "d0", "type", "veth", "peer", "name", "d1")
        for end in ("d0", "d1"):
            _ip(name, "link", "set", end, "up")
        _ip(name, "address", "add", "192.0.2.1/24", "dev", "d0")
        _ip(name, "-6", "address", "add", "2001:db8::1/64", "dev", "d0", "nodad")
        _ip(name, "nexthop", "add", "id", "4", "via", "192.0.2.9", "dev", "d0")
        _ip(name, "nexthop", "add", "id", "6", "via", "2001:db8::9", "dev", "d0")
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def test_no_other_route_of_a_next_hop_is_named(space: str) -> None:
    prefixes = [f"2001:db8:{at:x}::/48" for at in range(1, 9)]
    for prefix in prefixes:
        _ip(space, "-6", "route", "add", prefix, "nhid", "6", "proto", "bgp")
    for _ in range(3):
        for prefix, found in zip(prefixes, Namespace(space).run(look_up, prefixes), strict=True):
            assert isinstance(found, Entry), found
            assert found.prefix in (None, prefix)
            assert [hop.address for hop in found.next_hops] == ["2001:db8::9"]

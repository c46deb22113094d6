"""Routes added by linux_nl, as the read side reports them; and the notifications to neighbors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, ip_interface, ip_network
from time import monotonic, sleep

import pytest

from tests.integration.vpp.harness import PrivateVpp, nic_mac, run
from vpp_config import Address, AfPacket, Ethernet, LcpPair, Session, VppObject, VppState, VrfTable, plan
from vpp_config.fib import fib_counts, fib_dump, fib_lookup
from vpp_config.papi_client import PapiClient

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_ROUTES = 50


def _wait_until(condition: Callable[[], bool], timeout_s: float = 5.0) -> None:
    deadline = monotonic() + timeout_s
    while not condition():
        assert monotonic() < deadline, "did not come true in time"
        sleep(0.02)


def _state(vpp: PrivateVpp, *, enabled: bool = True) -> VppState:
    objects: list[VppObject] = [
        Ethernet("wan0", AfPacket("nic0"), nic_mac(0), enabled=enabled),
        VrfTable(10, "blue", "ipv4"),
        LcpPair("wan0", "wan0", vpp.mirror_namespace),
        Address("wan0", ip_interface("192.0.2.2/30")),
        Address("wan0", ip_interface("2001:db8::2/64")),
    ]
    return VppState.of(objects)


def _configure(client: PapiClient, desired: VppState) -> None:
    session = Session(client)
    for step in plan(desired, session.observe()):
        session.apply(step)


@pytest.fixture
def client(private_vpp: PrivateVpp) -> Iterator[PapiClient]:
    """VPP with one mirrored interface."""
    client = private_vpp.client()
    _configure(client, _state(private_vpp))
    yield client
    _configure(client, VppState.of(()))
    client.close()


def test_fib(private_vpp: PrivateVpp, client: PapiClient) -> None:
    before = fib_counts(client, "ipv4")
    assert before.keys() == {0, 10}
    for number in range(_ROUTES):
        run("ip", "route", "add", f"198.51.{number}.0/24", "via", "192.0.2.1",
            namespace=private_vpp.mirror_namespace)  # fmt: skip
    run("ip", "route", "add", "2001:db8:9::/48", "via", "2001:db8::1", namespace=private_vpp.mirror_namespace)
    _wait_until(lambda: fib_counts(client, "ipv4")[0] == before[0] + _ROUTES)
    route = fib_lookup(client, "198.51.7.9")
    assert route is not None
    assert route.prefix == ip_network("198.51.7.0/24")
    assert [(path.next_hop, path.kind) for path in route.paths] == [(IPv4Address("192.0.2.1"), "normal")]
    assert Session(client).interface_names()[route.paths[0].sw_if_index or 0] == "wan0"
    assert fib_lookup(client, "203.0.113.0/24", exact=True) is None
    assert fib_lookup(client, "203.0.113.1", table_id=99) is None
    _wait_until(lambda: fib_lookup(client, "2001:db8:9::/48", exact=True) is not None)
    prefixes = {route.prefix for route in fib_dump(client, "ipv4")}
    assert ip_network("198.51.49.0/24") in prefixes
    assert len(prefixes) == before[0] + _ROUTES
    # A reader that stops early leaves the connection usable.
    generation = client.generation
    rows = fib_dump(client, "ipv4")
    next(rows)
    assert fib_lookup(client, "192.0.2.1") is not None
    del rows
    assert fib_lookup(client, "192.0.2.1") is not None
    assert client.generation == generation


def test_neighbors_are_told(private_vpp: PrivateVpp, client: PapiClient) -> None:
    """A neighbor that remembers another MAC learns ours when the interface comes up, without being asked."""
    far = private_vpp.far(0)
    _configure(client, _state(private_vpp, enabled=False))
    run("ip", "addr", "replace", "192.0.2.1/30", "dev", "peer0", namespace=far)
    run("ip", "addr", "replace", "2001:db8::1/64", "dev", "peer0", "nodad", namespace=far)
    addresses = ("192.0.2.2", "2001:db8::2")
    for address in addresses:
        run("ip", "neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "dev", "peer0", "nud", "stale",
            namespace=far)  # fmt: skip
    _configure(client, _state(private_vpp))

    def all_know() -> bool:
        return all(nic_mac(0) in run("ip", "neigh", "show", address, namespace=far) for address in addresses)

    _wait_until(all_know)

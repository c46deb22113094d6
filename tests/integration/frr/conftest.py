"""One router, and one router with a neighbor, on real FRR, for all tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from frr_config import Frr, Routing, plan, render
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until
from tests.requirements import require_root_netns

INTERFACES = {f"d{at}": [f"10.9.{at}.1/24", f"2001:db8:9:{at}::1/64"] for at in range(4)}
PEER, PEER6, OTHER_PEER = "10.9.0.2", "2001:db8:9::2", "10.9.1.2"


def require_frr() -> None:
    """Skips where FRR cannot run."""
    require_root_netns()
    if not frr_installed():
        pytest.skip("FRRouting is not installed (Debian package frr)")


def configure(client: Frr, routing: Routing | dict[str, Any]) -> list[str]:
    """Make FRR run this routing; returns the summaries of the steps. Asserts that nothing is left to do."""
    document = routing if isinstance(routing, Routing) else Routing.model_validate(routing)
    desired = render(document, client.version())
    steps = plan(desired, client.observe())
    for step in steps:
        client.apply(step)
    assert plan(desired, client.observe()) == ()
    return [step.summary for step in steps]


@pytest.fixture(scope="session")
def router() -> Iterator[FrrHarness]:
    """FRR with the interfaces d0 to d3, connected to nobody."""
    require_frr()
    name = f"fc-r{os.getpid() % 100000}"
    with FrrHarness(name, name) as harness:
        for interface, addresses in INTERFACES.items():
            harness.add_link(interface, *addresses)
        yield harness


@pytest.fixture
def empty_router(router: FrrHarness) -> FrrHarness:
    """The same, with nothing configured."""
    configure(router.client(), Routing())
    return router


class Pair:
    """A router in AS 65000 and its neighbor in AS 65001, with two sessions of IPv4 and one of IPv6."""

    def __init__(self, near: FrrHarness, far: FrrHarness) -> None:
        self.near, self.far = near, far
        self.client, self.far_client = near.client(), far.client()

    def near_routing(self) -> dict[str, Any]:
        """The router's initial routing; tests change copies of it."""
        family: dict[str, Any] = {}
        settings = {"remote_asn": 65001, "connect_retry_s": 1}
        return {
            "bgp": {
                "asn": 65000,
                "router_id": "10.255.0.1",
                "ebgp_requires_policy": False,
                "neighbors": {
                    PEER: {**settings, "ipv4_unicast": dict(family)},
                    OTHER_PEER: {**settings, "ipv4_unicast": dict(family)},
                    PEER6: {**settings, "ipv6_unicast": dict(family)},
                },
            }
        }

    def far_routing(self, **settings: Any) -> dict[str, Any]:
        """The neighbor's routing; ``settings`` for its session of 10.9.0.0/24."""
        common: dict[str, Any] = {"remote_asn": 65000, "connect_retry_s": 1}
        originated = {f"198.51.{at}.0/24": {"blackhole": True} for at in range(100, 110)}
        return {
            "static": originated,
            "bgp": {
                "asn": 65001,
                "router_id": "10.255.0.9",
                "ebgp_requires_policy": False,
                "neighbors": {
                    "10.9.0.1": {**common, "ipv4_unicast": {}, **settings},
                    "10.9.1.1": {**common, "ipv4_unicast": {}},
                    "2001:db8:9::1": {**common, "ipv6_unicast": {}},
                },
                "ipv4_unicast": {"networks": list(originated)},
            },
        }

    def established(self, *addresses: str) -> bool:
        """Whether all these sessions are up."""
        return all(self.session(address).get("bgpState") == "Established" for address in addresses)

    def session(self, address: str) -> dict[str, Any]:
        """A neighbor as bgpd shows it."""
        return self.client.bgp_neighbor(address)

    def dropped(self, address: str) -> int:
        """How many times a session was lost."""
        return int(self.session(address)["connectionsDropped"])

    def connection(self, address: str) -> tuple[int, int] | None:
        """The ports of a session that is up: another TCP connection has others."""
        session = self.session(address)
        if session.get("bgpState") != "Established":
            return None
        return int(session["portLocal"]), int(session["portForeign"])

    def wait_established(self, *addresses: str) -> None:
        """Until all these sessions are up."""
        wait_until(lambda: self.established(*addresses), f"sessions with {', '.join(addresses)}", 40)

    def received(self) -> set[str]:
        """Prefixes of BGP routes that zebra has selected."""
        return {item["prefix"] for item in self.client.rib(protocol="bgp", limit=1000).items}


@pytest.fixture(scope="session")
def running_pair() -> Iterator[Pair]:
    """Two FRRs with two links between them."""
    require_frr()
    name = f"fc-p{os.getpid() % 100000}"
    with FrrHarness(f"{name}a", f"{name}a") as near, FrrHarness(f"{name}b", f"{name}b") as far:
        for at in range(2):
            near.add_link(
                f"d{at}",
                f"10.9.{at}.1/24",
                f"2001:db8:9:{at}::1/64" if at else "2001:db8:9::1/64",
                peer=(far.netns, f"d{at}"),
            )
            far.add_address(
                f"d{at}", f"10.9.{at}.2/24", f"2001:db8:9:{at}::2/64" if at else "2001:db8:9::2/64"
            )
        yield Pair(near, far)


@pytest.fixture
def pair(running_pair: Pair) -> Pair:
    """The two with their sessions up."""
    configure(running_pair.far_client, running_pair.far_routing())
    configure(running_pair.client, running_pair.near_routing())
    running_pair.wait_established(PEER, OTHER_PEER, PEER6)
    return running_pair

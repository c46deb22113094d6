"""VRFs of the kernel and of FRR, with BIRD beside them, where the kernel has VRFs::

    a1 10.1.1.2/24 ─── blue ┐          ┌ red ──── b1 10.1.1.2/24
    a2 10.1.2.2/24 ─── blue ┤ [router] ┤
       BIRD, BGP AS 65001   │          ├ red ──── c  172.16.0.2/24, BIRD, OSPF
                            └ default ─┴───────── d  10.98.0.2/24

Objects that need nftables are left out: the kernel that these tests mostly run on, that of user-mode Linux,
has VRFs and no nftables (tests/integration/uml).
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from appliance.agent import tools
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from appliance.dataplane.object_step import ObjectStep
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer
from appliance.dataplane.route_lookup import look_up
from appliance.engine.backend import PHASES
from appliance.errors import NotFound
from appliance.features.vrf.health import bgp_down, ospf_down
from appliance.health.check import Look
from appliance.routing.frr_view import FrrView
from appliance.routing.rows import bgp_state, ospf_state
from appliance.routing.wanted import WantedRouting
from appliance.watching.pings import Target, ping_all
from frr_config import Step, plan
from frr_config.protocols.bgp.clearing import clear
from frr_config.protocols.bgp.routes import size, table
from frr_config.protocols.bgp.session import sessions
from frr_config.protocols.ospf.clearing import clear_interface, clear_neighbor
from frr_config.protocols.ospf.database import counts, details, lsas
from tests.integration.frr.bird_neighbor import BirdNeighbor, bird_installed
from tests.integration.frr.harness import FrrHarness, frr_installed, ip, wait_until
from tests.integration.linux.kernel_part import KernelPart
from tests.requirements import require_links, require_root_netns

pytestmark = pytest.mark.root

NETNS = "vr-router"
HOSTS = {
    "a1": ("10.1.1.2/24", "10.1.1.1/24", "blue"),
    "a2": ("10.1.2.2/24", "10.1.2.1/24", "blue"),
    "b1": ("10.1.1.2/24", "10.1.1.1/24", "red"),
    "c": ("172.16.0.2/24", "172.16.0.1/24", "red"),
    "d": ("10.98.0.2/24", "10.98.0.1/24", None),
}
"""Host, its address, the router's, and the VRF of the router's interface."""
ADDRESSES_6 = {"a1": 1, "b1": 1}
BIRD_BGP = """
router id 10.1.2.2;
protocol device {}
protocol static { ipv4; route 198.51.100.0/24 blackhole; }
protocol bgp { local 10.1.2.2 as 65001; neighbor 10.1.2.1 as 65000; ipv4 { import all; export all; }; }
"""
BIRD_OSPF = """
router id 172.16.0.2;
protocol device {}
protocol static { ipv4; route 203.0.113.0/24 blackhole; }
protocol ospf v2 { ipv4 { import all; export all; };
  area 0 { interface "eth0" { hello 1; dead 4; type ptp; }; }; }
"""
BGP: dict[str, Any] = {"asn": 65000, "router_id": "10.1.2.1", "ebgp_requires_policy": False}
DOCUMENT: dict[str, Any] = {
    "interfaces": {
        name: {"type": "ethernet", "match": {"device": f"nic-{name}"}, "addresses": [own]}
        | ({} if vrf is None else {"vrf": vrf})
        for name, (_, own, vrf) in HOSTS.items()
    },
    "vrfs": {
        "blue": {
            "routing": {
                "bgp": BGP | {"neighbors": {"10.1.2.2": {"remote_asn": 65001, "ipv4_unicast": {}}}},
            }
        },
        "red": {
            "table": 77,
            "routing": {
                "ospf": {
                    "router_id": "172.16.0.1",
                    "interfaces": {
                        "c": {
                            "area": "0",
                            "hello_interval_s": 1,
                            "dead_interval_s": 4,
                            "network_type": "point-to-point",
                        }
                    },
                }
            },
        },
    },
}
for _name, _number in ADDRESSES_6.items():
    DOCUMENT["interfaces"][_name]["addresses"].append(f"2001:db8:{_number}::1/64")


class Router:
    """The kernel's part and FRR of a document, made and read like the backends do."""

    def __init__(self, frr: FrrHarness) -> None:
        self.frr = frr.client()
        self.kernel = KernelPart(NETNS)

    def close(self) -> None:
        self.kernel.close()

    def observe(self) -> tuple[LinuxState, Any]:
        return self.kernel.observe(), self.frr.observe()

    def steps(self, document: dict[str, Any]) -> list[ObjectStep | Step]:
        config = parse_document(document)
        assert check(config, Capabilities("linux")) == []
        nics = {name: Nic(f"nic-{name}", "", kind="veth") for name in config.interfaces}
        routing = WantedRouting.of(config).render(self.frr.version(), feeds=False)
        steps: list[ObjectStep | Step] = [
            *self.kernel.steps(self.kernel.wanted(config, nics)),
            *plan(routing, self.frr.observe()),
        ]
        return sorted(steps, key=lambda step: PHASES.index(step.phase))

    def apply(self, step: ObjectStep | Step) -> None:
        if isinstance(step, Step):
            self.frr.apply(step)
        else:
            self.kernel.apply(step)

    def undo(self, step: ObjectStep | Step) -> None:
        if isinstance(step, Step):
            self.frr.undo(step)
        else:
            self.kernel.undo(step)

    def commit(self, document: dict[str, Any]) -> list[ObjectStep | Step]:
        steps = self.steps(document)
        for step in steps:
            self.apply(step)
        assert self.steps(document) == []
        return steps

    def looked_up(self, destinations: list[str], vrf: str) -> list[RouteAnswer]:
        return self.kernel.run(look_up, destinations, vrf)

    def routes(self, *words: str) -> str:
        argv = ["ip", "-n", NETNS, "route", "show", *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=30).stdout


def ping(host: str, destination: str) -> bool:
    """Whether the host gets an answer."""
    command = ["ping", "-q", "-n", "-c", "2", "-i", "0.2", "-W", "1", destination]
    argv = ["ip", "netns", "exec", f"vr-{host}", *command]
    return subprocess.run(argv, check=False, capture_output=True, timeout=30).returncode == 0


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Router]:
    require_root_netns()
    require_links("vrf")
    if not frr_installed() or not bird_installed():
        pytest.skip("FRRouting or BIRD is not installed (Debian packages frr, bird2)")
    configurations = {"a2": BIRD_BGP, "c": BIRD_OSPF}
    with contextlib.ExitStack() as stack:
        frr = stack.enter_context(FrrHarness(NETNS, NETNS))
        for host, (address, own, _) in HOSTS.items():
            directory: Path = tmp_path_factory.mktemp(host)
            bird = stack.enter_context(BirdNeighbor(f"vr-{host}", directory, configurations.get(host, "")))
            far = f"vr-{host}"
            ends = (f"nic-{host}", "type", "veth", "peer", "name", "eth0", "netns", far)
            ip("-n", NETNS, "link", "add", *ends)
            bird.add_address("eth0", address)
            if host in ADDRESSES_6:
                bird.add_address("eth0", f"2001:db8:{ADDRESSES_6[host]}::2/64")
            ip("-n", far, "link", "set", "eth0", "up")
            ip("-n", far, "route", "add", "default", "via", own.partition("/")[0])
            if host in configurations:
                bird.start()
        ip("-n", "vr-d", "address", "add", "10.99.0.1/24", "dev", "lo")
        router = Router(frr)
        stack.callback(router.close)
        yield router


def test_interfaces_with_the_same_networks_in_three_vrfs(router: Router) -> None:
    router.commit(DOCUMENT)
    assert ping("a1", "10.1.2.2")
    assert ping("b1", "172.16.0.2")
    assert not ping("b1", "10.1.2.2")
    assert not ping("a1", "172.16.0.2")
    assert not ping("d", "10.1.2.2")
    # The router's own address of the default VRF is not one of blue's.
    assert not ping("a1", "10.98.0.1")
    assert ping("a1", "10.1.1.1")


def test_bgp_and_ospf_of_a_vrf_put_their_routes_into_its_table(router: Router) -> None:
    router.commit(DOCUMENT)
    wait_until(lambda: "198.51.100.0/24" in router.routes("vrf", "blue"), "BIRD's route by BGP", 60)
    wait_until(lambda: "203.0.113.0/24" in router.routes("vrf", "red"), "BIRD's route by OSPF", 60)
    assert "via 10.1.2.2 dev a2" in router.routes("vrf", "blue")
    blue, red = router.frr.in_vrf("blue"), router.frr.in_vrf("red")
    bgp = bgp_state(blue.bgp_summary(), blue.bgp_neighbors())
    assert {address: one.state for address, one in bgp.neighbors.items()} == {"10.1.2.2": "Established"}
    ospf = ospf_state(red.ospf_summary(), red.ospf_interfaces(), red.ospf_neighbors())
    assert (ospf.router_id, list(ospf.interfaces)) == ("172.16.0.1", ["c"])
    assert [(one.router_id, one.full) for one in ospf.neighbors] == [("172.16.0.2", True)]
    # The health checks find both healthy, and report it when the neighbor's AS is wrong.
    config = parse_document(DOCUMENT)
    now = {"blue": sessions(blue)}
    assert list(bgp_down(Look(now, config))) == []
    there = {"red": {f"{one.router_id} on {one.interface}": one for one in ospf.neighbors}}
    assert list(ospf_down(Look(there, config))) == []
    assert now["blue"]["10.1.2.2"].is_established
    learned = blue.rib_lookup("198.51.100.9")
    assert learned is not None
    assert learned["prefix"] == "198.51.100.0/24"
    assert router.frr.rib_lookup("198.51.100.9") is None
    assert "203.0.113.0/24" in router.routes("table", "77")
    for foreign in (router.routes(), router.routes("vrf", "red")):
        assert "198.51.100.0/24" not in foreign
    assert "203.0.113.0/24" not in router.routes("vrf", "blue")


def test_what_is_looked_at_and_done_in_one_vrf(router: Router) -> None:
    router.commit(DOCUMENT)
    default = FrrView(router.frr)
    blue, red = default.in_vrf("blue"), default.in_vrf("red")
    wait_until(lambda: "198.51.100.0/24" in router.routes("vrf", "blue"), "BIRD's route by BGP", 60)
    wait_until(lambda: "203.0.113.0/24" in router.routes("vrf", "red"), "BIRD's route by OSPF", 60)
    # zebra and bgpd.
    assert [row.prefix for row in blue.rib_entry("198.51.100.9")] == ["198.51.100.0/24"]
    assert blue.rib_counts("ipv4")["bgp"].rib == 1
    assert [row.prefix for row in blue.rib_list("ipv4", "bgp", 100) or ()] == ["198.51.100.0/24"]
    assert default.rib_list("ipv4", "bgp", 100) == []
    assert blue.bgp_neighbor("10.1.2.2").state == "Established"
    with pytest.raises(NotFound):
        default.bgp_neighbor("10.1.2.2")
    (entry,) = blue.ask(lambda frr: tuple(table(frr, "ipv4")))
    assert (str(entry.network), entry.best and entry.best.neighbor) == ("198.51.100.0/24", "10.1.2.2")
    assert blue.ask(lambda frr: size(frr, "ipv4")).received == 1
    # ospfd.
    router_id, counted = red.ask(counts)
    listed = red.ask(lambda frr: list(lsas(frr)))
    assert (router_id, sum(one.lsas for one in counted)) == ("172.16.0.1", len(listed))
    details_of = red.ask(lambda frr: details(frr, "router", IPv4Address("172.16.0.2")))
    assert [one.advertising_router for one in details_of] == ["172.16.0.2"]
    assert default.ask(lambda frr: list(lsas(frr))) == []
    # The kernel, where a destination missing from a VRF's table is unreachable.
    exact, longest, foreign = router.looked_up(["198.51.100.0/24", "198.51.100.9", "203.0.113.9"], "blue")
    assert exact == longest == Entry("198.51.100.0/24", "unicast", (NextHop("10.1.2.2", "a2", 1),))
    assert foreign == Entry(None, "unreachable")
    with pytest.raises(DataPlaneError, match="no VRF green"):
        router.looked_up(["10.0.0.1"], "green")
    # Tools.
    for source in (None, IPv4Address("10.1.2.1"), "a2"):
        pinged = asyncio.run(tools.ping(NETNS, IPv4Address("10.1.2.2"), 2, source, None, "blue"))
        assert pinged["result"]["received"] == 2, pinged
    pinged = asyncio.run(tools.ping(NETNS, IPv4Address("10.1.2.2"), 1, None, None, "red"))
    assert pinged["result"]["received"] == 0
    traced = asyncio.run(tools.traceroute(NETNS, IPv4Address("10.1.2.2"), None, "blue"))
    assert traced["result"]["reached"], traced
    pinged_all = ping_all(
        NETNS,
        [
            *(Target("10.1.2.2", vrf) for vrf in ("blue", "red", "", "green")),
            *(Target("172.16.0.2", "red"), Target("10.98.0.2"), Target("2001:db8:2::2", "blue")),
        ],
        1.0,
    )
    assert set(pinged_all) >= {Target("10.1.2.2", "blue"), Target("172.16.0.2", "red"), Target("10.98.0.2")}
    assert not {one for one in pinged_all if one.address == "10.1.2.2" and one.vrf != "blue"}
    # Clearing.
    been_up = blue.ask(sessions)["10.1.2.2"].established_count
    blue.operate(clear("10.1.2.2", vrf="blue"))
    wait_until(
        lambda: blue.ask(sessions)["10.1.2.2"].established_count > been_up, "a session set up anew", 60
    )
    for operation in (clear_interface("c", "red"), clear_neighbor("172.16.0.2")):
        red.operate(operation)
        wait_until(
            lambda: [one.full for one in red.ospf_state().neighbors] == [True], "a full adjacency again", 90
        )
    wait_until(lambda: "198.51.100.0/24" in router.routes("vrf", "blue"), "the route again", 60)


def test_routes_leak_by_import_in_both_directions_and_no_longer_without_it(router: Router) -> None:
    router.commit(DOCUMENT)
    leaking = deepcopy(DOCUMENT)
    connected: dict[str, Any] = {"redistribute": {"connected": {}}}
    leaking["routing"] = {
        "bgp": BGP,
        "policy": {
            "prefix_lists": {"services": {"rules": {"5": {"action": "permit", "prefix": "172.16.0.0/24"}}}},
            "route_maps": {
                "services": {"rules": {"10": {"action": "permit", "match": {"prefix_list": "services"}}}}
            },
        },
    }
    blue, red = (leaking["vrfs"][name]["routing"] for name in ("blue", "red"))
    blue["bgp"]["ipv4_unicast"] = connected | {"import_vrfs": ["red"], "import_route_map": "services"}
    red["bgp"] = BGP | {"ipv4_unicast": connected | {"import_vrfs": ["blue"]}}
    steps = router.commit(leaking)
    assert {step.impact for step in steps} == {"none"}
    wait_until(lambda: ping("a2", "172.16.0.2"), "a packet from blue to red and back", 60)
    assert ping("c", "10.1.2.2")
    assert "198.51.100.0/24" in router.routes("vrf", "red")
    assert "203.0.113.0/24" not in router.routes("vrf", "blue")  # neither redistributed nor permitted
    # Both have 10.1.1.0/24, and each keeps to its own.
    assert "dev a1" in router.routes("vrf", "blue", "10.1.1.0/24")
    assert "dev b1" in router.routes("vrf", "red", "10.1.1.0/24")
    router.commit(DOCUMENT)
    wait_until(lambda: not ping("a2", "172.16.0.2"), "the end of the leak", 60)
    assert "10.1.2.0/24" not in router.routes("vrf", "red")


def test_static_routes_leak_into_the_default_vrf_and_back(router: Router) -> None:
    router.commit(DOCUMENT)
    assert not ping("a2", "10.98.0.2")
    leaking = deepcopy(DOCUMENT)
    leaking["vrfs"]["blue"]["routing"]["static"] = {
        "10.98.0.0/24": {"next_hops": [{"interface": "d", "vrf": "default"}]},
        "10.99.0.0/24": {"next_hops": [{"address": "10.98.0.2", "vrf": "default"}]},
    }
    leaking["routing"] = {"static": {"10.1.2.0/24": {"next_hops": [{"interface": "a2", "vrf": "blue"}]}}}
    router.commit(leaking)
    wait_until(lambda: ping("a2", "10.98.0.2"), "a packet from blue to the default VRF and back", 30)
    assert ping("d", "10.1.2.2")
    assert ping("a2", "10.99.0.1")
    assert not ping("a1", "10.99.0.1")  # nothing leads back to a1


def test_an_interface_that_moves_says_what_it_loses_and_the_others_lose_nothing(router: Router) -> None:
    router.commit(DOCUMENT)
    assert ping("a1", "10.1.2.2")
    moved = deepcopy(DOCUMENT)
    del moved["interfaces"]["b1"]
    moved["interfaces"]["a1"]["vrf"] = "red"
    before = router.observe()
    steps = router.steps(moved)
    assert {step.impact for step in steps} == {"none", "loses packets on a1", "loses packets on b1"}
    with subprocess.Popen(
        ["ip", "netns", "exec", "vr-a2", "ping", "-q", "-n", "-i", "0.2", "-c", "20", "10.1.2.1"],
        stdout=subprocess.PIPE,
        text=True,
    ) as untouched:
        for step in steps:
            router.apply(step)
        answers = untouched.communicate(timeout=60)[0]
    assert " 20 received" in answers
    assert router.steps(moved) == []
    assert ping("a1", "172.16.0.2")
    assert not ping("a1", "10.1.2.2")
    for step in reversed(steps):
        router.undo(step)
    assert router.observe() == before
    assert ping("a1", "10.1.2.2")


def test_nothing_is_left_of_vrfs_that_go(router: Router) -> None:
    router.commit(DOCUMENT)
    router.commit({"interfaces": {"d": DOCUMENT["interfaces"]["d"]}})
    links = subprocess.run(
        ["ip", "-n", NETNS, "-br", "link", "show", "type", "vrf"], check=True, capture_output=True, text=True
    )
    assert links.stdout == ""
    router.commit(DOCUMENT)
    assert ping("a1", "10.1.2.2")

"""Guards that only a booted image shows: units' sandboxes and limits, and which packets reach FRR."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab import namespaces
from lab.traffic import Flow, FlowResult
from tests.image import bird
from tests.image.bird import Bird
from tests.image.fleet import Fleet, Member
from tests.image.guest_python import PYTHON, send_modules
from tests.image.kinds import VIRTIO
from tests.image.patience import limit_s, wait_for, wall_time
from tests.image.router import Router
from tests.image.two_hosts import TwoHosts
from tests.live_lab import json_of

KIND = VIRTIO
GUEST_TREE = "/var/tmp/image-tests"
LISTENERS = "image-tests-listeners"
MODULES = ["tests/image/guest_memory.py", "tests/integration/linux/reach.py"]
NEIGHBOR = bird.NEIGHBORS
STRANGER = ("10.77.1.66", "2001:db8:77:1::66")
OWN = ("10.77.1.1", "2001:db8:77:1::1")
FAR_OWN = ("10.77.2.1", "2001:db8:77:2::1")
PORTS = (22, 53, 123, 161, 443, 546, 2601, 2605, 3784, 4000, 8080, 33500, 50000)
"""Something of the router's listens on these, over TCP and UDP, besides bgpd on 179."""
ROUTES = 100
TRIES = 200
FLOW_PPS = 100
FLOW_S = 1200
GAP_S = 3.0
WEB_PROCESSES = 4
"""The parent, the server, the worker and the scheduler."""
FORWARDING = ("vpp.service", "frr.service", "millrace-agent.service")


@pytest.fixture(scope="module")
def member(fleet: Fleet) -> Member:
    """A router that forwards."""
    return fleet.member(KIND)


@pytest.fixture(scope="module")
def hosts(member: Member) -> TwoHosts:
    """The two hosts; the left one is the router's BGP neighbor, and a stranger by a second address."""
    for address, length in zip(STRANGER, (24, 64), strict=True):
        # Never chosen as a source by itself: who does not say otherwise is the neighbor.
        second = ["nodad", "preferred_lft", "0"] if ":" in address else []
        words = ["ip", "address", "replace", f"{address}/{length}", "dev", "port0", *second]
        namespaces.run_in(member.hosts.left, words)
    return member.hosts


@pytest.fixture(scope="module")
def router(member: Member) -> Router:
    """The router, which waits for its neighbor's BGP."""
    member.router.patch({"routing": {"bgp": bird.BGP}})
    send_modules(member.router, GUEST_TREE, MODULES)
    return member.router


def _inside(router: Router, *argv: str, check: bool = True) -> str:
    return router.root("ip", "netns", "exec", "dataplane", *argv, check=check)


@pytest.mark.parametrize("side", [1, 2])
def test_the_kernel_s_own_ipv6_neighbors_come_up(router: Router, hosts: TwoHosts, side: int) -> None:
    """FRR speaks through the kernel of the router's namespace, which has to resolve its neighbors itself."""
    interface, namespace = (("left0", hosts.left), ("right0", hosts.right))[side - 1]
    shown = json.loads(namespaces.run_in(namespace, ["ip", "-json", "address", "show", "dev", "port0"]))[0]
    (link_local,) = (one["local"] for one in shown["addr_info"] if one["scope"] == "link")
    for address in (f"2001:db8:77:{side}::2", link_local):
        _inside(router, "ip", "-6", "neighbor", "flush", "dev", interface)
        wait_for(
            partial(_answers_the_kernel, router, interface, address),
            timeout_s=30,
            what=f"an echo of {address} for the router's own kernel",
        )
        found = _inside(router, "ip", "-6", "neighbor", "show", address, "dev", interface)
        assert shown["address"] in found, found


def _answers_the_kernel(router: Router, interface: str, address: str) -> bool:
    echo = ["ping", "-6", "-n", "-q", "-c", "2", "-W", "2", "-I", interface, address]
    return " 0% packet loss" in _inside(router, *echo, check=False)


@contextmanager
def _listening(router: Router) -> Iterator[None]:
    """Programs in the router's namespace that answer on PORTS."""
    unit = ["systemd-run", "--quiet", "--collect", f"--unit={LISTENERS}", "--property=Type=exec"]
    module = ["env", f"PYTHONPATH={GUEST_TREE}", PYTHON, "-m", "tests.integration.linux.reach", "listen"]
    router.root(*unit, "--", "ip", "netns", "exec", "dataplane", *module, *map(str, PORTS))
    try:
        wait_for(partial(_listens, router), timeout_s=60, what="the router's listeners")
        yield
    finally:
        router.root("systemctl", "stop", f"{LISTENERS}.service")


def _listens(router: Router) -> bool:
    bound = _inside(router, "ss", "-Hltun")
    return all(len(re.findall(rf"[:\]]{port}\s", bound)) >= 2 for port in PORTS)


def _reached(hosts: TwoHosts, source: str, destination: str, *ports: int) -> Any:
    words = [sys.executable, "-m", "tests.integration.linux.reach", "probe", source, destination]
    return json.loads(namespaces.run_in(hosts.left, [*words, *map(str, ports)]))


def test_a_data_interface_offers_what_the_document_opens_whatever_listens(
    router: Router, hosts: TwoHosts
) -> None:
    with _listening(router):
        for stranger, own, far_own in zip(STRANGER, OWN, FAR_OWN, strict=True):
            for destination in (own, far_own):
                assert hosts.ping(destination)
                assert _reached(hosts, stranger, destination, 179, *PORTS) == {"tcp": [], "udp": []}
        argv = [sys.executable, "-m", "tests.image.scan"]
        with wall_time("scan of a router's own addresses as its neighbor"), ThreadPoolExecutor() as both:
            scans = both.map(
                lambda own: namespaces.run_in(hosts.left, [*argv, own], timeout_s=limit_s(600)), OWN
            )
            assert [json.loads(scan) for scan in scans] == [{"tcp": [179], "udp": []}] * 2


def _dropped(router: Router) -> int:
    """Packets for BGP that were dropped on the left."""
    rows = json_of(router.api.get("/state/control-plane"))["interfaces"]
    dropped = next(row["dropped"] for row in rows if row["interface"] == "left0")
    return int(dropped.get("bgp", 0))


def _accepted_connections(router: Router) -> int:
    """How many connections the namespace's TCP has ever accepted."""
    counters = _inside(router, "cat", "/proc/net/snmp").splitlines()
    names, values = (line.split() for line in counters if line.startswith("Tcp:"))
    return int(values[names.index("PassiveOpens")])


@pytest.mark.parametrize(
    ("own", "neighbor", "stranger"), list(zip(OWN, NEIGHBOR, STRANGER, strict=True)), ids=("ipv4", "ipv6")
)
def test_a_stranger_s_bgp_is_dropped_before_bgpd_sees_it(
    router: Router, hosts: TwoHosts, own: str, neighbor: str, stranger: str
) -> None:
    wait_for(
        lambda: _reached(hosts, neighbor, own, 179)["tcp"] == [179],
        timeout_s=60,
        what=f"BGP of {own} for its neighbor",
    )
    taken, dropped = _accepted_connections(router), _dropped(router)
    assert _reached(hosts, stranger, own, 179)["tcp"] == []
    assert _accepted_connections(router) == taken
    wait_for(lambda: _dropped(router) > dropped, timeout_s=30, what="the count of what was dropped")
    assert _reached(hosts, neighbor, own, 179)["tcp"] == [179]
    assert _accepted_connections(router) == taken + 1


def _session(router: Router, neighbor: str) -> tuple[str, int, int]:
    """Its state, and how often it came up and went down."""
    told = json_of(router.api.get(f"/state/bgp/neighbors/{neighbor}"))
    return told["state"], told["detail"]["connectionsEstablished"], told["detail"]["connectionsDropped"]


def test_strangers_leave_the_neighbor_s_sessions_up(router: Router, hosts: TwoHosts, directory: Path) -> None:
    with Bird(hosts.left, directory, bird.bgp_neighbor(ROUTES)):
        for neighbor in NEIGHBOR:
            wait_for(
                lambda neighbor=neighbor: _session(router, neighbor)[0] == "Established",  # type: ignore[misc]
                timeout_s=120,
                what=f"the BGP session with {neighbor}",
            )
        before = [_session(router, neighbor) for neighbor in NEIGHBOR]
        taken, dropped = _accepted_connections(router), _dropped(router)
        for own, stranger in zip(OWN, STRANGER, strict=True):
            assert _reached(hosts, stranger, own, *([179] * TRIES))["tcp"] == []
        wait_for(
            lambda: _dropped(router) >= dropped + len(OWN) * TRIES,
            timeout_s=30,
            what="the count of what was dropped",
        )
        assert _accepted_connections(router) == taken
        # A session that nobody hears lives on until its hold time is over: this one is used.
        told = json_of(router.api.post("/actions/clear-bgp", json={"neighbor": NEIGHBOR[0], "soft": "in"}))
        assert "asked for its routes again" in told["done"][0]
        assert [_session(router, neighbor) for neighbor in NEIGHBOR] == before
        counts = json_of(router.api.get("/state/bgp"))["neighbors"][NEIGHBOR[0]]["families"]["ipv4_unicast"]
        assert counts["prefixes_received"] == ROUTES


def _shown(router: Router, unit: str, *names: str) -> dict[str, str]:
    """Properties of a unit."""
    words = [f"--property={name}" for name in names]
    lines = router.root("systemctl", "show", unit, *words).splitlines()
    return dict(line.split("=", 1) for line in lines)


def _runs(router: Router, unit: str, not_as: str = "0") -> bool:
    """Whether the unit is up, as another process than `not_as`."""
    shown = _shown(router, unit, "ActiveState", "MainPID")
    return shown["ActiveState"] == "active" and shown["MainPID"] != not_as


def _ceiling(router: Router, unit: str) -> tuple[str, list[str]]:
    """The unit's control group, and what takes more memory in it than it may have."""
    group = f"/sys/fs/cgroup{_shown(router, unit, 'ControlGroup')['ControlGroup']}"
    assert router.root("cat", f"{group}/memory.high").strip() == "max"
    too_much = str(2 * (int(router.root("cat", f"{group}/memory.max")) >> 20))
    taking = ["env", f"PYTHONPATH={GUEST_TREE}", PYTHON, "-m", "tests.image.guest_memory", group, too_much]
    return group, taking


def _went_on(result: FlowResult) -> None:
    """A restarted data plane would be silent for longer; a starved emulator loses packets in any case."""
    assert result.sent > FLOW_PPS
    assert result.longest_gap_s < GAP_S and result.received > result.sent * 0.9, result


def test_above_its_ceiling_a_service_is_ended_and_comes_back_while_forwarding_goes_on(
    router: Router, hosts: TwoHosts, directory: Path
) -> None:
    """The process that takes the memory joins the unit, as a request that is too much for it would."""
    unit, process = "nginx.service", ("MainPID", "NRestarts")
    wait_for(lambda: _runs(router, unit), timeout_s=300, what=unit, pause_s=2)
    untouched = {name: _shown(router, name, *process) for name in FORWARDING}
    before = _shown(router, unit, *process)
    _, taking = _ceiling(router, unit)
    through = partial(Flow, directory, sender=hosts.left, receiver=hosts.right, destination="10.77.2.2")
    with through(pps=FLOW_PPS, seconds=FLOW_S) as flow:
        assert router.root(*taking, timeout_s=120, check=False).split() == ["joined"]
        with wall_time(f"{unit}: ended by its ceiling to running again"):
            wait_for(
                lambda: _runs(router, unit, not_as=before["MainPID"]),
                timeout_s=300,
                what=f"{unit} anew",
                pause_s=2,
            )
        router.wait_until_up(f"{unit}: and to the page")
        assert flow.sending
        result = flow.stop()
    assert int(_shown(router, unit, "NRestarts")["NRestarts"]) == int(before["NRestarts"]) + 1
    assert "oom-kill" in router.root("journalctl", "-b", "-u", unit, "-o", "cat", "--no-pager")
    assert {name: _shown(router, name, *process) for name in FORWARDING} == untouched
    _went_on(result)


def test_above_its_ceiling_the_web_half_loses_what_took_the_memory_and_nothing_else(
    router: Router, hosts: TwoHosts, directory: Path
) -> None:
    unit, process = "millrace-web.service", ("MainPID", "NRestarts")
    wait_for(lambda: _runs(router, unit), timeout_s=300, what=unit, pause_s=2)
    group, taking = _ceiling(router, unit)
    wait_for(
        lambda: len(router.root("cat", f"{group}/cgroup.procs").split()) == WEB_PROCESSES,
        timeout_s=120,
        what="all processes of the web half",
        pause_s=2,
    )
    members = sorted(router.root("cat", f"{group}/cgroup.procs").split())
    untouched = {name: _shown(router, name, *process) for name in (*FORWARDING, unit)}
    through = partial(Flow, directory, sender=hosts.left, receiver=hosts.right, destination="10.77.2.2")
    with through(pps=FLOW_PPS, seconds=FLOW_S) as flow:
        assert router.root(*taking, timeout_s=120, check=False).split() == ["joined"]
        router.wait_until_up("a process of the web half ended by its ceiling: to the page")
        assert flow.sending
        result = flow.stop()
    assert sorted(router.root("cat", f"{group}/cgroup.procs").split()) == members
    assert {name: _shown(router, name, *process) for name in (*FORWARDING, unit)} == untouched
    _went_on(result)

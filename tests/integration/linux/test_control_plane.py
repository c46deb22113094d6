"""What reaches the router itself: only what the document opens, whatever listens there."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from appliance.config import services
from appliance.config.services import Form, Only, OpenLink, Peer, Ports, Protocols, Service
from appliance.features import registry
from tests.integration.linux.conftest import DOCUMENT, Router, run

pytestmark = pytest.mark.root

PORTS = (22, 53, 123, 161, 179, 443, 546, 2601, 2605, 3784, 4000, 8080, 33500, 50000)
LEFT = ("10.77.1.2", "2001:db8:77:1::2")
STRANGER = ("10.77.1.66", "2001:db8:77:1::66")
OWN = ("10.77.1.1", "2001:db8:77:1::1")
FAR_OWN = ("10.77.2.1", "2001:db8:77:2::1")
MODULE = "tests.integration.linux.reach"
BGP = {
    "asn": 65000,
    "neighbors": {
        LEFT[0]: {"remote_asn": 65001, "ipv4_unicast": {}},
        LEFT[1]: {"remote_asn": 65001, "ipv6_unicast": {}},
    },
}


def document(**settings: Any) -> dict[str, Any]:
    """DOCUMENT with BGP, and with these settings of the interface left0."""
    whole = copy.deepcopy(DOCUMENT)
    whole["interfaces"]["left0"] |= settings
    return {**whole, "routing": {"bgp": BGP}}


@dataclass
class Listeners:
    """Programs of the router that listen on every port of PORTS."""

    process: subprocess.Popen[str]
    accepted: list[str] = field(default_factory=list)


@contextmanager
def listening(namespace: str) -> Iterator[Listeners]:
    """Something answers on every port in the namespace."""
    argv = ["ip", "netns", "exec", namespace, sys.executable, "-m", MODULE, "listen", *map(str, PORTS)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    listeners = Listeners(process)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield listeners
    finally:
        process.terminate()
        rest, _ = process.communicate(timeout=10)
        listeners.accepted = rest.splitlines()


def reached(
    namespace: str, source: str, destination: str, *ports: int, ttl: int | None = None
) -> dict[str, list[int]]:
    """The ports that answered, of all that listen or of these."""
    options = [] if ttl is None else ["--ttl", str(ttl)]
    words = [sys.executable, "-m", MODULE, "probe", *options, source, destination]
    found: dict[str, list[int]] = json.loads(run(namespace, *words, *map(str, ports or PORTS)).stdout)
    return found


@pytest.fixture
def stranger(router: Router) -> Iterator[tuple[str, str]]:
    """Two more addresses on the left, of a host that is no neighbor of the router's."""
    device = json.loads(run(router.left, "ip", "-j", "-4", "route", "show", "10.77.1.0/24").stdout)[0]["dev"]
    lengths = (24, 64)
    for address, length in zip(STRANGER, lengths, strict=True):
        nodad = ["nodad"] if ":" in address else []
        run(router.left, "ip", "addr", "add", f"{address}/{length}", "dev", device, *nodad)
    yield STRANGER
    for address, length in zip(STRANGER, lengths, strict=True):
        run(router.left, "ip", "addr", "del", f"{address}/{length}", "dev", device)


def counts(router: Router, interface: str = "left0") -> dict[str, dict[str, int]]:
    """Packets of an interface, accepted and dropped, by reason."""
    rows = router.backend.control_plane_state().interfaces
    found = next(row for row in rows if row.interface == interface)
    return {"accepted": found.accepted, "dropped": found.dropped}


def test_a_scan_from_a_data_interface_finds_only_what_the_document_opens(
    router: Router, stranger: tuple[str, str]
) -> None:
    router.commit(document())
    with listening(router.middle) as listeners:
        for source, own, far_own in zip(stranger, OWN, FAR_OWN, strict=True):
            assert router.ping(router.left, own)
            assert reached(router.left, source, own) == {"tcp": [], "udp": []}
            assert reached(router.left, source, far_own) == {"tcp": [], "udp": []}
        for source, own in zip(LEFT, OWN, strict=True):
            assert reached(router.left, source, own) == {"tcp": [179], "udp": []}
    assert sorted(listeners.accepted) == ["179 2001:db8:77:1::2", "179 ::ffff:10.77.1.2"]
    dropped = counts(router)["dropped"]
    assert dropped["bgp"] >= 4 and dropped["management"] >= 8 and dropped["tcp"] >= 30
    assert dropped["udp"] >= 30


def test_management_is_open_where_the_document_says_so_and_to_whom(
    router: Router, stranger: tuple[str, str]
) -> None:
    with listening(router.middle):
        router.commit(document(management_services=["ssh", "https"]))
        for source, own in zip(stranger, OWN, strict=True):
            assert reached(router.left, source, own)["tcp"] == [22, 443]
        assert reached(router.right, "10.77.2.2", OWN[0])["tcp"] == []
        sources = [f"{LEFT[0]}/32", "2001:db8:77:1::/126"]
        router.commit(document(management_services=["ssh"], management_sources=sources))
        for friend, other, own in zip(LEFT, stranger, OWN, strict=True):
            assert reached(router.left, friend, own, 22, 443)["tcp"] == [22]
            assert reached(router.left, other, own, 22, 443)["tcp"] == []
        router.commit(document())
        assert reached(router.left, LEFT[0], OWN[0], 22, 443)["tcp"] == []


def test_a_neighbor_with_ttl_security_is_heard_from_near_only(router: Router) -> None:
    wanted = document()
    bgp = copy.deepcopy(BGP)
    for neighbor in bgp["neighbors"].values():  # type: ignore[attr-defined]  # a dict of dicts
        neighbor["ttl_security_hops"] = 2
    router.commit({**wanted, "routing": {"bgp": bgp}})
    with listening(router.middle):
        for source, own in zip(LEFT, OWN, strict=True):
            assert reached(router.left, source, own, 179)["tcp"] == []
            assert reached(router.left, source, own, 179, ttl=253)["tcp"] == []
            assert reached(router.left, source, own, 179, ttl=254)["tcp"] == [179]


def test_the_router_reaches_its_neighbors_and_everybody_still_pings_and_traces(router: Router) -> None:
    router.commit(document())
    with listening(router.left):
        for source, neighbor in zip(OWN, LEFT, strict=True):
            assert reached(router.middle, source, neighbor, 179)["tcp"] == [179]
            # Nothing else the router asks for is a neighbor's to answer.
            assert reached(router.middle, source, neighbor, 8080)["tcp"] == []
    for own, far_own, neighbor in zip(OWN, FAR_OWN, LEFT, strict=True):
        assert router.ping(router.left, own) and router.ping(router.left, far_own)
        assert router.ping(router.middle, neighbor)
        for namespace, destination in ((router.left, own), (router.middle, neighbor)):
            trace = ["traceroute", "-n", "-q", "1", "-w", "2", "-m", "2", destination]
            hops = run(namespace, *trace).stdout.splitlines()[1:]
            assert [hop.split()[1] for hop in hops] == [destination]
        through = ["traceroute", "-n", "-q", "1", "-w", "2", "-m", "3"]
        beyond = "2001:db8:77:2::2" if ":" in own else "10.77.2.2"
        hops = run(router.left, *through, beyond).stdout.splitlines()[1:]
        assert [hop.split()[1] for hop in hops] == [own, beyond]


def test_a_large_ping_of_ipv6_is_answered_in_pieces(router: Router) -> None:
    router.commit(DOCUMENT)
    for own in OWN:
        command = ["ping", "-q", "-n", "-s", "3000", "-c", "2", "-i", "0.2", "-W", "2", own]
        assert run(router.left, *command, check=False).returncode == 0


_OSPF_HELLO = """
import socket, sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
raw.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
raw.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(sys.argv[1]))
for destination in sys.argv[2:]:
    raw.sendto(bytes(44), (destination, 0))
"""
_OSPF_HEARD = """
import socket, sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 89)
for own in sys.argv[1:]:
    member = socket.inet_aton("224.0.0.5") + socket.inet_aton(own)
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
print("ready", flush=True)
while True:
    packet = raw.recv(2048)
    print(socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20]), flush=True)
"""


def test_ospf_is_heard_only_where_it_speaks(router: Router) -> None:
    ospf = {"interfaces": {"left0": {"area": "0"}, "right0": {"area": "0", "passive": True}}}
    router.commit({**DOCUMENT, "routing": {"ospf": ospf}})
    argv = ["ip", "netns", "exec", router.middle, sys.executable, "-c", _OSPF_HEARD, OWN[0], FAR_OWN[0]]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as hearing:
        try:
            assert hearing.stdout is not None
            assert hearing.stdout.readline() == "ready\n"
            for namespace, source, own in (
                (router.right, "10.77.2.2", FAR_OWN[0]),
                (router.left, LEFT[0], OWN[0]),
            ):
                run(namespace, sys.executable, "-c", _OSPF_HELLO, source, own, "224.0.0.5")
            # What came from the right was sent first: it was dropped, or it would stand here.
            assert {hearing.stdout.readline() for _ in range(2)} == {
                f"{LEFT[0]} {OWN[0]}\n",
                f"{LEFT[0]} 224.0.0.5\n",
            }
        finally:
            hearing.terminate()
    assert counts(router, "right0")["dropped"]["ospf"] == 2
    assert "ospf" not in counts(router, "right0")["accepted"]
    assert counts(router, "left0")["accepted"]["ospf"] == 2


_FLOOD = """
import socket, struct, sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
head = struct.pack("!BBHHH", int(sys.argv[1]), 0, 0, 7, 1)
total = sum(struct.unpack("!4H", head))
packet = head[:2] + struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + head[4:]
for _ in range(int(sys.argv[3])):
    try:
        raw.sendto(packet, (sys.argv[2], 0))
    except OSError:
        pass
"""
FLOOD = 12_000


def test_a_flood_of_icmp_is_limited_while_the_neighbor_goes_on(router: Router) -> None:
    """Unreachables, which both data planes leave to the kernel; a second of them is well above the rate."""
    router.commit(document())
    with listening(router.middle), neighbor_session(router) as session:
        flood = [sys.executable, "-c", _FLOOD, "3", OWN[0], str(FLOOD)]
        argv = ["ip", "netns", "exec", router.left, *flood]
        sent = seen = exchanged = 0
        found = counts(router)
        # On a busy machine much of a flood is lost before it comes to the router.
        while seen < FLOOD // 2 and sent < 10 * FLOOD:
            with subprocess.Popen(argv) as flooding:
                while flooding.poll() is None:
                    session.exchange()
                    exchanged += 1
            sent += FLOOD
            found = counts(router)
            seen = found["accepted"]["icmp"] + found["dropped"]["icmp"]
        session.exchange()
    assert exchanged >= 1
    assert seen >= FLOOD // 2
    assert found["dropped"]["icmp"] > 0
    assert found["accepted"]["icmp"] < sent


@dataclass
class Session:
    """A TCP connection of the neighbor's to port 179, over which each line comes back."""

    process: subprocess.Popen[str]

    def exchange(self) -> None:
        """Send a line and have it back."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("still here\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "still here\n"


_SESSION = """
import socket, sys
one = socket.create_connection((sys.argv[2], 179), timeout=15, source_address=(sys.argv[1], 0))
for line in sys.stdin:
    one.sendall(line.encode())
    print(one.recv(2048).decode(), end="", flush=True)
"""


@contextmanager
def neighbor_session(router: Router) -> Iterator[Session]:
    """The configured neighbor's."""
    argv = ["ip", "netns", "exec", router.left, sys.executable, "-c", _SESSION, LEFT[0], OWN[0]]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        session = Session(process)
        session.exchange()
        yield session
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_a_session_and_the_counts_live_through_commits(router: Router) -> None:
    router.commit(document())
    with listening(router.middle), neighbor_session(router) as session:
        before = counts(router)["accepted"]["bgp"]
        assert before >= 3
        wanted = document(management_services=["https"])
        more = {**BGP["neighbors"], "10.77.1.9": {"remote_asn": 65009, "ipv4_unicast": {}}}  # type: ignore[dict-item]
        steps = router.commit({**wanted, "routing": {"bgp": {**BGP, "neighbors": more}}})
        shown = [step.summary for step in steps if "protection of the router" in step.summary]
        assert shown == [
            "change protection of the router itself: open BGP from 10.77.1.9; open https on left0"
        ]
        assert {(step.impact, step.phase) for step in steps} == {("none", "create")}
        session.exchange()
        assert counts(router)["accepted"]["bgp"] > before
        for step in reversed(steps):
            router.backend.undo(step)
        session.exchange()
        assert router.steps(document()) == []


def test_rules_that_somebody_changed_are_drift_and_come_back(router: Router) -> None:
    router.commit(document())
    for words in (
        "flush chain inet millrace_control protect",
        "delete table inet millrace_control",
        "add element inet millrace_control bgp-ipv4-0 { 10.77.1.66 }",
        "delete element inet millrace_control guarded { left0 }",
        "insert rule inet millrace_control input accept",
        "delete element inet millrace_control dropped-tcp { left0 }",
        "add rule inet millrace_control management accept",
    ):
        run(router.middle, "nft", words)
        steps = router.commit(document())
        assert [step.key for step in steps if hasattr(step, "key")] == ["control_plane"], words


SERVICES = (
    Service(
        "near",
        "Near",
        (Protocols((112, 250)), Ports("tcp", (7, 9), answers=True), Ports("udp", (7,), answers=True)),
        {"far": Form((Only(Ports("tcp", (7,)), family="ipv4"), Only(least_ttl=9)), detail="from afar")},
        (Only(Protocols((112,)), ttl=255), Only(Ports("udp", (7,)), family="ipv6")),
    ),
    Service("linked", "Linked", (Protocols((113,), "ipv6"),), links=(Only(least_ttl=254, family="ipv6"),)),
)
_SEND = """
import socket, sys
source, destination, protocol, *hops = sys.argv[1:]
family = socket.AF_INET6 if ":" in source else socket.AF_INET
raw = socket.socket(family, socket.SOCK_RAW, int(protocol))
raw.bind((source, 0))
for ttl in map(int, hops):
    if family == socket.AF_INET6:
        raw.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, ttl)
    else:
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
    raw.sendto(bytes(8), (destination, 0))
"""


@pytest.fixture
def further_services(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What can be said of a service, of two features more."""
    opened = (
        OpenLink("near", "left0"),
        OpenLink("linked", "left0"),
        Peer("near", "10.77.2.0/24", "far"),
        Peer("near", "2001:db8:77:2::2/128", "far"),
    )
    said: dict[str, Any] = {"SERVICES": SERVICES, "opens": lambda config: opened}
    monkeypatch.setattr(services, "declared", lambda part, name: [*registry.declared(part, name), said[name]])
    services.services.cache_clear()
    yield
    monkeypatch.undo()
    services.services.cache_clear()


def test_a_service_is_let_in_as_it_was_declared(router: Router, further_services: None) -> None:
    (step,) = [step for step in router.commit(DOCUMENT) if step.key == "control_plane"]
    assert step.summary.endswith(
        ": open Linked on left0; open Near from 10.77.2.0/24 from afar; "
        "open Near from 2001:db8:77:2::2 from afar; open Near on left0"
    )
    for own, far_own in zip(OWN, FAR_OWN, strict=True):
        assert router.ping(router.left, own) and router.ping(router.right, far_own)
    for source, own in zip(LEFT, OWN, strict=True):
        run(router.left, sys.executable, "-c", _SEND, source, own, "112", "255", "254", "255", "253")
    run(router.left, sys.executable, "-c", _SEND, LEFT[1], OWN[1], "113", "255", "254", "253")
    for source, own in (("10.77.2.2", FAR_OWN[0]), ("2001:db8:77:2::2", FAR_OWN[1])):
        run(router.right, sys.executable, "-c", _SEND, source, own, "250", "9", "8", "64")
    for own, far_own in zip(OWN, FAR_OWN, strict=True):
        # What was sent before has been looked at, too.
        assert router.ping(router.left, own) and router.ping(router.right, far_own)
    told = {service.reason: service for service in router.backend.control_plane_state().services}
    assert (told["near"].title, told["near"].sources) == ("Near", ("10.77.2.0/24", "2001:db8:77:2::2"))
    assert (told["linked"].by_source, told["linked"].by_interface) == (False, True)
    left, right = counts(router), counts(router, "right0")
    assert (left["accepted"]["near"], left["dropped"]["near"]) == (4, 4)
    assert (left["accepted"]["linked"], left["dropped"]["linked"]) == (2, 1)
    assert (right["accepted"]["near"], right["dropped"]["near"]) == (4, 2)
    assert "linked" not in right["accepted"]


def test_an_interface_that_is_not_the_documents_is_left_alone(router: Router) -> None:
    """Such as a management NIC of a router that has all in one namespace."""
    router.commit(document())
    with listening(router.middle):
        try:
            run(router.middle, "ip", "link", "add", "mgmt0", "type", "veth", "peer", "name", "desk0")
            run(router.middle, "ip", "link", "set", "desk0", "netns", router.left)
            for namespace, device, address in (
                (router.middle, "mgmt0", "192.0.2.65/28"),
                (router.left, "desk0", "192.0.2.66/28"),
            ):
                run(namespace, "ip", "addr", "add", address, "dev", device)
                run(namespace, "ip", "link", "set", device, "up")
            assert reached(router.left, "192.0.2.66", "192.0.2.65")["tcp"] == list(PORTS)
            router.commit(DOCUMENT)
            assert reached(router.left, "192.0.2.66", "192.0.2.65")["tcp"] == list(PORTS)
        finally:
            run(router.middle, "ip", "link", "del", "mgmt0", check=False)

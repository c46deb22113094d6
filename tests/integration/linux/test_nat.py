"""The effect of translation on packets, on the kernel: every session is answered with the address it was seen
as.

The left namespace is inside, the right one outside.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pytest

from appliance.dataplane.linux import conntrack
from appliance.engine.backend import Step
from tests.feature_files import ROOT
from tests.integration.frr.harness import wait_until
from tests.integration.linux.conftest import DOCUMENT, Router, run
from tests.integration.linux.who import FILE
from tests.sizes import at_size

pytestmark = pytest.mark.root

INSIDE, OUTSIDE, ROUTER = "10.77.1.2", "10.77.2.2", "10.77.2.1"
PEER = [sys.executable, "-m", "tests.integration.linux.who"]


def with_nat(**nat: Any) -> dict[str, Any]:
    """DOCUMENT with left0 inside and right0 outside, by default masqueraded."""
    document = copy.deepcopy(DOCUMENT)
    if "masquerade" not in nat and "pools" not in nat:
        nat["masquerade"] = ["right0"]
    document["nat"] = {"inside": ["left0"], "outside": ["right0"], **nat}
    return document


@contextmanager
def serving(namespace: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program of the test's own in a namespace, once it is ready."""
    command = ["ip", "netns", "exec", namespace, *PEER, *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as started:
        try:
            assert started.stdout is not None
            if arguments[0] != "hold":
                assert started.stdout.readline() == "ready\n"
            yield started
        finally:
            started.kill()


def ask(namespace: str, protocol: str, destination: str, port: int, *more: str) -> list[str | None]:
    """Address and port that a peer saw, for each socket."""
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, *PEER, "ask", protocol, destination, str(port), *more],
        capture_output=True, text=True, timeout=120, check=True, cwd=ROOT,
    )  # fmt: skip
    found: list[str | None] = json.loads(done.stdout)
    return found


def seen_as(namespace: str, protocol: str, destination: str, port: int) -> str | None:
    """The address alone; None without an answer."""
    (answer,) = ask(namespace, protocol, destination, port)
    return answer and answer.partition(":")[0]


def sessions(router: Router) -> list[conntrack.Tracked]:
    def read() -> list[conntrack.Tracked]:
        with conntrack.opened() as link:
            return list(conntrack.translated(link))

    return router.backend._space.run(read)


class Hosts(Protocol):
    """A data plane of either kind, and the namespaces beside it."""

    @property
    def left(self) -> str:
        """The one inside."""

    @property
    def right(self) -> str:
        """The one outside."""

    def commit(self, document: dict[str, Any]) -> Sequence[Step]:
        """Apply the document."""


def device(namespace: str) -> str:
    """The interface of a host, which is called differently beside VPP."""
    return run(namespace, "ip", "-4", "-o", "addr", "show", "scope", "global").stdout.split()[1]


def hide_inside(router: Hosts) -> None:
    """Outside has no route back to the inside: only translated packets are answered."""
    run(router.right, "ip", "route", "del", "default")


def masquerades(router: Hosts, protocol: str) -> None:
    """An inside host is seen as the outside interface."""
    hide_inside(router)
    router.commit(with_nat())
    with serving(router.right, "listen", "7001"):
        assert seen_as(router.left, protocol, OUTSIDE, 7001) == ROUTER


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_inside_hosts_are_seen_as_the_interface(router: Router, protocol: str) -> None:
    masquerades(router, protocol)
    found = [one for one in sessions(router) if one.original.destination_port == 7001]
    assert [conntrack.text(one.original.source) for one in found] == [INSIDE]
    assert [conntrack.text(one.reply.destination) for one in found] == [ROUTER]


def test_pings_and_errors_about_them_come_back(router: Router) -> None:
    """Echo and reply; port unreachable; time exceeded of a router behind; too big, about a session inside."""
    hide_inside(router)
    router.commit(with_nat())
    assert router.ping(router.left, OUTSIDE)
    # A host that refuses says so with an ICMP error, which names the translated packet.
    refused = run(router.left, sys.executable, "-c", _REFUSED, OUTSIDE)
    assert refused.stdout.strip() == "ConnectionRefusedError"
    run(router.right, "ip", "link", "add", "far", "type", "veth", "peer", "name", "far-end")
    run(router.right, "sysctl", "-w", "net.ipv4.ip_forward=1")
    run(router.right, "ip", "addr", "add", "10.77.3.1/24", "dev", "far")
    run(router.right, "ip", "link", "set", "far", "up", "mtu", "1300")
    run(router.right, "ip", "link", "set", "far-end", "up")
    run(router.middle, "ip", "route", "add", "10.77.3.0/24", "via", OUTSIDE)

    def expired() -> bool:
        pinged = run(router.left, "ping", "-n", "-c", "1", "-t", "2", "-W", "2", "10.77.3.9", check=False)
        return f"From {OUTSIDE}" in pinged.stdout and "Time to live exceeded" in pinged.stdout

    # VPP hears of the kernel's route some time later.
    wait_until(expired, "a router behind that says so")
    big = run(
        router.left, "ping", "-n", "-c", "1", "-M", "do", "-s", "1372", "-W", "2", "10.77.3.9", check=False
    )
    assert f"From {OUTSIDE}" in big.stdout
    assert "mtu" in big.stdout


_REFUSED = """
import socket, sys
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.settimeout(2)
one.connect((sys.argv[1], 7999))
one.send(b"?")
try:
    one.recv(10)
except OSError as error:
    print(type(error).__name__)
"""


FTP = """
import ftplib, sys
client = ftplib.FTP()
client.connect(sys.argv[1], 2121, timeout=30)
client.login()
client.retrbinary("RETR file", sys.stdout.buffer.write)
client.quit()
"""


def test_ftp_in_passive_mode(router: Router) -> None:
    hide_inside(router)
    router.commit(with_nat())
    with serving(router.right, "ftp", "2121"):
        fetched = run(router.left, sys.executable, "-c", FTP, OUTSIDE)
    assert fetched.stdout.encode() == FILE


def test_the_machine_s_own_settings_keep_no_outside_address_from_answering(router: Router) -> None:
    """The image's management plane answers ARP only for addresses of its NICs; a namespace inherits that."""
    run(router.middle, "sysctl", "-q", "-w", "net.ipv4.conf.all.arp_ignore=1")
    hide_inside(router)
    router.commit(with_nat(static={"host": {"outside_address": "10.77.2.50", "inside_address": INSIDE}}))
    with serving(router.left, "listen", "7002"):
        assert seen_as(router.right, "tcp", "10.77.2.50", 7002) == OUTSIDE


def test_hosts_get_addresses_of_the_pool_that_no_interface_has(router: Router) -> None:
    """The router answers ARP for them."""
    hide_inside(router)
    router.commit(with_nat(pools={"p": {"addresses": ["10.77.2.16/29"]}}))
    pool = {f"10.77.2.{number}" for number in range(16, 24)}
    for number in range(10, 18):
        run(router.left, "ip", "addr", "add", f"10.77.1.{number}/24", "dev", device(router.left))
    seen = set()
    with serving(router.right, "listen", "7001"):
        for number in range(10, 18):
            run(
                router.left,
                "ip",
                "route",
                "replace",
                "default",
                "via",
                "10.77.1.1",
                "src",
                f"10.77.1.{number}",
            )
            seen.add(seen_as(router.left, "tcp", OUTSIDE, 7001))
            # The same host keeps its address (RFC 4787, REQ-2).
            assert seen_as(router.left, "udp", OUTSIDE, 7001) in seen
    assert seen <= pool
    assert len(seen) > 1


def test_one_to_one_both_ways(router: Router) -> None:
    hide_inside(router)
    router.commit(with_nat(static={"host": {"outside_address": "10.77.2.50", "inside_address": INSIDE}}))
    with serving(router.right, "listen", "7001"), serving(router.left, "listen", "7002"):
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == "10.77.2.50"
        assert seen_as(router.right, "tcp", "10.77.2.50", 7002) == OUTSIDE
        assert seen_as(router.right, "udp", "10.77.2.50", 7002) == OUTSIDE
        assert router.ping(router.right, "10.77.2.50")


FORWARDS = {
    "web": {
        "outside_interface": "right0", "outside_port": 8080,
        "inside_address": INSIDE, "inside_port": 7002,
    },
    "dns": {
        "protocol": "udp", "outside_address": "10.77.2.60", "outside_port": 53,
        "inside_address": INSIDE, "inside_port": 7002,
    },
}  # fmt: skip


def test_port_forwards_of_the_interface_and_of_another_address(router: Router) -> None:
    hide_inside(router)
    router.commit(with_nat(port_forwards=FORWARDS))
    with serving(router.left, "listen", "7002"):
        assert seen_as(router.right, "tcp", ROUTER, 8080) == OUTSIDE
        assert seen_as(router.right, "udp", "10.77.2.60", 53) == OUTSIDE
        # Nothing else is led inside.
        assert seen_as(router.right, "udp", ROUTER, 8080) is None
        assert seen_as(router.right, "tcp", "10.77.2.60", 53) is None


def test_hairpin_an_inside_host_reaches_another_by_the_outside_address(router: Router) -> None:
    hide_inside(router)
    static = {"host": {"outside_address": "10.77.2.50", "inside_address": "10.77.1.9"}}
    router.commit(with_nat(port_forwards=FORWARDS, static=static))
    run(router.left, "ip", "addr", "add", "10.77.1.9/24", "dev", device(router.left))
    with serving(router.left, "listen", "7002"):
        assert seen_as(router.left, "tcp", ROUTER, 8080) == ROUTER
        assert seen_as(router.left, "udp", "10.77.2.60", 53) == "10.77.2.60"
        assert seen_as(router.left, "tcp", "10.77.2.50", 7002) == "10.77.2.50"


def test_what_a_no_nat_rule_matches_keeps_its_address(router: Router) -> None:
    router.commit(with_nat(no_nat={"10": {"destination": "10.77.2.0/30"}, "20": {"source": "10.9.0.0/16"}}))
    run(router.right, "ip", "addr", "add", "10.77.2.77/24", "dev", device(router.right))
    with serving(router.right, "listen", "7001"):
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == INSIDE
        assert seen_as(router.left, "tcp", "10.77.2.77", 7001) == ROUTER


def test_the_routers_own_sessions_are_not_touched(router: Router) -> None:
    """Both directions on the outside interface; admission is decided as without NAT."""
    document = with_nat(port_forwards=FORWARDS)
    document["interfaces"]["right0"]["management_services"] = ["ssh"]
    router.commit(document)
    with serving(router.middle, "listen", "22"), serving(router.right, "listen", "7001"):
        assert seen_as(router.right, "tcp", ROUTER, 22) == OUTSIDE
        assert router.ping(router.right, ROUTER)
        assert router.ping(router.middle, OUTSIDE)
        # The router's kernel asks by UDP and gets no answer: nothing lets the answer in.
        assert seen_as(router.middle, "udp", OUTSIDE, 7001) is None
        assert seen_as(router.right, "tcp", ROUTER, 2222) is None


def test_access_lists_see_packets_as_they_are_on_the_wire(router: Router) -> None:
    """Outside lists see outside addresses, inside ones those of the hosts."""
    hide_inside(router)
    document = with_nat(port_forwards=FORWARDS)
    permit, rest = {"action": "permit"}, {"action": "deny"}
    document["acls"] = {
        "wan-out": {"rules": {"10": {**permit, "source": f"{ROUTER}/32"}, "20": rest}},
        "wan-in": {"rules": {"10": {**permit, "destination": f"{ROUTER}/32"}, "20": rest}},
        "lan-in": {"rules": {"10": {**permit, "source": f"{INSIDE}/32"}, "20": rest}},
        "lan-out": {"rules": {"10": {**permit, "destination": f"{INSIDE}/32"}, "20": rest}},
    }
    document["interfaces"]["right0"] |= {"acl_in": ["wan-in"], "acl_out": ["wan-out"]}
    document["interfaces"]["left0"] |= {"acl_in": ["lan-in"], "acl_out": ["lan-out"]}
    router.commit(document)
    with serving(router.right, "listen", "7001"), serving(router.left, "listen", "7002"):
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER
        assert seen_as(router.right, "tcp", ROUTER, 8080) == OUTSIDE
        document["acls"]["wan-out"]["rules"]["10"]["source"] = f"{INSIDE}/32"
        router.commit(document)
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) is None


def test_reflected_sessions_with_nat(router: Router) -> None:
    """permit_reflect outside admits the answers of translated sessions, and nothing else."""
    hide_inside(router)
    document = with_nat(port_forwards=FORWARDS)
    document["acls"] = {
        "out": {"rules": {"10": {"action": "permit_reflect"}}},
        "in": {"rules": {"10": {"action": "deny"}}},
    }
    document["interfaces"]["right0"] |= {"acl_in": ["in"], "acl_out": ["out"]}
    router.commit(document)
    with serving(router.right, "listen", "7001"), serving(router.left, "listen", "7002"):
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER
        assert seen_as(router.right, "tcp", ROUTER, 8080) is None


def test_a_user_has_so_many_sessions_and_another_has_his_own(router: Router) -> None:
    router.commit(with_nat(sessions_per_user=5))
    run(router.left, "ip", "addr", "add", "10.77.1.9/24", "dev", device(router.left))
    with serving(router.right, "listen", "7001"):
        answers = ask(router.left, "tcp", OUTSIDE, 7001, "--count", "7")
        assert sum(answer is not None for answer in answers) == 5
        run(router.left, "ip", "route", "replace", "default", "via", "10.77.1.1", "src", "10.77.1.9")
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER


def test_sessions_of_what_is_removed_end_and_others_go_on(router: Router) -> None:
    hide_inside(router)
    document = with_nat(port_forwards=FORWARDS)
    router.commit(document)
    with (
        serving(router.left, "listen", "7002"),
        serving(router.right, "listen", "7001"),
        serving(router.right, "hold", "tcp", ROUTER, "8080") as inward,
        serving(router.left, "hold", "tcp", OUTSIDE, "7001") as outward,
    ):
        assert still(inward).startswith(OUTSIDE)
        assert still(outward).startswith(ROUTER)
        changed = copy.deepcopy(document)
        del changed["nat"]["port_forwards"]["web"]
        changed["nat"]["timeouts"] = {"udp_s": 60}
        steps = router.commit(changed)
        assert [step.impact for step in steps if "mappings" in step.summary] == [
            "ends sessions of NAT mappings"
        ]
        assert still(outward).startswith(ROUTER)
        assert not still(inward).startswith(OUTSIDE)
        assert [one.original.destination_port for one in sessions(router)] == [7001]
        router.commit(DOCUMENT)
        assert not still(outward).startswith(ROUTER)
    assert sessions(router) == []


def still(one: subprocess.Popen[str]) -> str:
    """The answer that a client which holds its connection gets now; empty where it is broken."""
    assert one.stdin is not None
    assert one.stdout is not None
    one.stdin.write("\n")
    one.stdin.flush()
    return one.stdout.readline().strip()


def test_what_somebody_alters_is_drift_and_is_repaired(router: Router) -> None:
    document = with_nat(
        port_forwards=FORWARDS,
        pools={"p": {"addresses": ["10.77.2.16/29", "10.77.2.40"]}},
        static={"host": {"outside_address": "10.77.2.50", "inside_address": "10.77.1.9"}},
        no_nat={
            "10": {"source": "10.1.0.0/16", "destination": "10.2.3.4/32"},
            "20": {"source": "10.3.0.0/16"},
        },
        sessions_per_user=100,
    )
    router.commit(document)
    for harm in (
        "flush chain inet millrace_nat outward",
        "delete element inet millrace_nat static-out { 10.77.1.9 }",
        "delete element inet millrace_nat forwards { 10.77.2.60 . udp . 53 }",
        'add element inet millrace_nat inside { "right0" }',
        "insert rule inet millrace_nat outward accept",
        "delete table inet millrace_nat",
    ):
        run(router.middle, "nft", harm)
        assert router.steps(document) != [], harm
        router.commit(document)
    run(router.middle, "ip", "route", "del", "local", "10.77.2.40", "table", "local")
    assert [step.summary for step in router.steps(document)] == ["add outside address 10.77.2.40"]
    router.commit(document)
    router.commit(DOCUMENT)
    assert "millrace_nat" not in run(router.middle, "nft", "list", "ruleset").stdout
    assert "10.77.2.16" not in run(router.middle, "ip", "route", "show", "table", "local").stdout


class Commits(Protocol):
    """The data plane of either kind."""

    def commit(self, document: dict[str, Any]) -> Sequence[Step]:
        """The steps it took."""


def removing_one_of_ten_thousand_forwards(router: Commits) -> list[str]:
    """What the steps say that take one away."""
    forwards = {
        f"f{number}": {
            "outside_interface": "right0",
            "outside_port": 10000 + number,
            "inside_address": INSIDE,
        }
        for number in range(at_size(10_000))
    }
    document = with_nat(port_forwards=forwards)
    router.commit(document)
    del document["nat"]["port_forwards"]["f77"]
    return [step.summary for step in router.commit(document)]


def test_ten_thousand_forwards_in_one_step(router: Router) -> None:
    assert removing_one_of_ten_thousand_forwards(router) == [
        f"change NAT mappings: remove tcp {ROUTER}:10077 to {INSIDE}:10077"
    ]

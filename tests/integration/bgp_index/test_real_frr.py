"""The index beside a real bgpd: what bgpd holds is found, as bgpd shows it, and follows what neighbors do.

::

    FRR, AS 65000   10.9.0.1      --- 10.9.0.2        AS 65001
                    2001:db8:9::1 --- 2001:db8:9::2   AS 65001
                    10.9.0.1      --- 10.9.0.3        AS 65003, which knows AS numbers of two octets alone
                                  --- 10.9.0.4        AS 65000
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyroute2 import netns

from tests import bmp_stream as bmp
from tests import requirements
from tests.bgp_index_process import BgpIndex
from tests.bgp_peer import BgpPeer
from tests.integration.frr.harness import FrrHarness, frr_installed, ip, wait_until
from tests.soak.bgp_speaker import Speaker

pytestmark = pytest.mark.root

ROUTER = "10.9.0.1"
EXTERNAL, NARROW, INTERNAL = "10.9.0.2", "10.9.0.3", "10.9.0.4"
ROUTER6, EXTERNAL6 = "2001:db8:9::1", "2001:db8:9::2"
CONFIGURATION = f"""
ip prefix-list unwanted permit 203.0.113.0/24
bgp community-list standard marked permit 65001:7
route-map in deny 10
 match ip address prefix-list unwanted
route-map in permit 20
 match community marked
 set community 65000:777 additive
route-map in permit 30
router bgp 65000
 bgp router-id 10.255.0.1
 no bgp ebgp-requires-policy
 no bgp network import-check
 timers bgp 3 9
 neighbor {EXTERNAL} remote-as 65001
 neighbor {EXTERNAL6} remote-as 65001
 neighbor {NARROW} remote-as 65003
 neighbor {INTERNAL} remote-as 65000
 address-family ipv4 unicast
  network 198.51.100.0/24
  neighbor {EXTERNAL} route-map in in
 address-family ipv6 unicast
  neighbor {EXTERNAL6} activate
 exit-address-family
 bmp targets millrace
  bmp monitor ipv4 unicast post-policy
  bmp monitor ipv6 unicast post-policy
  bmp listener 127.0.0.1 port 2630
"""


def _mandatory(*segments: bmp.Segment, hop: str) -> bytes:
    return bmp.attribute(1, b"\0") + bmp.as_path(*segments) + bmp.next_hop(hop)


class Neighbors:
    """The router, its three neighbors and an index beside it."""

    def __init__(self, frr: FrrHarness, far: str, index: BgpIndex) -> None:
        self.frr, self.far, self.index = frr, far, index
        self.external = BgpPeer(far, EXTERNAL, 65001, router=ROUTER, families=(4,))
        self.sixth = BgpPeer(far, EXTERNAL6, 65001, router=ROUTER6, families=(6,))
        self.narrow = BgpPeer(far, NARROW, 65003, router=ROUTER, families=(4,), four_octets=False)
        self.internal = BgpPeer(far, INTERNAL, 65000, router=ROUTER, families=(4,))

    def configure(self) -> None:
        """Give FRR its configuration."""
        self.frr.vtysh_file(CONFIGURATION)

    def connect(self) -> None:
        """All sessions up."""
        for peer in (self.external, self.sixth, self.narrow, self.internal):
            peer.connect()

    def announce(self) -> None:
        """Some routes of each."""
        self.external.send(
            bmp.coming(
                "203.0.112.0/24",
                _mandatory([65001, 65010], frozenset({65020, 4200000001}), hop=EXTERNAL)
                + bmp.attribute(4, (50).to_bytes(4))
                + bmp.communities((65001, 7), (65535, 666))
                + bmp.large_communities((65001, 1, 2))
                + bmp.attribute(16, bytes.fromhex("0002fde900000007")),
            ),
            bmp.coming("203.0.113.0/24", _mandatory([65001], hop=EXTERNAL)),
            bmp.coming("203.0.114.0/24", _mandatory([65001, 65010], hop=EXTERNAL)),
        )
        self.sixth.send(
            bmp.coming(
                "2001:db8:f::/48",
                bmp.attribute(1, b"\2") + bmp.as_path([65001, 65010]) + bmp.communities((65001, 6)),
                EXTERNAL6,
            )
        )
        short = bytes([2, 3]) + b"".join(number.to_bytes(2) for number in (65003, 23456, 23456))
        full = bytes([2, 3]) + b"".join(number.to_bytes(4) for number in (65003, 70000, 80000))
        self.narrow.send(
            bmp.coming(
                "203.0.114.0/24",
                bmp.attribute(1, b"\0")
                + bmp.attribute(2, short)
                + bmp.next_hop(NARROW)
                + bmp.attribute(17, full),
            )
        )
        self.internal.send(
            bmp.coming(
                "203.0.115.0/24",
                _mandatory([65030], hop=INTERNAL) + bmp.attribute(5, (200).to_bytes(4)),
            ),
            bmp.coming(
                "203.0.116.0/24",
                _mandatory([65030], hop=INTERNAL)
                + bmp.attribute(5, (100).to_bytes(4))
                + bmp.attribute(9, bytes([10, 0, 0, 77]))
                + bmp.attribute(10, bytes([10, 0, 0, 88])),
            ),
        )

    def close(self) -> None:
        """End the sessions."""
        for peer in (self.external, self.sixth, self.narrow, self.internal):
            peer.close()

    def shown(self, family: str) -> set[tuple[str, str, str]]:
        """Prefix, neighbor and AS path of each valid path, as bgpd shows them."""
        told = json.loads(self.frr.vtysh(f"show bgp {family} unicast json"))
        return {
            (prefix, _name(path["peerId"]), path["path"])
            for prefix, paths in told["routes"].items()
            for path in paths
            if path.get("valid")
        }

    def found(self, family: str) -> set[tuple[str, str, str]]:
        """The same as the index has it."""
        rows = self.index.search(f"{family} limit=1000")["rows"]
        return {(row["prefix"], row["neighbor"], row["as_path"]) for row in rows}

    def wait_shown(self, paths: int, paths6: int) -> None:
        """Until bgpd has so many valid paths: 8.4 does not tell of one that becomes valid later."""
        wait_until(
            lambda: (len(self.shown("ipv4")), len(self.shown("ipv6"))) == (paths, paths6),
            f"{paths} valid paths of IPv4 and {paths6} of IPv6 in bgpd",
        )

    def wait_alike(self, paths: int, paths6: int) -> None:
        """Until index and bgpd have so many paths, all of them told; they are the same then."""
        wanted = ("ready", paths, paths6)
        self.index.wait(
            lambda status: (status["state"], status["ipv4"]["paths"], status["ipv6"]["paths"]) == wanted,
            f"{paths} paths of IPv4 and {paths6} of IPv6",
        )
        assert self.found("ipv4") == self.shown("ipv4")
        assert self.found("ipv6") == self.shown("ipv6")

    def row(self, words: str) -> dict[str, Any]:
        """The only path that matches."""
        found = self.index.search(words)
        assert found["matching"] == 1 and found["complete"], found
        row: dict[str, Any] = found["rows"][0]
        return row


def _name(peer_id: str) -> str:
    return "self" if peer_id in {"(unspec)", "::", "0.0.0.0"} else peer_id


@pytest.fixture
def neighbors(tmp_path: Path) -> Iterator[Neighbors]:
    """All sessions up, everything announced, and an index that read it."""
    requirements.require_root_netns()
    requirements.require_rustc()
    if not frr_installed():
        pytest.skip("FRRouting is not installed (Debian package frr)")
    near, far = f"bi-{os.getpid() % 100000}", f"bif-{os.getpid() % 100000}"
    ip("netns", "add", far)
    try:
        with FrrHarness(near, near, indexed=True) as frr, BgpIndex(tmp_path, netns=near) as index:
            frr.add_link("d0", f"{ROUTER}/24", f"{ROUTER6}/64", peer=(far, "d0"))
            for address in (EXTERNAL, NARROW, INTERNAL):
                ip("-n", far, "address", "add", f"{address}/24", "dev", "d0")
            ip("-n", far, "address", "add", f"{EXTERNAL6}/64", "dev", "d0", "nodad")
            neighbors = Neighbors(frr, far, index)
            neighbors.configure()
            neighbors.connect()
            neighbors.announce()
            try:
                neighbors.wait_shown(6, 1)
                neighbors.index.search("ipv4 wait=5000")
                neighbors.wait_alike(6, 1)
                yield neighbors
            finally:
                neighbors.close()
    finally:
        ip("netns", "del", far, check=False)


def test_what_bgpd_holds_is_found_with_its_attributes(neighbors: Neighbors) -> None:
    """Routes refused by policy are absent, attributes set by it are present; those added by bgpd for the
    wire are not shown.
    """
    row = neighbors.row("ipv4 community=65000:777")
    assert row.pop("received_s") < 60
    assert row == {
        "prefix": "203.0.112.0/24",
        "neighbor": EXTERNAL,
        "neighbor_as": 65001,
        "as_path": "65001 65010 {65020,4200000001}",
        "origin": "igp",
        "next_hop": EXTERNAL,
        "med": 50,
        # bgpd adds no-export to blackhole (RFC 7999).
        "communities": ["65000:777", "65001:7", "65535:666", "65535:65281"],
        "large_communities": ["65001:1:2"],
        "extended_communities": ["rt:65001:7"],
    }
    assert neighbors.index.prefixes("ipv4 exact=203.0.113.0/24") == []
    assert neighbors.index.prefixes("ipv4 as=65010") == ["203.0.112.0/24", "203.0.114.0/24"]
    assert neighbors.index.prefixes("ipv4 as=65000") == []
    row = neighbors.row("ipv4 path=70000_80000")
    assert (row["neighbor"], row["as_path"]) == (NARROW, "65003 70000 80000")
    plain, reflected = neighbors.index.search(f"ipv4 neighbor={INTERNAL}")["rows"]
    assert plain["local_preference"] == 200 and "originator_id" not in plain and "cluster_list" not in plain
    assert (reflected["originator_id"], reflected["cluster_list"]) == ("10.0.0.77", ["10.0.0.88"])
    row = neighbors.row("ipv6")
    assert (row["origin"], row["next_hop"], row["communities"]) == (
        "incomplete",
        EXTERNAL6,
        ["65001:6"],
    )
    own = neighbors.row("ipv4 neighbor=self")
    assert (own["prefix"], own["neighbor_as"], own["as_path"]) == ("198.51.100.0/24", 65000, "")


def test_changes_and_withdrawals_are_followed(neighbors: Neighbors) -> None:
    """Of both families, while the index stays connected."""
    neighbors.external.send(
        bmp.coming("203.0.114.0/24", _mandatory([65001, 65077], hop=EXTERNAL) + bmp.communities((65001, 8)))
    )
    neighbors.index.wait(
        lambda _: neighbors.index.prefixes("ipv4 as=65077 community=65001:8") == ["203.0.114.0/24"],
        "a change",
    )
    neighbors.wait_alike(6, 1)
    neighbors.external.send(bmp.going("203.0.112.0/24"))
    neighbors.sixth.send(bmp.going("2001:db8:f::/48"))
    neighbors.wait_alike(5, 0)
    neighbors.announce()
    neighbors.wait_alike(6, 1)


def test_a_session_that_goes_down_takes_its_paths_with_it(neighbors: Neighbors) -> None:
    """The paths of the other neighbors stay; a session that comes back brings its paths back."""
    neighbors.external.close()
    neighbors.sixth.close()
    neighbors.wait_alike(4, 0)
    assert {row["neighbor"] for row in neighbors.index.search("ipv4")["rows"]} == {NARROW, INTERNAL, "self"}
    down = neighbors.index.wait(
        lambda status: any(n["address"] == EXTERNAL and not n["up"] for n in status["neighbors"]), "Peer Down"
    )
    assert down["state"] == "ready"
    neighbors.external.connect()
    neighbors.sixth.connect()
    neighbors.announce()
    neighbors.wait_alike(6, 1)


def test_a_bgpd_that_is_killed_and_started_again_is_read_again(neighbors: Neighbors) -> None:
    """Its content is discarded at once; the index recovers automatically."""
    neighbors.frr.kill("bgpd")
    assert neighbors.index.wait_for("connecting")["ipv4"]["paths"] == 0
    neighbors.close()
    neighbors.frr.start_daemon("bgpd")
    neighbors.configure()
    neighbors.connect()
    neighbors.announce()
    neighbors.wait_alike(6, 1)
    assert neighbors.index.wait_for("ready")["truncated"] is False


def test_what_a_hostile_neighbor_makes_bgpd_say_can_be_read(neighbors: Neighbors) -> None:
    """Whatever the neighbor sends, no output of bgpd is malformed; in the end everything is withdrawn."""
    neighbors.external.close()
    neighbors.wait_alike(4, 1)
    speaker = Speaker(ROUTER, EXTERNAL, 65001, b"")

    def attack() -> None:
        netns.setns(neighbors.far)  # of this thread alone
        speaker.attack(random.Random(1), 120, 60)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(attack).result(timeout=240)
    assert speaker.sessions > 1
    neighbors.wait_alike(4, 1)
    status = neighbors.index.status()
    assert (status["state"], status["malformed"], status["truncated"]) == ("ready", 0, False)

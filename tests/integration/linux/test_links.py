"""Bonds, VLANs and tunnels of the kernel against a kernel that nobody of ours configured::

    [ router ] nic0 ===== peer0 [ far ]
               nic1 ===== peer1          a bond of its own, a VLAN on it, or the end of a tunnel
               nic2 ----- peer2

What needs nftables is left out (tests/integration/linux/kernel_part.py).
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from appliance.dataplane.object_step import ObjectStep
from appliance.state.bonds import BondMemberState, in_the_kernel
from tests.integration.frr.harness import ip, wait_until
from tests.integration.linux.kernel_part import KernelPart
from tests.property.documents import random_document
from tests.requirements import require_links, require_root_netns
from tests.sizes import at_size

pytestmark = pytest.mark.root

ROUTER, FAR = "links-router", "links-far"
NICS = tuple(Nic(f"nic{number}", f"02:6c:69:00:00:0{number}", kind="veth") for number in range(3))
FAR_MAC = "02:6c:69:00:01:00"
SOURCES = [f"10.0.0.{host}" for host in range(2, 10)]
AGREED_S = 60.0
DOCUMENTS = at_size(60)
BOND: dict[str, Any] = {
    "type": "bond",
    "members": ["lan0", "lan1"],
    "addresses": ["10.0.0.1/24", "2001:db8::1/64"],
}
INTERFACES: dict[str, Any] = {
    **{f"lan{number}": {"type": "ethernet", "match": {"device": f"nic{number}"}} for number in range(2)},
    "wan0": {
        "type": "ethernet",
        "match": {"device": "nic2"},
        "addresses": ["192.0.2.1/24", "2001:db8:9::1/64"],
    },
}


class Router:
    """The kernel of the router's namespace."""

    def __init__(self) -> None:
        self.kernel = KernelPart(ROUTER)

    def wanted(self, config: RouterConfig) -> LinuxState:
        by_device = {nic.device: nic for nic in NICS}
        by_mac = {nic.mac: nic for nic in NICS}
        nics = {
            name: by_device[one.nic.device] if one.nic.device else by_mac[one.nic.mac or ""]
            for name, one in config.interfaces.items()
            if one.nic is not None
        }
        return self.kernel.wanted(config, nics)

    def commit(self, interfaces: dict[str, Any]) -> list[ObjectStep]:
        config = parse_document({"interfaces": interfaces})
        assert check(config, Capabilities("linux")) == []
        return self.go(self.wanted(config))

    def go(self, wanted: LinuxState) -> list[ObjectStep]:
        steps = self.kernel.steps(wanted)
        for step in steps:
            self.kernel.apply(step)
        assert dict(self.kernel.observe()) == dict(wanted)
        assert self.kernel.steps(wanted) == []
        return steps

    def members(self) -> dict[str, BondMemberState]:
        """As the live state tells of them."""
        (bond,) = self.kernel.look(in_the_kernel)
        assert bond.active_members == sum(one.state == "active" for one in bond.members)
        return {one.interface: one for one in bond.members}

    def states(self) -> dict[str, str]:
        return {name: one.state for name, one in self.members().items()}


def _far(*argv: str) -> str:
    done = subprocess.run(
        ["ip", "netns", "exec", FAR, *argv], check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout


def _answered(destination: str, *options: str, count: int = 3) -> int:
    """How many pings to the far end are answered."""
    argv = ["ping", "-n", "-q", "-i", "0.1", "-W", "1", "-c", str(count), *options, destination]
    done = subprocess.run(
        ["ip", "netns", "exec", FAR, *argv], check=False, capture_output=True, text=True, timeout=60
    )
    match = re.search(r"(\d+) received", done.stdout)
    return 0 if match is None else int(match[1])


def _all_answered() -> bool:
    return all(_answered("10.0.0.1", "-I", source) == 3 for source in SOURCES)


@pytest.fixture(scope="module")
def router() -> Iterator[Router]:
    require_root_netns()
    require_links("bond", "vlan", "gre", "ip6gre", "sit", "ip6tnl", "vrf")
    for netns in (ROUTER, FAR):
        ip("netns", "add", netns)
    try:
        for number, nic in enumerate(NICS):
            end = ("peer", "name", f"peer{number}", "netns", FAR)
            ip("-n", ROUTER, "link", "add", nic.device, "address", nic.mac, "type", "veth", *end)
            _far("sysctl", "-qw", f"net.ipv6.conf.peer{number}.accept_dad=0")
            ip("-n", FAR, "link", "set", f"peer{number}", "up")
        made = Router()
        yield made
        made.kernel.close()
    finally:
        for netns in (ROUTER, FAR):
            ip("netns", "delete", netns)


@pytest.fixture
def far_bond(router: Router) -> Iterator[None]:
    """The far end's own LACP bond of two links, with eight addresses and a VLAN."""
    settings = ("mode", "802.3ad", "miimon", "100", "lacp_rate", "fast", "xmit_hash_policy", "layer3+4")
    _far("ip", "link", "add", "bond9", "address", FAR_MAC, "type", "bond", *settings)
    for device in ("peer0", "peer1"):
        _far("ip", "link", "set", device, "down")
        _far("ip", "link", "set", device, "master", "bond9")
    _far("ip", "link", "set", "bond9", "up")
    _far("ip", "link", "add", "link", "bond9", "name", "tagged", "type", "vlan", "id", "10")
    _far("ip", "link", "set", "tagged", "up")
    for source in SOURCES:
        _far("ip", "address", "add", f"{source}/24", "dev", "bond9")
    _far("ip", "address", "add", "10.10.0.2/24", "dev", "tagged")
    yield
    _far("ip", "link", "delete", "bond9")
    for device in ("peer0", "peer1"):
        _far("ip", "link", "set", device, "up")


def test_lacp_with_another_kernels_bond_loses_a_member_and_gets_it_back(
    router: Router, far_bond: None
) -> None:
    tagged = {"type": "sub_interface", "parent": "bond0", "vlan_id": 10, "addresses": ["10.10.0.1/24"]}
    router.commit({**INTERFACES, "bond0": BOND, "bond0.10": tagged})
    both = {"lan0": "active", "lan1": "active"}
    wait_until(lambda: router.states() == both, "LACP's agreement", AGREED_S)
    partner = router.members()["lan0"].partner
    assert partner is not None and partner.system == FAR_MAC
    wait_until(_all_answered, "answers to every flow", AGREED_S)
    wait_until(lambda: _answered("10.10.0.1") == 3, "an answer on the VLAN", AGREED_S)
    _far("ip", "link", "set", "peer0", "down")
    wait_until(
        lambda: router.states() == {"lan0": "down", "lan1": "active"}, "a member without link", AGREED_S
    )
    assert router.members()["lan0"].reason == "it has no link"
    wait_until(_all_answered, "answers by the other member", AGREED_S)
    wait_until(lambda: _answered("10.10.0.1") == 3, "an answer on the VLAN", AGREED_S)
    _far("ip", "link", "set", "peer0", "up")
    wait_until(lambda: router.states() == both, "the member again", AGREED_S)
    wait_until(_all_answered, "answers by both members", AGREED_S)
    # More links are needed than there are: the bond is down until the other is back.
    router.commit({**INTERFACES, "bond0": {**BOND, "minimum_links": 2}})
    wait_until(_all_answered, "answers with the links there are", AGREED_S)
    _far("ip", "link", "set", "peer1", "down")
    wait_until(lambda: _answered("10.0.0.1", count=1) == 0, "a bond that is down", AGREED_S)
    _far("ip", "link", "set", "peer1", "up")
    wait_until(_all_answered, "the bond again", AGREED_S)


def test_a_member_that_the_other_end_does_not_have_in_its_bond_waits(router: Router, far_bond: None) -> None:
    router.commit({**INTERFACES, "bond0": BOND})
    wait_until(lambda: set(router.states().values()) == {"active"}, "LACP's agreement", AGREED_S)
    _far("ip", "link", "set", "peer0", "nomaster")
    _far("ip", "link", "set", "peer0", "up")
    wait_until(lambda: router.states() == {"lan0": "waiting", "lan1": "active"}, "LACP's silence", AGREED_S)
    wait_until(_all_answered, "answers by the other member", AGREED_S)


def _settings() -> list[dict[str, Any]]:
    """Each setting of a bond changed by itself, and several at once."""
    lacp = {**BOND, "lacp_rate": "fast", "hash_policy": "layer3+4"}
    return [
        lacp,
        {**lacp, "lacp_rate": "slow"},
        {**lacp, "hash_policy": "layer2"},
        {**lacp, "minimum_links": 2, "mtu": 1400},
        {**lacp, "enabled": False},
        {**lacp, "members": ["lan1"]},
        {**lacp, "mac": "02:6c:69:00:00:77"},
        {**BOND, "mode": "balance-xor", "hash_policy": "layer2+3"},
        {**BOND, "mode": "active-backup"},
        {**BOND, "mode": "active-backup", "primary": "lan1"},
        {**BOND, "mode": "active-backup", "primary": "lan0", "members": ["lan1", "lan0"]},
        lacp,
    ]


def test_each_setting_is_changed_read_back_and_undone(router: Router) -> None:
    for before, after in pairwise(_settings()):
        router.commit({**INTERFACES, "bond0": before})
        held = router.kernel.observe()
        for step in reversed(router.commit({**INTERFACES, "bond0": after})):
            router.kernel.undo(step)
        assert router.kernel.observe() == held, (before, after)
    router.commit(INTERFACES)


def test_the_primary_member_is_used_while_it_has_a_link(router: Router) -> None:
    router.commit({**INTERFACES, "bond0": {**BOND, "mode": "active-backup", "primary": "lan1"}})
    wait_until(lambda: router.states() == {"lan0": "standby", "lan1": "active"}, "the primary", AGREED_S)
    _far("ip", "link", "set", "peer1", "down")
    wait_until(lambda: router.states() == {"lan0": "active", "lan1": "down"}, "the other member", AGREED_S)
    _far("ip", "link", "set", "peer1", "up")
    wait_until(
        lambda: router.states() == {"lan0": "standby", "lan1": "active"}, "the primary again", AGREED_S
    )
    router.commit(INTERFACES)


@pytest.mark.parametrize(
    ("type_", "kind", "more", "mtu"),
    [
        ("gre", "gre", (), 1476),
        ("gre", "ip6gre", ("encaplimit", "none"), 1456),
        ("ipip", "sit", ("mode", "any"), 1480),
        ("ipip", "ip6tnl", ("mode", "any", "encaplimit", "none"), 1460),
    ],
)
def test_a_tunnel_ends_at_another_kernel(
    router: Router, type_: str, kind: str, more: tuple[str, ...], mtu: int
) -> None:
    own, far, length = (
        ("2001:db8:9::1", "2001:db8:9::2", 64) if kind.startswith("ip6") else ("192.0.2.1", "192.0.2.2", 24)
    )
    _far("ip", "address", "add", f"{far}/{length}", "dev", "peer2")
    _far("ip", "link", "add", "tunnel", "type", kind, *more, "local", far, "remote", own, "ttl", "64")
    _far("ip", "link", "set", "tunnel", "up", "mtu", str(mtu))
    for address in ("10.9.0.2/30", "2001:db8:a::2/64"):
        _far("ip", "address", "add", address, "dev", "tunnel", *(("nodad",) if ":" in address else ()))
    tunnel = {"type": type_, "source": "wan0", "destination": far, "mtu": mtu}
    router.commit({
        **INTERFACES, "tun1": tunnel | {"addresses": ["10.9.0.1/30", "2001:db8:a::1/64"]}
    })  # fmt: skip
    wait_until(lambda: _answered("10.9.0.1") == 3, "an answer through the tunnel", AGREED_S)
    wait_until(lambda: _answered("2001:db8:a::1") == 3, "an IPv6 answer through the tunnel", AGREED_S)
    assert _answered("10.9.0.1", "-M", "do", "-s", str(mtu - 28)) == 3
    assert _answered("10.9.0.1", "-M", "do", "-s", str(mtu - 27)) == 0
    _far("ip", "link", "delete", "tunnel")
    _far("ip", "address", "delete", f"{far}/{length}", "dev", "peer2")
    router.commit(INTERFACES)


def _as(kind: str) -> dict[str, Any]:
    """Interfaces among which x0 is of this kind."""
    about = deepcopy(INTERFACES)
    if kind == "ethernet":
        about["x0"] = about.pop("lan1")
    about["x0"] = {
        "ethernet": about.get("x0"),
        "bond": {"type": "bond", "members": ["lan0"], "mode": "active-backup"},
        "loopback": {"type": "loopback"},
        "sub_interface": {"type": "sub_interface", "parent": "wan0", "vlan_id": 10},
        "gre": {"type": "gre", "source": "192.0.2.1", "destination": "192.0.2.9"},
        "ipip": {"type": "ipip", "source": "192.0.2.1", "destination": "192.0.2.9"},
    }[kind]
    about["x0"]["addresses"] = ["10.0.0.1/24", "2001:db8::1/64"]
    return about


def test_every_kind_of_interface_becomes_every_other_one(router: Router) -> None:
    kinds = ("ethernet", "bond", "loopback", "sub_interface", "gre", "ipip")
    for before in kinds:
        for after in kinds:
            if before != after:
                router.commit(_as(before))
                held = router.kernel.observe()
                for step in reversed(router.commit(_as(after))):
                    router.kernel.undo(step)
                assert router.kernel.observe() == held, (before, after)
    router.commit({})


def test_every_random_document_leads_to_every_next(router: Router) -> None:
    rng = random.Random(20261125)
    kinds = set[str]()
    for _ in range(DOCUMENTS):
        config = random_document(rng, Capabilities("linux"), NICS)
        kinds |= {one.type for one in config.interfaces.values()}
        router.go(router.wanted(config))
    assert len(kinds) == 6 or at_size(60) < 60, kinds
    router.commit({})

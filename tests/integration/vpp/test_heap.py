"""The use of VPP's main heap by access lists and NAT: no more than calculated, on a VPP with no more than
that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from typing import Any

import pytest

from appliance.config.load import parse_document
from appliance.config.vpp_heap import ALL_ELSE_BYTES, MIB, heap_uses, taken_bytes
from tests import requirements
from tests.integration.vpp.harness import PrivateVpp
from vpp_config import Acl, AclBinding, AclRule, Loopback, Session, VppObject, VppState, plan
from vpp_config.objects.nat import Nat

pytestmark = [pytest.mark.vpp, pytest.mark.root]

HEAP_MIB = 256
_UNITS = {"K": 1 << 10, "M": MIB, "G": 1 << 30}


@pytest.fixture
def vpp() -> Iterator[PrivateVpp]:
    """A VPP of the smallest size, for each test: memory once used by access lists is not returned."""
    requirements.require_root_netns()
    requirements.require_vpp()
    with PrivateVpp(nics=0, main_heap_mib=HEAP_MIB) as vpp:
        yield vpp


def _used_bytes(vpp: PrivateVpp) -> float:
    found = re.search(r"used: ([0-9.]+)([KMG])", vpp.cli("show", "memory", "main-heap"))
    assert found is not None
    return float(found[1]) * _UNITS[found[2]]


def _counted_bytes(**document: Any) -> int:
    return taken_bytes(heap_uses(parse_document(document), 0))


def _holding(vpp: PrivateVpp, objects: list[VppObject]) -> float:
    session = Session(vpp.client())
    wanted = VppState.of(objects)
    for step in plan(wanted, session.observe()):
        session.apply(step)
    assert not plan(wanted, session.observe())
    return _used_bytes(vpp)


def _rule(number: int) -> AclRule:
    source = IPv4Network((0x0A00_0000 + number, 32))
    return AclRule("deny", source, ip_network("0.0.0.0/0"), 6, destination_ports=(number % 60_000,) * 2)


@pytest.mark.parametrize(("rules", "interfaces"), [(1, 1), (1000, 100), (65_000, 11)])
def test_access_lists(vpp: PrivateVpp, rules: int, interfaces: int) -> None:
    """65,000 rules on 16 interfaces crashed it."""
    names = [f"lo{at}" for at in range(interfaces)]
    acl = Acl("many", tuple(_rule(number) for number in range(rules)))
    used = _holding(
        vpp,
        [
            acl,
            *(Loopback(at, number) for number, at in enumerate(names)),
            *(AclBinding(at, ("many",), ()) for at in names),
        ],
    )
    counted = _counted_bytes(
        acls={"many": {"rules": {str(at + 1): {"action": "deny"} for at in range(rules)}}},
        interfaces={at: {"type": "loopback", "acl_in": ["many"]} for at in names},
    )
    assert used <= ALL_ELSE_BYTES + counted <= HEAP_MIB * MIB


def test_nat(vpp: PrivateVpp) -> None:
    used = _holding(vpp, [Nat(131_072, 300, 7440, 240, 60)])
    counted = _counted_bytes(
        nat={"inside": ["lo0"], "outside": ["lo1"]},
        interfaces={at: {"type": "loopback"} for at in ("lo0", "lo1")},
    )
    assert used <= ALL_ELSE_BYTES + counted <= HEAP_MIB * MIB

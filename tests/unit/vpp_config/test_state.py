"""Impossible objects, and states in JSON."""

from __future__ import annotations

from ipaddress import ip_interface, ip_network
from random import Random
from typing import Any

import pytest

from tests.integration.vpp.random_states import random_rule, random_state
from vpp_config import (
    Acl,
    AclBinding,
    AclRule,
    Address,
    AfPacket,
    Ethernet,
    Leftover,
    Loopback,
    StateFormatError,
    SubInterface,
    VirtioPci,
    VppState,
)
from vpp_config.acl_codec import decode_rule, encode_rule

_V4, _V6 = ip_network("0.0.0.0/0"), ip_network("::/0")


def test_json_round_trip() -> None:
    random = Random(1)
    for _ in range(50):
        state = random_state(random, "dataplane")
        assert VppState.from_json(state.to_json()) == state
        assert hash(VppState.from_json(state.to_json())) == hash(state)
    left = VppState.of((), [Leftover("untagged", "loopback/3", 7, "loop3")])
    assert VppState.from_json(left.to_json()) == left


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({}, "/objects"),
        ({"objects": [], "more": 1}, "/more"),
        ({"objects": [7]}, "/objects/0"),
        ({"objects": [{"kind": "bridge"}]}, "/objects/0/kind"),
        ({"objects": [{"kind": "loopback", "name": "lo0"}]}, "/objects/0/instance"),
        ({"objects": [{"kind": "loopback", "name": "lo0", "instance": 0, "colour": 1}]}, "/objects/0/colour"),
        ({"objects": [{"kind": "loopback", "name": "lo0", "instance": -1}]}, "/objects/0"),
        (
            {"objects": [{"kind": "acl", "name": "a", "rules": [{"action": "allow"}]}]},
            "/objects/0/rules/0/action",
        ),
        ({"objects": [{"kind": "loopback", "name": "a", "instance": 0}] * 2}, "/objects"),
    ],
)  # fmt: skip
def test_errors_point_at_the_value(document: Any, pointer: str) -> None:
    with pytest.raises(StateFormatError) as caught:
        VppState.from_json(document)
    assert caught.value.pointer == pointer


def _impossible() -> list[Any]:
    nic = AfPacket("eth1")
    return [
        lambda: Ethernet("wan0", nic),
        lambda: Ethernet("wan0", nic, "01:00:00:00:00:01"),
        lambda: Ethernet("wan0", nic, "nonsense"),
        lambda: Ethernet("", nic, "02:00:00:00:00:01"),
        lambda: Ethernet("a b", nic, "02:00:00:00:00:01"),
        lambda: AfPacket("sixteen-letters-"),
        lambda: VirtioPci("3:0.0"),
        lambda: SubInterface("a", "b", 0),
        lambda: SubInterface("a", "b", 4095),
        lambda: Loopback("lo", 16384),
        lambda: Address("wan0", ip_interface("fe80::1/64")),
        lambda: AclBinding("wan0"),
        lambda: AclBinding("wan0", ("a", "a")),
        lambda: AclRule("permit", _V4, _V6),
        lambda: AclRule("permit", _V4, _V4, 256),
        lambda: AclRule("permit", _V4, _V4, 89, (1, 2)),
        lambda: AclRule("permit", _V4, _V4, 6, (2, 1)),
        lambda: AclRule("permit", _V4, _V4, 6, icmp_type=(8, 8)),
        lambda: AclRule("permit", _V4, _V4, 1, icmp_type=(8, 256)),
        lambda: AclRule("permit", _V4, _V4, 17, tcp_mask=1),
        lambda: AclRule("permit", _V4, _V4, 6, tcp_flags=2, tcp_mask=1),
        lambda: VppState.of([Loopback("a", 0), Loopback("a", 1)]),
        lambda: VppState.of([Loopback("a", 0), Ethernet("a", nic, "02:00:00:00:00:01")]),
    ]


@pytest.mark.parametrize("number", range(len(_impossible())))
def test_what_cannot_be_cannot_be_written(number: int) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        _impossible()[number]()


def test_there_is_one_way_to_write_any() -> None:
    assert AclRule("deny", _V4, _V4, 1, icmp_type=(0, 255)) == AclRule("deny", _V4, _V4, 1)


def test_rules_survive_the_wire() -> None:
    random = Random(2)
    for _ in range(500):
        rule = random_rule(random)
        assert decode_rule(encode_rule(rule)) == rule
        assert len(encode_rule(rule)) == 48


def test_an_empty_list_may_be() -> None:
    assert Acl("none", ()).key == "acl/none"

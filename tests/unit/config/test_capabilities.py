"""What a data plane cannot do is refused with the field named; the schema is found by pointer."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config import schema
from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.errors import NotFound

ETHERNET = {"type": "ethernet", "match": {"device": "eth1"}, "addresses": ["10.0.0.1/24"]}
VLAN = {"type": "sub_interface", "parent": "lan0", "vlan_id": 7}
REFLECT = {"rules": {"10": {"action": "permit_reflect"}, "20": {"action": "deny"}}}


@pytest.mark.parametrize(
    ("capabilities", "document", "pointer"),
    [
        (Capabilities("linux"), {"dataplane": {"driver": "vpp"}}, "/dataplane/driver"),
        (Capabilities("vpp"), {"dataplane": {"driver": "linux"}}, "/dataplane/driver"),
        (Capabilities("linux"), {"dataplane": {"main_heap_mb": 1024}}, "/dataplane/main_heap_mb"),
        (Capabilities("vpp", max_workers=1), {"dataplane": {"workers": 2}}, "/dataplane/workers"),
        (
            Capabilities("vpp", packet_buffers=4351),
            {"interfaces": {"lan0": ETHERNET, "v7": VLAN}},
            "/dataplane/buffers_per_numa",
        ),
        (
            Capabilities("vpp", packet_buffers=16384),
            {"dataplane": {"buffers_per_numa": 4096}, "interfaces": {"lan0": ETHERNET}},
            "/dataplane/buffers_per_numa",
        ),
        (
            Capabilities("vpp", lacking={"sub_interface": "this kernel has no VLANs"}),
            {"interfaces": {"lan0": ETHERNET, "v7": VLAN}},
            "/interfaces/v7/type",
        ),
        (
            Capabilities("linux", nic_drivers=("auto",)),
            {"interfaces": {"lan0": {**ETHERNET, "driver": "dpdk"}}},
            "/interfaces/lan0/driver",
        ),
        (
            Capabilities("vpp", max_mtu=2000),
            {"interfaces": {"lan0": {**ETHERNET, "mtu": 2001}}},
            "/interfaces/lan0/mtu",
        ),
        (Capabilities("vpp", max_interfaces=0), {"interfaces": {"lan0": ETHERNET}}, "/interfaces"),
        (Capabilities("vpp", max_acl_rules=1), {"acls": {"a": REFLECT}}, "/acls"),
        (
            Capabilities("linux", max_reflecting_interfaces=0),
            {"interfaces": {"lan0": {**ETHERNET, "acl_in": ["a"]}}, "acls": {"a": REFLECT}},
            "/interfaces/lan0",
        ),
        (
            Capabilities("vpp", max_static_routes=0),
            {"routing": {"static": {"198.51.100.0/24": {"blackhole": True}}}},
            "/routing/static",
        ),
        (
            Capabilities("vpp"),
            {"routing": {"bfd": {"profiles": {"fast": {"echo": True}}}}},
            "/routing/bfd/profiles/fast/echo",
        ),
        (
            Capabilities("linux", lacking={"bfd of next hop": "FRR 8.4 cannot watch a next hop with BFD"}),
            {
                "interfaces": {"lan0": {**ETHERNET, "addresses": ["192.0.2.1/24"]}},
                "routing": {
                    "bfd": {"profiles": {"fast": {}}},
                    "static": {
                        "198.51.100.0/24": {"next_hops": [{"address": "192.0.2.2", "bfd_profile": "fast"}]}
                    },
                },
            },
            "/routing/static/198.51.100.0~124/next_hops/0/bfd_profile",
        ),
        (
            Capabilities("linux"),
            {
                "interfaces": {"lan0": ETHERNET},
                "dhcp_relays": {"office": {"server": "10.0.0.67", "source_address": "10.0.0.1"}},
            },
            "/dhcp_relays",
        ),
    ],
)
def test_what_it_cannot_do_is_refused(
    capabilities: Capabilities, document: dict[str, Any], pointer: str
) -> None:
    config = parse_document(document)
    assert [problem.pointer for problem in check(config, capabilities)] == [pointer]
    assert Capabilities.from_json(capabilities.to_json()) == capabilities


def test_a_newer_agents_capabilities_can_be_read() -> None:
    assert Capabilities.from_json({"driver": "vpp", "teleport": True}) == Capabilities("vpp")


@pytest.mark.parametrize(
    ("pointer", "key", "value"),
    [
        ("", "title", "RouterConfig"),
        ("/interfaces/lan0/mtu", "maximum", 9216),
        ("/interfaces/lan0/mtu", "unit", "bytes"),
        ("/interfaces/lan0/addresses/0", "type", "string"),
        ("/routing/bgp/neighbors/192.0.2.1/timers/hold_s", "title", "Hold time"),
        ("/routing/static/10.0.0.0~18/next_hops/0/distance", "default", 1),
        ("/acls/a/rules/10/action", "enum", ["permit", "deny", "permit_reflect"]),
    ],
)
def test_the_schema_of_a_place(pointer: str, key: str, value: object) -> None:
    assert schema.at(pointer)[key] == value


def test_the_kind_of_an_interface_decides_what_it_has() -> None:
    document = {"interfaces": {"lan0": ETHERNET, "v7": VLAN}}
    assert "parent" not in schema.at("/interfaces/lan0", document)["properties"]
    assert "parent" in schema.at("/interfaces/v7", document)["properties"]
    assert {"parent", "match"} <= schema.at("/interfaces/new0")["properties"].keys()
    kinds = ["bond", "ethernet", "gre", "ipip", "loopback", "memif", "sub_interface"]
    assert schema.at("/interfaces/new0/type")["enum"] == kinds
    for nowhere in ("/nowhere", "/interfaces/lan0/parent/x", "/system/hostname/x"):
        with pytest.raises(NotFound):
            schema.at(nowhere, document)


def test_every_setting_has_a_title_and_a_description() -> None:
    def walk(node: dict[str, Any], path: str) -> None:
        for name, item in node.get("properties", {}).items():
            inner = schema.resolved(item)
            assert item.get("title") or inner.get("title"), f"{path}/{name}"
            assert item.get("description") or inner.get("description"), f"{path}/{name}"
            walk(inner, f"{path}/{name}")

    for name, definition in schema.json_schema()["$defs"].items():
        walk(definition, name)
    walk(schema.json_schema(), "")


def _loopbacks(count: int) -> dict[str, Any]:
    return {f"loop{number}": {"type": "loopback"} for number in range(count)}


_THREE = {
    "lan0": ETHERNET,
    "v7": VLAN,
    "bond0": {"type": "bond", "members": ["lan1", "lan2"]},
    "lan1": {"type": "ethernet", "match": {"device": "eth2"}},
    "lan2": {"type": "ethernet", "match": {"device": "eth3"}},
    **_loopbacks(1),
}
"""With mirrors of their own; a VLAN has a part of its parent's, and members of a bond have none."""


@pytest.mark.parametrize(
    ("buffers", "dataplane"),
    [(4096 + 3 * 256, {}), (4096, {"buffers_per_numa": 4096 + 3 * 256})],
    ids=["of the machine", "of the document"],
)
def test_buffers_are_enough_for_the_mirrors_that_they_hold(buffers: int, dataplane: dict[str, int]) -> None:
    can = Capabilities("vpp", packet_buffers=buffers)
    document: dict[str, Any] = {"dataplane": dataplane, "interfaces": _THREE}
    assert check(parse_document(document), can) == []
    document["interfaces"] = _THREE | _loopbacks(2)
    (problem,) = check(parse_document(document), can)
    assert problem.pointer == "/dataplane/buffers_per_numa"
    assert "enough for 3 interfaces" in problem.message and "has 4" in problem.message
    assert "Set 5120 or more" in problem.message


def test_where_nobody_knows_the_machine_interfaces_are_not_counted() -> None:
    assert check(parse_document({"interfaces": _loopbacks(2000)}), Capabilities("vpp")) == []

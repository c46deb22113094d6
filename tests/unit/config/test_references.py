"""References are declared once, in the models; everything that asks about them is derived from there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from appliance.config import pointer as pointers
from appliance.config import schema
from appliance.config.capabilities import Capabilities
from appliance.config.dump import dump
from appliance.config.load import parse_document
from appliance.config.references import References, Use, noun_of, problems_without, used_by
from appliance.config.validate import check
from webui.ui.forms import ObjectForm

DOCUMENT: dict[str, Any] = {
    "interfaces": {
        "lan0": {
            "type": "ethernet", "match": {"device": "eth1"}, "addresses": ["10.0.0.1/24"],
            "acl_in": ["base", "edge"], "acl_out": ["edge"],
        },
        "lan0.7": {"type": "sub_interface", "parent": "lan0", "vlan_id": 7, "acl_in": ["edge"]},
    },
    "acls": {"base": {}, "edge": {}, "unused": {}},
    "routing": {
        "static": {"198.51.100.0/24": {"next_hops": [{"address": "10.0.0.9", "interface": "lan0"}]}},
        "bgp": {
            "asn": 65001,
            "peer_groups": {"up": {"update_source": "lan0", "ipv4_unicast": {"prefix_list_in": "P"}}},
            "neighbors": {
                "10.0.0.2": {"remote_asn": 65002, "peer_group": "up", "update_source": "10.0.0.1"},
            },
            "ipv4_unicast": {"redistribute": {"static": {"route_map": "M"}}},
        },
        "ospf": {
            "areas": {"0.0.0.1": {"type": "stub"}},
            "interfaces": {"lan0": {"area": "0.0.0.1"}},
            "default_information": {"route_map": "N"},
        },
        "policy": {
            "prefix_lists": {"P": {}},
            "as_path_lists": {"A": {}},
            "community_lists": {"C": {}},
            "route_maps": {
                "M": {
                    "rules": {
                        "10": {
                            "action": "permit",
                            "match": {
                                "interface": "lan0", "prefix_list": "P",
                                "as_path_list": "A", "community_list": "C",
                            },
                            "call": "N",
                        }
                    }
                },
                "N": {"rules": {"10": {"action": "permit"}}},
            },
        },
    },
}  # fmt: skip
USES = {
    "/acls/base": ["/interfaces/lan0/acl_in/0"],
    "/acls/edge": [
        "/interfaces/lan0.7/acl_in/0",
        "/interfaces/lan0/acl_in/1",
        "/interfaces/lan0/acl_out/0",
    ],
    "/acls/unused": [],
    "/interfaces/lan0.7": [],
    "/interfaces/lan0": [
        "/interfaces/lan0.7/parent",
        "/routing/bgp/peer_groups/up/update_source",
        "/routing/ospf/interfaces/lan0",
        "/routing/policy/route_maps/M/rules/10/match/interface",
        "/routing/static/198.51.100.0~124/next_hops/0/interface",
    ],
    "/routing/bgp/peer_groups/up": ["/routing/bgp/neighbors/10.0.0.2/peer_group"],
    "/routing/policy/prefix_lists/P": [
        "/routing/bgp/peer_groups/up/ipv4_unicast/prefix_list_in",
        "/routing/policy/route_maps/M/rules/10/match/prefix_list",
    ],
    "/routing/policy/as_path_lists/A": ["/routing/policy/route_maps/M/rules/10/match/as_path_list"],
    "/routing/policy/community_lists/C": ["/routing/policy/route_maps/M/rules/10/match/community_list"],
    "/routing/policy/route_maps/M": ["/routing/bgp/ipv4_unicast/redistribute/static/route_map"],
    "/routing/policy/route_maps/N": [
        "/routing/ospf/default_information/route_map",
        "/routing/policy/route_maps/M/rules/10/call",
    ],
}


def test_an_object_says_where_it_is_used_in_a_typed_and_in_a_plain_document() -> None:
    config = parse_document(DOCUMENT)
    for references in (References(config), References(dump(config))):
        for target, places in USES.items():
            assert references.used_by(target) == [Use(place, target) for place in places], target


def test_a_whole_mapping_is_used_from_outside_it_alone() -> None:
    assert {use.target for use in used_by(DOCUMENT, "/acls")} == {"/acls/base", "/acls/edge"}
    assert "/interfaces/lan0.7/parent" not in [use.pointer for use in used_by(DOCUMENT, "/interfaces")]
    assert used_by(DOCUMENT, "/system") == []
    assert used_by(DOCUMENT, "/acls/edge/rules/10") == []


@pytest.mark.parametrize("target", [target for target, places in USES.items() if places])
def test_without_it_validation_names_the_places_that_protect_it(target: str) -> None:
    """The two derive from the same marks: a removal is refused for exactly what the check would find
    after it.
    """
    noun, name = noun_of(target.rpartition("/")[0]), target.rpartition("/")[2]
    assert [(problem.pointer, problem.message) for problem in problems_without(DOCUMENT, target)] == [
        (place, f"uses {noun} {name}") for place in USES[target]
    ]
    left = parse_document(pointers.delete(DOCUMENT, target))
    found = [
        problem for problem in check(left, Capabilities("vpp")) if problem.message.startswith("there is no ")
    ]
    expected = [(place, f"there is no {noun} {name}") for place in USES[target]]
    assert sorted((problem.pointer, problem.message) for problem in found) == expected


def test_a_name_that_means_something_by_itself_protects_nothing() -> None:
    assert [use.must_exist for use in used_by(DOCUMENT, "/routing/ospf/areas/0.0.0.1")] == [False]
    assert problems_without(DOCUMENT, "/routing/ospf/areas/0.0.0.1") == []
    left = parse_document(pointers.delete(DOCUMENT, "/routing/ospf/areas/0.0.0.1"))
    assert check(left, Capabilities("vpp")) == []


def test_an_address_where_a_name_could_stand_is_no_reference() -> None:
    neighbor = "/routing/bgp/neighbors/10.0.0.2/update_source"
    assert neighbor not in [use.pointer for use in used_by(DOCUMENT, "/interfaces")]
    named = pointers.put(DOCUMENT, neighbor, "lan9")
    assert (neighbor, "there is no interface lan9") in [
        (problem.pointer, problem.message) for problem in check(parse_document(named), Capabilities("vpp"))
    ]


def _references(node: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        if "x-refers-to" in node:
            yield path, node["x-refers-to"]
        for key, below in node.items():
            yield from _references(below, f"{path}/{key}")
    elif isinstance(node, list):
        for item in node:
            yield from _references(item, path)


def test_the_schema_says_it_of_the_text_itself_and_each_target_is_a_mapping_with_a_noun() -> None:
    found = dict(_references(schema.json_schema(), ""))
    assert found["/$defs/Loopback/properties/acl_in/items"] == "/acls"
    assert found["/$defs/Ospf/properties/interfaces/propertyNames"] == "/interfaces"
    assert found["/$defs/SubInterface/properties/parent"] == "/interfaces"
    assert found["/$defs/Neighbor/properties/update_source/anyOf"] == "/interfaces"
    for mapping in set(found.values()):
        assert schema.entry_of(schema.at(mapping)) is not None, mapping
        assert noun_of(mapping) != "object", mapping


def test_forms_offer_what_the_schema_says() -> None:
    def refers_to(pointer: str, value: Any, *names: str) -> list[str]:
        form = ObjectForm.showing(pointer, value)
        by_name = {bound.field.name: bound.field for bound in form.root.walk()}
        return [by_name[name].refers_to for name in names]

    assert refers_to("/interfaces/a", {"type": "sub_interface"}, "parent", "acl_in", "mtu") == [
        "/interfaces",
        "/acls",
        "",
    ]
    neighbor = refers_to("/routing/bgp/neighbors/10.0.0.2", {}, "update_source", "peer_group", "password")
    assert neighbor == ["/interfaces", "/routing/bgp/peer_groups", ""]
    assert refers_to("/routing/ospf/interfaces/lan0", {}, "area") == ["/routing/ospf/areas"]
    key = ObjectForm.empty("/routing/ospf/interfaces").key
    assert key is not None
    assert key.field.refers_to == "/interfaces"


def test_problems_come_in_the_order_of_the_documents_sections() -> None:
    """Whether a reference shows them or a check of a feature."""
    lan = {"type": "ethernet", "match": {"device": "eth1"}, "addresses": ["10.0.0.1/24"]}
    config = parse_document(
        {
            "nat": {"inside": ["gone"], "outside": ["wan0"]},
            "routing": {"ospf": {"interfaces": {"gone": {"area": "0"}}}},
            "interfaces": {"lan0": lan, "wan0": {**lan, "match": {"device": "eth2"}}},
        }
    )
    found = [problem.pointer.split("/")[1] for problem in check(config, Capabilities("linux"))]
    assert list(dict.fromkeys(found)) == ["interfaces", "routing", "nat"]
    assert found == sorted(found, key=["interfaces", "routing", "nat"].index)

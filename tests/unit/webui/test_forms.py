"""Forms come from the schema: every field of every object is shown, read back, and shows its problems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import QueryDict

from appliance.config.ip_protocols import PROTOCOLS
from appliance.config.load import parse_document
from appliance.errors import Problem, ValidationFailed
from webui.ui.forms import Bound, ObjectForm
from webui.ui.forms.field import Kind
from webui.ui.forms.schema import UnknownPath, schema_at

OBJECTS: list[tuple[str, Any, str | None]] = [
    ("/system", {"hostname": "edge", "dns_servers": ["192.0.2.53", "2001:db8::53"]}, None),
    ("/dataplane", {"workers": 2, "main_heap_mb": 1024}, None),
    ("/interfaces/wan0", {"type": "ethernet", "match": {"pci": "0000:0b:00.0"}, "mtu": 9000}, None),
    (
        "/interfaces/lan0",
        {
            "type": "ethernet",
            "match": {"device": "eth0"},
            "management_services": ["ssh", "https"],
            "management_sources": ["192.0.2.0/24"],
        },
        None,
    ),
    ("/interfaces/wan0.7", {"type": "sub_interface", "parent": "wan0", "vlan_id": 7, "enabled": False}, None),
    ("/interfaces/lo0", {"type": "loopback", "addresses": ["192.0.2.9/32"]}, None),
    (
        "/routing/static/198.51.100.0~124",
        {"next_hops": [{"address": "192.0.2.1"}, {"interface": "wan0", "distance": 200}], "tag": 7},
        None,
    ),
    ("/routing/static/192.0.2.0~124", {"blackhole": True}, None),
    (
        "/routing/bgp/neighbors/192.0.2.1",
        {
            "remote_asn": "external",
            "timers": {"keepalive_s": 3, "hold_s": 9},
            "ipv4_unicast": {"route_map_in": "in", "maximum_prefix": 1000},
            "ipv6_unicast": {},
        },
        None,
    ),
    (
        "/routing/bgp",
        {"asn": 65000, "ipv4_unicast": {"redistribute": {"static": {}}, "networks": ["10.0.0.0/8"]}},
        None,
    ),
    (
        "/routing/ospf",
        {"areas": {"0.0.0.1": {"type": "stub"}}, "redistribute": {"bgp": {"metric_type": 1}}},
        None,
    ),
    ("/routing/ospf/interfaces/core0", {"area": "0.0.0.0", "cost": 10, "passive": True}, None),
    (
        "/routing/policy/prefix_lists/own",
        {
            "rules": {
                "10": {"action": "permit", "prefix": "10.0.0.0/8", "le": 24},
                "20": {"action": "deny", "prefix": "0.0.0.0/0"},
            }
        },
        None,
    ),
    (
        "/routing/policy/community_lists/gold",
        {"rules": {"10": {"action": "permit", "communities": ["65001:1"]}}},
        None,
    ),
    (
        "/routing/policy/route_maps/in/rules/10",
        {"action": "permit", "set": {"as_path_prepend": [65000, 65000], "local_preference": 200}},
        None,
    ),
    (
        "/acls/edge/rules/10",
        {"action": "deny", "protocol": "tcp", "tcp_flags": {"set": ["syn"], "unset": ["ack", "rst"]}},
        None,
    ),
]


def as_typed(bound: Bound) -> Iterator[tuple[str, str]]:
    """The browser's post for a form it was shown."""
    match bound.field.kind:
        case Kind.GROUP:
            if bound.field.optional and bound.present:
                yield f"{bound.name}/@present", "on"
            for child in bound.children:
                yield from as_typed(child)
        case Kind.ROWS | Kind.ENTRIES:
            for row in bound.children:
                index = row.name.rpartition("/")[2]
                yield f"{bound.name}/@rows", index
                if bound.field.key is not None:
                    yield f"{row.name}/@key", row.key_text
                for child in row.children:
                    yield from as_typed(child)
        case Kind.SWITCH:
            if bound.raw:
                yield bound.name, "on"
        case Kind.CHECKS:
            for word in bound.raw:
                yield bound.name, word
        case Kind.CONSTANT | Kind.LINKS:
            pass
        case _:
            yield bound.name, bound.text


def posted(fields: Iterator[tuple[str, str]], **changed: str) -> QueryDict:
    data = QueryDict(mutable=True)
    for name, text in fields:
        data.appendlist(name, text)
    for name, text in changed.items():
        data[name] = text
    return data


@pytest.mark.parametrize(("pointer", "value", "kind"), OBJECTS, ids=[pointer for pointer, _, _ in OBJECTS])
def test_what_is_shown_comes_back_as_it_was(pointer: str, value: Any, kind: str | None) -> None:
    shown = ObjectForm.showing(pointer, value, kind=kind)
    back = ObjectForm.posted(pointer, posted(as_typed(shown.root)), value)
    assert back.value == value
    assert back.valid


@pytest.mark.parametrize(("pointer", "value", "kind"), OBJECTS, ids=[pointer for pointer, _, _ in OBJECTS])
def test_every_field_of_the_schema_is_in_the_form(pointer: str, value: Any, kind: str | None) -> None:
    properties = schema_at(pointer, value, kind)["properties"]
    form = ObjectForm.showing(pointer, value, kind=kind)
    assert {child.field.name for child in form.root.children} == set(properties)
    assert all(bound.field.title for bound in form.root.walk())
    assert all(child.field.help for child in form.root.children)


def test_a_secret_is_never_shown_and_stays_when_nothing_is_typed() -> None:
    pointer, stored = "/routing/bgp/neighbors/192.0.2.1", {"remote_asn": 65001, "password": "********"}
    form = ObjectForm.showing(pointer, stored)
    secret = next(bound for bound in form.root.walk() if bound.field.kind is Kind.SECRET)
    assert (secret.text, secret.stored) == ("", True)
    typed = list(as_typed(form.root))
    assert ObjectForm.posted(pointer, posted(iter(typed)), stored).value == stored
    changed = posted(iter(typed), **{"/password": "another"})
    assert ObjectForm.posted(pointer, changed, stored).value["password"] == "another"
    cleared = posted(iter(typed), **{"/password/@clear": "on"})
    assert "password" not in ObjectForm.posted(pointer, cleared, stored).value


def test_what_is_edited_elsewhere_stays() -> None:
    stored = {"asn": 65000, "neighbors": {"192.0.2.1": {"remote_asn": 65001}}}
    form = ObjectForm.posted("/routing/bgp", posted(iter([("/asn", "65010")])), stored)
    assert form.value["neighbors"] == stored["neighbors"]
    assert form.value["asn"] == 65010


def test_nothing_typed_is_lost_and_each_problem_stands_beside_its_field() -> None:
    pointer = "/interfaces/wan0"
    typed = {
        "/match/mac": "nonsense",
        "/mtu": "many",
        "/addresses": "192.0.2.1/24 192.0.2.300/24",
        "/enabled": "on",
    }
    form = ObjectForm.posted(
        pointer, posted(iter(typed.items())), {"type": "ethernet", "match": {"device": "eth0"}}
    )
    with pytest.raises(ValidationFailed) as refused:
        parse_document({"interfaces": {"wan0": form.value}})
    form.place(refused.value.problems)
    by_name = {bound.name: bound for bound in form.root.walk()}
    assert by_name["/mtu"].text == "many"
    assert by_name["/mtu"].errors
    assert by_name["/match/mac"].errors
    assert any("192.0.2.300" in error for error in by_name["/addresses"].errors)
    assert form.elsewhere == ()


def test_rows_keep_their_problems_when_others_were_removed() -> None:
    pointer = "/routing/static/10.0.0.0~18"
    typed = [("/next_hops/@rows", "0"), ("/next_hops/0/address", "192.0.2.1"), ("/next_hops/@rows", "4")]
    form = ObjectForm.posted(pointer, posted(iter([*typed, ("/next_hops/4/address", "x")])), None)
    form.place([Problem(f"{pointer}/next_hops/1/address", "is not an address")])
    wrong = [bound.name for bound in form.root.walk() if bound.errors]
    assert wrong == ["/next_hops/4/address"]


def test_a_key_twice_is_told_beside_the_row() -> None:
    typed = [
        ("/rules/@rows", "0"),
        ("/rules/0/@key", "10"),
        ("/rules/0/action", "permit"),
        ("/rules/0/prefix", "10.0.0.0/8"),
    ]
    again = [
        (
            name.replace("/0", "/1", 1) if name != "/rules/@rows" else name,
            "1" if name == "/rules/@rows" else text,
        )
        for name, text in typed
    ]
    form = ObjectForm.posted("/routing/policy/prefix_lists/x", posted(iter([*typed, *again])), None)
    assert not form.valid
    assert any("used twice" in error for bound in form.root.walk() for error in bound.errors)


def test_a_problem_of_another_object_is_not_lost() -> None:
    form = ObjectForm.showing("/interfaces/lo0", {"type": "loopback"})
    other = Problem("/interfaces/lo1/addresses/0", "overlaps with lo0")
    form.place([other])
    assert form.elsewhere == (other,)


@pytest.mark.parametrize(
    "pointer", ["/nothing", "/interfaces/x/y", "/routing/bgp/nothing", "/acls/a/rules/10/x"]
)
def test_unknown_paths(pointer: str) -> None:
    with pytest.raises(UnknownPath):
        schema_at(pointer, {"type": "loopback"})


def test_a_name_of_another_object_is_picked_and_never_typed() -> None:
    interface = ObjectForm.showing("/interfaces/lan0", {"type": "ethernet", "match": {"device": "x"}})
    kinds = {child.field.name: child.field.kind for child in interface.root.children}
    assert kinds["acl_in"] is kinds["acl_out"] is Kind.REFERENCES
    neighbor = ObjectForm.showing("/routing/bgp/neighbors/192.0.2.1", {"remote_asn": 65001})
    fields = {child.field.name: child.field for child in neighbor.root.children}
    assert fields["peer_group"].kind is Kind.REFERENCE
    assert fields["update_source"].kind is Kind.TEXT, "an address does as well"
    ospf = ObjectForm.empty("/routing/ospf/interfaces")
    assert ospf.key is not None
    assert ospf.key.field.kind is Kind.REFERENCE
    assert {child.field.name: child.field.kind for child in ospf.root.children}["area"] is Kind.TEXT


def test_a_picked_nic_takes_the_place_of_what_is_typed() -> None:
    known = {"type": "ethernet", "match": {"device": "eth0"}}
    picked = QueryDict(mutable=True)
    picked.update({"/match/@pick": '{"mac": "52:54:00:00:00:01"}', "/match/device": "eth0"})
    assert ObjectForm.posted("/interfaces/x", picked, known).value["match"] == {"mac": "52:54:00:00:00:01"}
    for nothing in ("", "{", '["mac"]', '{"other": "x"}', '{"mac": 1}'):
        picked["/match/@pick"] = nothing
        assert ObjectForm.posted("/interfaces/x", picked, known).value["match"] == {"device": "eth0"}


def test_picked_names_keep_their_order() -> None:
    data = QueryDict("/acl_in=second&/acl_in=first&/acl_in=")
    form = ObjectForm.posted("/interfaces/lo1", data, {"type": "loopback"})
    assert form.value["acl_in"] == ["second", "first"]


def test_the_address_family_that_a_neighbor_needs_is_not_the_last_thing_of_its_form() -> None:
    form = ObjectForm.showing("/routing/bgp/neighbors/192.0.2.1", {"remote_asn": "external"})
    names = [child.field.name for child in form.root.children]
    assert names[:2] == ["ipv4_unicast", "ipv6_unicast"]


def test_a_rules_protocol_is_offered_and_any_number_can_be_typed() -> None:
    form = ObjectForm.showing("/acls/a/rules/10", {"action": "permit", "protocol": "47"})
    (protocol,) = [child for child in form.root.children if child.field.name == "protocol"]
    assert protocol.field.choices[:5] == ("any", "tcp", "udp", "icmp", "icmpv6")
    assert set(PROTOCOLS) <= set(protocol.field.choices)
    assert protocol.field.kind is Kind.TEXT
    back = ObjectForm.posted("/acls/a/rules/10", posted(as_typed(form.root), **{"/protocol": "253"}), None)
    assert back.value["protocol"] == "253"

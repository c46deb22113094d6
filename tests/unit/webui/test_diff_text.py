"""A difference reads as lines, grouped by the object it is about."""

from __future__ import annotations

from appliance.config.diff import Change, diff_documents
from webui.ui.diff_text import group, render


def test_changes_are_grouped_by_object() -> None:
    before = {"interfaces": {"wan0": {"mtu": 1500, "description": "old"}}, "routing": {"bgp": {"asn": 1}}}
    after = {
        "interfaces": {"wan0": {"mtu": 9000}, "lo0": {"type": "loopback"}},
        "routing": {"bgp": {"asn": 2}},
    }
    objects = {one.title: one for one in group(diff_documents(before, after))}
    assert set(objects) == {"Interface wan0", "Interface lo0", "BGP"}
    assert objects["Interface lo0"].mark == "added"
    assert [line.text for line in objects["Interface wan0"].lines] == [
        "- description: old",
        "- mtu: 1500",
        "+ mtu: 9000",
    ]


def test_the_first_object_of_a_mapping_is_an_object_of_its_own() -> None:
    change = Change("add", "/routing", None, {"static": {"10.0.0.0/8": {"blackhole": True}, "0.0.0.0/0": {}}})
    assert [one.title for one in group([change])] == ["Static route 10.0.0.0/8", "Static route 0.0.0.0/0"]


def test_a_rule_of_an_access_list_is_a_line() -> None:
    before = {"acls": {"a": {"rules": {"10": {"action": "permit", "protocol": "tcp"}}}}}
    after = {
        "acls": {"a": {"rules": {"10": {"action": "deny", "protocol": "tcp"}, "20": {"action": "permit"}}}}
    }
    (found,) = group(diff_documents(before, after), before, after)
    assert [line.text for line in found.lines] == [
        "- 10 permit ipv4 tcp any any",
        "+ 10 deny ipv4 tcp any any",
        "+ 20 permit ipv4 any any any",
    ]
    (whole,) = group(diff_documents({}, after))
    assert [line.text for line in whole.lines] == [
        "+ 10 deny ipv4 tcp any any",
        "+ 20 permit ipv4 any any any",
    ]


def test_values_are_indented_words() -> None:
    assert render({"next_hops": [{"address": "192.0.2.1", "distance": 2}], "blackhole": False}) == [
        "next_hops:",
        "  - address: 192.0.2.1",
        "    distance: 2",
        "blackhole: no",
    ]

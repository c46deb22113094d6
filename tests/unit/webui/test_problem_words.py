"""Messages of checks as forms show them: fields by their titles, problems at what was changed."""

from __future__ import annotations

import re

import pytest

from appliance.config.counted import counted
from appliance.config.load import parse_document
from appliance.errors import Problem, ValidationFailed
from webui.ui.forms import ObjectForm
from webui.ui.problem_words import at_the_change, said, said_with_place


@pytest.mark.parametrize(
    ("pointer", "message", "words"),
    [
        ("/acls/a/rules/10", "icmp_code needs icmp_type", "“ICMP code” needs “ICMP type”"),
        (
            "/routing/static/10.0.0.0~18",
            "give either next_hops or blackhole",
            "give either “Next hops” or blackhole",
        ),
        (
            "/routing/bgp/neighbors/192.0.2.1",
            "exchanges no address family: give it ipv4_unicast or ipv6_unicast",
            "exchanges no address family: give it “IPv4 unicast” or “IPv6 unicast”",
        ),
        # Of a list's entry, and of a place that is not there.
        (
            "/interfaces/lan0/acl_in/0",
            "acl_in has a duplicate entry",
            "“Access lists in” has a duplicate entry",
        ),
        ("/nowhere/at/all", "hold_s is too short", "“Hold” is too short"),
        # Words of the document's values, and names that somebody gave, are no fields.
        ("/interfaces/a_b", "a_b is on permit_reflect", "a_b is on permit_reflect"),
    ],
)
def test_a_form_names_fields_by_their_titles(pointer: str, message: str, words: str) -> None:
    assert _plain(said(Problem(pointer, message))) == _plain(words)


def _plain(text: str) -> str:
    """Titles may become better: what matters is that one stands there."""
    return re.sub("“[^”_]+”", "“…”", text)


def test_no_message_of_a_models_own_check_shows_a_form_the_name_of_a_field() -> None:
    documents: list[tuple[str, dict[str, object]]] = [
        ("/acls/a/rules/10", {"action": "permit", "icmp_code": 1}),
        ("/acls/a/rules/10", {"action": "permit", "protocol": "tcp", "tcp_flags": {}}),
        ("/routing/static/198.51.100.0~124", {}),
        ("/routing/bgp/neighbors/192.0.2.1", {"ebgp_multihop": 2, "ttl_security_hops": 1}),
        ("/routing/ospf/interfaces/lan0", {"area": "0.0.0.0", "hello_interval_s": 10, "dead_interval_s": 9}),
        (
            "/routing/policy/route_maps/m/rules/10",
            {"action": "permit", "set": {"communities_additive": True}},
        ),
        (
            "/nat/port_forwards/web",
            {"protocol": "tcp", "outside_port": 80, "inside_address": "10.0.0.1", "inside_port": 80},
        ),
    ]
    for pointer, value in documents:
        form = ObjectForm.showing(pointer, value)
        with pytest.raises(ValidationFailed) as refused:
            parse_document(_around(pointer, value))
        form.place(refused.value.problems)
        told = [error for bound in form.root.walk() for error in bound.errors]
        told += [said_with_place(one) for one in form.elsewhere]
        assert told, pointer
        assert not [one for one in told if re.search(r"[a-z]_[a-z]", one)], told


def _around(pointer: str, value: object) -> dict[str, object]:
    from appliance.config.pointer import put

    document: dict[str, object] = {}
    parts = pointer.split("/")[1:]
    for size in range(1, len(parts)):
        document = put(
            document, "/" + "/".join(parts[:size]), {"asn": 65000} if parts[:size][-1] == "bgp" else {}
        )
    whole: dict[str, object] = put(document, pointer, value)
    return whole


def test_a_problem_between_two_objects_is_shown_at_the_one_that_was_changed() -> None:
    """The overlap of a new tunnel was shown at lan0, which nobody had touched."""
    found = Problem("/interfaces/lan0/addresses/0", "10.10.0.0/24 overlaps 10.10.0.0/16 on tun0")
    moved = at_the_change(found, {"/interfaces/tun0"})
    assert moved.pointer == "/interfaces/tun0"
    assert "lan0" in moved.message
    assert moved.message.endswith("10.10.0.0/24 overlaps 10.10.0.0/16 on tun0")
    for changed in ({"/interfaces/lan0", "/interfaces/tun0"}, {"/interfaces/tun"}, set[str]()):
        assert at_the_change(found, changed) == found


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 rules"), (1, "1 rule"), (2, "2 rules"), (1200, "1,200 rules")]
)
def test_one_is_not_several(count: int, text: str) -> None:
    assert counted(count, "rule") == text
    assert counted(count, "prefix", "prefixes").endswith("prefix" if count == 1 else "prefixes")

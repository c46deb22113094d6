"""What clients lose when their relay is removed or changed, or an access list drops packets it needs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from appliance.config.load import parse_document
from appliance.features.acl.impact import ANALYSES as OF_LISTS
from appliance.features.dhcp_relay.impact import COUNTS, lost
from appliance.impact.analysis import foretell
from appliance.impact.change import Change
from appliance.impact.facts import ToldFacts
from appliance.impact.result import Finding
from appliance.state.dhcp_relays import DhcpRelays

Json = dict[str, Any]
DOCUMENT: Json = {
    "vrfs": {"blue": {}},
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.0.0.1/24"], "vrf": "blue"},
        "wan0": {"type": "ethernet", "match": {"device": "w"}, "addresses": ["192.0.2.2/24"]},
    },
    "dhcp_relays": {"office": {"vrf": "blue", "server": "192.0.2.67", "source_address": "192.0.2.2"}},
}
NOW = DhcpRelays(relays=(), to_servers=12, to_clients=12)


def _changed(**relay: Any) -> Json:
    document = copy.deepcopy(DOCUMENT)
    document["dhcp_relays"]["office"] |= relay
    return document


def _found(before: Json, after: Json, told: DhcpRelays | None = NOW) -> list[Finding]:
    return list(lost(Change(parse_document(before), parse_document(after), ToldFacts({COUNTS: told}))))


@pytest.mark.parametrize(
    ("after", "path", "words"),
    [
        (
            {**DOCUMENT, "dhcp_relays": {}},
            "/dhcp_relays/office",
            "no longer reach a server: nothing is relayed to 192.0.2.67",
        ),
        (_changed(vrf=None), "/dhcp_relays/office", "lan0 no longer reach a server"),
        (_changed(server="192.0.2.68"), "/dhcp_relays/office/server", "from 192.0.2.68, and no longer from"),
        (_changed(server_vrf="blue"), "/dhcp_relays/office/server", "get their addresses from 192.0.2.67"),
        (
            _changed(source_address="192.0.2.3"),
            "/dhcp_relays/office/source_address",
            "are sent from 192.0.2.3, and no longer from 192.0.2.2",
        ),
    ],
)
def test_it_is_said_of_clients_that_stay(after: Json, path: str, words: str) -> None:
    (finding,) = _found(DOCUMENT, after)
    assert (finding.grade, finding.kind, finding.path) == ("possible", "traffic", path)
    assert words in finding.text
    assert finding.evidence == "12 packets relayed to servers since VPP started"


def test_another_name_and_a_first_relay_take_nothing_away() -> None:
    renamed = {**DOCUMENT, "dhcp_relays": {"other": DOCUMENT["dhcp_relays"]["office"]}}
    assert _found(DOCUMENT, renamed) == []
    assert _found({**DOCUMENT, "dhcp_relays": {}}, DOCUMENT) == []


def test_where_the_interface_goes_too_it_is_its_own_story() -> None:
    after = copy.deepcopy({**DOCUMENT, "dhcp_relays": {}})
    after["interfaces"]["lan0"]["enabled"] = False
    assert _found(DOCUMENT, after) == []


def test_a_router_that_does_not_tell_gives_no_evidence() -> None:
    (finding,) = _found(DOCUMENT, {**DOCUMENT, "dhcp_relays": {}}, None)
    assert finding.evidence == ""


@pytest.mark.parametrize(
    ("interface", "direction", "denied", "refused"),
    [
        (
            "lan0",
            "in",
            {"protocol": "udp", "destination_ports": "67"},
            "The DHCP relay office for clients on lan0",
        ),
        ("wan0", "in", {"source": "192.0.2.67/32"}, "The DHCP relay office"),
        ("wan0", "out", {"destination": "192.0.2.67/32"}, "The DHCP relay office"),
        ("lan0", "out", {}, None),
        ("wan0", "in", {"source": "192.0.2.66/32"}, None),
    ],
)
def test_access_lists_that_refuse_its_packets_are_told(
    interface: str, direction: str, denied: Json, refused: str | None
) -> None:
    after = copy.deepcopy(DOCUMENT)
    after["acls"] = {"some": {"rules": {"10": {"action": "deny", **denied}, "20": {"action": "permit"}}}}
    after["interfaces"][interface][f"acl_{direction}"] = ["some"]
    result = foretell(Change(parse_document(DOCUMENT), parse_document(after), ToldFacts()), OF_LISTS)
    told = [one.text for one in result.findings if "DHCP relay" in one.text]
    assert {one.depends_on for one in result.findings if one.text in told} <= {"there are DHCP clients"}
    assert bool(told) is (refused is not None), result.findings
    assert all(str(refused) in text for text in told), told

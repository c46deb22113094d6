"""What a plan foretells in cases in which it once said that nothing is lost."""

from __future__ import annotations

import html
import re
from ipaddress import ip_address
from typing import Any

import pytest

from appliance.impact.change import Arrival
from appliance.state.bgp import BgpNeighborState, PrefixCounts
from appliance.state.ospf import OspfNeighborState
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory

NEIGHBOR = "/routing/bgp/neighbors/192.0.2.1"
NEIGHBOR_SENT = "the session is Established, 1,000 IPv4 unicast prefixes received"
NOTHING_LOST = "No step resets a session or loses a packet."


@pytest.fixture(autouse=True)
def with_a_thousand_prefixes(router: RouterInMemory) -> None:
    counts = {"ipv4_unicast": PrefixCounts(prefixes_received=1000)}
    router.routing.sessions = {
        "192.0.2.1": BgpNeighborState(state="Established", remote_asn=65001, families=counts)
    }


def plan(client: ApiClient, path: str, patch: dict[str, Any]) -> dict[str, Any]:
    answer = client.merge(f"config{path}?dry_run=true", patch)
    assert answer.status == 200, answer.body
    body: dict[str, Any] = answer.body
    assert body["problems"] == []
    return body


def findings(body: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["grade"], one["kind"], one["path"]) for one in body["result"]["findings"]]


def test_a_limit_below_what_the_neighbor_has_sent_closes_the_session(engineer: ApiClient) -> None:
    assert engineer.merge(f"config{NEIGHBOR}/ipv4_unicast", {"maximum_prefix": 5000}).status == 200
    body = plan(engineer, f"{NEIGHBOR}/ipv4_unicast", {"maximum_prefix": 10})
    (finding,) = body["result"]["findings"]
    assert finding == {
        "grade": "certain",
        "kind": "session",
        "path": f"{NEIGHBOR}/ipv4_unicast/maximum_prefix",
        "text": (
            "The BGP session with 192.0.2.1 closes, and stays closed: it may send 10 IPv4 unicast prefixes, "
            "and has sent 1,000."
        ),
        "depends_on": "",
        "evidence": NEIGHBOR_SENT,
    }
    # "No step resets a session" stood right under a session that closes.
    assert body["summary"][0].startswith("The steps themselves reset no session and lose no packet: ")
    assert body["summary"][1] == "Afterwards: 1 certain."
    assert plan(engineer, f"{NEIGHBOR}/ipv4_unicast", {"maximum_prefix": 1000})["result"]["findings"] == []


def test_a_first_list_of_ipv4_rules_drops_all_ipv6_of_the_lan(engineer: ApiClient) -> None:
    engineer.merge("config/interfaces/lan0", {"addresses": ["10.10.0.1/24", "2001:db8:10::1/64"]})
    rules = {"10": {"action": "deny", "protocol": "icmp"}, "20": {"action": "permit"}}
    engineer.put("config/acls/lan-in", {"rules": rules})
    body = plan(engineer, "/interfaces/lan0", {"acl_in": ["lan-in"]})
    assert findings(body) == [
        ("certain", "traffic", "/interfaces/lan0/acl_in"),
        ("possible", "traffic", "/interfaces/lan0/acl_in"),
    ]
    dropped, denied = body["result"]["findings"]
    assert dropped["text"].startswith("All IPv6 packets received on lan0, except neighbor discovery, are")
    assert dropped["text"].endswith("no rule is for IPv6.")
    assert (
        denied["text"]
        == "Of the IPv4 packets received on lan0, those that rule 10 of lan-in denies are dropped."
    )
    rules["30"] = {"action": "permit", "family": "ipv6"}
    engineer.put("config/acls/lan-in", {"rules": rules})
    again = plan(engineer, "/interfaces/lan0", {"acl_in": ["lan-in"]})
    assert findings(again) == [("possible", "traffic", "/interfaces/lan0/acl_in")]


def test_a_lower_mtu_may_drop_packets_and_keeps_an_adjacency_from_forming(
    engineer: ApiClient, router: RouterInMemory
) -> None:
    body = plan(engineer, "/interfaces/wan0", {"mtu": 1300})
    (finding,) = body["result"]["findings"]
    assert (finding["grade"], finding["path"]) == ("possible", "/interfaces/wan0/mtu")
    assert finding["depends_on"] == "packets of 1,301 to 1,500 bytes pass wan0"
    engineer.put("config/routing/ospf", {"router_id": "192.0.2.129", "interfaces": {"wan0": {"area": 0}}})
    full = OspfNeighborState(router_id="192.0.2.9", address="192.0.2.1", interface="wan0", full=True)
    router.routing.adjacencies = (full,)
    session, _ = plan(engineer, "/interfaces/wan0", {"mtu": 1300})["result"]["findings"]
    assert (session["grade"], session["kind"]) == ("certain", "session")
    assert "stays in ExStart until the neighbor's MTU is the same" in session["text"]


def test_deny_any_as_the_first_rule_of_a_bound_list(engineer: ApiClient) -> None:
    engineer.merge("config/interfaces/wan0", {"acl_in": ["edge-in"]})
    body = plan(engineer, "/acls/edge-in/rules", {"5": {"action": "deny"}})
    assert findings(body) == [
        ("certain", "session", "/interfaces/wan0/acl_in"),
        ("certain", "traffic", "/interfaces/wan0/acl_in"),
    ]
    session, dropped = body["result"]["findings"]
    assert session["text"] == (
        "The BGP session with 192.0.2.1 loses packets it needs: wan0 drops them on their way in, by rule 5 "
        "of edge-in."
    )
    assert dropped["text"].startswith("All IPv4 packets received on wan0 are dropped")


def test_a_management_source_that_excludes_whoever_asks(engineer: ApiClient, router: RouterInMemory) -> None:
    engineer.merge("config/interfaces/lan0", {"management_services": ["ssh", "https"]})
    router.arrival = Arrival(ip_address("10.10.0.7"), "lan0")
    body = plan(engineer, "/interfaces/lan0", {"management_sources": ["10.9.0.0/24"]})
    assert findings(body) == [("certain", "management", "/interfaces/lan0/management_sources")]
    assert body["result"]["findings"][0]["text"].startswith(
        "You lose https and ssh: 10.10.0.7 arrives on lan0"
    )
    assert findings(plan(engineer, "/interfaces/lan0", {"management_sources": ["10.10.0.0/24"]})) == []


def test_nothing_found_says_what_was_looked_at(engineer: ApiClient) -> None:
    body = plan(engineer, "/interfaces/lan0", {"description": "hall"})
    assert body["result"]["findings"] == []
    assert body["summary"][0] == NOTHING_LOST
    assert body["summary"][1].startswith("Looked at: ")
    assert body["summary"][1].endswith("; found nothing that closes a session or drops traffic.")
    assert "BGP sessions" in body["result"]["looked_at"]
    assert any(one.startswith("your own connection") for one in body["result"]["not_looked_at"])


def test_routing_that_does_not_answer_makes_it_possible_and_is_told(
    engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from appliance.engine.backend import BackendUnavailable

    def away() -> None:
        raise BackendUnavailable("frr", "bgpd does not answer")

    monkeypatch.setattr(router.routing, "bgp_state", away)
    body = plan(engineer, f"{NEIGHBOR}", {"enabled": False})
    (finding,) = body["result"]["findings"]
    assert (finding["grade"], finding["depends_on"]) == (
        "possible",
        "the session is up now, which the router does not report",
    )
    assert "the state of BGP sessions: frr: bgpd does not answer" in body["result"]["not_looked_at"]


def test_a_document_that_cannot_be_committed_promises_nothing(
    engineer: ApiClient, session_of: MakeClient
) -> None:
    from django.test import Client

    answer = engineer.merge("config/interfaces/lan0?dry_run=true", {"addresses": ["192.0.2.1/30"]})
    assert answer.body["problems"]
    assert (answer.body["result"], answer.body["summary"]) == (None, [])
    browser = session_of("engineer").browser
    assert isinstance(browser, Client)
    change = engineer.post("changes").body["id"]
    engineer.merge(f"config/interfaces/lan0?change={change}", {"addresses": ["192.0.2.1/30"]})
    page = html.unescape(browser.get("/changes", secure=True).content.decode())
    assert "to correct before a commit" in page
    assert "No step" not in page
    assert 'id="impact"' not in page


def test_the_page_tells_findings_first_and_repeats_certain_ones_beside_the_button(
    engineer: ApiClient, session_of: MakeClient
) -> None:
    from django.test import Client

    browser = session_of("engineer").browser
    assert isinstance(browser, Client)
    change = engineer.post("changes").body["id"]
    engineer.merge(f"config{NEIGHBOR}?change={change}", {"enabled": False})
    page = html.unescape(browser.get("/changes", secure=True).content.decode())
    sentence = "The BGP session with 192.0.2.1 closes: the neighbor is shut down."
    impact = page.index('id="impact"')
    assert impact < page.index(sentence) < page.index("Looked at: ") < page.index('id="certain"')
    # The list of what was looked at is folded away, its number is not.
    shown, _, rest = page[impact:].partition('<details class="looked-at">')
    assert re.search(r"\d+ kinds of effects were looked at\.", shown)
    assert "Looked at: " not in shown
    assert "Looked at: " in rest.partition("</details>")[0]
    assert page.index('id="certain"') < page.index(sentence, page.index('id="certain"'))
    assert page.index('id="certain"') < page.index('id="commit-button"')
    assert NEIGHBOR_SENT in page

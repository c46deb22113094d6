"""Clearing counters: the displayed values start again, and the source of metrics and rates does not
change.
"""

from __future__ import annotations

import pytest

from appliance.cli.clear import clear
from appliance.cli.operational import SHOWS
from appliance.state.acls import ACLS, AclRuleState, AclState
from appliance.state.counters import COUNTERS
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from webui.accounts.models import AuditEntry


def _metric(client: ApiClient, name: str) -> float:
    lines = client.get("/metrics").body.decode().splitlines()
    return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(name)))


def test_an_interfaces_counters_are_shown_from_then_on_and_metrics_go_on(
    router: RouterInMemory, client_of: MakeClient, viewer: ApiClient
) -> None:
    router.wait_sampled()
    metric = 'millrace_interface_rx_packets_total{interface="lan0"}'
    before = _metric(viewer, metric)
    answer = client_of("operator").post("actions/clear-counters", {"interface": "lan0"})
    assert answer.status == 200 and "counters of interface lan0 cleared" in answer.body["done"][0]
    rows = {one["interface"]: one for one in viewer.get("state/counters").body["counters"]}
    assert rows["lan0"]["cleared_by"] == "operator" and rows["lan0"]["cleared_at"]
    assert rows["wan0"]["cleared_at"] is None
    # Both count the same; only the clearing distinguishes them.
    assert rows["wan0"]["rx_packets"] - rows["lan0"]["rx_packets"] >= before >= 100
    assert _metric(viewer, metric) >= before
    sample = viewer.get("counters").body
    assert sample["interfaces"]["lan0"]["rx_packets"] > 0
    assert sample["cleared"]["lan0"]["base"]["rx_packets"] >= before
    assert set(sample["cleared"]) == {"lan0"}
    some = viewer.get("counters?fields=rx_packets,cleared&interfaces=wan0").body
    assert some["cleared"] == {}
    entry = AuditEntry.objects.get(action="action.clear-counters")
    assert (entry.target, entry.result, entry.username) == ("interface lan0", "done", "operator")


def test_the_hits_of_a_list_and_all_counters(
    router: RouterInMemory, client_of: MakeClient, viewer: ApiClient
) -> None:
    router.wait_sampled()
    operator = client_of("operator")
    assert operator.post("actions/clear-counters", {"acl": "edge-in"}).status == 200
    hits = viewer.get("counters/acls/edge-in").body
    base = hits["cleared"]["rules"]["10"]["packets"]
    assert hits["rules"]["10"]["packets"] >= base >= 100 and hits["cleared"]["by"] == "operator"
    assert viewer.get("counters/acls").body["acls"]["edge-in"]["cleared"]["packets"] == base
    assert viewer.get("counters/acls/edge-in?first=11").body["cleared"]["rules"] == {}
    done = operator.post("actions/clear-counters", {"all": True}).body["done"]
    assert len(done) == 2 and "2 interfaces" in done[0] and "access list edge-in" in done[1]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"all": False}, 422),
        ({"interface": "lan0", "all": True}, 422),
        ({"interface": "lan0", "acl": "edge-in"}, 422),
        ({"interface": "lan 0"}, 422),
        ({"interface": "nosuch0"}, 404),
        ({"acl": "nosuch"}, 404),
    ],
)
def test_what_cannot_be_cleared_is_said(
    router: RouterInMemory, client_of: MakeClient, body: dict[str, object], status: int
) -> None:
    router.wait_sampled()
    assert client_of("operator").post("actions/clear-counters", body).status == status


def test_a_viewer_may_not(viewer: ApiClient) -> None:
    assert viewer.post("actions/clear-counters", {"all": True}).status == 403


def test_the_pages_have_the_button_and_say_since_when(router: RouterInMemory, client_of: MakeClient) -> None:
    router.wait_sampled()
    browser = browser_of("operator", client_of)
    page = get(browser, "/interfaces/lan0")
    assert "Since the interface was created" in page and 'action="/actions/clear-counters"' in page
    for asked, back in (({"interface": "lan0"}, "/interfaces/lan0"), ({"acl": "edge-in"}, "/acls/edge-in")):
        answer = browser.post("/actions/clear-counters", {**asked, "next": back}, secure=True, follow=True)
        assert "cleared: they are shown from zero" in answer.content.decode()
    page = " ".join(get(browser, "/interfaces/lan0").split())
    assert "cleared by operator" in page and "Since the interface was created" not in page
    assert "cleared by operator" in get(browser, "/acls/edge-in")
    assert "cleared by operator" in get(browser, "/acls")
    assert 'action="/actions/clear-counters"' not in get(browser_of("viewer", client_of), "/interfaces/lan0")


def test_the_command_line_clears_and_shows(router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    router.wait_sampled()
    agent = router.client
    assert "interface lan0" in clear(agent, "nina", ["counters", "interface", "lan0"]).shown
    assert "access list edge-in" in clear(agent, "nina", ["counters", "acl", "edge-in"]).shown
    shown = SHOWS["counters"](agent, []).shown
    assert "nina" in shown and "cleared" in shown
    assert "nina" in SHOWS["interfaces"](agent, ["lan0"]).shown
    assert {one.interface for one in agent.state(COUNTERS).counters if one.cleared_at} == {"lan0"}
    hits = router.dataplane.acl_hits()["edge-in"][10].packets
    rule = AclRuleState(sequence=10, packets=hits + 9, bytes=(hits + 9) * 100)
    monkeypatch.setattr(router.dataplane, "acl_state", lambda: [AclState(name="edge-in", rules=(rule,))])
    (edge,) = agent.state(ACLS).acls
    assert edge.cleared_by == "nina" and 9 <= edge.rules[0].packets < hits + 9
    assert "cleared by nina" in SHOWS["acl"](agent, ["edge-in"]).shown

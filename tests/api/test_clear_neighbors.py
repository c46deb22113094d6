"""Clearing ARP and IPv6 neighbors: by REST and by the page, for operators, with an audit entry."""

from __future__ import annotations

import pytest

from appliance.state.neighbors import NeighborState
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from webui.accounts.models import AuditEntry

LEARNED = [
    NeighborState(interface="lan0", address="10.10.0.2", mac="02:00:00:00:00:02", state="reachable"),
    NeighborState(interface="lan0", address="fe80::2", mac="02:00:00:00:00:02", state="stale"),
    NeighborState(interface="wan0", address="192.0.2.1", mac="02:00:00:00:00:09", state="reachable"),
]


@pytest.fixture
def learned(router: RouterInMemory) -> RouterInMemory:
    router.dataplane.learned = list(LEARNED)
    return router


@pytest.mark.parametrize(
    ("body", "target", "kept"),
    [
        ({"all": True}, "all", []),
        ({"interface": "lan0"}, "lan0", ["192.0.2.1"]),
        ({"address": "192.0.2.1"}, "192.0.2.1", ["10.10.0.2", "fe80::2"]),
        ({"interface": "lan0", "address": "fe80::2"}, "lan0 fe80::2", ["10.10.0.2", "192.0.2.1"]),
    ],
)
def test_an_operator_clears_them(
    learned: RouterInMemory, client_of: MakeClient, body: dict[str, object], target: str, kept: list[str]
) -> None:
    answer = client_of("operator").post("actions/clear-neighbors", body)
    assert answer.status == 200
    assert "ARP and IPv6 neighbors cleared" in answer.body["done"][0]
    entry = AuditEntry.objects.get(action="action.clear-neighbors")
    assert (entry.target, entry.result) == (target, "done")
    shown = client_of("viewer").get("state/neighbors").body["neighbors"]
    assert [one["address"] for one in shown] == kept


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"all": True, "interface": "lan0"}, 422),
        ({"address": "nonsense"}, 422),
        ({"address": "10.10.0.77"}, 404),
        ({"interface": "lan9"}, 404),
    ],
)
def test_a_bad_question_clears_nothing(
    learned: RouterInMemory, client_of: MakeClient, body: dict[str, object], status: int
) -> None:
    assert client_of("operator").post("actions/clear-neighbors", body).status == status
    assert learned.dataplane.learned == LEARNED


def test_a_viewer_looks_and_does_not_clear(learned: RouterInMemory, client_of: MakeClient) -> None:
    assert client_of("viewer").post("actions/clear-neighbors", {"all": True}).status == 403
    page = get(browser_of("viewer", client_of), "/neighbors")
    assert "02:00:00:00:00:09" in page
    assert "/actions/clear-neighbors" not in page
    operator = browser_of("operator", client_of)
    assert "/actions/clear-neighbors" in get(operator, "/neighbors")
    form = {"interface": "wan0", "address": "192.0.2.1", "next": "/neighbors"}
    operator.post("/actions/clear-neighbors", form, secure=True)
    assert [one.address for one in learned.dataplane.learned] == ["10.10.0.2", "fe80::2"]

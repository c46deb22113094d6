"""Clearing sessions: the required role, the commands that reach FRR, and the audit log."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.bgp_answers import OVER_LIMIT
from webui.accounts.models import AuditEntry, User


def _commands(router: RouterInMemory) -> list[str]:
    return [operation.text for operation in router.routing.frr.operations]


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ({"neighbor": "192.0.2.1"}, "clear bgp 192.0.2.1"),
        ({"neighbor": "all"}, "clear bgp *"),
        ({"neighbor": "192.0.2.1", "soft": "in"}, "clear bgp 192.0.2.1 soft in"),
        (
            {"neighbor": "all", "soft": "out", "family": "ipv4_unicast"},
            "clear bgp ipv4 unicast * soft out",
        ),
    ],
)
def test_an_operator_clears_sessions(
    router: RouterInMemory, client_of: MakeClient, body: dict[str, str], command: str
) -> None:
    answer = client_of("operator").post("actions/clear-bgp", body)
    assert answer.status == 200 and len(answer.body["done"]) == 1
    assert _commands(router) == [command]
    entry = AuditEntry.objects.get(action="action.clear-bgp")
    assert entry.result == "done" and entry.target.startswith(body["neighbor"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"neighbor": "everyone"}, 422),
        ({"neighbor": "192.0.2.1 soft in"}, 422),
        ({"neighbor": "fe80::1%eth0 in"}, 422),
        ({"neighbor": "192.0.2.1", "soft": "both"}, 422),
        ({"neighbor": "192.0.2.1", "family": "ipv4_unicast"}, 422),
        ({"neighbor": "192.0.2.1", "more": 1}, 422),
        ({"neighbor": "192.0.2.99"}, 404),
    ],
)
def test_bad_questions_reach_no_daemon(
    router: RouterInMemory, client_of: MakeClient, body: dict[str, str], status: int
) -> None:
    assert client_of("operator").post("actions/clear-bgp", body).status == status
    assert _commands(router) == []


def test_what_failed_is_in_the_audit_log_too(router: RouterInMemory, client_of: MakeClient) -> None:
    operator = client_of("operator")
    router.routing.frr.sessions.clear()
    answer = operator.post("actions/clear-bgp", {"neighbor": "192.0.2.1"})
    assert answer.status == 409 and "Unknown neighbor" in answer.body["detail"]
    router.routing.frr.kill("bgpd")
    assert operator.post("actions/clear-bgp", {"neighbor": "all"}).status == 503
    assert [entry.result for entry in AuditEntry.objects.filter(action="action.clear-bgp")] == ["failed"] * 2


def test_ospf_neighbors_are_of_one_router_or_one_interface(client_of: MakeClient) -> None:
    operator = client_of("operator")
    for body in ({}, {"neighbor": "10.0.0.9", "interface": "lan0"}, {"neighbor": "x"}, {"interface": "a b"}):
        assert operator.post("actions/clear-ospf-neighbor", body).status == 422, body
    assert operator.post("actions/clear-ospf-neighbor", {"interface": "lan0"}).status == 404


def test_a_viewer_may_not(viewer: ApiClient, router: RouterInMemory) -> None:
    assert viewer.post("actions/clear-bgp", {"neighbor": "all"}).status == 403
    assert _commands(router) == []


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("operator", True)])
def test_the_page_has_a_button_for_those_who_may(
    router: RouterInMemory, client_of: MakeClient, role: str, may: bool
) -> None:
    router.routing.frr.sessions["192.0.2.1"] = OVER_LIMIT
    client_of(role)
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username=role), "django.contrib.auth.backends.ModelBackend")
    for address in ("/bgp", "/bgp/neighbors/192.0.2.1"):
        page = browser.get(address, secure=True).content.decode()
        assert ('action="/actions/clear-bgp"' in page) == may, address
        assert not may or re.search(r'data-confirm="[^"]*192\.0\.2\.1', page)
    answer = browser.post(
        "/actions/clear-bgp", {"neighbor": "192.0.2.1", "next": "/bgp"}, secure=True, follow=may
    )
    assert answer.status_code == (200 if may else 403)
    assert _commands(router) == (["clear bgp 192.0.2.1"] if may else [])
    if may:
        assert "cleared, the session is set up again" in answer.content.decode()

"""Bonds for viewers: REST, the page of the interface, and refusals."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from appliance.state.bonds import BondMemberState, BondState, LacpPort
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get

_ACTOR = LacpPort(system="02:00:00:00:00:01", key=7, port=1, flags=("activity", "collecting", "distributing"))
_PARTNER = LacpPort(system="02:00:00:00:00:02", key=9, port=4)
_SEEN = BondState(
    name="bond0",
    mode="802.3ad",
    active_members=1,
    members=(
        BondMemberState(bond="bond0", interface="wan0", state="active", actor=_ACTOR, partner=_PARTNER),
        BondMemberState(bond="bond0", interface="nic1", state="waiting", reason="no LACP packet has come"),
    ),
)
_NIC = {"type": "ethernet", "match": {"device": "nic-one"}}


@pytest.fixture
def bonded(client_of: MakeClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A viewer's browser on a router with a bond, one of whose members has counters."""
    monkeypatch.setattr(router.dataplane, "look", lambda **_: (_SEEN,))
    engineer = client_of("engineer")
    for number in (1, 2):
        nic = {**_NIC, "match": {"device": f"eth{number}"}}
        assert engineer.put(f"config/interfaces/nic{number}", nic).status == 200
    bond = {"type": "bond", "members": ["nic1", "nic2"], "addresses": ["10.77.0.1/24"]}
    assert engineer.put("config/interfaces/bond0", bond).status == 200
    return browser_of("viewer", client_of)


def _words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_members_are_told_over_rest_with_their_counters(bonded: Client, client_of: MakeClient) -> None:
    (shown,) = client_of("viewer").get("state/bonds").body["bonds"]
    active, waiting = shown["members"]
    assert (active["state"], active["partner"]["system"]) == ("active", "02:00:00:00:00:02")
    assert active["rx_packets"] > 0
    assert (waiting["reason"], waiting["rx_packets"]) == ("no LACP packet has come", None)


def test_the_page_of_the_bond_shows_its_members_and_that_of_a_member_its_bond(bonded: Client) -> None:
    words = _words(get(bonded, "/interfaces/bond0"))
    assert "Why not active" in words and "no LACP packet has come" in words
    assert "02:00:00:00:00:01 port 1: activity, collecting, distributing" in words
    assert "bond0" in _words(get(bonded, "/interfaces/nic1"))


def test_a_member_is_neither_removed_nor_used_for_itself(bonded: Client, client_of: MakeClient) -> None:
    engineer = client_of("engineer")
    refused = engineer.delete("config/interfaces/nic1")
    assert refused.status == 422
    assert "/interfaces/bond0/members/0" in [problem["pointer"] for problem in refused.body["errors"]]
    refused = engineer.merge("config/interfaces/nic1", {"addresses": ["10.78.0.1/24"]})
    assert refused.status == 422
    (problem,) = refused.body["errors"]
    assert problem["pointer"] == "/interfaces/nic1/addresses"
    assert "nic1 is a member of bond0: set it there" in problem.values()

"""The page of NAT: the configuration, the hosts with the most sessions, and the search."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from appliance.actions import nat as nat_action
from appliance.errors import NotFound
from appliance.state import nat as nat_state
from appliance.state.nat import (
    Ended,
    NatSession,
    NatSessions,
    NatSessionsFilter,
    NatSessionsQuery,
    NatState,
)
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get, post
from webui.accounts.models import AuditEntry
from webui.metrics.prometheus import exposition

NAT = {
    "inside": ["lan0"],
    "outside": ["wan0"],
    "masquerade": ["wan0"],
    "pools": {"spare": {"addresses": ["198.51.100.8-198.51.100.15"]}},
    "static": {"mail": {"outside_address": "198.51.100.20", "inside_address": "10.10.0.20"}},
    "port_forwards": {
        "web": {"outside_interface": "wan0", "outside_port": 443, "inside_address": "10.10.0.9"},
        "dns": {
            "protocol": "udp",
            "outside_address": "198.51.100.30",
            "outside_port": 5353,
            "inside_address": "10.10.0.9",
            "inside_port": 53,
        },
    },
    "no_nat": {"10": {"destination": "10.99.0.0/16"}},
}


TABLE = NatState(in_use=300, limit=1200, fullness=0.25, refused=0)


def _session(number: int) -> NatSession:
    host = 9 if number % 3 else 10
    return NatSession(
        protocol="icmp" if number == 0 else "tcp",
        inside_address=f"10.10.0.{host}",
        inside_port=2000 + number,
        outside_address="192.0.2.2",
        outside_port=30000 + number,
        remote_address="203.0.113.10",
        remote_port=443,
        direction="out",
        state="time_wait",
        expires_s=90,
        packets=None,
    )


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[NatSession]:
    """The kernel's answers; a test may change them."""
    there = [_session(number) for number in range(250)]
    monkeypatch.setattr(nat_state, "_opened", lambda _: None)
    monkeypatch.setattr(nat_state, "_in_the_kernel", lambda _: iter(there))
    monkeypatch.setattr(nat_state, "table", lambda _, closely: TABLE)

    def _end(_: object, asked: NatSessionsFilter) -> Ended:
        kept = [one for one in there if not asked.matches(one)]
        ended = len(there) - len(kept)
        there[:] = kept
        return Ended(ended)

    monkeypatch.setattr(nat_action, "end_sessions", _end)
    return there


@pytest.fixture
def viewer(sessions: list[NatSession], client_of: MakeClient) -> Client:
    """A viewer's browser on a router with NAT."""
    assert client_of("engineer").put("config/nat", NAT).status == 200
    return browser_of("viewer", client_of)


def _words(page: str) -> str:
    """The page's text, with plain dashes."""
    page = page.replace("\N{EN DASH}", "-")
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def _inside(page: str) -> list[str]:
    return re.findall(r'<span class="mono">(10\.10\.0\.\d+(?::| id )\d+)</span>', page)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("nat_port_forwards", "dns udp 198.51.100.30 port 5353 10.10.0.9 port 53"),
        ("nat_port_forwards", "web tcp wan0 port 443 10.10.0.9 port 443"),
        ("nat_static", "mail 198.51.100.20 10.10.0.20"),
        ("nat_pools", "spare 198.51.100.8-198.51.100.15"),
        ("nat_no_nat", "10 any 10.99.0.0/16"),
        ("nat_users", "10.10.0.9 166 10.10.0.10 84"),
    ],
)
def test_each_tab_shows_what_is_there(viewer: Client, kind: str, words: str) -> None:
    assert words in _words(get(viewer, f"/nat?kind={kind}"))


def test_the_head_tells_sides_and_the_tab_of_users_how_full_the_table_is(viewer: Client) -> None:
    words = _words(get(viewer, "/nat?kind=nat_users"))
    assert "Inside lan0 Outside wan0 Masquerade wan0 Table in use 300 of 1,200 (25 %)" in words
    page = get(viewer, "/nat?kind=nat_users")
    assert 'data-href="?kind=nat_sessions&amp;inside=10.10.0.10"' in page


def test_configuration_is_shown_without_reading_the_sessions(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def _not_now(_: object) -> Iterator[NatSession]:
        raise AssertionError("sessions are read")

    monkeypatch.setattr(nat_state, "_opened", _not_now)
    for kind in ("nat_port_forwards", "nat_static", "nat_pools", "nat_no_nat"):
        assert "does not answer" not in get(viewer, f"/nat?kind={kind}")


def test_sessions_come_a_page_at_a_time(viewer: Client) -> None:
    first = get(viewer, "/nat?kind=nat_sessions")
    assert "1-100 of 250" in _words(first)
    assert len(_inside(first)) == 100
    assert _inside(first)[0] == "10.10.0.10 id 2000", "ICMP has an identifier and no port"
    last = get(viewer, "/nat?kind=nat_sessions&page=3")
    assert "201-250 of 250" in _words(last)
    assert _inside(last)[-1] == "10.10.0.10:2249"
    assert 'href="?kind=nat_sessions&amp;page=2"' in last
    assert ">Next</a>" not in last


def test_a_page_that_is_gone_is_the_last_one_there_is(viewer: Client, sessions: list[NatSession]) -> None:
    del sessions[150:]
    assert "101-150 of 150" in _words(get(viewer, "/nat?kind=nat_sessions&page=3"))
    sessions.clear()
    assert "No session is translated now." in get(viewer, "/nat?kind=nat_sessions&page=3")


def test_sessions_are_searched_by_the_router(viewer: Client) -> None:
    search = "/nat?kind=nat_sessions&inside=10.10.0.10&protocol=tcp"
    page = get(viewer, search)
    assert "1-83 of 83" in _words(page)
    assert {one.split(":")[0] for one in _inside(page)} == {"10.10.0.10"}
    assert 'name="inside" value="10.10.0.10"' in page
    assert "<option selected>tcp</option>" in page
    assert _inside(get(viewer, "/nat?kind=nat_sessions&port=30007")) == ["10.10.0.9:2007"]
    assert _inside(get(viewer, "/table/nat_sessions?outside=192.0.2.2&port=2007")) == ["10.10.0.9:2007"]
    second = get(viewer, "/nat?kind=nat_sessions&inside=10.10.0.9&page=2")
    assert "101-166 of 166" in _words(second)
    assert 'href="?kind=nat_sessions&amp;inside=10.10.0.9"' in second.replace("&amp;page=1", "")
    assert "Nothing matches this search." in get(viewer, "/nat?kind=nat_sessions&remote=192.0.2.77")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("inside=lan0", "Inside address: must be an IPv4 address"),
        ("port=70000", "Port at any end: must be at most 65535"),
        ("port=web", "Port at any end: must be a whole number"),
        ("protocol=gre", "Protocol: must be one of 'tcp', 'udp', 'icmp'"),
        ("page=999999", "Page: must be at most"),
    ],
)
def test_a_search_that_cannot_be_names_its_field(viewer: Client, asked: str, said: str) -> None:
    words = _words(get(viewer, f"/nat?kind=nat_sessions&{asked}"))
    assert said in words
    assert "does not answer" not in words


@pytest.mark.parametrize("found", [0, 250])
def test_what_was_not_looked_at_is_said_and_can_be_cleared(
    viewer: Client,
    client_of: MakeClient,
    sessions: list[NatSession],
    monkeypatch: pytest.MonkeyPatch,
    found: int,
) -> None:
    assert viewer is not None
    left_out = "The 60,000 sessions of 10.10.0.9 were not read."

    def _some(_: object, asked: NatSessionsQuery) -> NatSessions:
        page = tuple(sessions[: min(found, asked.limit)])
        return NatSessions(
            sessions=page, total=found, offset=asked.offset, limit=asked.limit, left_out=left_out
        )

    monkeypatch.setattr(nat_state, "find", _some)
    page = get(browser_of("operator", client_of), "/nat?kind=nat_sessions")
    assert left_out in _words(page)
    assert "No session is translated now" not in page
    assert ("There is nothing else." in page) == (found == 0)
    assert "Clear every session?" in page
    answer = client_of("viewer").get("state/nat/sessions?limit=1").body
    assert (answer["total"], answer["left_out"]) == (found, left_out)


def test_a_data_plane_that_does_not_answer_is_not_taken_for_an_agent_that_is_away(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def _untold(_: object) -> None:
        raise NotFound("the sessions are not told")

    monkeypatch.setattr(nat_state, "_opened", _untold)
    for kind in ("nat_users", "nat_sessions"):
        words = _words(get(viewer, f"/nat?kind={kind}"))
        assert "Not known: the sessions are not told" in words
        assert "No session is translated now" not in words
        assert "agent does not answer" not in words


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "Table in use 300 of 1,200 (25 %)"),
        ({"timed_out": 9000}, "Timed out 9,000, replaced by new sessions"),
        ({"refused": 17}, "Refused 17 packets, because the table was full"),
        ({"evicted": 4}, "Ended early 4 sessions, to make room"),
        ({"in_use": 1, "fullness": 1 / 1200}, "1 of 1,200 (below 1 %)"),
        # A worker of VPP whose hosts have more than those of the others.
        ({"fullness": 0.8}, "300 of 1,200 (80 %)"),
    ],
)
def test_the_head_says_how_full_the_table_is(
    viewer: Client, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], words: str
) -> None:
    state = TABLE.model_copy(update=more)
    monkeypatch.setattr(nat_state, "table", lambda _, closely: state)
    assert words in _words(get(viewer, "/nat?kind=nat_users"))


def test_the_table_is_measured(
    viewer: Client, client_of: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert viewer is not None
    state = TABLE.model_copy(update={"refused": 17})
    monkeypatch.setattr(nat_state, "table", lambda _, closely: state)
    page = exposition().decode()
    for line in (
        "millrace_nat_entries 300.0",
        "millrace_nat_entries_limit 1200.0",
        "millrace_nat_table_fullness 0.25",
        "millrace_nat_refused_packets_total 17.0",
    ):
        assert f"\n{line}\n" in page
    assert client_of("engineer").delete("config/nat").status == 200
    page = exposition().decode()
    assert "millrace_up 1.0" in page
    assert "millrace_nat" not in page


def test_no_export_of_a_search_is_offered_or_made(viewer: Client) -> None:
    assert "/table/nat_sessions/export" not in get(viewer, "/nat?kind=nat_sessions")
    get(viewer, "/table/nat_sessions/export.csv", 404)


def test_a_router_without_nat_is_not_asked_for_sessions(
    client_of: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def _not_now(_: object) -> Iterator[NatSession]:
        raise AssertionError("sessions are read")

    monkeypatch.setattr(nat_state, "_opened", _not_now)
    for kind in ("nat_port_forwards", "nat_users", "nat_sessions"):
        page = get(browser_of("viewer", client_of), f"/nat?kind={kind}")
        assert "NAT is not set up" in page
        assert "agent does not answer" not in page
    assert 'href="/edit/nat"' in get(browser_of("engineer", client_of), "/nat")


def test_a_port_forward_is_added_edited_and_removed(
    viewer: Client, client_of: MakeClient, router: RouterInMemory
) -> None:
    from webui.changes.models import ChangeSet

    engineer = browser_of("engineer", client_of)
    form = get(engineer, "/add/nat/port_forwards")
    assert re.search(r'<select[^>]*name="/outside_interface"', form) or 'value="wan0"' in form
    page = post(
        engineer,
        "/add/nat/port_forwards",
        **{
            "@key": "ssh",
            "/protocol": "tcp",
            "/outside_interface": "wan0",
            "/outside_port": "2222",
            "/inside_address": "10.10.0.7",
            "/inside_port": "22",
        },
    )
    assert "Port forward ssh is in your changes." in page
    assert "tcp wan0 port 2222 10.10.0.7 port 22" in _words(get(engineer, "/nat"))
    assert "10.10.0.7" in _words(get(engineer, "/object/nat/port_forwards/ssh"))
    post(engineer, "/delete/nat/port_forwards/ssh")
    page = post(engineer, "/table/nat_port_forwards/act", action="delete", name=["web"])
    assert "1 port forward will be removed when you commit." in page
    assert set(ChangeSet.objects.get(state="open").document["nat"]["port_forwards"]) == {"dns"}


CLEAR = "actions/clear-nat-sessions"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ({"inside": "10.10.0.10", "inside_port": 2003}, 249),
        ({"inside": "10.10.0.10", "protocol": "tcp"}, 167),
        ({"remote_port": 443}, 0),
        ({"all": True}, 0),
    ],
)
def test_an_operator_clears_what_matches(
    viewer: Client, client_of: MakeClient, sessions: list[NatSession], body: dict[str, Any], left: int
) -> None:
    assert viewer is not None
    answer = client_of("operator").post(CLEAR, body)
    assert answer.status == 200, answer.body
    assert len(sessions) == left
    number = 250 - left
    words = f"{number} session{'s' if number > 1 else ''} of NAT cleared"
    assert answer.body["done"][0].startswith(words)
    entry = AuditEntry.objects.get(action="action.clear-nat-sessions")
    assert entry.result == "done"
    assert entry.target == ("all" if "all" in body else " ".join(f"{k} {v}" for k, v in body.items()))


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"all": False}, 422),
        ({"all": True, "inside": "10.10.0.9"}, 422),
        ({"inside": "lan0"}, 422),
        ({"port": 0}, 422),
        ({"limit": 5}, 422),
        ({"inside": "10.10.0.77"}, 404),
    ],
)
def test_a_question_that_is_wrong_or_matches_nothing_clears_nothing(
    viewer: Client, client_of: MakeClient, sessions: list[NatSession], body: dict[str, Any], status: int
) -> None:
    assert viewer is not None
    assert client_of("operator").post(CLEAR, body).status == status
    assert len(sessions) == 250


def test_a_viewer_clears_nothing_and_has_no_button(
    viewer: Client, client_of: MakeClient, sessions: list[NatSession]
) -> None:
    assert client_of("viewer").post(CLEAR, {"all": True}).status == 403
    assert "clear-nat-sessions" not in get(viewer, "/nat?kind=nat_sessions")
    assert viewer.post("/actions/clear-nat-sessions", {"all": "true"}, secure=True).status_code == 403
    assert len(sessions) == 250


def test_without_nat_there_is_nothing_to_clear(client_of: MakeClient, sessions: list[NatSession]) -> None:
    assert client_of("operator").post(CLEAR, {"all": True}).status == 404
    assert len(sessions) == 250


def _form(page: str, form: str) -> dict[str, str]:
    """The fields of a button's form, as a browser sends them."""
    found = page.split(f'id="{form}"')[1].split("</form>", maxsplit=1)[0]
    assert f'form="{form}"' in page
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', found))


def test_the_page_clears_one_session_those_found_and_all(
    viewer: Client, client_of: MakeClient, sessions: list[NatSession]
) -> None:
    assert viewer is not None
    operator = browser_of("operator", client_of)
    address = "/actions/clear-nat-sessions"
    page = get(operator, "/nat?kind=nat_sessions")
    gone = sessions[1]
    said = post(operator, address, **_form(page, "nat_sessions-1-0"))
    assert "1 session of NAT cleared" in said
    assert len(sessions) == 249 and gone not in sessions
    page = get(operator, "/nat?kind=nat_sessions&inside=10.10.0.10")
    assert "Clear the 84 sessions found?" in page
    assert "Clear those found" in page and "Clear all" not in page
    assert "84 sessions of NAT cleared" in post(operator, address, **_form(page, "nat_sessions-found"))
    assert {one.inside_address for one in sessions} == {"10.10.0.9"}
    page = get(operator, "/nat?kind=nat_sessions")
    assert "Clear all" in page
    post(operator, address, **_form(page, "nat_sessions-found"))
    assert sessions == []
    assert "nat_sessions-found" not in get(operator, "/nat?kind=nat_sessions")

"""What was not read is not called none: each page, where the router or a part of it does not answer."""

from __future__ import annotations

import html
import re

import pytest
from django.core.cache import caches
from django.test import Client

from appliance.cli.operational import SHOWS
from appliance.dataplane.base import Traffic
from appliance.engine.backend import BackendUnavailable
from appliance.state import PARTS, AnyPart, Part
from appliance.state.part import PartlyRead
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get
from webui.ui.pages import TABLES

PAGES = (
    "/",
    "/dashboard/state",
    "/interfaces",
    "/interfaces/lan0",
    "/routes",
    "/static-routes",
    "/bgp",
    "/bgp?kind=bgp_peer_groups",
    "/bgp/neighbors/192.0.2.1",
    "/bgp/search?family=ipv4",
    "/ospf",
    "/ospf?kind=ospf_interfaces",
    "/bfd",
    "/policies",
    "/acls",
    "/acls/edge-in",
    "/nat",
    "/nat?kind=nat_sessions",
    "/nat?kind=nat_users",
    "/neighbors",
    "/vrfs",
    "/dhcp-relays",
    "/control-plane",
    "/control-plane/counts",
    "/forwarding",
    "/alarms",
    "/alarms?kind=events",
    "/changes",
    "/history",
    "/configuration",
    "/captures",
    "/traces",
    "/tools",
    "/upgrade",
    "/logs",
)
_CLAIM = re.compile(r"\b(no|none|nothing|nobody|healthy|not one|closed)\b", re.IGNORECASE)


def said(page: str) -> list[str]:
    """Texts of the page's content, one for each element."""
    body = page.partition("<main")[2] or page
    body = re.sub(r"<(script|template|dialog|details)\b.*?</\1>", "", body, flags=re.DOTALL)
    texts = (" ".join(html.unescape(one).split()) for one in re.split(r"<[^>]+>", body))
    return [one for one in texts if one]


_OTHER = re.compile(r"No such file or directory|^no route$")
"""Of the agent's socket that is gone, and why packets were dropped."""
_OF_THE_DOCUMENT = re.compile(
    r"is configured|is attached here|uses it|No peer group|You have no changes|No-NAT|A packet that no rule"
    r"|is committed yet|nothing is committed yet|one that reports no severity|that reports no severity"
)
"""Said of the document, which was read, or of no router at all."""


def claims(browser: Client, path: str) -> list[str]:
    """Sentences of the page that say that there is nothing."""
    page = browser.get(path, secure=True).content.decode()
    return [one for one in said(page) if _CLAIM.search(_OTHER.sub("", one))]


def test_pages_of_a_router_whose_parts_do_not_answer_say_so(
    client_of: MakeClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise BackendUnavailable("router", "it does not answer")

    monkeypatch.setattr("appliance.agent.state_api.StateApi._read", fail)
    monkeypatch.setattr(router.dataplane, "counters", fail)
    browser = browser_of("admin", client_of)
    _forget()
    wrong = {
        path: [one for one in claims(browser, path) if not _OF_THE_DOCUMENT.search(one)]
        for path in PAGES
        if path.partition("?")[0] not in _ASK_OTHERWISE
    }
    assert {path: said for path, said in wrong.items() if said} == {}


_ASK_OTHERWISE = ("/alarms", "/changes", "/history", "/captures", "/traces", "/upgrade", "/logs")
"""Pages of what is no part of the live state."""


def test_pages_of_a_router_whose_agent_is_gone_claim_nothing(
    client_of: MakeClient, router: RouterInMemory
) -> None:
    browser = browser_of("admin", client_of)
    router.stop()
    _forget()
    of_no_router = re.compile(r"You have no changes|No-NAT|that reports no severity|nothing is committed yet")
    wrong = {path: [one for one in claims(browser, path) if not of_no_router.search(one)] for path in PAGES}
    assert {path: said for path, said in wrong.items() if said} == {}
    # An object is not called missing either.
    for path in ("/acls/edge-in", "/bgp/neighbors/192.0.2.1", "/policies/route-maps/in"):
        assert "does not answer" in get(browser, path, 503)


def test_the_kernel_is_not_spoken_of_as_vpp(client_of: MakeClient, router: RouterInMemory) -> None:
    """Megabits flowed, and the page said that no packet came in and nothing was dropped."""
    router.dataplane.traffic = lambda: Traffic(  # type: ignore[method-assign]  # a router that forwards
        {"ipv4": 12, "ipv6": 0}, {"ipv4": 9_876, "ipv6": 0}, {"no route (IPv4)": 7}
    )
    page = get(browser_of("viewer", client_of), "/forwarding")
    words = said(page)
    assert not [one for one in words if one.startswith(("No packet", "Nothing", "No drop"))]
    why = "Not known: the kernel forwards here, and keeps no clocks by function."
    assert words.count(why) == 2
    assert "9,876 IPv4 and 0 IPv6 packets so far" in page
    assert "no route (IPv4)" in words
    answer = client_of("viewer").get("state/forwarding").body
    assert set(answer["untold"]) == {"threads", "nodes"}
    assert answer["drops"] == {"no route (IPv4)": 7}
    shown = SHOWS["forwarding"](router.client, []).shown
    assert shown.startswith("not known: the kernel forwards here")
    assert "(none)" not in shown


def test_what_only_a_feeder_knows_is_not_0_where_there_is_none(
    client_of: MakeClient, router: RouterInMemory
) -> None:
    answer = client_of("viewer").get("state/feeder").body
    assert answer["carrier"] == "kernel"
    assert set(answer) - set(answer["untold"]) == {"carrier", "untold"}
    shown = SHOWS["feeder"](router.client, []).shown
    assert "uptime_s 0" not in shown
    assert 'uptime_s "not known: the kernel forwards here' in shown


def test_each_table_of_such_an_answer_names_the_field_it_is_read_from() -> None:
    """So that no table, on a page or a terminal, takes what was not read for none."""
    for _, table in TABLES.values():
        if table.live is not None and isinstance(table.live.source, Part):
            _has_field(table.live.source, table.live.field, table.name)
    for part in PARTS:
        if part.table is not None:
            _has_field(part, part.table.field, part.name)


def _has_field(part: AnyPart, field: str, name: str) -> None:
    if issubclass(part.answer, PartlyRead):
        assert field in part.answer.model_fields, name
    else:
        assert field == "", name


def _forget() -> None:
    for one in caches:
        caches[one].clear()

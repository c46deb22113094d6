"""Refusals name the field and use words: no regular expression, nothing internal to the program."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from appliance.config.problem_text import _PATTERNS
from appliance.engine.backend import BackendUnavailable
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of

_PROGRAM = re.compile(r"\^|\$$|nput should|tring should|[Vv]alue error|function|object at 0x|Errno")


def _text(browser: Client, path: str, status: int = 200) -> str:
    """The page's words."""
    response = browser.get(path, secure=True)
    assert response.status_code == status, response.content.decode()[:1000]
    page = re.sub(r"(?s)<(script|style|template)\b.*?</\1>", "", response.content.decode())
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def _patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        for below in node.values():
            yield from _patterns(below)
    elif isinstance(node, list):
        for below in node:
            yield from _patterns(below)


def _asked(description: dict[str, Any]) -> Iterator[Any]:
    """Every place in the OpenAPI document where a client provides a value."""
    for path, operations in description["paths"].items():
        if not path.startswith("/api/v1/config"):
            yield from (part for one in operations.values() for part in one.get("parameters", []))
    for name, schema in description["components"]["schemas"].items():
        if not name.startswith("RouterConfig"):
            yield schema


def test_every_form_that_the_api_asks_for_is_told_in_words(viewer: ApiClient) -> None:
    asked = list(_asked(viewer.get("openapi.json").body))
    assert {pattern for part in asked for pattern in _patterns(part)} - _PATTERNS.keys() == set()


def test_no_query_is_refused_in_the_programs_words(session_of: MakeClient) -> None:
    reader = session_of("admin")
    refused = 0
    for path, operations in reader.get("openapi.json").body["paths"].items():
        for parameter in operations.get("get", {}).get("parameters", []):
            if parameter["in"] != "query" or "{" in path or "stream" in path:
                continue
            answer = reader.get(f"{path}?{parameter['name']}={quote('x ^y')}")
            for one in answer.body.get("errors", ()) if answer.status == 422 else ():
                refused += one["pointer"] == f"/{parameter['name']}"
                assert not _PROGRAM.search(one["detail"].replace("x ^y", "")), (path, one)
    assert refused > 30


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("actions/clear-bgp", {"neighbor": "x y"}),
        ("actions/clear-neighbors", {"address": "x y"}),
        ("tools/ping", {"destination": ""}),
        ("users", {"username": "Me", "password": "correct-horse-battery"}),
        ("tokens", {"name": "a", "expires_at": "tomorrow"}),
        ("upgrade/install", {"deadline_s": "x"}),
        ("jobs/x/cancel", {}),
        ("captures/x/stop", {}),
    ],
)
def test_no_body_is_refused_in_the_programs_words(
    path: str, body: dict[str, Any], session_of: MakeClient
) -> None:
    answer = session_of("admin").post(path, body)
    assert answer.status == 422
    (error,) = answer.body["errors"]
    assert re.fullmatch(r"/[a-z_]+", error["pointer"]), error
    assert not _PROGRAM.search(error["detail"]), error


def test_what_is_not_of_the_configuration_is_not_said_to_be(session_of: MakeClient) -> None:
    answer = session_of("admin").post("users", {"username": "me", "password": "short"})
    assert answer.status == 422
    assert "configuration" not in answer.body["detail"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/routes?prefix=10.0.0.0/33", "Prefix or address: must be an address or a prefix"),
        ("/routes?next_hop=abc", "Next hop: must be an address"),
        ("/bgp/routes/received/192.0.2.1?prefix=x", "Prefix or address: must be an address or a prefix"),
        ("/bgp/routes/received/192.0.2.1?community=a+b", "Community: must be a community such as 65001:100"),
        ("/bgp/routes/received/192.0.2.1?asn=x", "AS in path: must be a whole number"),
        ("/logs?severity=loud", "At least: must be one of 'debug'"),
    ],
)
def test_a_wrong_search_names_its_field_and_blames_nobody_else(
    path: str, told: str, client_of: MakeClient
) -> None:
    """The agent answers: a user who types a wrong prefix is not told to check the agent."""
    page = _text(browser_of("operator", client_of), path)
    assert told in page
    assert "does not answer" not in page
    assert "shows what it can" not in page
    assert not _PROGRAM.search(page.split("Show me the API")[0])


def test_a_page_says_which_part_of_the_router_is_away(
    client_of: MakeClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise BackendUnavailable("frr", "bgpd does not answer")

    monkeypatch.setattr(router.routing, "bgp_state", gone)
    page = _text(browser_of("viewer", client_of), "/bgp")
    assert "This page shows what it can: frr: bgpd does not answer" in page
    assert "agent does not answer" not in page


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/interfaces/lan7", "There is no interface lan7."),
        ("/acls/gone", "There is no access list gone."),
        ("/edit/interfaces/lan7", "There is no interface lan7."),
        ("/table/static/export.xml", "A table is exported as csv or json."),
    ],
)
def test_a_page_that_is_not_there_says_what_is_missing(path: str, told: str, client_of: MakeClient) -> None:
    assert told in _text(browser_of("engineer", client_of), path, 404)


def test_an_error_keeps_the_menu(client_of: MakeClient) -> None:
    viewer = browser_of("viewer", client_of)
    for path, status in (("/nowhere", 404), ("/acls/gone", 404), ("/users", 403), ("/edit/system", 403)):
        response = viewer.get(path, secure=True)
        page = response.content.decode()
        assert response.status_code == status
        assert 'class="sidebar"' in page, path
        assert 'href="/interfaces"' in page, path


def test_who_is_not_signed_in_is_led_to_the_login(client_of: MakeClient) -> None:
    stranger = Client(headers={"host": "testserver"}, enforce_csrf_checks=True)
    page = stranger.get("/nowhere", secure=True).content.decode()
    assert 'href="/login?next=/nowhere"' in page
    assert 'class="sidebar"' not in page
    # The cookies are gone, and with them the session: the form's page is not said to be from another site.
    headers = {"referer": "https://testserver/edit/system"}
    refused = stranger.post("/edit/system", {"/hostname": "r2"}, secure=True, headers=headers)
    page = refused.content.decode()
    assert refused.status_code == 403
    assert "sent no cookies" in page
    assert 'href="/login?next=/edit/system"' in page


def test_an_unknown_address_does_not_tell_the_others(client_of: MakeClient) -> None:
    page = _text(browser_of("viewer", client_of), "/nowhere", 404)
    assert "There is no such page" in page
    assert "tried" not in page


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"destination": "192.0.2.1", "source": "x"}, "Source: must be an IPv4 or IPv6 address"),
        ({"destination": "192.0.2.1", "count": "five"}, "Count: must be 1 to 100"),
        ({"destination": "192.0.2.1", "size": "99999999"}, "Size: must be 0 to 9000 bytes"),
    ],
)
def test_a_tool_names_the_field_that_is_wrong(
    fields: dict[str, str], told: str, client_of: MakeClient
) -> None:
    """An invalid number is not silently replaced by another."""
    operator = browser_of("operator", client_of)
    answer = operator.post("/tools/ping", fields, secure=True).content.decode()
    assert told in answer
    assert 'class="job"' not in answer


def test_there_are_no_other_tools(client_of: MakeClient) -> None:
    operator = browser_of("operator", client_of)
    assert operator.post("/tools/nmap", {"destination": "192.0.2.1"}, secure=True).status_code == 404


def test_a_button_that_is_refused_says_so_in_words(client_of: MakeClient) -> None:
    operator = browser_of("operator", client_of)
    page = operator.post("/actions/clear-neighbors", {"address": "x y"}, secure=True, follow=True)
    told = html.unescape(page.content.decode())
    assert "Nothing was done: address: 'x y' is not an IP address." in told

"""Every page at the size that the router is made for: none carries a whole list, and all parts can be
reached.

10,000 rules in an access list, 1,000 interfaces, and long lists of everything else.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver

from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import DOCUMENT
from tests.api.test_get_is_safe import STREAMS, _addresses
from tests.api.test_pages import browser_of

RULES, INTERFACES, OTHERS = 10_000, 1_000, 1_000
MOST_BYTES = 1_000_000
"""The limit for a page; a downloaded file may be longer."""
DOCUMENT_BYTES = 10_000_000
"""The limit for an answer to programs that is a document, or a difference of documents."""
FILES = ("configuration/download", "acls/text/", "table/")


def _net(number: int) -> str:
    return f"10.{number >> 8}.{number & 255}"


def large(action: str = "permit", mtu: int = 1500) -> dict[str, Any]:
    """The document; with other arguments each of its objects changes."""
    routing = DOCUMENT["routing"]
    neighbors = {
        f"{_net(n)}.2": {"remote_asn": 65001, "description": action, "ipv4_unicast": {}}
        for n in range(1, OTHERS + 1)
    }
    interfaces = {
        f"lan0.{n}": {
            "type": "sub_interface", "parent": "lan0", "vlan_id": n, "mtu": mtu,
            "addresses": [f"{_net(n)}.1/24"], "acl_in": ["edge-in"],
        }
        for n in range(1, INTERFACES + 1)
    }  # fmt: skip
    rules = {
        str(n): {"action": action, "source": f"{_net(n)}.0/24", "protocol": "tcp"}
        for n in range(1, RULES + 1)
    }
    entries = {str(n): {"action": action, "prefix": f"{_net(n)}.0/24"} for n in range(1, OTHERS + 1)}
    maps = {str(n): {"action": "permit", "set": {"metric": mtu}} for n in range(1, OTHERS + 1)}
    gateway = "10.10.0.2" if action == "permit" else "10.10.0.3"
    static = {f"172.16.{n >> 8}.{n & 255}/32": {"next_hops": [{"address": gateway}]} for n in range(OTHERS)}
    forwards = {
        f"f{n}": {"outside_interface": "wan0", "outside_port": 10_000 + n, "inside_address": gateway}
        for n in range(1, OTHERS + 1)
    }
    mappings = {
        f"m{n}": {"outside_address": f"172.20.{n >> 8}.{n & 255}", "inside_address": f"{_net(n)}.9"}
        for n in range(1, OTHERS + 1)
    }
    sides = {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"]}
    return {
        **DOCUMENT,
        "interfaces": {**DOCUMENT["interfaces"], **interfaces},
        "nat": {**sides, "port_forwards": forwards, "static": mappings},
        "acls": {"edge-in": {"rules": rules}},
        "routing": {
            "static": static,
            "bgp": {**routing["bgp"], "neighbors": {**routing["bgp"]["neighbors"], **neighbors}},
            "policy": {
                "prefix_lists": {"long": {"family": "ipv4", "rules": entries}},
                "route_maps": {"long": {"rules": maps}},
            },
        },
    }


@pytest.fixture
def program(client_of: MakeClient) -> ApiClient:
    """Revision 2 is the large document."""
    made = client_of("admin")
    answer = made.put("config", large())
    assert answer.status == 200, answer.body
    return made


@pytest.fixture
def browser(program: ApiClient, client_of: MakeClient) -> Client:
    return browser_of("admin", client_of)


def _page(browser: Client, path: str) -> str:
    response = browser.get(path, secure=True)
    assert isinstance(response, HttpResponse), path
    text = response.content.decode()
    assert response.status_code == 200, (path, text[:500])
    assert len(response.content) <= MOST_BYTES, (path, len(response.content))
    return text


def _following(page: str, place: str) -> str:
    """The page's link to the next part of the list at this place; empty at its end."""
    found = re.search(rf'<a[^>]*href="([^"]*#{place})" rel="next"', page)
    return html.unescape(found[1]).partition("#")[0] if found else ""


def _number(value: int) -> str:
    return f"{value:,}"


def _walk(browser: Client) -> None:
    fill = {
        "<any:path>": "acls/edge-in",
        "<any:name>": "edge-in",
        "<any:address>": f"{_net(1)}.2",
        "history/1": "history/2",
    }
    paths = {
        "history/2?against=1", "configuration/compare?from=1&to=2", "history/1/rollback", "interfaces/lan0",
        "interfaces/lan0.5", "policies/route-maps/long", "policies?kind=route_maps", "edit/interfaces/lan0",
        *(f"{kind}/{name}" for kind in ("object", "edit") for name in (
            "acls/edge-in", "routing/policy/prefix_lists/long", "routing/policy/route_maps/long")),
        "edit/acls/edge-in/rules/10", "edit/routing/bgp",
    }  # fmt: skip
    for path in _addresses(get_resolver()):
        for pattern, value in fill.items():
            path = path.replace(pattern, value)
        paths.add(path)
    seen = 0
    for path in sorted(paths - set(STREAMS)):
        if path.startswith(("api", "metrics")):
            continue
        response = browser.get(f"/{path}", secure=True)
        size = len(response.content) if isinstance(response, HttpResponse) else 0
        assert response.status_code < 500, path
        assert size <= MOST_BYTES or path.startswith(FILES), f"/{path}: {size} bytes"
        seen += response.status_code == 200
    assert seen > 40


def test_no_page_carries_a_long_list_whole_and_all_of_it_can_be_reached(
    browser: Client, program: ApiClient
) -> None:
    _walk(browser)
    for path in sorted(set(_addresses(get_resolver())) - set(STREAMS)):
        if path.startswith("api"):
            path = path.replace("revisions/1", "revisions/2").replace("{name}", "edge-in")
            answer = program.get(f"/{path}")
            size = len(answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body))
            assert size <= DOCUMENT_BYTES, f"/{path}: {size} bytes"

    first = _page(browser, "/history/2")
    objects = int(re.findall(r'id="changed".*?of ([\d,]+)</span>', first, re.S)[0].replace(",", ""))
    assert objects >= INTERFACES + 2 * OTHERS + 3, "interfaces, neighbors, static routes and three lists"
    second = _page(browser, _following(first, "changed"))
    last = _page(browser, f"/history/2?changed={objects}")
    assert f"{_number(objects)} of {_number(objects)}</span>" in last and not _following(last, "changed")
    titles = [title for page in (first, second, last) for title in re.findall(r"<h3>\s*(.*?)\s*<", page)]
    assert len(titles) == len(set(titles)) == 200 + (objects % 100 or 100)
    assert any("changed_of=" in link for link in re.findall(r'and <a href="([^"]+)"', first))
    alone = _page(browser, "/history/2?changed_of=/acls/edge-in")
    assert _following(alone, "changed")
    assert f"rules {RULES}:" in _page(browser, "/history/2?changed_of=/acls/edge-in&changed=100000")

    rules = _page(browser, "/acls/edge-in")
    found = re.findall(r'id="rule-(\d+)"', rules + _page(browser, _following(rules, "rules")))
    assert found == [str(number) for number in range(1, 401)]
    assert f'id="rule-{RULES}"' in _page(browser, "/acls/edge-in?rules=100000")
    page = _page(browser, "/acls/edge-in?q=10.20.7.0")
    assert re.findall(r'id="rule-(\d+)"', page) == [str(20 * 256 + 7)]
    assert 'id="rule-7777"' in _page(browser, "/acls/edge-in?rule=7777")
    assert browser.get("/acls/text/edge-in", secure=True).content.decode().count("\n") == RULES


def test_a_long_list_is_edited_in_parts(browser: Client) -> None:
    from webui.changes.models import ChangeSet

    def candidate() -> dict[str, Any]:
        return dict(ChangeSet.objects.get(state="open").document)

    moved = browser.post("/acls/move/edge-in", {"sequence": "7777", "direction": "up"}, secure=True)
    assert 'id="rule-7776"' in _page(browser, moved["Location"].partition("#")[0])
    bound = {"interface": ["lan0.1", "lan0.2", "lan0"], "acl_in": ["lan0.2"], "acl_out": ["lan0"]}
    assert browser.post("/acls/bind/edge-in", bound, secure=True).status_code == 302
    interfaces = candidate()["interfaces"]
    assert "acl_in" not in interfaces["lan0.1"]
    assert interfaces["lan0.2"]["acl_in"] == interfaces["lan0.900"]["acl_in"] == ["edge-in"]
    assert interfaces["lan0"]["acl_out"] == ["edge-in"]

    path = "/edit/routing/policy/prefix_lists/long"
    form = _page(browser, path)
    assert f"And {OTHERS - 200} more" in form
    fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form))
    posted = {name: html.unescape(value) for name, value in fields.items()}
    answer = browser.post(path, {**posted, "/description": "edited", "/family": "ipv4"}, secure=True)
    assert answer.status_code == 302, re.findall(r"field-error.*", answer.content.decode())
    long = candidate()["routing"]["policy"]["prefix_lists"]["long"]
    assert long["description"] == "edited" and len(long["rules"]) == OTHERS

    upload = {"document": json.dumps(large("deny", 1400))}
    assert browser.post("/configuration/upload", upload, secure=True).status_code == 302
    for path in ("/changes", "/changes?changed_of=/acls/edge-in", "/", "/acls/edge-in", "/interfaces"):
        _page(browser, path)

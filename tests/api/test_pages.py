"""Pages as a browser gets them, on a router in memory; their scripts are not run here."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from typing import Any

import pytest
from django.test import Client

from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory


def browser_of(role: str, client_of: MakeClient) -> Client:
    """A browser in which a user of this role is signed in."""
    from webui.accounts.models import User

    client_of(role)
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username=role), "django.contrib.auth.backends.ModelBackend")
    return browser


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    """An engineer's browser."""
    return browser_of("engineer", client_of)


def get(browser: Client, path: str, status: int = 200) -> str:
    """The page's text."""
    response = browser.get(path, secure=True)
    assert response.status_code == status, response.content.decode()[:2000]
    return response.content.decode()


def post(browser: Client, path: str, /, **fields: Any) -> str:
    """The page that follows."""
    return browser.post(path, fields, secure=True, follow=True).content.decode()


PAGES = (
    "/",
    "/interfaces",
    "/static-routes",
    "/bgp",
    "/bgp/search",
    "/bgp/search?family=ipv4",
    "/ospf",
    "/bfd",
    "/policies",
    "/policies?kind=route_maps",
    "/acls",
    "/nat",
    "/nat?kind=nat_sessions",
    "/forwarding",
    "/configuration",
    "/configuration/compare?from=1&to=running",
)


@pytest.mark.parametrize("path", PAGES)
def test_every_list_answers_every_reader(path: str, client_of: MakeClient) -> None:
    for role in ("viewer", "engineer"):
        assert "<h1" in get(browser_of(role, client_of), path)


def test_no_link_of_a_viewers_pages_leads_to_a_refusal(client_of: MakeClient) -> None:
    """Pages that a viewer may not open are offered nowhere."""
    viewer = browser_of("viewer", client_of)
    paths = {*PAGES, "/interfaces/lan0", "/bgp/neighbors/192.0.2.1", "/acls/edge-in", "/changes", "/history"}
    links = {
        link.partition("#")[0]
        for path in paths
        for link in re.findall(r'(?:href|data-href)="(/[^"]*)"', html.unescape(get(viewer, path)))
        if not link.startswith(("/static/", "/api/"))
    }
    assert len(links) > 15
    refused = [link for link in sorted(links) if viewer.get(link, secure=True).status_code == 403]
    assert refused == []


def test_a_route_map_shows_its_rules_and_its_users(client_of: MakeClient) -> None:
    engineer = client_of("engineer")
    maps = {"in": {"rules": {"10": {"action": "deny"}}}, "idle": {"rules": {}}}
    assert engineer.put("config/routing/policy/route_maps", maps).status == 200
    neighbor = {"remote_asn": 65001, "ipv4_unicast": {"route_map_in": "in"}}
    bgp = {"asn": 65000, "router_id": "192.0.2.9", "neighbors": {"192.0.2.1": neighbor}}
    assert engineer.put("config/routing/bgp", bgp).status == 200
    for role in ("viewer", "engineer"):
        page = get(browser_of(role, client_of), "/policies/route-maps/in")
        assert "deny</span>" in page
        assert "192.0.2.1" in page.split("<h2>Used by</h2>")[1]
        assert "Nothing uses it." in get(browser_of(role, client_of), "/policies/route-maps/idle")


def _rows(page: str, table: str) -> list[str]:
    body = page.split(f'id="{table}"')[1].split("<tbody>")[1].split("</tbody>", maxsplit=1)[0]
    return [re.sub(r"<[^>]+>", " ", row) for row in body.split("</tr>")[:-1]]


def _names(page: str, table: str) -> list[str]:
    return [row.split()[0] for row in _rows(page, table)]


@pytest.fixture
def many_routes(client_of: MakeClient) -> None:
    """Ten static routes run."""
    routes = {f"10.{n}.0.0/16": {"next_hops": [{"address": f"10.10.0.{20 - n}"}]} for n in range(1, 11)}
    assert client_of("engineer").put("config/routing/static", routes).status == 200


def test_a_list_sorts_by_value_and_filters_by_words(browser: Client, many_routes: None) -> None:
    shown = _names(get(browser, "/static-routes?sort=Prefix"), "static")
    assert shown == [f"10.{n}.0.0/16" for n in range(1, 11)]
    down = _names(get(browser, "/static-routes?sort=Prefix&desc=1"), "static")
    assert down[0] == "10.10.0.0/16"
    by_hop = _names(get(browser, "/static-routes?sort=Next+hop"), "static")
    assert by_hop[:2] == ["10.10.0.0/16", "10.9.0.0/16"]
    page = get(browser, "/static-routes?q=10.10.0.1+10.9")
    assert _names(page, "static") == ["10.9.0.0/16"]
    assert _names(get(browser, "/static-routes?q=10.10.0.19"), "static") == ["10.1.0.0/16"]
    assert "Nothing matches" in get(browser, "/static-routes?q=nowhere")
    assert 'value="10.10.0.1 10.9"' in page


def test_many_objects_are_removed_by_one_edit(
    browser: Client, many_routes: None, router: RouterInMemory
) -> None:
    from webui.changes.models import ChangeSet

    names = ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"]
    page = post(browser, "/table/static/act", action="delete", name=names)
    assert "3 static routes will be removed when you commit." in page
    change = ChangeSet.objects.get(state="open")
    assert set(change.document["routing"]["static"]) == {f"10.{number}.0.0/16" for number in range(4, 11)}
    assert len(change.base_document["routing"]["static"]) == 10
    assert change.version == 1 + ChangeSet().version, "one edit for the whole batch"
    assert page.count('class="removed"') == 3


def test_objects_are_disabled_and_enabled_together(browser: Client) -> None:
    from webui.changes.models import ChangeSet

    page = post(browser, "/table/interfaces/act", action="disable", name=["lan0", "wan0"])
    assert "2 interfaces will be disabled when you commit." in page
    change = ChangeSet.objects.get(state="open")
    enabled = {name: one.get("enabled", True) for name, one in change.document["interfaces"].items()}
    assert enabled == {"lan0": False, "lo1": True, "wan0": False}
    post(browser, "/table/interfaces/act", action="enable", name=["wan0"])
    change.refresh_from_db()
    assert change.document["interfaces"]["wan0"].get("enabled", True)
    assert "Enable</button>" not in get(browser, "/static-routes")


def test_what_is_used_is_not_removed_and_its_users_are_named(browser: Client, client_of: MakeClient) -> None:
    from webui.changes.models import ChangeSet

    client_of("engineer").merge("config/interfaces/lan0", {"acl_in": ["edge-in"]})
    for page in (
        post(browser, "/delete/acls/edge-in"),
        post(browser, "/table/acls/act", action="delete", name=["edge-in"]),
    ):
        assert "Access list edge-in is used by interface lan0" in html.unescape(page)
    assert all("edge-in" in change.document["acls"] for change in ChangeSet.objects.all())
    assert "lan0 in" in get(browser, "/acls")
    # An object can be removed together with the objects that use it.
    client_of("engineer").merge("config/interfaces/lan0", {"acl_in": None})
    assert "will be removed" in post(browser, "/table/acls/act", action="delete", name=["edge-in"])


def test_an_object_without_a_page_made_by_hand_has_one(client_of: MakeClient) -> None:
    client_of("engineer").put("config/routing/bgp/peer_groups/transit", {"remote_asn": 65010})
    client_of("engineer").merge(
        "config/routing/bgp/neighbors/192.0.2.1", {"peer_group": "transit", "remote_asn": None}
    )
    page = get(browser_of("viewer", client_of), "/object/routing/bgp/peer_groups/transit")
    assert "65010" in page
    assert "BGP neighbor 192.0.2.1" in page
    assert "/edit/" not in page
    get(browser_of("viewer", client_of), "/object/routing/bgp/peer_groups/nobody", status=404)


def test_a_list_is_exported_as_csv_and_json(browser: Client, client_of: MakeClient) -> None:
    hostile = {"description": "=cmd()", "remote_asn": 65010}
    client_of("engineer").put("config/routing/bgp/peer_groups/x", hostile)
    rows = list(csv.reader(io.StringIO(get(browser, "/table/bgp_peer_groups/export.csv?q=cmd"))))
    assert rows == [["Name", "Description", "Remote AS", "Members"], ["x", "'=cmd()", "65010", "0"]]
    assert len(list(csv.reader(io.StringIO(get(browser, "/table/bgp_peer_groups/export.csv?q=no"))))) == 1
    listed = json.loads(get(browser, "/table/bgp_neighbors/export.json"))
    assert listed[0]["name"] == "192.0.2.1"
    assert listed[0]["config"]["password"] == "********"
    assert listed[0]["state"]["state"] == "established"


def test_the_running_router_id_is_told_apart_from_the_candidates(browser: Client) -> None:
    post(browser, "/edit/routing/bgp", **{"/asn": "65000", "/router_id": "192.0.2.200"})
    page = get(browser, "/bgp")
    figures = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.split('class="figures"')[1].split("</dl>")[0]))
    assert "Router ID 192.0.2.129 192.0.2.200 after your commit" in figures


def test_a_long_list_is_cut_and_quick(browser: Client, client_of: MakeClient) -> None:
    routes = {f"10.{n // 250}.{n % 250}.0/24": {"next_hops": [{"address": "10.10.0.2"}]} for n in range(5000)}
    client_of("engineer").put("config/routing/static", routes)
    page = get(browser, "/static-routes")
    assert len(_rows(page, "static")) == 200
    assert "of 5,000" in page
    assert len(page.encode()) < 400_000
    last = get(browser, "/static-routes?sort=Prefix&page=25")
    assert _names(last, "static")[-1] == "10.19.249.0/24"


def test_an_area_that_is_nowhere_set_up_is_no_link_and_can_be_removed_while_named(
    browser: Client, client_of: MakeClient
) -> None:
    ospf = {"router_id": "192.0.2.129", "interfaces": {"lan0": {"area": "0.0.0.1"}}}
    client_of("engineer").put("config/routing/ospf", ospf)
    page = get(browser, "/ospf")
    assert "0.0.0.1" in page
    assert "/object/routing/ospf/areas/" not in page
    assert 'data-key="n"' in page, "the page's n adds an interface"
    post(browser, "/add/routing/ospf/areas", **{"@key": "0.0.0.1", "/type": "stub"})
    assert "/object/routing/ospf/areas/0.0.0.1" in get(browser, "/ospf")
    area = get(browser, "/object/routing/ospf/areas/0.0.0.1")
    assert "OSPF interface lan0" in area
    assert 'action="/delete/routing/ospf/areas/0.0.0.1"' in area


def test_a_nic_is_picked_from_those_present(browser: Client, router: RouterInMemory) -> None:
    from appliance.state.hardware import Hardware, NicState

    nics = (
        NicState(device="nic-lan", mac="52:54:00:00:00:01", pci="0000:00:03.0", driver="virtio"),
        NicState(device="nic-wan", mac="52:54:00:00:00:02"),
        NicState(device="pulled-out", mac="52:54:00:00:00:03", present=False),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(router.dataplane, "hardware", lambda: Hardware(driver="linux", nics=nics))
        page = get(browser, "/edit/interfaces/lan0")
    offers = page.split("data offers")[1].split("</table>")[0]
    assert "52:54:00:00:00:01" in offers
    assert "0000:00:03.0" in offers
    assert "pulled-out" not in offers
    chosen = [tag for tag in re.findall(r"<input[^>]*>", offers) if " checked" in tag]
    assert len(chosen) == 1
    said = html.unescape(re.findall(r'value="([^"]*)"', chosen[0])[0])
    assert said == '{"device": "nic-lan"}', "saving the form as it is changes nothing"


def test_every_table_is_asked_once_of_the_agent(browser: Client, router: RouterInMemory) -> None:
    """Tables of one page share an answer, and no page reads the whole document twice."""
    asked: list[str] = []
    whole = router.client._ask

    def counting(call: Any) -> Any:
        asked.append(call.path)
        return whole(call)

    get(browser, "/ospf")  # the hourly questions are asked now
    get(browser, "/history")  # and the mirror of the revisions is filled here
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(router.client, "_ask", counting)
        for path in PAGES[1:]:
            asked.clear()
            get(browser, path)
            assert len(asked) == len(set(asked)), (path, asked)
            assert asked.count("/v1/config") == 1, path

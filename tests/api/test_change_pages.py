"""Pages on edits, conflicts, rollbacks and confirmations: two users, one router in memory."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from appliance.state.commit_options import CommitOptions
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_pages import browser_of, get, post


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    """An engineer's browser."""
    return browser_of("engineer", client_of)


def fields(page: str) -> dict[str, Any]:
    """The content that the browser would post from the page's form."""
    form = page.split("data-object-form")[1].split("</form>", maxsplit=1)[0]
    form = re.sub(r"<template>.*?</template>", "", form, flags=re.S)
    found: dict[str, Any] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        boxed = 'type="checkbox"' in tag
        if name and not (boxed and "checked" not in tag):
            found.setdefault(name[1], []).append(html.unescape(value[1]) if value else "")
    for name, body in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.S):
        found[name] = [html.unescape(body)]
    for name, body in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r'value="([^"]*)" selected', body)
        found[name] = [html.unescape(chosen[1]) if chosen else ""]
    return found


def test_a_save_carries_only_what_the_user_changed(browser: Client, client_of: MakeClient) -> None:
    """B opened the form before A's commit of the MTU; B's description leaves A's MTU alone."""
    from webui.changes.models import ChangeSet

    opened = fields(get(browser, "/edit/interfaces/lan0"))
    assert client_of("engineer", "ann").merge("config/interfaces/lan0", {"mtu": 1400}).status == 200
    page = post(browser, "/edit/interfaces/lan0", **{**opened, "/description": "office"})
    assert "in your changes" in page
    lan0 = ChangeSet.objects.get(state="open").document["interfaces"]["lan0"]
    assert (lan0["mtu"], lan0["description"]) == (1400, "office")
    assert lan0["addresses"] == ["10.10.0.1/24"]


def test_a_field_that_both_changed_is_asked_about(browser: Client, client_of: MakeClient) -> None:
    from webui.changes.models import ChangeSet

    opened = fields(get(browser, "/edit/interfaces/lan0"))
    client_of("engineer", "ann").merge("config/interfaces/lan0", {"mtu": 1400, "description": "hall"})
    response = browser.post("/edit/interfaces/lan0", {**opened, "/mtu": "9000"}, secure=True)
    asked = html.unescape(response.content.decode())
    assert response.status_code == 422
    assert "somebody else has set this to 1400; it was its default when you opened the form" in asked
    assert 'data-take="1400"' in asked
    again = fields(response.content.decode())
    assert again["/mtu"] == ["9000"]
    assert "in your changes" in post(browser, "/edit/interfaces/lan0", **again)
    lan0 = ChangeSet.objects.get(state="open").document["interfaces"]["lan0"]
    assert (lan0["mtu"], lan0["description"]) == (9000, "hall")


def test_what_my_other_tab_saved_is_not_somebody_elses(browser: Client, router: RouterInMemory) -> None:
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    assert "in your changes" in post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "1400"})
    response = browser.post("/edit/interfaces/lan0", {**opened, "/mtu": "9000"}, secure=True)
    asked = html.unescape(response.content.decode())
    assert response.status_code == 422
    assert "your own changes have set this to 1400, as by another tab of yours; it was its default" in asked
    assert "somebody else" not in asked
    assert "in your changes" in post(browser, "/edit/interfaces/lan0", **fields(response.content.decode()))


def test_a_problem_that_a_saved_object_causes_elsewhere_is_told_at_once(
    browser: Client, router: RouterInMemory
) -> None:
    """It was told of lan0 alone, which nobody had touched, and only on the page of all changes."""
    opened = fields(get(browser, "/edit/interfaces/lo1"))
    saved = html.unescape(post(browser, "/edit/interfaces/lo1", **{**opened, "/addresses": "10.10.0.9/16"}))
    told = saved.partition("Before you commit: ")[2].partition("<")[0]
    assert "lan0" in told
    assert "overlaps 10.10.0.0/16 on lo1" in told
    page = html.unescape(get(browser, "/changes"))
    assert 'href="/edit/interfaces/lo1"' in page
    assert 'href="/edit/interfaces/lan0"' not in page


def test_an_uncommitted_list_is_not_asked_for_its_hits(browser: Client, router: RouterInMemory) -> None:
    """Each of the page's questions was a 404 in the console."""
    assert 'data-hits-of="/api/v1/counters/acls/edge-in' in get(browser, "/acls/edge-in")
    post(browser, "/add/acls", **{"@key": "new"})
    page = get(browser, "/acls/new")
    assert "<h1" in page
    assert "data-hits-of" not in page


def test_a_static_route_has_a_description_that_frr_does_not_get(
    browser: Client, client_of: MakeClient
) -> None:
    route = {"next_hops": [{"address": "10.10.0.2"}], "description": "the branch office"}
    answer = client_of("engineer").put("config/routing/static/198.51.100.0~124?dry_run=true", route)
    assert answer.status == 200
    assert answer.body["result"]["findings"] == []
    assert client_of("engineer").put("config/routing/static/198.51.100.0~124", route).status == 200
    assert "the branch office" in get(browser, "/static-routes")


def test_an_object_removed_meanwhile_is_not_added_unseen(browser: Client, client_of: MakeClient) -> None:
    opened = fields(get(browser, "/edit/interfaces/lo1"))
    client_of("engineer", "ann").delete("config/interfaces/lo1")
    response = browser.post("/edit/interfaces/lo1", {**opened, "/description": "x"}, secure=True)
    assert "was removed in the meantime" in response.content.decode()


def test_a_saved_secret_and_what_has_pages_of_its_own_stay(browser: Client, client_of: MakeClient) -> None:
    from webui.changes.models import ChangeSet

    opened = fields(get(browser, "/edit/routing/bgp"))
    client_of("engineer", "ann").put(
        "config/routing/bgp/neighbors/192.0.2.9",
        {"remote_asn": 65009, "ebgp_multihop": 2, "ipv4_unicast": {}},
    )
    post(browser, "/edit/routing/bgp", **{**opened, "/router_id": "192.0.2.200"})
    bgp = ChangeSet.objects.get(state="open").document["routing"]["bgp"]
    assert set(bgp["neighbors"]) == {"192.0.2.1", "192.0.2.9"}
    assert bgp["neighbors"]["192.0.2.1"]["password"].startswith("$sealed$")
    assert bgp["router_id"] == "192.0.2.200"


@pytest.mark.parametrize(("side", "mtu"), [("mine", 9000), ("theirs", 1400)])
def test_a_conflict_is_decided_by_one_click_and_can_be_committed(
    side: str, mtu: int, browser: Client, client_of: MakeClient, router: RouterInMemory
) -> None:
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "9000"})
    client_of("engineer", "ann").merge("config/interfaces/lan0", {"mtu": 1400})
    page = get(browser, "/changes")
    assert "no packet is lost" not in page, "nothing is known of what cannot be planned"
    conflict = page.split('id="conflicts"')[1].split("</section>")[0]
    values = [html.unescape(text) for text in re.findall(r'class="side">(.*?)</pre>', conflict, re.S)]
    assert values == ["(not there)", "9000", "1400"]
    assert " disabled" in page.split('id="commit-button"')[1].split(">")[0]

    decided = post(browser, "/changes/resolve", path="/interfaces/lan0/mtu", side=side)
    assert 'id="conflicts"' not in decided
    if side == "theirs":
        assert "You have no changes" in decided or 'id="commit-button"' not in decided
    else:
        assert " disabled" not in decided.split('id="commit-button"')[1].split(">")[0]
        post(browser, "/changes/commit", comment="mine", confirm_s="0")
    assert router.client.config().document["interfaces"]["lan0"]["mtu"] == mtu


def test_what_the_page_did_not_show_is_not_committed(browser: Client, router: RouterInMemory) -> None:
    """Another tab adds to the same changes: nobody saw their plan and impact."""
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "9000"})
    shown = fields(get(browser, "/changes"))
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/description": "from the other tab"})
    before = router.client.config()
    sent = {"comment": "one tab", "confirm_s": "0", "version": shown["version"]}
    refused = browser.post("/changes/commit", sent, secure=True)
    page = refused.content.decode()
    assert refused.status_code == 409 and "no longer those that this page showed" in page
    assert "from the other tab" in page and "one tab" in page
    assert router.client.config() == before
    post(browser, "/changes/commit", comment="both", confirm_s="0", version=fields(page)["version"])
    lan = router.client.config().document["interfaces"]["lan0"]
    assert (lan["mtu"], lan["description"]) == (9000, "from the other tab")


def test_several_conflicts_are_decided_one_by_one(browser: Client, client_of: MakeClient) -> None:
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "9000", "/description": "mine"})
    client_of("engineer", "ann").merge("config/interfaces/lan0", {"mtu": 1400, "description": "theirs"})
    page = post(browser, "/changes/resolve", path="/interfaces/lan0/mtu", side="mine")
    assert "1 to decide." in page
    page = post(browser, "/changes/resolve", path="/interfaces/lan0/description", side="theirs")
    assert "+ mtu: 9000" in page
    assert "description: mine" not in page


def test_a_rollback_is_previewed_in_its_own_direction(browser: Client, client_of: MakeClient) -> None:
    client_of("engineer").merge("config/interfaces/lan0", {"description": "new words"})
    assert 'id="rollback-button"' not in get(browser, "/history/1"), "no rollback without a look at it"
    page = get(browser, "/history/1/rollback")
    assert "- description: new words" in page
    assert "+ description" not in page
    assert 'class="plan-steps"' in page
    after = post(browser, "/history/rollback", revision="1", comment="back", confirm_s="0")
    assert "Rolled back to revision 1" in after
    assert get(browser, "/history/3/rollback", status=302) == ""
    assert "Revision 3 runs already." in get(browser, "/history/3")


def test_a_rollback_that_was_previewed_before_another_commit_is_shown_anew(
    browser: Client, client_of: MakeClient, router: RouterInMemory
) -> None:
    engineer = client_of("engineer")
    engineer.merge("config/interfaces/lan0", {"description": "second"})
    page = get(browser, "/history/1/rollback")
    seen = page.split('name="previewed_revision" value="')[1].partition('"')[0]
    engineer.merge("config/interfaces/lan0", {"mtu": 1400})
    running = router.client.config()
    again = post(browser, "/history/rollback", revision="1", previewed_revision=seen, confirm_s="0")
    assert "was committed since you looked" in again
    assert "- mtu: 1400" in again
    assert router.client.config().revision == running.revision, "nothing was rolled back"
    seen = again.split('name="previewed_revision" value="')[1].partition('"')[0]
    after = post(browser, "/history/rollback", revision="1", previewed_revision=seen, confirm_s="0")
    assert "Rolled back to revision 1" in after


def test_during_a_countdown_commit_explains_itself_and_rollback_is_one_click(
    browser: Client, client_of: MakeClient, router: RouterInMemory
) -> None:
    document = router.client.config().document
    document["system"] = {**document["system"], "banner": "unsure"}
    router.client.commit(document, CommitOptions(author="ann", confirm_s=600))
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "9000"})
    page = get(browser, "/changes")
    assert " disabled" in page.split('id="commit-button"')[1].split(">")[0]
    assert "Revision 2 waits for its confirmation" in page
    refused = browser.post("/changes/commit", {"comment": "x"}, secure=True)
    assert refused.status_code == 409
    assert "<b>Not committed.</b>" in refused.content.decode()
    form = page.split('id="rollback-now"')[0].rpartition("<form")[2]
    sent = dict(re.findall(r'name="(revision|confirm_s|comment)" value="([^"]*)"', form))
    post(browser, "/history/rollback", **sent)
    assert router.client.status().pending_confirm is None
    assert "banner" not in router.client.config().document["system"]


def test_after_a_timer_the_pages_say_what_happened(browser: Client, router: RouterInMemory) -> None:
    document = router.client.config().document
    document["system"] = {**document["system"], "banner": "nobody confirms me"}
    router.client.commit(document, CommitOptions(author="ann", confirm_s=600))
    assert "HX-Refresh" not in browser.get("/changes/pending?of=2", secure=True).headers
    # As the engine does when the time is over.
    expired = "Roll back to revision 1: revision 2 was not confirmed in time"
    router.client.rollback(1, CommitOptions(author="millrace", comment=expired))
    from webui import router_state

    router_state.forget()
    gone = browser.get("/changes/pending?of=2", secure=True)
    assert gone.headers["HX-Refresh"] == "true"
    page = re.sub(r"\s+", " ", get(browser, "/changes"))
    assert "Revision 2 was not confirmed in time and was rolled back. Revision 3 runs" in page
    assert "rolled back, not confirmed" in get(browser, "/history")
    assert "rolled back, not confirmed" in get(browser, "/history/2")
    assert "rolled back, not confirmed" not in get(browser, "/history/1")


def test_after_a_rollback_by_the_watch_the_page_is_loaded_anew_and_says_so(
    browser: Client, router: RouterInMemory
) -> None:
    document = router.client.config().document
    document["system"] = {**document["system"], "banner": "sessions or traffic get worse"}
    router.client.commit(document, CommitOptions(author="ann", watch_s=60))
    from webui import router_state

    router_state.forget()
    page = get(browser, "/changes")
    assert "/changes/pending?of=-2" in page
    assert "HX-Refresh" not in browser.get("/changes/pending?of=-2", secure=True).headers
    worse = "Roll back to revision 1: sessions or traffic got worse after revision 2"
    router.client.rollback(1, CommitOptions(author="millrace", comment=worse))
    router_state.forget()
    # The rollback is watched, too: the page showed another watch.
    shown = router.client.status().watch
    assert shown is not None and shown.revision == 3
    assert browser.get("/changes/pending?of=-2", secure=True).headers["HX-Refresh"] == "true"
    assert "HX-Refresh" not in browser.get("/changes/pending?of=-3", secure=True).headers
    page = re.sub(r"\s+", " ", get(browser, "/changes"))
    sentence = "Sessions or traffic got worse after revision 2, and it was rolled back automatically."
    assert f"{sentence} Revision 3 runs" in page
    assert "rolled back, sessions or traffic got worse" in get(browser, "/history")


def test_a_login_never_lands_in_a_fragment(db: None, router: RouterInMemory) -> None:
    stranger = Client(headers={"host": "testserver"})
    for path in ("/status", "/changes/pending", "/table/bgp_neighbors", "/dashboard/state", "/routes"):
        response = stranger.get(path, secure=True, headers={"HX-Request": "true"})
        assert response.status_code == 401, path
        assert b"password" not in response.content
    page = stranger.get("/bgp", secure=True)
    assert page.headers["Location"] == "/login?next=/bgp"


def test_after_a_login_one_is_where_one_typed(db: None, router: RouterInMemory) -> None:
    stranger = Client(headers={"host": "testserver"})
    sent: Any = {"secure": True, "headers": {"Referer": "https://testserver/edit/interfaces/lan0"}}
    for path in ("/edit/interfaces/lan0", "/changes/commit", "/delete/acls/edge-in"):
        assert stranger.post(path, {}, **sent).headers["Location"] == "/login?next=/edit/interfaces/lan0"
    elsewhere: Any = {"secure": True, "headers": {"Referer": "https://elsewhere.example/x"}}
    assert stranger.post("/changes/commit", {}, **elsewhere).headers["Location"] == "/login?next=/"


def test_above_a_form_of_a_commit_the_end_is_said_in_its_place_and_nothing_is_loaded(
    browser: Client, router: RouterInMemory
) -> None:
    from webui import router_state

    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "9000"})
    document = router.client.config().document
    document["system"] = {**document["system"], "banner": "unsure"}
    router.client.commit(document, CommitOptions(author="ann", confirm_s=600, watch_s=60))
    router_state.forget()
    assert "/changes/pending?of=2-2&amp;held=1" in get(browser, "/changes")
    waits = browser.get("/changes/pending?of=2-2&held=1", secure=True)
    # The countdown that reloads the page is for pages without a form.
    assert "rolls back in" in waits.content.decode() and "data-then" not in waits.content.decode()
    router.client.rollback(1, CommitOptions(author="omar", confirm_s=0, watch_s=0))
    router_state.forget()
    over = browser.get("/changes/pending?of=2-2&held=1", secure=True)
    assert (over.status_code, "HX-Refresh" in over.headers) == (286, False)
    words = re.sub(r"\s+", " ", over.content.decode())
    assert "Revision 2 no longer awaits confirmation; revision 3 runs." in words
    assert 'href="/history/2#watch-report"' in words
    # No commit waits when the page is made, so it does not poll, and nothing appears above the form.
    assert "/changes/pending" not in get(browser, "/changes")

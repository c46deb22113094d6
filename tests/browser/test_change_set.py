"""Edits collect, survive a reload, show errors in place, and wait for a confirmation if requested."""

from __future__ import annotations

from appliance.state.commit_options import CommitOptions
from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, wait_until

SAVE = "form[data-object-form] button[type=submit]"


def test_an_interface_is_edited_and_the_change_set_survives_a_reload(page: BrowserPage) -> None:
    page.open("/interfaces/lan0")
    page.submit('a[data-key="e"]')
    page.fill(page.field("/description"), "the office, second floor")
    page.submit(SAVE)
    assert page.path == "/interfaces/lan0"
    page.sees("the office, second floor")
    page.sees("1 change", "#change-badge")
    page.open("/interfaces")
    page.sees("changed", "#interfaces")
    page.driver.refresh()
    page.sees("1 change", "#change-badge")
    page.open("/changes")
    page.sees("+ description: the office, second floor")
    page.submit('form[action="/changes/revert"] button')
    page.sees("You have no changes")


def test_what_was_typed_and_not_saved_survives_a_reload(page: BrowserPage) -> None:
    page.open("/add/routing/static")
    page.fill(page.field("@key"), "198.51.100.0/25")
    page.click("[data-add-row]")
    page.fill(page.field("/next_hops/0/address"), "10.20.0.2")
    page.driver.refresh()
    page.sees("is back", "[data-draft-note]")
    assert page.find(page.field("@key")).get_attribute("value") == "198.51.100.0/25"
    assert page.find(page.field("/next_hops/0/address")).get_attribute("value") == "10.20.0.2"


def test_a_draft_that_was_left_is_offered_to_the_next_new_object(page: BrowserPage) -> None:
    """It filled the next form, as if the page had been reloaded."""
    key = page.field("@key")
    page.open("/add/routing/static")
    page.fill(key, "198.51.100.0/25")
    page.open("/static-routes")
    page.open("/add/routing/static")
    page.sees("did not save it", "[data-draft-note]")
    assert page.find(key).get_attribute("value") == ""
    assert "reloaded" not in page.text("[data-draft-note]")
    page.click("[data-draft-restore]")
    page.sees("is back", "[data-draft-note]")
    assert "reloaded" not in page.text("[data-draft-note]")
    assert page.find(key).get_attribute("value") == "198.51.100.0/25"
    page.submit("[data-draft-cancel]")
    page.open("/add/routing/static")
    assert page.find(key).get_attribute("value") == ""
    assert not page.find("[data-draft-note]").is_displayed(), "who cancels has done with it"


def test_an_error_stands_beside_its_field_and_nothing_typed_is_lost(page: BrowserPage) -> None:
    page.open("/edit/interfaces/lan0")
    page.fill(page.field("/mtu"), "90000")
    page.fill(page.field("/addresses"), "10.10.0.1/24\n10.10.0.300")
    page.submit(SAVE)
    page.sees("must be at most 9216", '.field[data-pointer="/interfaces/lan0/mtu"]')
    page.sees("10.10.0.300: needs a prefix length", '.field[data-pointer="/interfaces/lan0/addresses"]')
    assert page.find(page.field("/mtu")).get_attribute("value") == "90000"
    assert page.find(page.field("/mtu")).get_attribute("aria-invalid") == "true"
    assert "10.10.0.300" in (page.find(page.field("/addresses")).get_attribute("value") or "")
    assert page.driver.switch_to.active_element.get_attribute("aria-invalid") == "true"
    page.fill(page.field("/mtu"), "1400")
    page.fill(page.field("/addresses"), "10.10.0.1/24")
    page.submit(SAVE)
    page.sees("in your changes", "#toasts")


def test_a_key_that_cannot_be_one_is_told_beside_it(page: BrowserPage) -> None:
    page.open("/add/routing/static")
    page.fill(page.field("@key"), "198.51.100.1/24")
    page.click(page.field("/blackhole"))
    page.submit(SAVE)
    page.sees("host bits", "form[data-object-form] .field-bad")
    assert page.find(page.field("@key")).get_attribute("value") == "198.51.100.1/24"
    assert page.find(page.field("/blackhole")).is_selected()


def test_a_cross_reference_that_leads_nowhere_stops_the_commit_with_its_place(page: BrowserPage) -> None:
    page.open("/edit/interfaces/lan0")
    # The page offers only existing names; another client may send any.
    page.driver.execute_script(
        "const name = document.createElement('input');"
        "Object.assign(name, {type: 'hidden', name: '/acl_in', value: 'nowhere'});"
        "document.querySelector('form[data-object-form]').append(name)"
    )
    page.submit(SAVE)
    page.open("/changes")
    page.sees("/interfaces/lan0/acl_in")
    assert not page.find("#commit-button").is_enabled()


def test_the_countdown_runs_and_confirming_keeps_the_revision(page: BrowserPage, lab: LiveLab) -> None:
    before = lab.agent.status().revision
    page.open("/edit/system")
    page.fill(page.field("/banner"), "confirm me")
    page.submit(SAVE)
    page.open("/changes")
    page.choose("#confirm_s", "60")
    page.submit("#commit-button")
    page.sees("rolls back in")
    first = page.text(".countdown-large")
    wait_until(lambda: page.text(".countdown-large") != first, timeout_s=5, what="the countdown runs")
    page.open("/bgp")
    page.sees(f"confirm r{before + 1}", "#status")
    page.open("/changes")
    page.submit("#confirm-button")
    page.sees("Confirmed: this revision stays.", "#toasts")
    assert lab.agent.status().pending_confirm is None
    assert lab.agent.status().revision == before + 1
    lab.agent.rollback(before, CommitOptions(author="test"))


def test_without_a_confirmation_the_page_tells_that_it_rolled_back(page: BrowserPage, lab: LiveLab) -> None:
    document = lab.agent.config().document
    before = lab.agent.status().revision
    document["system"] = {**document["system"], "banner": "nobody confirms me"}
    lab.agent.commit(document, CommitOptions(author="test", comment="unconfirmed", confirm_s=4))
    page.open("/changes")
    page.sees("rolls back in")
    wait_until(lambda: lab.agent.status().pending_confirm is None, timeout_s=15, what="the rollback")
    wait_until(lambda: "rolls back in" not in page.text("body"), timeout_s=15, what="the page follows")
    assert lab.agent.config().document["system"].get("banner", "") != "nobody confirms me"
    assert lab.agent.status().revision >= before

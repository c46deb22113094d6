"""The Commit button stays in place, whatever becomes known while the page is open."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from appliance.state.commit_options import CommitOptions
from lab import addressing as at
from tests.browser import chromium
from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, wait_until

SAVE = "form[data-object-form] button[type=submit]"
WAITING = "#waiting"


@pytest.fixture(params=(1440, 390), ids=("wide", "narrow"))
def page_of_width(page: BrowserPage, request: pytest.FixtureRequest) -> Iterator[BrowserPage]:
    """A laptop's page, and a telephone's."""
    chromium.set_viewport(page.driver, request.param, 900)
    yield page
    chromium.set_viewport(page.driver, 1440, 900)


def _change(page: BrowserPage) -> None:
    page.open("/edit/interfaces/lan0")
    page.fill(page.field("/description"), "not committed yet")
    page.submit(SAVE)


def _aim(page: BrowserPage) -> dict[str, float]:
    """Where the button is in the window, with the comment being typed."""
    field = page.find("#comment")
    field.clear()
    field.send_keys("half a sentence")
    page.driver.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", page.find("#commit-button")
    )
    return _place(page)


def _place(page: BrowserPage) -> dict[str, float]:
    place: dict[str, float] = page.driver.execute_script(
        "const {x, y} = document.querySelector('#commit-button').getBoundingClientRect();"
        "return {x, y: y + window.scrollY}"
    )
    return place


def _commit(
    lab: LiveLab, banner: str, *, watch_s: float | None = None, confirm_s: float | None = None
) -> int:
    """Somebody else's commit; returns the revision that was there before."""
    before = lab.agent.status().revision
    document = lab.agent.config().document
    document["system"] = {**document["system"], "banner": f"{banner}, after {before}"}
    lab.agent.commit(
        document, CommitOptions(author="another", comment=banner, watch_s=watch_s, confirm_s=confirm_s)
    )
    return before


def _open(page: BrowserPage, words: str) -> None:
    """The page of changes, once it knows of a commit: it asks the agent once a second at most."""
    end = time.monotonic() + 20
    page.open("/changes")
    while words not in page.text(WAITING):
        assert time.monotonic() < end, (words, page.text(WAITING))
        page.open("/changes")


def _typed(page: BrowserPage) -> str:
    field = page.driver.switch_to.active_element
    assert field.get_attribute("id") == "comment", "the focus is where it was"
    return field.get_attribute("value") or ""


def test_the_end_of_a_watch_moves_nothing(page_of_width: BrowserPage, lab: LiveLab) -> None:
    page = page_of_width
    _change(page)
    before = _commit(lab, "watched", watch_s=8, confirm_s=0)
    _open(page, f"revision {before + 1} are watched for")
    aimed = _aim(page)
    wait_until(lambda: lab.agent.status().watch is None, timeout_s=60, what="the watch ends")
    page.sees(f"The watch of revision {before + 1} has ended", WAITING)
    assert _place(page) == aimed
    assert _typed(page) == "half a sentence"
    lab.agent.rollback(before, CommitOptions(author="test", watch_s=0, confirm_s=0))


def test_what_gets_worse_later_moves_nothing(page: BrowserPage, lab: LiveLab) -> None:
    _change(page)
    before = _commit(lab, "watched for 30 seconds", confirm_s=0)
    _open(page, f"revision {before + 1} are watched for")
    page.sees("Nothing is worse than before so far", WAITING)
    aimed = _aim(page)
    host = lab.topology.namespaces.lan
    try:
        lab.topology.run(host, ["ip", "link", "set", "eth0", "down"])
        # On a slow machine the watch is over before the page asks again; that would move it as well.
        late = ("Worse than before", "has ended")
        wait_until(
            lambda: any(words in page.text(WAITING) for words in late),
            timeout_s=60,
            what=f"{late} in {page.text(WAITING)!r}",
        )
        assert _place(page) == aimed
        assert _typed(page) == "half a sentence"
    finally:
        # The host lost its IPv6 address and its routes with the link.
        for words in (
            ["link", "set", "eth0", "up"],
            ["address", "replace", str(at.LAN.far_v6), "dev", "eth0", "nodad"],
            ["route", "replace", "default", "via", str(at.LAN.near_v4.ip)],
            ["-6", "route", "replace", "default", "via", str(at.LAN.near_v6.ip)],
        ):
            lab.topology.run(host, ["ip", *words])
    lab.agent.rollback(before, CommitOptions(author="test", watch_s=0, confirm_s=0))


def test_a_commit_of_another_that_waits_moves_nothing(page: BrowserPage, lab: LiveLab) -> None:
    _change(page)
    wait_until(lambda: lab.agent.status().watch is None, timeout_s=150, what="no watch goes on")
    page.open("/changes")
    aimed = _aim(page)
    before = _commit(lab, "confirm me", confirm_s=120)
    page.sees(f"confirm r{before + 1}", "#status")
    assert _place(page) == aimed
    assert _typed(page) == "half a sentence"
    page.submit("#commit-button")
    page.sees("Not committed.")
    lab.agent.rollback(before, CommitOptions(author="test", watch_s=0, confirm_s=0))

"""Two users commit: the second sees the commit before his, cancels it, and his own is made."""

from __future__ import annotations

import copy

import pytest

from appliance.state.commit_options import CommitOptions
from appliance.state.health import HEALTH
from frr_config.version import FrrVersion
from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, wait_until

ENTRIES = 5000
"""FRR 8 takes a list in portions of a hundred: all of it would take minutes."""


def test_the_commit_in_the_way_is_seen_and_cancelled(page: BrowserPage, lab: LiveLab) -> None:
    version = FrrVersion.parse(lab.agent.state(HEALTH).parts["frr"].daemons["bgpd"].version)
    if version.major > 8:
        pytest.skip(f"FRR {version} takes a long list too quickly for a person; tests/api holds the pages")
    before = lab.agent.config()
    page.open("/edit/interfaces/lan0")
    page.fill(page.field("/description"), "behind the others")
    page.submit("form[data-object-form] button[type=submit]")
    long = copy.deepcopy(before.document)
    long["routing"]["policy"].setdefault("prefix_lists", {})["customers"] = {
        "rules": {
            str(number): {"action": "permit", "prefix": f"10.{number // 256}.{number % 256}.0/24"}
            for number in range(1, ENTRIES + 1)
        }
    }
    first = lab.agent.commit(long, CommitOptions(author="ann", comment="customers", wait_s=0))
    wait_until(
        lambda: (running := lab.agent.commits().running) is not None and running.state == "applying",
        timeout_s=60,
        what="ann's commit is applied",
    )
    page.open("/changes")
    page.sees("applies step 1 of", "#commits")
    page.sees("ann commits", "#status")
    page.sees("yours would wait at position 1", "#queue")
    page.submit("#commit-button")
    page.sees("waits at position 1, behind the commit of ann", "#commits li.own")
    page.sees("Your commit goes on", "#commit-progress")
    # The list refreshes every second: the button stays under the pointer all the same.
    page.click_slowly(f"#cancel-{first.request_id}", pressed_s=2.5)
    page.accept()
    page.sees("The commit of ann stops before its next step and is undone.", "#toasts")
    page.sees(f"Revision {before.revision + 1} runs.", "#toasts", timeout_s=120)
    page.sees("You have no changes.")
    error = lab.agent.commit_result(first.request_id).error
    assert error is not None
    assert error["message"] == f"cancelled by {lab.environment['USERNAME']}, undone"
    document = lab.agent.config().document
    assert document["interfaces"]["lan0"]["description"] == "behind the others"
    assert "customers" not in document["routing"]["policy"].get("prefix_lists", {})
    assert lab.agent.status().drift == []

"""The story of the first evening: a static route, an access list that stops the LAN host's ping, and back.

::

    lan host ── lan0 [router] wan0 ── wan host
       └ ping ──────✗ (after the commit)
"""

from __future__ import annotations

from tests.browser.browser_page import BrowserPage
from tests.live_lab import LiveLab, wait_until

WAN_HOST = "203.0.113.10"


def _answered(lab: LiveLab, count: int = 3, *, wait_s: int = 10) -> int:
    argv = ["ping", "-n", "-q", "-i", "0.05", "-W", str(wait_s), "-c", str(count), WAN_HOST]
    output = lab.topology.run(lab.topology.namespaces.lan, argv, check=False)
    words = next(line for line in output.splitlines() if "received" in line).split(", ")
    return int(next(word for word in words if "received" in word).split()[0])


def _hits(page: BrowserPage) -> int:
    return int("".join(filter(str.isdecimal, page.text("#rule-10 [data-hits=packets]"))) or 0)


def test_deny_ping_commit_and_roll_back(page: BrowserPage, lab: LiveLab) -> None:
    revision = lab.agent.status().revision
    wait_until(lambda: _answered(lab) == 3, timeout_s=20, what="pings pass before the commit")

    page.open("/static-routes")
    page.click('a[data-key="n"]')
    page.fill(page.field("@key"), "198.51.100.0/24")
    page.click("[data-add-row]")
    page.fill(page.field("/next_hops/0/address"), "192.0.2.1")
    page.submit("form[data-object-form] button[type=submit]")
    page.sees("198.51.100.0/24", "#static")

    page.open("/add/acls")
    page.fill(page.field("@key"), "no-ping")
    page.submit("form[data-object-form] button[type=submit]")
    assert page.path == "/acls/no-ping"
    page.click('a[data-key="n"]')
    page.choose(page.field("/action"), "deny")
    page.fill(page.field("/protocol"), "icmp")
    page.fill(page.field("/source"), "10.10.0.2/32")
    page.submit("form[data-object-form] button[type=submit]")
    page.fill("#paste-rules", "20 permit any any\n30 permit ipv6 any any any # v6 too")
    page.submit("#paste form button[type=submit]")
    page.sees("v6 too", "#rules")
    page.click('input[name="acl_in"][value="lan0"]')
    page.submit('form[action^="/acls/bind/"] button')
    page.sees("no-ping", ".page-head h1")

    page.click("#change-badge")
    page.sees("Access list no-ping")
    page.sees("Static route 198.51.100.0/24")
    page.sees("those that rule 10 of no-ping denies are dropped", "#impact")
    page.sees("The steps themselves reset no session and lose no packet", "#impact")
    assert len(page.all(".plan-steps li")) >= 3
    page.fill("#comment", "no ping from the LAN host")
    page.submit("#commit-button")
    page.sees("You have no changes")
    page.sees("no ping from the LAN host", "#revisions")

    assert _answered(lab, wait_s=1) == 0
    page.open("/acls/no-ping")
    wait_until(lambda: _hits(page) >= 3, timeout_s=10, what="the page counts the denied pings")
    counted = _hits(page)
    _answered(lab, wait_s=1)
    wait_until(lambda: _hits(page) > counted, timeout_s=10, what="the counter rises without a reload")

    page.open(f"/history/{revision}")
    page.submit("#rollback-link")
    page.sees("What the rollback changes")
    page.fill("#comment", "ping again")
    page.submit("#rollback-button")
    page.sees("ping again", "#revisions")
    assert _answered(lab) == 3
    page.open("/acls")
    page.sees("No access list: everything is forwarded.")

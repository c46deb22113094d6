"""Long commits: which waits for which, their progress, and cancelling, over REST and on the pages."""

from __future__ import annotations

import html
import io
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from appliance.cli.errors import CommandError
from appliance.cli.session import Session
from appliance.errors import CommitCancelled
from appliance.state.commit_options import CommitOptions
from tests.api.conftest import Answer, ApiClient, MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.api.test_change_pages import fields
from tests.api.test_pages import browser_of, get, post
from tests.unit.engine.toys import ToyStep
from webui import router_state
from webui.accounts.models import AuditEntry
from webui.changes.holding import hold
from webui.changes.models import ChangeSet
from webui.problems import from_exception
from webui.ui import commits

ASYNC = {"Prefer": "respond-async"}
TWO_STEPS = {
    "interfaces": {"lan0": {"mtu": 1400}},
    "routing": {"static": {"203.0.113.0/24": {"next_hops": [{"address": "10.10.0.2"}]}}},
}
_DEADLINE_S = 60.0


class Halt:
    """The data plane's steps end only when the test releases them."""

    def __init__(self, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.released = threading.Event(), threading.Event()
        make = router.dataplane.apply

        def slowly(step: ToyStep) -> None:
            make(step)
            self.reached.set()
            assert self.released.wait(_DEADLINE_S)

        monkeypatch.setattr(router.dataplane, "apply", slowly)


@pytest.fixture
def halt(router: RouterInMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Halt]:
    made = Halt(router, monkeypatch)
    yield made
    made.released.set()
    # So that nothing of it continues after the router has ended.
    wait_until(lambda: router.client.commits().running is None and not router.client.commits().queued)


def wait_until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + _DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def begun(client: ApiClient, halt: Halt) -> str:
    """The id of a commit that halts after its first step."""
    answer = client.merge("config", TWO_STEPS, headers=ASYNC)
    assert answer.status == 202
    assert answer.headers["Location"] == f"/api/v1/commits/{answer.body['request_id']}"
    assert halt.reached.wait(_DEADLINE_S)
    return str(answer.body["request_id"])


def queued(client: ApiClient, reader: ApiClient, path: str, value: Any) -> str:
    """The id of a commit that waits for its turn."""
    answer = client.put(path, value, headers=ASYNC)
    assert answer.status == 202
    request_id = str(answer.body["request_id"])
    wait_until(lambda: request_id in [one["id"] for one in reader.get("commits").body["queued"]])
    return request_id


def ended(client: ApiClient, request_id: str) -> dict[str, Any]:
    """How a commit ended."""
    answer: list[Answer] = []

    def is_over() -> bool:
        answer[:] = [client.get(f"commits/{request_id}")]
        return bool(answer[0].body["state"] != "running")

    wait_until(is_over)
    return dict(answer[0].body)


def test_a_commit_that_is_not_waited_for_says_how_far_it_is(
    client_of: MakeClient, halt: Halt, viewer: ApiClient
) -> None:
    ann, bob = client_of("engineer", "ann"), client_of("engineer", "bob")
    first = begun(ann, halt)
    progress = viewer.get(f"commits/{first}").body["progress"]
    assert (progress["state"], progress["step"], progress["steps"]) == ("applying", 1, 2)
    assert (progress["author"], progress["doing"]) == ("ann", "set interface lan0")
    second = queued(bob, viewer, "config/interfaces/lan0/description", "office")
    found = viewer.get("commits").body
    assert (found["running"]["id"], found["most_queued"]) == (first, 16)
    assert [(one["id"], one["position"], one["ahead"]) for one in found["queued"]] == [
        (second, 1, ["the commit of ann"])
    ]
    assert viewer.get("status").body["commits"]["running"]["author"] == "ann"
    halt.released.set()
    assert (ended(ann, first)["revision"], ended(ann, first)["progress"]) == (2, None)
    # The base of the other one is no longer the running revision.
    error = ended(bob, second)["error"]
    assert (error["kind"], error["message"]) == ("conflict", "the change is based on revision 1, but 2 runs")
    assert viewer.get("commits").body["running"] is None


def test_an_engineer_cancels_what_waits_and_what_runs(
    client_of: MakeClient, halt: Halt, viewer: ApiClient, router: RouterInMemory
) -> None:
    before = router.client.config().document
    live = dict(router.dataplane.state)
    ann, bob = client_of("engineer", "ann"), client_of("engineer", "bob")
    first = begun(ann, halt)
    second = queued(ann, viewer, "config/interfaces/lan0/description", "office")
    for role in ("viewer", "operator"):
        assert client_of(role).post(f"commits/{first}/cancel").status == 403
    assert bob.post(f"commits/{second}/cancel").body["state"] == "queued"
    assert ended(ann, second)["error"]["message"] == "cancelled by bob before it changed anything"
    assert bob.post(f"commits/{first}/cancel").body["cancelled_by"] == "bob"
    halt.released.set()
    result = ended(ann, first)
    assert (result["state"], result["error"]["kind"]) == ("failed", "cancelled")
    assert result["error"]["message"] == "cancelled by bob, undone"
    assert router.client.config().document == before
    assert router.dataplane.state == live
    over = bob.post(f"commits/{first}/cancel")
    assert over.status == 409 and "is over" in over.body["detail"]
    assert bob.post("commits/nothing/cancel").status == 404
    assert bob.post("commits/no%20id/cancel").status == 404
    audited = AuditEntry.objects.filter(action="config.cancel").order_by("id")
    assert [(one.username, one.result) for one in audited][:2] == [("bob", "done"), ("bob", "done")]
    assert "the commit of ann" in [one.detail for one in audited]


def test_whoever_waits_for_a_cancelled_commit_is_told_who_did_it(router: RouterInMemory, halt: Halt) -> None:
    caught: list[Exception] = []
    document = router.client.config().document
    document["interfaces"]["lan0"]["mtu"] = 1400

    def commit() -> None:
        try:
            router.client.commit(document, CommitOptions(author="ann", request_id="first"))
        except CommitCancelled as error:
            caught.append(error)

    waiting = threading.Thread(target=commit)
    waiting.start()
    assert halt.reached.wait(_DEADLINE_S)
    router.client.cancel_commit("first", author="bob")
    halt.released.set()
    waiting.join(_DEADLINE_S)
    (error,) = caught
    problem = from_exception(error)
    assert problem is not None
    assert (problem.status, problem.detail) == (409, "cancelled by bob, undone")


# The command line.


class Terminal(io.StringIO):
    """A stderr that counts as a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_command_line_tells_how_far_it_is_and_cancels(
    router: RouterInMemory, halt: Halt, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("appliance.cli.commits.sys", SimpleNamespace(stderr=terminal))
    ann, bob = Session(router.client, "ann"), Session(router.client, "bob")
    assert bob.line("show commits") == "no commit is under way"
    said: list[str] = []

    def commit() -> None:
        ann.line("configure; set interfaces lan0 mtu 1400")
        try:
            ann.line("commit comment smaller")
        except CommitCancelled as error:
            said.append(str(error))

    waiting = threading.Thread(target=commit)
    waiting.start()
    assert halt.reached.wait(_DEADLINE_S)
    wait_until(lambda: "applies step 1 of 1: set interface lan0" in terminal.getvalue())
    first, second = bob.line("show commits").splitlines()
    assert ": commit of ann (smaller), since 2" in first
    assert second == "  applies step 1 of 1: set interface lan0"
    with pytest.raises(CommandError, match="cancel commit"):
        bob.line("cancel")
    assert bob.line("cancel commit") == (
        "the commit of ann stops before its next step and is undone: show commits"
    )
    with pytest.raises(CommandError, match="no commit that can be cancelled"):
        bob.line("cancel commit")
    assert "was cancelled by bob" in bob.line("show commits")
    halt.released.set()
    waiting.join(_DEADLINE_S)
    assert said == ["cancelled by bob, undone"]
    assert ann.candidate is not None and ann.candidate.changed
    assert "mtu" not in router.client.config().document["interfaces"]["lan0"]


# The pages.


@pytest.fixture
def browser(client_of: MakeClient, monkeypatch: pytest.MonkeyPatch) -> Client:
    """An engineer's browser, whose pages wait for nothing."""
    monkeypatch.setattr(commits, "PAGE_WAIT_S", 0.0)
    return browser_of("engineer", client_of)


def text(page: str) -> str:
    """The page's text."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)))


def fresh(browser: Client, path: str) -> str:
    """The page with what is known now."""
    router_state.forget()
    return get(browser, path)


def committed(browser: Client, halt: Halt) -> str:
    """Commit a change set on the page: the address of the page that follows."""
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "1400"})
    answer = browser.post("/changes/commit", {"comment": "smaller"}, secure=True)
    assert answer.status_code == 302
    assert halt.reached.wait(_DEADLINE_S)
    return str(answer.headers["Location"])


def test_the_page_shows_how_far_it_is_and_how_it_ended(browser: Client, halt: Halt) -> None:
    address = committed(browser, halt)
    request_id = address.partition("commit=")[2]
    page = fresh(browser, address)
    assert "Your commit goes on." in text(page)
    assert "Yours smaller Commit applies step 1 of 1: set interface lan0" in text(page)
    assert f'action="/changes/cancel/{request_id}?commit={request_id}"' in page
    assert " disabled" in page.split('id="commit-button"')[1].split(">")[0]
    assert "engineer commits 1/1" in text(page.split('id="commits-chip"')[1].split("</a>")[0])
    # A user who comes back without the address finds it, too.
    assert "Your commit goes on." in text(fresh(browser, "/changes"))
    assert "hx-trigger" in get(browser, f"/changes/outcome/{request_id}")
    halt.released.set()
    wait_until(lambda: "Your commit is over" in get(browser, f"/changes/outcome/{request_id}"))
    finished = browser.post(f"/changes/finished/{request_id}", secure=True)
    assert finished.headers["HX-Redirect"] == "/changes"
    after = text(fresh(browser, "/changes"))
    assert "Revision 2 runs." in after
    assert "You have no changes." in after
    assert "Commits under way" not in after


def test_a_commit_is_cancelled_on_the_page_and_the_changes_stay(browser: Client, halt: Halt) -> None:
    address = committed(browser, halt)
    request_id = address.partition("commit=")[2]
    page = text(post(browser, f"/changes/cancel/{request_id}?commit={request_id}"))
    assert "The commit of engineer stops before its next step and is undone." in page
    assert "Your commit goes on." in page
    halt.released.set()
    wait_until(lambda: "Your commit is over" in get(browser, f"/changes/outcome/{request_id}"))
    browser.post(f"/changes/finished/{request_id}", secure=True)
    after = fresh(browser, "/changes")
    assert "Not committed. cancelled by engineer, undone." in text(after)
    assert " disabled" not in after.split('id="commit-button"')[1].split(">")[0]
    assert "1400" in after


def test_others_see_who_commits_and_where_they_would_stand(
    browser: Client, halt: Halt, client_of: MakeClient, viewer: ApiClient
) -> None:
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/mtu": "9000"})
    ann = client_of("engineer", "ann")
    first = begun(ann, halt)
    queued(ann, viewer, "config/interfaces/lan0/description", "office")
    page = text(fresh(browser, "/changes"))
    assert "ann Commit applies step 1 of 2: set interface lan0" in page
    assert "ann Commit waits at position 1, behind the commit of ann" in page
    assert "yours would wait at position 2" in page
    assert f"/changes/cancel/{first}" in fresh(browser, "/changes/commits")
    looking = fresh(browser_of("viewer", client_of), "/changes/commits")
    assert "applies step 1 of 2" in text(looking)
    assert "/changes/cancel/" not in looking


def test_a_commit_on_the_page_waits_for_its_turn(
    browser: Client, halt: Halt, client_of: MakeClient, viewer: ApiClient
) -> None:
    opened = fields(get(browser, "/edit/interfaces/lan0"))
    post(browser, "/edit/interfaces/lan0", **{**opened, "/description": "hall"})
    begun(client_of("engineer", "ann"), halt)
    answer = browser.post("/changes/commit", {"comment": "hall"}, secure=True)
    address = str(answer.headers["Location"])
    wait_until(lambda: viewer.get("commits").body["queued"])
    assert "Yours hall Commit waits at position 1, behind the commit of ann" in text(fresh(browser, address))


@pytest.mark.parametrize("was_made", [True, False])
def test_a_commit_whose_result_is_no_longer_kept_does_not_hold_its_change_set(
    was_made: bool, browser: Client, engineer: ApiClient, halt: Halt, router: RouterInMemory
) -> None:
    request_id = committed(browser, halt).partition("commit=")[2]
    halt.released.set()
    wait_until(lambda: "Your commit is over" in get(browser, f"/changes/outcome/{request_id}"))
    (kept,) = (router.directory / "jobs").glob(f"{request_id}.json")
    kept.unlink()
    (number,) = [one["id"] for one in engineer.get("changes?state=open").body["items"]]
    if not was_made:
        # As after a reinstallation of the router: neither the result nor the revision exists.
        ChangeSet.objects.filter(pk=number).update(commit_request=str(uuid.uuid4()))
        request_id = ChangeSet.objects.get(pk=number).commit_request
    # A request to the agent takes a minute at most.
    ChangeSet.objects.filter(pk=number).update(updated_at=timezone.now() - timedelta(minutes=2))
    assert "Your commit is over" in get(browser, f"/changes/outcome/{request_id}")
    finished = browser.post(f"/changes/finished/{request_id}", secure=True)
    assert finished.headers["HX-Redirect"] == "/changes"
    assert "The result of that commit is no longer kept." in text(fresh(browser, "/changes"))
    found = engineer.get(f"changes/{number}").body
    assert (found["state"], found["committed_revision"]) == (("committed", 2) if was_made else ("open", None))
    assert engineer.delete(f"changes/{number}").status == (409 if was_made else 204)


def test_nothing_is_edited_under_a_commit_that_somebody_waits_for(
    engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The edit would be in no revision, and its change set would be closed."""
    number = engineer.post("changes").body["id"]
    path, commit = f"config/interfaces/lan0/mtu?change={number}", router.client.commit
    assert engineer.put(path, 1400).status == 200
    late: list[Answer] = []

    def edit() -> None:
        late.append(engineer.put(path, 1300))
        late.append(engineer.delete(f"changes/{number}"))
        late.append(engineer.post(f"changes/{number}/commit"))

    def meanwhile(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(router.client, "commit", commit)
        edit()
        made = commit(*given, **more)
        edit()
        return made

    monkeypatch.setattr(router.client, "commit", meanwhile)
    assert engineer.post(f"changes/{number}/commit").body["revision"] == 2
    assert [one.status for one in late] == [409] * 6
    assert "still runs" in late[0].body["detail"]
    assert engineer.get("config/interfaces/lan0/mtu").body == 1400
    assert engineer.get("revisions").body["total"] == 2


def test_an_edit_that_came_before_the_commit_is_not_lost(
    engineer: ApiClient, router: RouterInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = engineer.post("changes").body["id"]
    path = f"config/interfaces/lan0/mtu?change={number}"
    assert engineer.put(path, 1400).status == 200

    def outpaced(change: ChangeSet, request_id: str) -> None:
        monkeypatch.setattr("webui.changes.services.hold", hold)
        assert engineer.put(path, 1300).status == 200
        hold(change, request_id)

    monkeypatch.setattr("webui.changes.services.hold", outpaced)
    assert engineer.post(f"changes/{number}/commit").status == 409
    assert engineer.post(f"changes/{number}/commit").status == 200
    assert router.client.config().document["interfaces"]["lan0"]["mtu"] == 1300

"""The counted cost of a save and a commit on their way to the agent: questions to it, and passes over the
whole document in both processes.

A pass is anything that reads or writes most of a large document: JSON read or written, be it for the socket,
the database or the disk, models validated or dumped, a deep copy. A change that adds one has to give its
reason here.
"""

from __future__ import annotations

import copy
import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from django.test import Client

from appliance.client.connections import Connections
from appliance.config.document import RouterConfig
from appliance.state.commit_options import CommitOptions
from tests.api.conftest import ApiClient, MakeClient
from tests.api.router_in_memory import DOCUMENT, RouterInMemory

ROUTES = {
    f"10.{200 + n // 250}.{n % 250}.0/24": {"next_hops": [{"address": "10.10.0.2"}]} for n in range(600)
}
LARGE = {**DOCUMENT, "routing": {**DOCUMENT["routing"], "static": ROUTES}}
_LARGE_BYTES = len(json.dumps(ROUTES)) // 2


@dataclass
class Way:
    """The counts between two moments."""

    asked: list[str] = field(default_factory=list)
    passes: Counter[str] = field(default_factory=Counter)

    @property
    def cost(self) -> tuple[list[str], int]:
        """The questions to the agent, and the number of passes."""
        return self.asked, self.passes.total()


Counting = Callable[[], AbstractContextManager[Way]]


@pytest.fixture
def counting(router: RouterInMemory, viewer: ApiClient, monkeypatch: pytest.MonkeyPatch) -> Counting:
    """Counts within its context, in the web half and in the agent, which runs in a thread here."""
    router.client.commit(LARGE, CommitOptions(author="setup"))
    assert viewer.get("revisions").status == 200  # the history is mirrored
    under_way: list[Way] = []
    ask, dumps, loads, deepcopy = Connections.ask, json.dumps, json.loads, copy.deepcopy
    validate, dump = RouterConfig.model_validate_json, RouterConfig.model_dump

    def passed(kind: str, size: int) -> None:
        if under_way and size >= _LARGE_BYTES:
            under_way[-1].passes[kind] += 1

    def asking(self: Connections, method: str, path: str, *more: Any, **options: Any) -> Any:
        if under_way:
            under_way[-1].asked.append(f"{method} {path.removeprefix('/v1/')}")
        return ask(self, method, path, *more, **options)

    def dumping(value: Any, *more: Any, **options: Any) -> str:
        text = dumps(value, *more, **options)
        passed("json.dumps", len(text))
        return text

    def loading(text: Any, *more: Any, **options: Any) -> Any:
        passed("json.loads", len(text))
        return loads(text, *more, **options)

    def validating(text: Any, **options: Any) -> RouterConfig:
        passed("validate", len(text))
        return validate(text, **options)

    def dumping_models(self: RouterConfig, **options: Any) -> dict[str, Any]:
        plain = dump(self, **options)
        passed("model_dump", len(dumps(plain)))
        return plain

    def copying(value: Any, *more: Any) -> Any:
        copied = deepcopy(value, *more)
        passed("deepcopy", len(dumps(value, default=str)) if isinstance(value, (dict, list)) else 0)
        return copied

    # Django remembers which function writes JSON for PostgreSQL.
    monkeypatch.setattr(
        "django.db.backends.postgresql.operations.get_json_dumps",
        lambda encoder: json.dumps if encoder is None else partial(json.dumps, cls=encoder),
    )
    monkeypatch.setattr(Connections, "ask", asking)
    monkeypatch.setattr(json, "dumps", dumping)
    monkeypatch.setattr(json, "loads", loading)
    monkeypatch.setattr(copy, "deepcopy", copying)
    monkeypatch.setattr(RouterConfig, "model_validate_json", validating)
    monkeypatch.setattr(RouterConfig, "model_dump", dumping_models)

    @contextmanager
    def count() -> Iterator[Way]:
        way = Way()
        under_way.append(way)
        try:
            yield way
        finally:
            under_way.remove(way)

    return count


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    """A signed-in engineer."""
    from webui.accounts.models import User

    client_of("engineer")
    browser = Client()
    browser.force_login(User.objects.get(username="engineer"), "django.contrib.auth.backends.ModelBackend")
    return browser


def _opened(browser: Client, path: str) -> dict[str, str]:
    """The form's record of the object on which it was opened."""
    page = browser.get(path, secure=True).content.decode()
    found = re.search(r'name="@base" value="([^"]*)"', page)
    assert found is not None
    return {"@base": html.unescape(found[1])}


def _save(browser: Client, opened: dict[str, str], hostname: str) -> None:
    answer = browser.post("/edit/system", {**opened, "/hostname": hostname}, secure=True)
    assert answer.status_code == 302, answer.content


def _change(engineer: ApiClient) -> str:
    return str(engineer.post("changes", {"title": "counted"}).body["id"])


PASSWORD = {"password": "battery-staple"}
NEIGHBOR = "config/routing/bgp/neighbors/192.0.2.1"


def test_a_save_of_a_page_is_one_question(counting: Counting, browser: Client) -> None:
    opened = _opened(browser, "/edit/system")
    with counting() as way:
        _save(browser, opened, "first")
    # To the agent and read there, its text; both documents of the new change set and the edited one, stored.
    assert way.cost == (["POST check"], 6), way
    opened = _opened(browser, "/edit/system")
    with counting() as way:
        _save(browser, opened, "second")
    # Both documents of the change set; to the agent and read there, its text; the edited one is stored.
    assert way.cost == (["POST check"], 6), way


def test_a_save_on_what_runs_no_more_is_made_anew(
    counting: Counting, browser: Client, router: RouterInMemory, viewer: ApiClient
) -> None:
    opened = _opened(browser, "/edit/system")
    running = router.client.config().document
    router.client.commit({**running, "acls": {}}, CommitOptions(author="console"), base_revision=2)
    with counting() as way:
        _save(browser, opened, "first")
    assert way.asked == ["POST check"] * 2
    change = viewer.get("changes").body["items"][0]
    assert change["base_revision"] == 3
    document = viewer.get(f"changes/{change['id']}").body["document"]
    assert document == {**viewer.get("config").body, "system": {"hostname": "first"}}
    assert "acls" not in document


def test_a_refused_save_is_judged_by_what_runs(
    counting: Counting, browser: Client, router: RouterInMemory
) -> None:
    _opened(browser, "/edit/system")
    running = router.client.config().document
    router.client.commit(
        {**running, "acls": {**running["acls"], "new": {"rules": {"10": {"action": "deny"}}}}},
        CommitOptions(author="console"),
    )
    # The page was opened before there was the list, by what this process knows.
    answer = browser.post("/add/acls", {"@key": "new"}, secure=True)
    assert answer.status_code == 422 and "new exists already" in answer.content.decode()


def test_an_edit_of_a_change_set_asks_the_agent_only_to_seal(counting: Counting, engineer: ApiClient) -> None:
    change = _change(engineer)
    with counting() as way:
        assert engineer.merge(f"config?change={change}", {"system": {"hostname": "collected"}}).status == 200
    # Both documents of the change set; the digest of the new one, which is stored.
    assert way.cost == ([], 4), way
    with counting() as way:
        assert engineer.merge(f"{NEIGHBOR}?change={change}", PASSWORD).status == 200
    assert way.cost == (["POST seal"], 8), way


def test_a_dry_run_is_one_question(counting: Counting, engineer: ApiClient, router: RouterInMemory) -> None:
    with counting() as way:
        answer = engineer.merge("config?dry_run=true", {"system": {"hostname": "tried"}})
    assert (answer.status, [one["path"] for one in answer.body["diff"]]) == (200, ["/system/hostname"])
    assert way.cost == (["POST edits/plan"], 0), way
    assert router.client.status().revision == 2
    change = _change(engineer)
    with counting() as way:
        path = f"config?dry_run=true&change={change}"
        assert engineer.merge(path, {"system": {"hostname": "tried"}}).status == 200
    # Both documents; to the agent and read there, its text.
    assert way.cost == (["POST plan"], 5), way


@pytest.mark.parametrize(
    ("path", "patch"), [("config", {"system": {"hostname": "patched"}}), (NEIGHBOR, PASSWORD)]
)
def test_a_write_over_rest_is_one_question(
    path: str, patch: dict[str, Any], counting: Counting, engineer: ApiClient, viewer: ApiClient
) -> None:
    with counting() as way:
        assert engineer.merge(path, patch).body["revision"] == 3
    # The agent writes the revision.
    assert way.cost == (["POST edits/commit"], 1), way
    with counting() as way:
        newest = viewer.get("revisions?limit=1").body["items"][0]
    assert (newest["number"], newest["author"], way.asked) == (3, "engineer", ["GET revisions"])


def test_a_commit_of_a_change_set_is_one_question(counting: Counting, engineer: ApiClient) -> None:
    change = _change(engineer)
    assert engineer.merge(f"config?change={change}", {"system": {"hostname": "collected"}}).status == 200
    with counting() as way:
        assert engineer.get(f"changes/{change}/plan").body["problems"] == []
    assert way.cost == (["POST plan"], 5), way
    with counting() as way:
        assert engineer.post(f"changes/{change}/commit").body["revision"] == 3
    # Both documents; to the agent and read there, and the revision on the disk. The plan left its text.
    assert way.cost == (["POST commit"], 5), way


def test_a_commit_of_a_page_is_one_question(counting: Counting, browser: Client, viewer: ApiClient) -> None:
    _save(browser, _opened(browser, "/edit/system"), "first")
    with counting() as way:
        assert browser.post("/changes/commit", {"comment": "by page"}, secure=True).status_code == 302
    assert way.cost == (["POST commit"], 6), way
    assert viewer.get("status").body["revision"] == 3


def test_a_change_set_whose_base_runs_no_more_is_merged(
    counting: Counting, engineer: ApiClient, router: RouterInMemory
) -> None:
    change = _change(engineer)
    assert engineer.merge(f"config?change={change}", {"system": {"hostname": "collected"}}).status == 200
    running = router.client.config().document
    router.client.commit({**running, "acls": {}}, CommitOptions(author="console"))
    with counting() as way:
        assert engineer.post(f"changes/{change}/commit").body["revision"] == 4
    assert way.asked == ["POST commit", "GET config", "POST commit", "GET revisions", "GET revisions"]
    document = router.client.config().document
    assert document["system"]["hostname"] == "collected" and "acls" not in document


def test_a_page_fetches_what_runs_only_when_it_is_another(counting: Counting, browser: Client) -> None:
    assert browser.get("/interfaces", secure=True).status_code == 200
    with counting() as way:
        assert browser.get("/interfaces", secure=True).status_code == 200
    assert way.asked.count("GET config") == 1 and way.passes.total() == 0, way

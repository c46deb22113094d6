"""A damaged revision, as each surface of the web half reports it."""

from __future__ import annotations

import json
from pathlib import Path

from django.core.cache import cache
from django.test import Client

from appliance.engine.recording import Running
from appliance.state.commit_options import CommitOptions
from tests.api.conftest import ApiClient
from tests.api.router_in_memory import DOCUMENT, RouterInMemory
from webui.accounts.models import User


def cut_off(router: RouterInMemory, number: int) -> None:
    """The object of a revision, and its agent has read it since."""
    store = router._engine._committer.store
    folder = Path(store._revisions).parent
    digest = json.loads((folder / f"revisions/{number:08d}.json").read_bytes())["digest"]
    (found,) = (folder / "objects").glob(f"{digest}.*")
    found.write_bytes(found.read_bytes()[:20])
    store._objects._sound.clear()
    store.check_newest()


def commit(router: RouterInMemory, hostname: str) -> int:
    changed = {**DOCUMENT, "system": {"hostname": hostname}}
    answer = router.client.commit(changed, CommitOptions(author="ann"))
    assert answer.revision is not None
    return answer.revision


def test_damage_in_history_is_told_and_costs_itself(admin: ApiClient, router: RouterInMemory) -> None:
    damaged = commit(router, "one")
    commit(router, "two")
    assert admin.get("status").body["damage"] == []
    cut_off(router, damaged)
    status = admin.get("status").body
    assert status["damage"][0].startswith(f"revision {damaged} is damaged (its document is lost")
    assert status["health"]["revisions"]["state"] == "up"
    storage = status["storage"]
    assert 0 < storage["revisions"]["used_bytes"] < storage["revisions"]["quota_bytes"]
    assert storage["results"]["quota_bytes"] > 0
    results = {one["number"]: one["result"] for one in admin.get("revisions").body["items"]}
    assert results[damaged] == "damaged"
    assert set(results.values()) == {"damaged", "done"}
    answer = admin.get(f"revisions/{damaged}")
    assert answer.status == 404
    assert f"revision {damaged} is damaged and cannot be used" in answer.body["detail"]
    refused = admin.post("rollback", {"revision": damaged})
    assert refused.status == 404
    assert admin.get(f"revisions/{damaged + 1}").status == 200


def test_a_damaged_newest_one_is_on_every_page(admin: ApiClient, router: RouterInMemory) -> None:
    """As after a start that fell back: the running revision is older than the newest."""
    older = commit(router, "one")
    committer = router._engine._committer
    before = committer.running
    newest = commit(router, "two")
    cut_off(router, newest)
    committer.running = Running(older, before.prepared)
    cache.clear()
    status = admin.get("status").body
    told = f"revision {older} runs instead"
    assert told in status["damage"][0]
    assert status["health"]["revisions"]["state"] == "damaged"
    browser = Client()
    browser.force_login(User.objects.get(username="admin"))
    page = browser.get("/", secure=True).content.decode()
    assert "damaged revisions" in page
    state = browser.get("/dashboard/state", secure=True)
    shown = page + (state.content.decode() if state.status_code == 200 else "")
    assert told in shown
    # The check of the router's health may have raised its alarm by now, or not.
    assert "degraded" in page or "1 major" in page
    listed = browser.get("/history", secure=True).content.decode()
    assert '<span class="tag tag-bad">damaged</span>' in listed

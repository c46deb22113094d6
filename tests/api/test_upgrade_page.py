"""The page of upgrades, as an admin's browser gets it; the script that sends the file is not run here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client

from appliance.upgrade import attempt, grubenv, trial
from appliance.upgrade.attempt import Request
from appliance.upgrade.install import perform
from appliance.upgrade.progress import Progress, Reporter
from tests.api.conftest import MakeClient
from tests.api.router_in_memory import RouterInMemory
from tests.unit.upgrade.appliance_on_disk import Appliance, appliance_in, file_system


@pytest.fixture
def appliance(tmp_path: Path) -> Appliance:
    found = appliance_in(tmp_path)
    trial.decide(found.machine)
    return found


@pytest.fixture
def router(appliance: Appliance) -> Iterator[RouterInMemory]:
    from django.conf import settings

    from webui.agent import replace_agent

    with RouterInMemory(upgrade_paths=appliance.paths) as running:
        replace_agent(running.client)
        before, settings.AGENT_SOCKET = settings.AGENT_SOCKET, str(running.socket)
        cache.clear()
        yield running
        settings.AGENT_SOCKET = before
        replace_agent(None)


@pytest.fixture
def browser(client_of: MakeClient) -> Client:
    return _browser_of("admin", client_of)


def _browser_of(role: str, client_of: MakeClient) -> Client:
    from webui.accounts.models import User

    client_of(role)
    browser = Client(headers={"host": "testserver"})
    browser.force_login(User.objects.get(username=role), "django.contrib.auth.backends.ModelBackend")
    return browser


def _get(browser: Client, path: str = "/upgrade") -> str:
    response = browser.get(path, secure=True)
    assert response.status_code == 200
    return response.content.decode()


def test_a_fresh_router(browser: Client) -> None:
    text = _get(browser)
    assert 'id="upgrade-form"' in text
    assert "1.0.0" in text
    assert "empty" in text
    assert "hx-get" not in text.split('id="upgrade-progress"')[1].split(">")[0]


def test_from_the_file_to_the_decision(browser: Client, appliance: Appliance, router: RouterInMemory) -> None:
    appliance.upload(file_system())
    assert "Install and reboot" in _get(browser)
    assert browser.post("/upgrade/install", {}, secure=True).status_code == 302
    request = Request.model_validate_json(appliance.paths.request.read_bytes())
    assert (request.action, request.reboot, request.author) == ("install", True, "admin")

    moving = _get(browser, "/upgrade/progress")
    assert 'hx-trigger="every 2s"' in moving
    assert "starting" in moving
    assert "Install and reboot" not in _get(browser)

    appliance.paths.request.unlink()
    perform(appliance.machine, request, Reporter(appliance.paths.progress))
    appliance.boot()
    appliance.runs(version="2.0.0")
    appliance.paths.progress.unlink()
    assert "Slot b is on trial" in _get(browser, "/upgrade/progress")

    trial.decide(appliance.machine, trial.Patience(interval_s=0, calm=1))
    over = browser.get("/upgrade/progress", secure=True)
    assert over.headers["HX-Refresh"] == "true"
    page = _get(browser)
    assert "kept" in page
    assert "Boot this" in page and "Although it is older" in page
    browser.post("/upgrade/switch", {}, secure=True)
    assert "is older than 2.0.0" in _get(browser) and not appliance.paths.request.exists()
    browser.post("/upgrade/switch", {"allow_downgrade": "1"}, secure=True)
    assert Request.model_validate_json(appliance.paths.request.read_bytes()).allow_downgrade


def test_a_downgrade_is_warned_of_and_ticked(
    browser: Client, appliance: Appliance, router: RouterInMemory
) -> None:
    appliance.upload(file_system())
    assert 'name="allow_downgrade"' not in _get(browser)
    appliance.runs(version="2.1.0")
    page = _get(browser)
    assert "Version 2.0.0 is older than 2.1.0, which runs." in page
    assert 'name="allow_downgrade"' in page
    assert "Install and reboot" not in page
    browser.post("/upgrade/install", {"reboot": "0"}, secure=True)
    assert "older than 2.1.0" in _get(browser)
    assert not appliance.paths.request.exists()
    browser.post("/upgrade/install", {"reboot": "0", "allow_downgrade": "1"}, secure=True)
    assert Request.model_validate_json(appliance.paths.request.read_bytes()).allow_downgrade


def test_only_installed(browser: Client, appliance: Appliance, router: RouterInMemory) -> None:
    appliance.upload(file_system())
    browser.post("/upgrade/install", {"reboot": "0"}, secure=True)
    request = Request.model_validate_json(appliance.paths.request.read_bytes())
    assert not request.reboot
    appliance.paths.request.unlink()
    perform(appliance.machine, request, Reporter(appliance.paths.progress))
    router.upgrade_service.working = False
    assert "slot b waits to be booted" in _get(browser)
    assert browser.post("/upgrade/switch", {}, secure=True).status_code == 302
    assert router.upgrade_service.begun == 2


def test_a_failure_is_told(browser: Client, appliance: Appliance) -> None:
    Reporter(appliance.paths.progress).say(Progress(state="failed", percent=0, detail="the <disk> fails"))
    assert "The upgrade failed: the &lt;disk&gt; fails" in _get(browser)


def test_why_it_was_returned_from(browser: Client, appliance: Appliance) -> None:
    last = attempt.Attempt(version="2", slot="b", from_slot="a", author="ann", started_at=attempt.now())
    attempt.write(appliance.paths.attempt, attempt.ended(last, "returned", "the link of <wan0> is not back"))
    assert "the link of &lt;wan0&gt; is not back" in _get(browser)


def test_a_refusal_is_told_on_the_page(browser: Client) -> None:
    response = browser.post("/upgrade/install", {}, secure=True, follow=True)
    assert "there is no upgrade file" in response.content.decode()


def test_the_file_can_be_removed(browser: Client, appliance: Appliance) -> None:
    appliance.upload(file_system())
    browser.post("/upgrade/forget", {}, secure=True)
    assert not appliance.paths.upload.exists()


def test_a_reboot_is_waited_out(browser: Client, appliance: Appliance, router: RouterInMemory) -> None:
    """A missing answer of the agent is not the end: the page keeps polling."""
    grubenv.change(appliance.paths.environment_block, **{"try": "b"})
    router.stop()
    assert browser.get("/upgrade/progress", secure=True).status_code == 503
    text = _get(browser)
    assert "does not answer" in text
    assert 'hx-trigger="every 2s"' in text


def test_only_admins(client_of: MakeClient, router: RouterInMemory) -> None:
    for role in ("viewer", "operator", "engineer"):
        browser = _browser_of(role, client_of)
        assert browser.get("/upgrade", secure=True).status_code == 403
        for action in ("install", "switch", "forget"):
            assert browser.post(f"/upgrade/{action}", {}, secure=True).status_code == 403


def test_a_router_without_slots(browser: Client, appliance: Appliance) -> None:
    appliance.paths.command_line.write_text("quiet\n")
    text = _get(browser)
    assert "was not started from an image with two slots" in text
    assert 'id="upgrade-form"' not in text

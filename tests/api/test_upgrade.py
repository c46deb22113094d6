"""Upgrades through REST, agent and upload, on an appliance made of files: only systemd is not real."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache

from appliance.upgrade import attempt, grubenv, slots, trial
from appliance.upgrade.attempt import Request
from appliance.upgrade.install import perform
from appliance.upgrade.progress import Progress, Reporter
from tests.api.conftest import Answer, ApiClient
from tests.api.router_in_memory import RouterInMemory
from tests.unit.upgrade.appliance_on_disk import Appliance, appliance_in, file_system

PART_BYTES = 300_000


@pytest.fixture
def appliance(tmp_path: Path) -> Appliance:
    return appliance_in(tmp_path)


@pytest.fixture
def router(appliance: Appliance) -> Iterator[RouterInMemory]:
    """The router of the API's fixtures, on this appliance."""
    from django.conf import settings

    from webui.agent import replace_agent

    with RouterInMemory(upgrade_paths=appliance.paths) as running:
        replace_agent(running.client)
        before, settings.AGENT_SOCKET = settings.AGENT_SOCKET, str(running.socket)
        cache.clear()
        yield running
        settings.AGENT_SOCKET = before
        replace_agent(None)


def _part(admin: ApiClient, data: bytes, offset: int, size: int) -> Answer:
    path = f"upgrade/file?offset={offset}&size={size}"
    return admin("PUT", path, raw=data, content_type="application/octet-stream")


def _send(admin: ApiClient, path: Path) -> list[Answer]:
    whole = path.read_bytes()
    return [
        _part(admin, whole[offset : offset + PART_BYTES], offset, len(whole))
        for offset in range(0, len(whole), PART_BYTES)
    ]


def _big() -> bytes:
    """A file system whose upgrade file has several parts."""
    from random import Random

    return Random(3).randbytes(1 << 20)


def test_the_whole_way(admin: ApiClient, appliance: Appliance, router: RouterInMemory) -> None:
    answers = _send(admin, appliance.upgrade_file(_big()))
    assert [answer.status for answer in answers] == [200] * 4
    assert answers[0].body["manifest"]["version"] == "2.0.0"
    assert admin.get("upgrade").body["upload"]["version"] == "2.0.0"
    begun = admin.post("upgrade/install", {"deadline_s": 120})
    assert begun.status == 202
    assert router.upgrade_service.begun == 1
    assert admin.get("upgrade").body["progress"]["state"] == "starting"

    # The work of the service that systemd would have started.
    request = Request.model_validate_json(appliance.paths.request.read_bytes())
    assert (request.action, request.author, request.deadline_s) == ("install", "admin", 120)
    assert admin.post("upgrade/install", {}).status == 409
    appliance.paths.request.unlink()
    perform(appliance.machine, request, Reporter(appliance.paths.progress))
    router.upgrade_service.working = False
    shown = admin.get("upgrade").body
    assert shown["progress"]["state"] == "rebooting"
    assert shown["slots"]["next"] == "b"
    assert shown["attempt"]["outcome"] == "pending"

    appliance.boot()
    appliance.runs(version="2.0.0")
    appliance.paths.progress.unlink()
    assert admin.get("upgrade").body["slots"]["on_trial"]
    trial.decide(appliance.machine, trial.Patience(interval_s=0, calm=1))
    shown = admin.get("upgrade").body
    assert (shown["slots"]["running"], shown["slots"]["good"], shown["slots"]["on_trial"]) == (
        "b",
        "b",
        False,
    )
    assert shown["attempt"]["outcome"] == "kept"
    actions = {entry["action"]: entry["target"] for entry in admin.get("audit").body["items"]}
    assert actions["upgrade.install"] == "2.0.0"
    assert "upgrade.send" in actions


def test_a_downgrade_is_told_and_has_to_be_meant(
    admin: ApiClient, appliance: Appliance, router: RouterInMemory
) -> None:
    appliance.runs(version="2.1.0")
    answers = _send(admin, appliance.upgrade_file(_big()))
    assert answers[0].body["manifest"]["older"] is True
    assert admin.get("upgrade").body["upload"]["older"] is True
    refused = admin.post("upgrade/install", {})
    assert refused.status == 409
    assert "version 2.0.0 is older than 2.1.0" in refused.body["detail"]
    assert router.upgrade_service.begun == 0
    assert admin.post("upgrade/install", {"allow_downgrade": True}).status == 202
    request = Request.model_validate_json(appliance.paths.request.read_bytes())
    assert request.allow_downgrade
    targets = [entry["target"] for entry in admin.get("audit").body["items"]]
    assert "2.0.0, downgrade allowed" in targets


def test_commits_wait_while_a_slot_is_on_trial(
    admin: ApiClient, appliance: Appliance, router: RouterInMemory
) -> None:
    """The old version must still be able to read the data it returns to."""
    appliance.start("b", tried=True)
    router.stop()
    router.start()
    refused = admin.merge("config/system", {"hostname": "other"})
    assert refused.status == 409
    assert "on trial" in refused.body["detail"]
    grubenv.change(appliance.paths.environment_block, good="b")
    assert admin.merge("config/system", {"hostname": "other"}).status == 200


def test_a_strangers_file_is_refused_with_its_first_part(admin: ApiClient, appliance: Appliance) -> None:
    answers = _send(admin, appliance.upgrade_file(_big(), key="stranger.pem"))
    assert answers[0].status == 409
    assert "not signed by the maker" in answers[0].body["detail"]
    assert {answer.status for answer in answers} == {409}
    assert admin.get("upgrade").body["upload"] is None
    assert admin.post("upgrade/install", {}).status == 404


def test_another_data_plane_is_refused_with_the_first_part(admin: ApiClient, appliance: Appliance) -> None:
    answer = _send(admin, appliance.upgrade_file(_big(), dataplane="linux"))[0]
    assert answer.status == 409
    assert "this router has vpp" in answer.body["detail"]


def test_an_upload_goes_on_where_it_ended(admin: ApiClient, appliance: Appliance) -> None:
    whole = appliance.upgrade_file(_big()).read_bytes()
    size = len(whole)
    assert _part(admin, whole[:PART_BYTES], 0, size).status == 200
    late = _part(admin, whole[2 * PART_BYTES : 3 * PART_BYTES], 2 * PART_BYTES, size)
    assert late.status == 409
    assert f"{PART_BYTES} bytes of the upgrade file are here" in late.body["detail"]
    assert _part(admin, whole[PART_BYTES:], PART_BYTES, size).body["received_bytes"] == size
    assert admin.get("upgrade").body["upload"] is not None
    assert admin.delete("upgrade/file").status == 204
    assert admin.get("upgrade").body["upload"] is None


def test_a_part_whose_answer_was_lost_is_sent_again(admin: ApiClient, appliance: Appliance) -> None:
    whole = appliance.upgrade_file(_big()).read_bytes()
    size = len(whole)
    for offset in range(0, size, PART_BYTES):
        part = whole[offset : offset + PART_BYTES]
        answers = [_part(admin, part, offset, size) for _ in range(2)]
        assert [answer.status for answer in answers] == [200, 200]
        assert answers[0].body == answers[1].body
    assert _part(admin, b"other" * 100, PART_BYTES, size).status == 409
    assert admin.get("upgrade").body["upload"]["version"] == "2.0.0"


def test_two_files_are_not_mixed(admin: ApiClient, appliance: Appliance) -> None:
    whole = appliance.upgrade_file(_big()).read_bytes()
    size = len(whole)
    assert _part(admin, whole[:PART_BYTES], 0, size).status == 200
    refused = _part(admin, b"x" * PART_BYTES, PART_BYTES, size + 1)
    assert refused.status == 409 and "another upgrade file" in refused.body["detail"]
    assert _part(admin, whole[PART_BYTES : 2 * PART_BYTES], PART_BYTES, size).status == 200


@pytest.mark.parametrize(
    "data,offset,size,status",
    [
        (b"x", 0, 0, 422),
        (b"x", 0, 1 << 40, 422),
        (b"x", -1, 10, 422),
        (b"xxx", 8, 10, 422),
        (b"x" * 10, 0, 10, 409),
        (b"x" * ((16 << 20) + 1), 0, 1 << 30, 413),
    ],
)
def test_bad_parts(admin: ApiClient, data: bytes, offset: int, size: int, status: int) -> None:
    assert _part(admin, data, offset, size).status == status


def test_a_part_is_no_json(admin: ApiClient) -> None:
    assert admin("PUT", "upgrade/file?offset=0&size=10", raw=b"{}").status == 415


def test_switching_needs_a_whole_slot(admin: ApiClient, appliance: Appliance, router: RouterInMemory) -> None:
    refused = admin.post("upgrade/switch", {})
    assert refused.status == 404
    assert "slot b holds no complete system" in refused.body["detail"]
    trial.decide(appliance.machine)
    content = slots.Content(version="0.9.0", schema_version=1)
    found = slots.read(appliance.paths).contents
    slots.write_contents(appliance.paths.contents, {**found, "b": content})
    shown = admin.get("upgrade").body["slots"]["contents"]
    assert {slot: one["older"] for slot, one in shown.items()} == {"a": False, "b": True}
    older = admin.post("upgrade/switch", {})
    assert older.status == 409 and "older than 1.0.0" in older.body["detail"]
    assert admin.post("upgrade/switch", {"allow_downgrade": True}).status == 202
    request = Request.model_validate_json(appliance.paths.request.read_bytes())
    assert (request.action, request.document_schema) == ("switch", 1)


def test_not_while_a_commit_awaits_confirmation(admin: ApiClient, appliance: Appliance) -> None:
    """The other version would roll it back."""
    assert admin.merge("config/system?confirm_s=60", {"hostname": "other"}).status == 200
    answer = _send(admin, appliance.upgrade_file(file_system()))[0]
    assert answer.status == 409
    assert "awaits confirmation" in answer.body["detail"]


def test_a_service_that_dies_has_failed(
    admin: ApiClient, appliance: Appliance, router: RouterInMemory
) -> None:
    """The upgrade does not count as under way for ever: the next one may begin."""
    _send(admin, appliance.upgrade_file(file_system()))
    assert admin.post("upgrade/install", {}).status == 202
    router.upgrade_service.working = False
    shown = admin.get("upgrade").body["progress"]
    assert shown["state"] == "failed"
    assert "ended while starting" in shown["detail"]
    Reporter(appliance.paths.progress).say(Progress(state="writing", percent=40, detail=""))
    assert "ended while writing" in admin.get("upgrade").body["progress"]["detail"]
    assert admin.post("upgrade/install", {}).status == 202


def test_a_failed_upgrade_can_be_tried_again(admin: ApiClient, appliance: Appliance) -> None:
    _send(admin, appliance.upgrade_file(file_system()))
    reporter = Reporter(appliance.paths.progress)
    reporter.say(Progress(state="failed", percent=0, detail="the disk may be failing"))
    assert admin.get("upgrade").body["progress"]["detail"] == "the disk may be failing"
    assert admin.post("upgrade/install", {}).status == 202
    assert admin.get("upgrade").body["progress"]["state"] == "starting"


def test_a_router_without_slots_says_so(admin: ApiClient, appliance: Appliance) -> None:
    appliance.paths.command_line.write_text("quiet\n")
    assert admin.get("upgrade").body == {
        "available": False,
        "reason": "this router was not started from an image with two slots",
        "slots": None,
        "upload": None,
        "progress": None,
        "attempt": None,
    }
    assert _part(admin, b"x", 0, 10).status == 409


def test_why_it_was_returned_from(admin: ApiClient, appliance: Appliance) -> None:
    last = attempt.Attempt(version="2", slot="b", from_slot="a", author="ann", started_at=attempt.now())
    attempt.write(appliance.paths.attempt, attempt.ended(last, "returned", "vpp is down"))
    shown = admin.get("upgrade").body["attempt"]
    assert (shown["outcome"], shown["reason"]) == ("returned", "vpp is down")
    assert "before" not in shown

"""Commit, then watch: a toy router, a measure whose readings the test sets, and a clock it moves."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from appliance.engine.records import CommitRequest
from appliance.errors import Conflict
from appliance.health.check import Look
from appliance.health.checks import service as judge_service
from appliance.impact.result import Result
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import CONFIRMED, UNCONFIRMED, commit, document, router
from tests.unit.watching.watched_service import TOLD, Service


@pytest.fixture
def service(tmp_path: Path) -> Service:
    made = Service(router(tmp_path / "state"))
    commit(made.engine, CONFIRMED, watch_s=0)
    return made


def test_every_commit_is_watched_and_a_surprise_is_said_and_not_rolled_back(service: Service) -> None:
    result = commit(service.engine, UNCONFIRMED)
    assert (result.watch_s, result.rolls_back) == (30, False)
    service.wait(3)
    assert service.report(2).state == "watching"
    now = service.engine.watched.now()
    assert now is not None
    assert now["left_s"] == 27
    service.state = "Active"
    service.wait(27)
    report = service.report(2)
    assert (service.engine.revision, report.state) == (2, "worse")
    (worse,) = report.surprises
    assert (worse.foretold, worse.before, worse.after) == ("no", "up", "Active")
    assert [one.state for one in service.watch.told()] == ["worse"]
    assert service.engine.watched.now() is None


def test_a_watched_commit_goes_back_once_it_was_worse_for_long_enough(service: Service) -> None:
    before = service.toy.live()
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.wait(2)
    service.state = "Idle"
    service.wait(5)
    assert service.engine.revision == 2
    service.wait(2)
    assert (service.engine.revision, service.toy.live()) == (3, before)
    assert service.engine.revisions(1)[0].comment == (
        "Roll back to revision 1: sessions or traffic got worse after revision 2"
    )
    assert (service.report(2).state, service.report(2).rolled_back_to) == ("rolled_back", 1)
    assert service.report(2).worsenings[0].text == "The session with peer is down."
    # Whether service is as it was before the commit that was rolled back.
    assert service.report(3).state == "watching"
    service.state = "up"
    service.wait(31)
    assert (service.report(3).state, service.report(3).rolls_back) == ("as_before", False)
    assert [one.state for one in service.watch.told()] == ["as_before", "rolled_back"]


def test_the_watch_after_a_rollback_says_where_service_is_not_as_before(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.state = "Idle (PfxCt)"
    service.wait(7)
    assert service.engine.revision == 3
    service.wait(31)
    assert service.report(3).state == "worse"


def test_what_was_foretold_of_a_commit_is_not_foretold_of_its_rollback(service: Service) -> None:
    service.foretold = Result(findings=(TOLD,))
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.state = "Idle (PfxCt)"
    service.wait(7)
    service.wait(31)
    assert service.report(2).foretold == service.foretold
    report = service.report(3)
    assert (report.state, report.foretold, report.not_seen) == ("worse", None, ())
    # So that it raises the alarm.
    assert [one.foretold for one in report.surprises] == ["unknown"]
    still, rolled_back = judge_service(Look(service.watch.told(), service.engine.running_config))
    assert (still.kind, rolled_back.kind) == ("worse_after_commit", "rolled_back")
    assert still.summary == ("Still worse after the rollback in revision 3: The session with peer is down")


def test_what_may_come_back_has_until_the_end(service: Service) -> None:
    service.lasts_s = None
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.state = "Active"
    service.wait(18)
    assert service.engine.revision == 2
    service.state = "up"
    service.wait(3)
    report = service.report(2)
    assert (service.engine.revision, report.state) == (2, "as_before")
    assert [one.object for one in report.passing] == ["peer"]


def test_what_does_not_come_back_goes_back_at_the_end(service: Service) -> None:
    service.lasts_s = None
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.state = "Active"
    service.wait(21)
    assert (service.engine.revision, service.report(2).state) == (3, "rolled_back")


def test_what_the_commit_asked_for_is_said_and_does_not_count(service: Service) -> None:
    service.wanted = False
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.state = "gone"
    service.wait(21)
    report = service.report(2)
    assert (service.engine.revision, report.state, len(report.worsenings)) == (2, "as_before", 1)
    assert report.counted == ()


def test_what_was_foretold_is_no_surprise_and_rolls_back_all_the_same(service: Service) -> None:
    service.foretold = Result(findings=(TOLD,))
    commit(service.engine, UNCONFIRMED)
    service.state = "Idle"
    service.wait(31)
    assert (service.report(2).state, service.report(2).surprises) == ("worse", ())
    assert service.report(2).worsenings[0].foretold == "certain"
    assert service.report(2).foretold == service.foretold


def test_a_commit_that_never_comes_to_its_steps_keeps_nobody_from_foretelling(service: Service) -> None:
    """The foretelling begins while the router is observed, and waits for the plan."""
    service.foretold = Result(findings=(TOLD,))
    service.toy.plane.up = False
    assert service.engine.commit(CommitRequest(UNCONFIRMED, CommitOptions(author="alice"))).state == "failed"
    service.toy.plane.up = True
    commit(service.engine, UNCONFIRMED)
    service.wait(3)
    assert service.report(2).foretold == service.foretold


def test_what_was_certain_and_did_not_happen_is_said(service: Service) -> None:
    service.foretold = Result(findings=(TOLD,))
    commit(service.engine, UNCONFIRMED)
    service.wait(31)
    assert (service.report(2).state, service.report(2).not_seen) == ("as_before", (TOLD.text,))


def test_what_was_not_looked_at_is_not_said_to_have_stayed(service: Service) -> None:
    service.foretold = Result(findings=(TOLD,))
    commit(service.engine, UNCONFIRMED)
    commit(service.engine, CONFIRMED)
    service.wait(1)
    assert (service.report(2).state, service.report(2).not_seen) == ("superseded", ())
    service.wait(31)
    commit(service.engine, UNCONFIRMED)
    service.away = True
    service.wait(31)
    assert (service.report(4).state, service.report(4).not_seen) == ("worse", ())


def test_what_can_no_longer_be_read_counts(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.away = True
    service.wait(12)
    assert service.engine.revision == 3
    assert "bgpd does not answer" in service.report(2).worsenings[0].text


def test_what_could_not_be_read_before_is_not_compared_and_said(service: Service) -> None:
    service.away = True
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.away, service.state = False, "Idle"
    service.wait(21)
    assert service.engine.revision == 2
    assert service.report(2).not_compared == {"sessions": "bgpd does not answer"}


def test_what_does_not_answer_in_time_is_taken_from_a_moment_before_and_dated(service: Service) -> None:
    service.watch.read_all()
    service.toy.clock.wait(7)
    service.hangs = threading.Event()
    commit(service.engine, UNCONFIRMED, watch_s=20)
    assert not service.hangs.is_set()
    service.hangs.set()
    service.state = "Idle"
    service.wait(8)
    assert service.engine.revision == 3
    (measured,) = service.report(2).measured
    assert measured.before == "{'peer': 'up'} (7 s before the commit)"


@pytest.mark.parametrize("since", ["another revision", "long ago"])
def test_what_was_read_too_long_ago_is_not_compared(service: Service, since: str) -> None:
    service.watch.read_all()
    if since == "another revision":
        commit(service.engine, document("192.0.2.128/25"), watch_s=0)
    else:
        service.toy.clock.wait(60)
    service.hangs = threading.Event()
    result = commit(service.engine, UNCONFIRMED)
    service.hangs.set()
    service.wait(1)
    assert result.revision is not None
    assert service.report(result.revision).not_compared == {"sessions": "there was no answer in time"}


# Together with confirmation, other commits and people.


def test_the_watch_ends_the_confirm_timer_with_the_revision(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=20, confirm_s=600)
    service.state = "Idle"
    service.wait(8)
    assert (service.engine.revision, service.engine.pending_confirm()) == (3, None)


def test_a_confirmation_does_not_end_the_watch(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=20, confirm_s=600)
    service.engine.confirm("alice")
    service.state = "Idle"
    service.wait(8)
    assert service.engine.revision == 3


def test_the_confirm_timer_runs_on_while_service_is_as_before(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=20, confirm_s=10)
    service.wait(11)
    assert service.engine.revision == 3
    assert "not confirmed" in service.engine.revisions(1)[0].comment
    assert service.report(2).state == "superseded"
    # Compared with the state before the unconfirmed one.
    assert service.report(3).compared_with == 1
    service.wait(31)
    assert service.report(3).state == "as_before"


def test_while_a_commit_may_go_back_others_are_refused_until_it_is_kept(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    refused = service.engine.commit(CommitRequest(document("192.0.2.128/25"), CommitOptions(author="bob")))
    assert refused.error is not None
    assert refused.error.kind == "conflict"
    assert "watched for 60 more seconds" in refused.error.message
    assert service.engine.keep("alice") == 2
    with pytest.raises(Conflict):
        service.engine.keep("alice")
    service.state = "Idle"
    service.wait(10)
    assert service.engine.revision == 2
    assert service.report(2).note == "alice called the rollback off"
    commit(service.engine, document("192.0.2.128/25"))
    service.wait(1)
    assert (service.report(2).state, service.report(3).state) == ("superseded", "watching")


def test_a_revision_that_is_to_go_back_is_not_committed_over(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.state = "Idle"
    for _ in range(7):
        service.toy.clock.wait(1)
        service.watch.tick()
    refused = service.engine.commit(CommitRequest(document("192.0.2.128/25"), CommitOptions(author="bob")))
    assert refused.error is not None
    assert (
        refused.error.message == "sessions or traffic got worse after revision 2, and it is being rolled back"
    )
    service.engine.tick()
    assert service.engine.revision == 3
    assert commit(service.engine, document("192.0.2.128/25")).revision == 4


def test_a_rollback_is_never_refused(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    result = service.engine.rollback(1, CommitOptions(author="bob"))
    assert result.state == "done", result
    service.wait(2)
    assert (service.report(2).state, service.report(3).compared_with) == ("superseded", 1)


# The agent's death.


def test_a_killed_agent_goes_on_with_what_was_read_before(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.wait(3)
    service.state = "Idle"
    service.toy.clock.wait(4)
    service.start()
    service.wait(7)
    assert (service.engine.revision, service.report(2).state) == (3, "rolled_back")


def test_an_agent_that_comes_back_after_the_end_looks_before_it_says_anything(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.toy.clock.wait(100)
    service.start()
    service.state = "Idle"
    service.wait(1)
    assert (service.engine.revision, service.report(2).state) == (2, "watching")
    service.wait(11)
    assert service.engine.revision == 3


def test_after_a_reboot_there_is_all_of_the_time_again(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=20)
    service.wait(15)
    service.toy.clock.reboot()
    service.lasts_s, service.state = None, "Active"
    service.start()
    service.wait(18)
    assert service.engine.revision == 2
    service.wait(3)
    assert service.engine.revision == 3


def test_a_condemned_revision_goes_back_though_the_agent_died_before_it_could(service: Service) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.state = "Idle"
    for _ in range(7):
        service.toy.clock.wait(1)
        service.watch.tick()
    assert (service.engine.revision, service.report(2).state) == (2, "rolled_back")
    service.start()
    assert service.engine.revision == 3


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"revision": 2}', "gone"])
def test_a_watch_that_cannot_be_read_is_said_to_be_interrupted(service: Service, damage: str) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    service.wait(2)
    path = service.toy.directory / "watch.json"
    if damage == "gone":
        path.unlink()
    else:
        path.write_text(damage)
    service.state = "Idle"
    service.start()
    service.wait(10)
    assert service.engine.revision == 2
    assert (service.report(2).state, service.report(2).rolls_back) == ("interrupted", True)


def test_a_disk_that_takes_no_report_stops_no_rollback(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(service.engine, UNCONFIRMED, watch_s=60)
    reports = service.toy.directory / "watches"
    for path in reports.glob("*"):
        path.unlink()
    reports.rmdir()
    reports.write_text("no folder")
    service.state = "Idle"
    service.wait(8)
    assert service.engine.revision == 3


def test_reports_are_bounded(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.engine.watching.KEPT", 3)
    for number in range(1, 6):
        service.engine.watched.watches.keep(number, {"number": number})
    kept = sorted(path.name for path in (service.toy.directory / "watches").iterdir())
    assert kept == ["00000003.json", "00000004.json", "00000005.json"]
    assert json.loads((service.toy.directory / "watches" / kept[0]).read_text()) == {"number": 3}

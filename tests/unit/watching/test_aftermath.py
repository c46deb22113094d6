"""After a watch ends with something worse: the alarm stands until everything is as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import CONFIRMED, UNCONFIRMED, commit, document, router
from tests.unit.watching.watched_service import Service, alarms


@pytest.fixture
def service(tmp_path: Path) -> Service:
    made = Service(router(tmp_path / "state"))
    commit(made.engine, CONFIRMED, watch_s=0)
    return made


def test_the_alarm_ends_when_service_is_as_before_again(service: Service) -> None:
    commit(service.engine, UNCONFIRMED)
    service.state = "Active"
    service.wait(31)
    service.watch.follow()
    assert alarms(service) == ["worse_after_commit"]
    service.state = "up"
    service.watch.follow()
    # One good reading may be luck, and a missing one says nothing.
    service.away = True
    service.watch.follow()
    assert alarms(service) == ["worse_after_commit"]
    service.away = False
    service.watch.follow()
    assert service.report(2).as_before_since is None
    service.watch.follow()
    assert alarms(service) == []
    report = service.report(2)
    assert report.as_before_since is not None
    # The state at the end of the watch stays in the report.
    assert (report.state, [one.after for one in report.surprises]) == ("worse", ["Active"])
    service.state = "Active"
    service.watch.follow()
    assert alarms(service) == []


def test_a_new_agent_goes_on_with_what_was_worse_when_the_watch_ended(service: Service) -> None:
    commit(service.engine, UNCONFIRMED)
    service.state = "Active"
    service.wait(31)
    service.start()
    assert alarms(service) == ["worse_after_commit"]
    service.watch.follow()
    assert alarms(service) == ["worse_after_commit"]
    service.state = "up"
    for _ in range(2):
        service.watch.follow()
    assert alarms(service) == []


def test_the_alarm_of_an_earlier_revision_ends_when_service_is_as_before_under_a_later_one(
    service: Service,
) -> None:
    """The next commit is how somebody repairs it; until then, the alarm stands."""
    commit(service.engine, UNCONFIRMED)
    service.state = "Active"
    service.wait(31)
    commit(service.engine, document("198.51.100.0/25"))
    service.wait(31)
    for _ in range(3):
        service.watch.follow()
    assert alarms(service) == ["worse_after_commit"], "the later one did not make it worse, nor mend it"
    service.engine.rollback(1, CommitOptions(author="bob"))
    service.state = "up"
    service.wait(31)
    for _ in range(2):
        service.watch.follow()
    assert alarms(service) == []
    assert service.report(2).as_before_since is not None
    service.start()
    assert alarms(service) == []


def test_what_a_later_commit_asked_for_ends_the_alarm_too(service: Service) -> None:
    commit(service.engine, UNCONFIRMED)
    service.state = "Active"
    service.wait(31)
    commit(service.engine, document("198.51.100.0/25"), watch_s=0)
    service.watch.follow()
    assert alarms(service) == ["worse_after_commit"], "also where the later one is not watched"
    service.wanted = False
    for _ in range(2):
        service.watch.follow()
    assert alarms(service) == []


def test_an_alarm_that_was_over_is_not_raised_again_by_the_next_commit(service: Service) -> None:
    commit(service.engine, UNCONFIRMED)
    service.state = "Active"
    service.wait(31)
    service.toy.clock.wait(3700)
    service.watch.follow()
    assert alarms(service) == []
    commit(service.engine, document("198.51.100.0/25"))
    service.wait(31)
    assert alarms(service) == []

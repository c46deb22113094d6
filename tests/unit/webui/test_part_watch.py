"""The web half's check of its own parts: patience, old results, and that nobody waits for it."""

from __future__ import annotations

import threading

import pytest

from tests.live_lab import wait_until
from webui.alarms.parts import DoesNotWork, NotChecked, Part
from webui.alarms.watch import LOOK_EVERY_S, PartWatch


class Setting:
    """A part that fails as the test says, and the test's clock."""

    def __init__(self) -> None:
        self.now_s, self.failure, self.looks = 1000.0, None, 0
        self.hangs = threading.Event()
        self.hangs.set()
        part = Part("Redis", self.check, "Redis does not answer.", "look at it")
        self.watch = PartWatch(lambda: (part,), lambda: self.now_s)

    failure: Exception | None

    def check(self) -> None:
        self.hangs.wait(20)
        self.looks += 1
        if self.failure is not None:
            raise self.failure

    def looked(self, after_s: float = LOOK_EVERY_S) -> None:
        """One more check, which has ended."""
        self.now_s += after_s
        before = self.looks
        self.watch.look()
        wait_until(lambda: self.looks > before, timeout_s=20, what="a look")
        looking = self.watch._looking
        assert looking is not None
        looking.result(20)


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_a_part_is_at_fault_after_two_looks_and_well_after_one(setting: Setting) -> None:
    setting.looked()
    assert setting.watch.look() == ((), {})
    setting.failure = DoesNotWork("refused")
    setting.looked()
    assert setting.watch.look() == ((), {})
    setting.looked()
    (alarm,), unchecked = setting.watch.look()
    assert (alarm.kind, alarm.object, alarm.severity, alarm.evidence) == (
        "web_part_down",
        "Redis",
        "minor",
        {"seen": "refused"},
    )
    assert (alarm.for_s, unchecked) == (LOOK_EVERY_S, {})
    setting.looked(30)
    assert setting.watch.look()[0][0].for_s == LOOK_EVERY_S + 30
    setting.failure = None
    setting.looked()
    assert setting.watch.look() == ((), {})


def test_looks_are_no_more_frequent_however_many_ask(setting: Setting) -> None:
    setting.looked()
    for _ in range(50):
        setting.watch.look()
    assert setting.looks == 1


def test_what_cannot_be_checked_is_said_and_is_no_alarm(setting: Setting) -> None:
    setting.failure = NotChecked("the broker is away")
    setting.looked()
    assert setting.watch.look() == ((), {"Redis": "the broker is away"})


def test_nothing_is_claimed_from_what_is_old_or_hangs(setting: Setting) -> None:
    setting.looked()
    setting.hangs.clear()
    setting.now_s += 3600
    assert setting.watch.look() == ((), {"Redis": "it has not been checked recently"})
    setting.hangs.set()
    wait_until(lambda: setting.watch.look() == ((), {}), timeout_s=20, what="the look that hung")

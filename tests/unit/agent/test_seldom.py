"""Lists that block a routing daemon are read seldom, and once for all who ask."""

from __future__ import annotations

import pytest

from appliance.routing.seldom import Seldom
from appliance.routing.walks import BURST_S, SHARE


class _Daemon:
    def __init__(self, takes_s: float) -> None:
        self.now_s, self._takes_s, self.read = 0.0, takes_s, 0

    def clock(self) -> float:
        return self.now_s

    def list(self) -> int:
        self.now_s += self._takes_s
        self.read += 1
        return self.read


def test_a_list_stands_for_ten_times_its_reading() -> None:
    daemon = _Daemon(0.1)
    lists: Seldom[int] = Seldom(daemon.clock)
    assert lists.read("a", daemon.list).value == 1
    daemon.now_s += 0.9
    seen = lists.read("a", daemon.list)
    assert (seen.value, round(seen.age_s, 3)) == (1, 0.9)
    daemon.now_s += 0.2
    assert lists.read("a", daemon.list).value == 2


def test_reading_takes_the_daemon_a_twentieth_of_its_time() -> None:
    daemon = _Daemon(0.5)
    lists: Seldom[int] = Seldom(daemon.clock)
    while daemon.now_s < 1000:
        lists.read(daemon.read % 50, daemon.list)
        daemon.now_s += 0.01
    assert daemon.read * 0.5 <= BURST_S + 0.5 + 1000 * SHARE


def test_who_asks_too_often_is_told_when_to_come_again() -> None:
    daemon = _Daemon(BURST_S)
    lists: Seldom[int] = Seldom(daemon.clock)
    assert lists.read("a", daemon.list).value == 1
    assert lists.read("b", daemon.list).value == 2
    seen = lists.read("c", daemon.list)
    assert seen.value is None
    assert "Ask again in" in seen.note
    daemon.now_s += 1000
    assert lists.read("c", daemon.list).value == 3


def test_an_error_is_spent_and_not_kept() -> None:
    daemon = _Daemon(0.1)
    lists: Seldom[int] = Seldom(daemon.clock)

    def fails() -> int:
        daemon.now_s += 1
        raise RuntimeError

    with pytest.raises(RuntimeError):
        lists.read("a", fails)
    assert lists.read("a", daemon.list).value == 1

"""Leaky buckets: a burst, then one by one, and no more keys than fit."""

from __future__ import annotations

from webui.accounts.attempt_limits import Attempts, Limit
from webui.http.client_address import source_of


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_and_then_one_each_interval() -> None:
    clock = Clock()
    attempts = Attempts(Limit(3, 10.0), clock)
    assert [attempts.take("a") for _ in range(4)] == [0, 0, 0, 10.0]
    assert attempts.take("b") == 0
    clock.now += 5
    assert attempts.wait_s("a") == 5.0 and attempts.take("a") == 5.0
    clock.now += 5
    assert attempts.take("a") == 0 and attempts.take("a") == 10.0
    clock.now += 1000
    assert [attempts.take("a") for _ in range(4)] == [0, 0, 0, 10.0]


def test_what_is_taken_back_counts_no_more() -> None:
    attempts = Attempts(Limit(1, 10.0), Clock())
    assert attempts.take("a") == 0
    attempts.refund("a")
    assert attempts.take("a") == 0 and attempts.take("a") > 0


def test_memory_is_bounded() -> None:
    attempts = Attempts(Limit(1, 10.0), Clock(), most_keys=10)
    for number in range(1000):
        attempts.take(str(number))
    assert len(attempts._level) == 10
    assert attempts.take("999") > 0 and attempts.take("1") == 0


def test_what_one_host_has_for_itself_is_one_source() -> None:
    table = {
        "192.0.2.7": "192.0.2.7",
        "2001:db8:1:2::1": "2001:db8:1:2::",
        "2001:db8:1:2:ffff::9": "2001:db8:1:2::",
        "2001:db8:1:3::1": "2001:db8:1:3::",
        "::ffff:192.0.2.7": "192.0.2.7",
        "fe80::1%eth0": "fe80::",
        "nonsense": "0.0.0.0",
        "": "0.0.0.0",
    }
    assert {address: source_of(address) for address in table} == table

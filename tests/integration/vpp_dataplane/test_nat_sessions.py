"""Sessions of NAT in VPP: listed, searched, counted, and cleared, with hosts at both ends."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from appliance.actions.nat import ClearNatSessions
from appliance.config.load import parse_document
from appliance.features.nat import vpp_sessions
from appliance.features.nat.health import filling
from appliance.features.nat.model import MOST_SESSIONS
from appliance.health.check import Look
from appliance.state.nat import NatState, end_sessions, table, users
from tests.integration.linux.conftest import run
from tests.integration.linux.test_nat import (
    FORWARDS,
    INSIDE,
    OUTSIDE,
    ROUTER,
    ask,
    device,
    hide_inside,
    seen_as,
    serving,
    still,
    with_nat,
)
from tests.integration.linux.test_nat_sessions import (
    SPRAY,
    asked,
    ends,
    test_sessions_are_cleared_one_by_one_by_search_and_all,
)
from tests.integration.vpp_dataplane.conftest import Router
from tests.integration.vpp_dataplane.test_nat import _namespaces_as_before

pytestmark = [pytest.mark.vpp, pytest.mark.root]

__all__ = ["_namespaces_as_before", "test_sessions_are_cleared_one_by_one_by_search_and_all"]

SAME_PORT = {"outside_interface": "right0", "outside_port": 7002, "inside_address": INSIDE}


def test_sessions_are_told_by_their_ends_and_found_by_each_of_them(router: Router) -> None:
    hide_inside(router)
    static = {"host": {"outside_address": "10.77.2.50", "inside_address": "10.77.1.9"}}
    router.commit(with_nat(port_forwards={"web": FORWARDS["web"], "same": SAME_PORT}, static=static))
    run(router.left, "ip", "addr", "add", "10.77.1.9/24", "dev", device(router.left))
    with serving(router.left, "listen", "7002"), serving(router.right, "listen", "7001"):
        ask(router.left, "udp", OUTSIDE, 7001, "--source-port", "5001")
        ask(router.right, "tcp", ROUTER, 8080, "--source-port", "5002")
        ask(router.left, "tcp", ROUTER, 7002, "--source-port", "5003")
        ask(router.right, "udp", "10.77.2.50", 7002, "--source-port", "5004")
        router.ping(router.left, OUTSIDE, count=1)
    found = asked(router)
    assert found.left_out == ""
    told = {one.remote_port if one.protocol != "icmp" else 0: one for one in found.sessions}
    assert ends(told[7001]) == [INSIDE, 5001, ROUTER, 5001, OUTSIDE, 7001]
    assert ends(told[5002]) == [INSIDE, 7002, ROUTER, 8080, OUTSIDE, 5002]
    assert ends(told[7002]) == [INSIDE, 5003, ROUTER, 5003, ROUTER, 7002]
    assert ends(told[5004]) == ["10.77.1.9", 7002, "10.77.2.50", 7002, OUTSIDE, 5004]
    assert [told[port].direction for port in (7001, 7002, 5002, 5004, 0)] == ["out", "out", None, None, "out"]
    assert 0 < (told[7001].expires_s or 0) <= 300
    assert 0 < (told[0].expires_s or 0) <= 60
    assert told[5002].expires_s is None, "of TCP it is not told"
    assert all(one.packets for one in found.sessions)
    for question, number in (
        ({}, 5),
        ({"inside": INSIDE}, 4),
        ({"inside": "10.77.1.9"}, 1),
        ({"inside": "10.77.1.77"}, 0),
        ({"outside": "10.77.2.50"}, 1),
        ({"remote": ROUTER}, 1),
        ({"port": 5002}, 1),
        ({"protocol": "udp"}, 2),
        ({"protocol": "icmp", "outside": "10.77.2.50"}, 0),
        ({"limit": 2}, 5),
        ({"offset": 9}, 5),
    ):
        assert asked(router, **question).total == number, question
    pages = [one for offset in (0, 2, 4) for one in asked(router, limit=2, offset=offset).sessions]
    assert sorted(map(str, map(ends, pages))) == sorted(map(str, map(ends, found.sessions)))
    answer = users(router.backend)
    assert [(user.address, user.sessions) for user in answer.users] == [(INSIDE, 4), ("10.77.1.9", 1)]
    assert answer.sessions == 5
    state = table(router.backend, closely=True)
    assert (state.in_use, state.limit, state.timed_out) == (5, MOST_SESSIONS, 0)
    assert state.fullness == pytest.approx(5 / MOST_SESSIONS)


def test_a_full_table_refuses_new_sessions_and_is_an_alarm(router: Router) -> None:
    document = with_nat(sessions_per_worker=100)
    config = parse_document(document)
    hide_inside(router)
    router.commit(document)

    def judged(before: NatState) -> list[tuple[str, str]]:
        now = table(router.backend, closely=False)
        return [(one.kind, one.severity) for one in filling(Look(now, config, before, 5.0))]

    empty = table(router.backend, closely=False)
    with (
        serving(router.right, "listen", "7001"),
        serving(router.left, "hold", "tcp", OUTSIDE, "7001") as held,
    ):
        assert still(held).startswith(ROUTER)
        assert judged(empty) == []
        run(router.left, sys.executable, "-c", SPRAY, OUTSIDE, "85")
        assert asked(router, limit=1).total == 86
        assert judged(empty) == [("nat_table_filling", "warning")]
        run(router.left, sys.executable, "-c", SPRAY, OUTSIDE, "130")
        full = table(router.backend, closely=False)
        assert (full.in_use, full.limit) == (100, 100)
        assert full.refused > empty.refused
        assert judged(empty) == [("nat_table_full", "critical")]
        assert judged(full) == [("nat_table_filling", "warning")], "nothing more is refused"
        # Existing sessions continue; a new one is refused until there is room.
        assert still(held).startswith(ROUTER)
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) is None
        assert judged(full) == [("nat_table_full", "critical")]
        assert end_sessions(router.backend, ClearNatSessions(protocol="udp")).sessions == 99
        assert judged(table(router.backend, closely=False)) == []
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER
        assert still(held).startswith(ROUTER)


def test_sessions_that_timed_out_do_not_fill_the_table(router: Router) -> None:
    """VPP keeps them until a new one comes."""
    hide_inside(router)
    document = with_nat(timeouts={"udp_s": 10}, sessions_per_worker=100)
    router.commit(document)
    run(router.left, sys.executable, "-c", SPRAY, OUTSIDE, "95")
    assert table(router.backend, closely=False).in_use > 80
    # The times pass at once.
    router.backend.look(
        vpp=lambda seen: seen.client.call(
            "nat_set_timeouts", udp=1, tcp_established=60, tcp_transitory=10, icmp=5
        ),
        linux=lambda _: None,
    )
    while (state := table(router.backend, closely=False)).in_use:
        time.sleep(0.05)
    assert state.timed_out > 80
    assert state.fullness == 0
    assert {one.state for one in asked(router).sessions} == {"timed_out"}
    assert {one.expires_s for one in asked(router).sessions} == {0}
    with serving(router.right, "listen", "7001"):
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER
    router.commit(document)


def test_a_host_with_very_many_sessions_is_left_out_unless_it_is_named(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vpp_sessions, "MOST_OF_HOST", 100)
    hide_inside(router)
    router.commit(with_nat())
    run(router.left, sys.executable, "-c", SPRAY, OUTSIDE, "300")
    run(router.left, "ip", "addr", "add", "10.77.1.9/24", "dev", device(router.left))
    run(router.left, "ip", "route", "replace", "default", "via", "10.77.1.1", "src", "10.77.1.9")
    run(router.left, sys.executable, "-c", SPRAY, OUTSIDE, "20")
    found = asked(router)
    assert found.total == 20
    assert {one.inside_address for one in found.sessions} == {"10.77.1.9"}
    assert found.left_out.startswith(f"The 300 sessions of {INSIDE} were not read")
    for host, number in ((INSIDE, 300), ("10.77.1.9", 20)):
        named = asked(router, inside=host)
        assert (named.total, named.left_out) == (number, "")
    state = users(router.backend)
    assert [(one.address, one.sessions) for one in state.users] == [(INSIDE, 300), ("10.77.1.9", 20)]
    clear: dict[str, Any] = {"inside": INSIDE}
    ended = end_sessions(router.backend, ClearNatSessions(**clear))
    assert (ended.sessions, ended.left_out) == (300, "")
    assert table(router.backend, closely=True).in_use == 20

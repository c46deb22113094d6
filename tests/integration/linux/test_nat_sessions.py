"""Sessions of NAT on the kernel: listed, searched, counted, and cleared, with hosts at both ends."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

import pytest

from appliance.actions.nat import ClearNatSessions
from appliance.dataplane.base import DataPlane
from appliance.state.nat import (
    Ended,
    NatSession,
    NatSessions,
    NatSessionsQuery,
    end_sessions,
    find,
    table,
    users,
)
from tests.integration.linux.conftest import DOCUMENT, Router, run
from tests.integration.linux.test_nat import (
    FORWARDS,
    INSIDE,
    OUTSIDE,
    ROUTER,
    ask,
    hide_inside,
    seen_as,
    serving,
    sessions,
    still,
    with_nat,
)
from tests.sizes import at_size

pytestmark = pytest.mark.root


class Planes(Protocol):
    """What has a data plane of either kind."""

    @property
    def backend(self) -> DataPlane:
        """It."""


def asked(router: Planes, **question: Any) -> NatSessions:
    """As the agent answers."""
    return find(router.backend, NatSessionsQuery(**question))


def ends(one: NatSession) -> list[str | int]:
    """Address and port inside, outside, and of the other end."""
    inside, outside = (one.inside_address, one.inside_port), (one.outside_address, one.outside_port)
    return [*inside, *outside, one.remote_address, one.remote_port]


def test_sessions_are_told_by_their_ends_and_found_by_each_of_them(router: Router) -> None:
    hide_inside(router)
    router.commit(with_nat(port_forwards=FORWARDS))
    with serving(router.left, "listen", "7002"), serving(router.right, "listen", "7001"):
        ask(router.left, "udp", OUTSIDE, 7001, "--source-port", "5001")
        ask(router.right, "tcp", ROUTER, 8080, "--source-port", "5002")
        ask(router.left, "udp", "10.77.2.60", 53, "--source-port", "5003")
        router.ping(router.left, OUTSIDE, count=1)
    told = {one.protocol if one.protocol == "icmp" else one.direction: one for one in asked(router).sessions}
    assert set(told) == {"out", "in", "hairpin", "icmp"}
    assert ends(told["out"]) == [INSIDE, 5001, ROUTER, 5001, OUTSIDE, 7001]
    assert ends(told["in"]) == [INSIDE, 7002, ROUTER, 8080, OUTSIDE, 5002]
    assert ends(told["hairpin"]) == [INSIDE, 5003, "10.77.2.60", 5003, "10.77.2.60", 53]
    assert 0 < (told["out"].expires_s or 0) <= 300
    for question, number in (
        ({"inside": INSIDE}, 4),
        ({"remote": "10.77.2.60"}, 1),
        ({"outside": ROUTER}, 3),
        ({"port": 5002}, 1),
        ({"protocol": "udp"}, 2),
        ({"protocol": "icmp", "outside": "10.77.2.60"}, 0),
        ({"limit": 2}, 4),
    ):
        assert asked(router, **question).total == number, question
    pages = [*asked(router, limit=3).sessions, *asked(router, limit=3, offset=3).sessions]
    assert {(one.protocol, one.inside_port) for one in pages} == {
        (one.protocol, one.inside_port) for one in told.values()
    }
    answer = users(router.backend)
    assert [(user.address, user.sessions) for user in answer.users] == [(INSIDE, 4)]
    assert answer.sessions == 4
    state = table(router.backend, closely=True)
    assert state.in_use >= 4
    assert state.limit > 1000
    assert (state.timed_out, state.refused, state.evicted) == (0, 0, 0)


def test_sessions_are_cleared_one_by_one_by_search_and_all(router: Router) -> None:
    hide_inside(router)
    router.commit(with_nat(port_forwards=FORWARDS))

    def clear(**question: Any) -> int:
        ended = end_sessions(router.backend, ClearNatSessions(**question))
        assert ended.left_out == ""
        return ended.sessions

    with (
        serving(router.left, "listen", "7002"),
        serving(router.right, "listen", "7001"),
        serving(router.right, "hold", "tcp", ROUTER, "8080") as inward,
    ):
        assert still(inward).startswith(OUTSIDE)
        for port in ("5001", "5002", "5003"):
            ask(router.left, "udp", OUTSIDE, 7001, "--source-port", port)
        router.ping(router.left, OUTSIDE, count=1)
        assert clear(inside=INSIDE, inside_port=5001, remote=OUTSIDE, remote_port=7001, protocol="udp") == 1
        assert {one.inside_port for one in asked(router, protocol="udp").sessions} == {5002, 5003}
        assert clear(inside="10.77.1.99") == 0
        assert clear(protocol="udp") == 2
        assert {one.protocol for one in asked(router).sessions} == {"tcp", "icmp"}
        # The other sessions continue, and a new request is answered.
        assert still(inward).startswith(OUTSIDE)
        assert seen_as(router.left, "udp", OUTSIDE, 7001) == ROUTER
        assert clear(all=True) == 3
        assert asked(router).total == 0
        assert seen_as(router.left, "tcp", OUTSIDE, 7001) == ROUTER
        assert seen_as(router.right, "tcp", ROUTER, 8080) == OUTSIDE, "port forwards are still there"


_QUIET = "{ type filter hook input priority 0; policy drop; }"
SPRAY = """
import socket, sys
for number in range(int(sys.argv[2])):
    if number % 60000 == 0:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.sendto(b"x", (sys.argv[1], 1024 + number % 60000))
"""


SESSIONS = at_size(100_000)


def test_a_hundred_thousand_sessions_are_paged_searched_and_ended(router: Router) -> None:
    hide_inside(router)
    router.commit(with_nat())
    run(router.right, "nft", "add table ip t; add chain ip t c " + _QUIET)
    sprayed = SESSIONS * 21 // 20
    of_port_2000 = sum(number % 60_000 == 2000 - 1024 for number in range(sprayed))
    run(router.left, sys.executable, "-c", SPRAY, OUTSIDE, str(sprayed))
    began = time.process_time()
    page = asked(router, port=2000)
    took_s = time.process_time() - began
    print(f"one search over {len(sessions(router))} sessions took {took_s:.2f} s of CPU")
    assert asked(router, limit=5).total >= SESSIONS
    assert [one.remote_port for one in page.sessions] == [2000] * of_port_2000
    began = time.process_time()
    assert end_sessions(router.backend, ClearNatSessions(port=2000)) == Ended(of_port_2000)
    print(f"clearing those of a port took {time.process_time() - began:.2f} s of CPU")
    assert asked(router, port=2000).total == 0
    router.commit(DOCUMENT)
    assert sessions(router) == []

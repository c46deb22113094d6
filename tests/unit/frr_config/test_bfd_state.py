"""BFD sessions as bfdd prints them: how soon silence is detected, and why one is not up."""

from __future__ import annotations

from typing import Any

import pytest

from frr_config import FakeFrr
from frr_config.protocols.bfd.state import bfd_sessions
from tests.bfd_answers import PEERS, bfdd


def test_sessions_are_read_with_their_counters_by_peer() -> None:
    near, up, far = bfd_sessions(bfdd())
    assert [one.peer for one in (near, up, far)] == ["10.10.0.9", "192.0.2.1", "2001:db8::9"]
    assert (up.state, up.since_s, up.reason, up.diagnostic) == ("up", 75, None, None)
    assert up.counters is not None and (up.counters.ups, up.counters.downs) == (2, 1)
    assert near.counters is None
    assert (far.multihop, far.minimum_ttl) == (True, 250)


def test_silence_is_noticed_after_the_other_ends_multiplier_and_the_slower_interval() -> None:
    one = next(one for one in bfd_sessions(bfdd()) if one.state == "up")
    assert one.detection_time_ms == 4 * 150
    ((slow,),) = ([*bfd_sessions(bfdd([{**PEERS[0], "receive-interval": 700}]))],)
    assert slow.detection_time_ms == 4 * 700


@pytest.mark.parametrize(
    ("shown", "state", "reason"),
    [
        ({"status": "up"}, "up", None),
        ({"status": "init"}, "init", "the neighbor answers, and the session is being set up"),
        ({"status": "shutdown"}, "admin_down", "shut down on this router"),
        ({"status": "down"}, "down", "the neighbor has not answered yet"),
        ({"status": "down", "diagnostic": "path down"}, "down", "path down"),
        ({"status": "down", "diagnostic": "<script>"}, "down", "the neighbor has not answered yet"),
        (
            {
                "status": "down",
                "diagnostic": "neighbor signaled session down",
                "remote-diagnostic": "path down",
            },
            "down",
            "neighbor signaled session down; the neighbor says: path down",
        ),
        (
            {"status": "down", "remote-diagnostic": "control detection time expired"},
            "down",
            "the neighbor says: control detection time expired",
        ),
    ],
)
def test_a_session_that_is_not_up_says_why(shown: dict[str, Any], state: str, reason: str | None) -> None:
    (one,) = bfd_sessions(bfdd([{**PEERS[0], **shown}]))
    assert (one.state, one.reason) == (state, reason)


def test_nothing_is_watched_where_bfdd_shows_nothing() -> None:
    assert bfd_sessions(FakeFrr()) == ()

"""Sessions of NAT on a terminal."""

from __future__ import annotations

import pytest

from appliance.cli.operational import state_output
from appliance.state.nat import NAT_SESSIONS, NatSession, NatSessions

_ONE = NatSession(
    protocol="tcp",
    inside_address="10.0.0.9",
    inside_port=40000,
    outside_address="192.0.2.2",
    outside_port=40000,
    remote_address="203.0.113.10",
    remote_port=443,
    direction=None,
    expires_s=None,
)


@pytest.mark.parametrize("left_out", ["", "60,000 sessions were not read."])
def test_what_was_not_looked_at_is_below_the_table(left_out: str) -> None:
    answer = NatSessions(sessions=(_ONE,), total=1, offset=0, limit=100, left_out=left_out)
    output = state_output(NAT_SESSIONS, answer)
    lines = output.shown.strip().splitlines()
    assert lines[2].split()[:7] == ["tcp", "10.0.0.9", "40000", "192.0.2.2", "40000", "203.0.113.10", "443"]
    assert lines[3:] == ([left_out] if left_out else [])
    assert output.data["left_out"] == left_out

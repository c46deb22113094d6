"""bfdd 8.4's output for three sessions: one up, one that received nothing, one multihop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from frr_config import State

_TIMERS: dict[str, Any] = {
    "vrf": "default",
    "passive-mode": False,
    "receive-interval": 100,
    "transmit-interval": 100,
    "echo-receive-interval": 50,
    "echo-transmit-interval": 0,
    "detect-multiplier": 3,
    "remote-receive-interval": 150,
    "remote-transmit-interval": 150,
    "remote-echo-receive-interval": 0,
    "remote-detect-multiplier": 4,
    "rtt-min": 0,
    "rtt-avg": 0,
    "rtt-max": 0,
}
PEERS: list[dict[str, Any]] = [
    {
        "multihop": False,
        "peer": "192.0.2.1",
        "local": "192.0.2.2",
        "interface": "wan0",
        "id": 1,
        "remote-id": 2,
        "status": "up",
        "uptime": 75,
        "diagnostic": "ok",
        "remote-diagnostic": "ok",
        **_TIMERS,
    },
    {
        "multihop": False,
        "peer": "10.10.0.9",
        "interface": "lan0",
        "id": 3,
        "remote-id": 0,
        "status": "down",
        "downtime": 8,
        "diagnostic": "control detection time expired",
        "remote-diagnostic": "ok",
        **_TIMERS,
    },
    {
        "multihop": True,
        "peer": "2001:db8::9",
        "local": "2001:db8::1",
        "id": 5,
        "remote-id": 6,
        "minimum-ttl": 250,
        "status": "down",
        "downtime": 2,
        "diagnostic": "neighbor signaled session down",
        "remote-diagnostic": "administratively down",
        **_TIMERS,
    },
]
COUNTERS: list[dict[str, Any]] = [
    {
        "multihop": False,
        "peer": "192.0.2.1",
        "local": "192.0.2.2",
        "interface": "wan0",
        "vrf": "default",
        "control-packet-input": 420,
        "control-packet-output": 510,
        "echo-packet-input": 0,
        "echo-packet-output": 0,
        "session-up": 2,
        "session-down": 1,
        "zebra-notifications": 3,
    },
]


class _Bfdd:
    """The part of bfdd that shows sessions."""

    def __init__(self, peers: list[dict[str, Any]]) -> None:
        self._peers = peers

    def show(self, daemon: str, command: str) -> str:
        assert daemon == "bfdd"
        return json.dumps(COUNTERS if command == "show bfd peers counters json" else self._peers)

    def streamed(self, daemon: str, command: str) -> Iterator[str]:
        yield self.show(daemon, command)


def bfdd(peers: list[dict[str, Any]] | None = None) -> State:
    """An FRR that shows these sessions."""
    return State(_Bfdd(PEERS if peers is None else peers))

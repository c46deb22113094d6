"""bgpd's answers about its sessions, as observed from FRR 8.4."""

from __future__ import annotations

import json
from typing import Any

from frr_config import FakeFrr, FrrCommandError, Operation

OVER_LIMIT = {
    "state": "Idle (PfxCt)",
    "peerUptime": "00:00:04",
    "peerUptimeMsec": 4000,
    "connectionsEstablished": 1,
    "lastNotificationReason": "Cease/Maximum Number of Prefixes Reached",
    "lastResetDueTo": "BGP Notification send",
}
NO_ROUTE = {
    "state": "Active",
    "peerUptime": "never",
    "peerUptimeMsec": 0,
    "connectionsEstablished": 0,
    "lastResetDueTo": "Waiting for NHT",
}
WRONG_AS = {
    "state": "Idle",
    "peerUptime": "never",
    "peerUptimeMsec": 0,
    "connectionsEstablished": 0,
    "lastNotificationReason": "OPEN Message Error/Bad Peer AS",
    "lastResetDueTo": "BGP Notification send",
}
UP = {
    "state": "Established",
    "peerUptime": "01:00:00",
    "peerUptimeMsec": 3_600_000,
    "connectionsEstablished": 1,
}
_OF_THE_SUMMARY = {"state", "peerUptime", "peerUptimeMsec", "connectionsEstablished"}


class FrrWithSessions(FakeFrr):
    """An FRR in memory that has these sessions of IPv4, by address."""

    def __init__(self, **sessions: dict[str, Any]) -> None:
        super().__init__()
        self.sessions: dict[str, dict[str, Any]] = dict(sessions)
        self.asked: list[str] = []

    def show(self, daemon: str, command: str) -> str:
        self.asked.append(command)
        self._check_running(daemon)
        if command == "show bgp summary json":
            return self._peers(lambda peer: {key: peer[key] for key in _OF_THE_SUMMARY & peer.keys()})
        if command == "show bgp summary failed json":
            return self._peers(lambda peer: {key: peer[key] for key in peer if key != "state"})
        return super().show(daemon, command)

    def operate(self, operation: Operation) -> None:
        """A session that is cleared comes up again."""
        super().operate(operation)
        words = operation.text.split()
        addresses = list(self.sessions) if "*" in words else [one for one in self.sessions if one in words]
        if not addresses and "*" not in words:
            raise FrrCommandError(operation.daemon, operation.text, "% BGP: Unknown neighbor")
        if "soft" not in words:
            self.sessions.update(dict.fromkeys(addresses, UP))

    def _peers(self, shown: Any) -> str:
        peers = {address: shown(peer) for address, peer in self.sessions.items()}
        return json.dumps({"ipv4Unicast": {"as": 65000, "peers": peers}})

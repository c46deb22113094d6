"""What an attack on one neighbor's link must not affect: processes, memory, and the sessions of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lab import addressing as at
from lab import frr_daemons, readiness
from tests.live_lab import LiveLab
from tests.soak import processes
from tests.soak.processes import Held

ROUTER = ("agent", "web-server", "vpp", "feeder", *frr_daemons.DAEMONS)
_MORE_RSS_BYTES = 192 * 2**20
_SAME_SESSION_S = 2
"""FRR derives when a session began from a rounded uptime: two readings differ by a second."""


@dataclass(frozen=True)
class Bystanders:
    """The router's programs and the sessions with its honest neighbors, at one time."""

    live: LiveLab
    held: dict[str, Held]
    established: dict[str, int]

    @classmethod
    def now(cls, live: LiveLab) -> Bystanders:
        """As they are."""
        running = processes.programs(live)
        held = {name: found for name in ROUTER if (found := processes.held(running.get(name, 0)))}
        return cls(live, held, _established(live))

    def harmed(self) -> list[str]:
        """What has changed since and must not have, one sentence each."""
        now, found = Bystanders.now(self.live), []
        for name, before in self.held.items():
            after = now.held.get(name)
            if after is None or after.pid != before.pid:
                found.append(f"{name} was process {before.pid} and is {after and after.pid}")
            elif after.rss_bytes > before.rss_bytes + _MORE_RSS_BYTES:
                found.append(f"{name} grew from {before.rss_bytes >> 20} to {after.rss_bytes >> 20} MiB")
        for address, since in self.established.items():
            if abs(now.established.get(address, 0) - since) > _SAME_SESSION_S:
                found.append(f"the BGP session with {address} was reset")
        for check in readiness.routing_checks(self.live.topology.namespaces):
            if (seen := readiness.look(check)) is not None:
                found.append(f"{check.name}: {seen}")
        return found


def _established(live: LiveLab) -> dict[str, int]:
    shown: dict[str, Any] = frr_daemons.show(live.topology.namespaces.router, "show bgp neighbors")
    honest = (str(at.WAN.far_v4.ip), str(at.WAN.far_v6.ip))
    return {address: int(shown[address].get("bgpTimerUpEstablishedEpoch", 0)) for address in honest}

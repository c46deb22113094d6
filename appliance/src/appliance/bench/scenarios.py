"""What ``millrace bench`` sends, and through what."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.bench import traffic
from appliance.bench.rig import MACS
from appliance.state.benches import BenchWanted, ScenarioName

_RULE_BYTES, _ROUTE_BYTES = 370, 730
_TRANSLATING_BYTES, _SESSION_BYTES = 8_000_000, 400
"""Of VPP's main heap, as of the document's lists and NAT (``memory.py`` of those features)."""


@dataclass(frozen=True)
class Scenario:
    """The packets that come in on the left and on the right, and what they pass: of ``size`` routes, rules
    or flows, 0 for none.
    """

    name: ScenarioName
    title: str
    streams: traffic.Streams
    frames: str = "64 B"
    size: int = 0
    warm: bool = False
    """Whether each flow has to have passed once before."""
    passes: str = "its table has two routes, its interfaces no features"

    def heap_bytes(self, threads: int) -> int:
        """What it takes of VPP's main heap besides routes, with so many threads that forward."""
        if self.name == "acl":
            return 2 * self.size * _RULE_BYTES
        if self.name == "nat":
            return _TRANSLATING_BYTES + traffic.sessions(self.size) * threads * _SESSION_BYTES
        return 0


def scenario_of(wanted: BenchWanted) -> Scenario:
    """That is wanted."""
    name, size = wanted.scenario, wanted.sized
    match name:
        case "fwd":
            return Scenario(name, "IPv4, one flow each way", traffic.both(MACS))
        case "imix":
            streams = traffic.both(MACS, traffic.IMIX, traffic.HOSTS)
            return Scenario(name, "IPv4, 512 flows each way", streams, "64, 570 and 1,518 B as 7:4:1")
        case "fib":
            return Scenario(
                name,
                f"{size:,} IPv4 /32 routes, each of them hit; packets of one direction",
                traffic.to_left(MACS, size),
                size=size,
                passes=f"its table has {size:,} routes of one next hop, its interfaces no features",
            )
        case "acl":
            return Scenario(
                name,
                f"{size:,} rules on each interface, for received packets",
                traffic.both(MACS, hosts=min(size, traffic.HOSTS)),
                size=size,
                passes="its table has two routes, its interfaces one access list each",
            )
        case "nat":
            hosts = traffic.inside_hosts(size)
            return Scenario(
                name,
                f"{size:,} flows of {hosts:,} inside hosts behind one address; packets from inside",
                traffic.translated(MACS, size),
                size=size,
                warm=True,
                passes="its table has two routes, its interfaces NAT",
            )


def room_routes(scenario: Scenario, threads: int) -> int:
    """As many routes take what it takes of VPP, by the feeder's count."""
    routes = scenario.size if scenario.name == "fib" else 0
    return routes + -(-scenario.heap_bytes(threads) // _ROUTE_BYTES)

"""The packets of ``millrace bench``, and the load they pass."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.bench import traffic
from appliance.bench.load import Load, loads
from appliance.bench.rig import MACS
from appliance.state.benches import BenchWanted

_ROUTE_BYTES = 730
"""Of VPP's main heap, as the feeder counts them."""


@dataclass(frozen=True)
class Scenario:
    """The packets that come in on the left and on the right, and what they pass: a load of ``size``."""

    title: str
    streams: traffic.Streams
    frames: str = "64 B"
    passes: str = "its table has two routes, its interfaces no features"
    load: Load | None = None
    size: int = 0

    @property
    def warm(self) -> bool:
        """Whether each flow has to have passed once before."""
        return self.load is not None and self.load.warm

    def routes(self) -> int:
        """How much of VPP's room for routes it takes."""
        return 0 if self.load is None else self.load.routes(self.size)

    def heap_bytes(self, threads: int) -> int:
        """Its use of VPP's main heap besides routes, with this many forwarding threads."""
        return 0 if self.load is None else self.load.heap_bytes(self.size, threads)


def scenario_of(wanted: BenchWanted) -> Scenario:
    """That is wanted."""
    load, size = loads().get(wanted.scenario), wanted.sized
    if load is not None:
        return Scenario(
            load.title(size), load.streams(MACS, size), passes=load.passes(size), load=load, size=size
        )
    if wanted.scenario == "imix":
        streams = traffic.both(MACS, traffic.IMIX, traffic.HOSTS)
        return Scenario("IPv4, 512 flows each way", streams, "64, 570 and 1,518 B as 7:4:1")
    return Scenario("IPv4, one flow each way", traffic.both(MACS))


def room_routes(scenario: Scenario, threads: int) -> int:
    """As many routes take what it takes of VPP, by the feeder's count."""
    return scenario.routes() + -(-scenario.heap_bytes(threads) // _ROUTE_BYTES)

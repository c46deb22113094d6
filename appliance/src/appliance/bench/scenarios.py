"""What ``millrace bench`` sends; the traffic of the same scenarios of ``make bench``."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.bench.generator import Stream
from appliance.bench.rig import MACS
from appliance.state.benches import ScenarioName

IMIX = (64,) * 7 + (570,) * 4 + (1518,)
"""The simple mix: 7 short, 4 middle, 1 long; 353.8 bytes on average."""
_HOSTS = 512


@dataclass(frozen=True)
class Scenario:
    """The packets that come in on the left, and those on the right."""

    title: str
    frames: str
    streams: tuple[Stream, Stream]


def _both(sizes: tuple[int, ...], hosts: int) -> tuple[Stream, Stream]:
    return (
        Stream("v4", MACS[0], "16.0.0.0", hosts, "48.0.0.1", 1, hosts, sizes),
        Stream("v4", MACS[1], "48.0.0.1", 1, "16.0.0.0", hosts, hosts, sizes),
    )


SCENARIOS: dict[ScenarioName, Scenario] = {
    "fwd": Scenario("IPv4, one flow each way", "64 B", _both((64,), 1)),
    "imix": Scenario("IPv4, 512 flows each way", "64, 570 and 1,518 B as 7:4:1", _both(IMIX, _HOSTS)),
}

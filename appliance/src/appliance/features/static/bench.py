"""Many routes for the packets of a bench."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from appliance.bench import traffic
from appliance.bench.load import Ends, Load
from appliance.errors import Conflict

if TYPE_CHECKING:
    from vpp_config import VppClient

_PORTION = 4096
"""How many routes VPP gets at once: for some ms its main thread does nothing else."""


class Routes(Load):
    """A /32 for each address that packets go to. They go with the bench's table."""

    name = "fib"
    packets = "routes, each of them hit"
    units = "routes"
    usual, most = 10_000, 262_144

    def title(self, size: int) -> str:
        """With how the packets hit them."""
        return f"{size:,} IPv4 /32 routes, each of them hit; packets of one direction"

    def passes(self, size: int) -> str:
        """Routes with one next hop share VPP's state for it."""
        return f"its table has {size:,} routes of one next hop, its interfaces no features"

    def streams(self, macs: Sequence[str], size: int) -> traffic.Streams:
        """A flow for each route."""
        return traffic.to_left(macs, size)

    def routes(self, size: int) -> int:
        """All routes."""
        return size

    def put(self, vpp: VppClient, size: int, ends: Ends) -> None:
        """By VPP's command line, which increments prefixes itself: messages take ten times as long."""
        name = next(
            str(row.interface_name)
            for row in vpp.dump("sw_interface_dump")
            if int(row.sw_if_index) == ends.indexes[0]
        )
        for first in range(0, size, _PORTION):
            portion = min(_PORTION, size - first)
            prefix = f"{traffic.FIRST_CLIENT + first}/32"
            command = f"ip route add {prefix} table {ends.table} count {portion} via {ends.next_hop} {name}"
            said = str(vpp.call("cli_inband", cmd=command).reply)
            if "routes/sec" not in said and said.strip():
                raise Conflict(f"VPP takes no routes: {said.strip()[:200]}")


LOAD = Routes()

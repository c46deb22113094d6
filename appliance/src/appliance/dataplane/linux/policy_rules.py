"""The kernel's policy rules: VRFs are looked up before the router's own addresses.

With the first VRF the kernel adds a rule for all of them (1000), behind that of table *local* (0), which has
the addresses of the default VRF. A packet of a VRF would reach those instead of its own VRF's host with the
same address. So the rule of *local* is moved behind, as the kernel's VRF documentation says. Each VRF's table
ends in a route for everything else; otherwise a lookup would go on to *local* and *main*.
"""

from __future__ import annotations

import errno
import socket
from typing import Any

from appliance.dataplane.namespace import attributes
from appliance.dataplane.rtnetlink import IPRoute, NetlinkError

_LOCAL = 255
_LAST = 4278198272
"""Metric of the last route of a table, from the kernel's documentation: any other route is better."""
_KERNEL = 2
"""Protocol of routes that zebra takes for the kernel's own, and leaves alone."""
_BEHIND = 32765
"""Before the rules of *main* (32766) and *default*."""


def local_after_vrfs(route: IPRoute) -> None:
    """See above; no error if already so. Raises NetlinkError."""
    for family in (socket.AF_INET, socket.AF_INET6):
        at = {attributes(rule).get("FRA_PRIORITY", 0) for rule in _of_local(route, family)}
        if _BEHIND not in at:
            route.rule("add", family=family, table=_LOCAL, priority=_BEHIND)
        if 0 in at:
            try:
                route.rule("del", family=family, table=_LOCAL, priority=0)
            except NetlinkError as error:
                if error.code != errno.ENOENT:
                    raise


def end_of_table(route: IPRoute, table: int, *, wanted: bool) -> None:
    """Have the table refuse packets that no other route of it matches, or no longer. Raises NetlinkError."""
    for family, everything in ((socket.AF_INET, "0.0.0.0/0"), (socket.AF_INET6, "::/0")):
        try:
            route.route(
                "add" if wanted else "del",
                family=family,
                dst=everything,
                table=table,
                type="unreachable",
                priority=_LAST,
                proto=_KERNEL,
            )
        except NetlinkError as error:
            if error.code not in ((errno.EEXIST,) if wanted else (errno.ESRCH, errno.ENOENT)):
                raise


def _of_local(route: IPRoute, family: int) -> list[Any]:
    return [rule for rule in route.get_rules(family=family) if attributes(rule).get("FRA_TABLE") == _LOCAL]

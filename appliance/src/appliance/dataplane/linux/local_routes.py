"""Prefixes of which the kernel receives packets though no interface has their addresses.

They are routes of type *local* in table *local*, with a protocol number of our own. So the kernel answers ARP
for them, and a packet that no mapping leads inside ends here and is not sent back to where it came from.
Called inside the namespace.
"""

from __future__ import annotations

import errno

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from appliance.dataplane.base import DataPlaneError

_PROTOCOL = 79
"""Of no other program (``/etc/iproute2/rt_protos``)."""
_TABLE, _LO, _HOST_SCOPE, _INET = 255, 1, 254, 2


def received_prefixes() -> list[str]:
    """Those that this program made. The kernel tells of this table alone, not of a million routes."""
    with IPRoute(strict_check=True) as route:
        messages = list(route.route("dump", family=_INET, table=_TABLE, proto=_PROTOCOL))
    return [
        f"{dict(message['attrs'])['RTA_DST']}/{message['dst_len']}"
        for message in messages
        if message["proto"] == _PROTOCOL and message["table"] == _TABLE
    ]


def receive(prefix: str, wanted: bool) -> None:
    """Receive packets for the prefix, or no more. Raises DataPlaneError."""
    fine = errno.EEXIST if wanted else errno.ESRCH
    try:
        with IPRoute() as route:
            route.route(
                "add" if wanted else "del",
                dst=prefix,
                type="local",
                table=_TABLE,
                oif=_LO,
                proto=_PROTOCOL,
                scope=_HOST_SCOPE,
            )
    except NetlinkError as error:
        if error.code != fine:
            what = "receive" if wanted else "no longer receive"
            raise DataPlaneError(f"cannot {what} packets for {prefix}: {error.args[-1]}") from error

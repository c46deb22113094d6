"""BMP (RFC 7854): bgpd reports its accepted routes to a program on the same machine; the lines and their
meaning.

It requires bgpd's module bgpd_bmp.
"""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line
from frr_config.syntax import ANY, Form, Kind, in_order

ADDRESS, PORT = "127.0.0.1", 2630
"""The address on which bgpd listens, in its own network namespace."""
_TARGETS = "bmp targets millrace"
MONITORING_OPENER = rf"router bgp \d+ / {_TARGETS}"

MONITORING = Kind(
    "bgp_monitoring",
    title=lambda _: "BGP routes for the index",
    path=lambda _: "/routing/bgp",
    # bgpd 8.4 to 10.3 frees a listener together with its instance but still accepts a connection for it, and
    # the next connection ends bgpd. The listener is therefore closed first.
    leaves_first=True,
)
MONITORING_LINES = (*in_order(Form("bmp monitor"), Form("bmp listener")), ANY)


def monitoring_lines(asn: int) -> Iterator[Line]:
    """A listener of the default instance that sends the accepted routes of both families."""
    context = (f"router bgp {asn}", _TARGETS)
    for family in ("ipv4", "ipv6"):
        yield Line(context, f"bmp monitor {family} unicast post-policy")
    yield Line(context, f"bmp listener {ADDRESS} port {PORT}")

"""BMP (RFC 7854): bgpd tells a program beside it of the routes it accepted, as lines and what they mean.

It takes bgpd's module bgpd_bmp.
"""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line
from frr_config.syntax import ANY, Form, Kind, in_order

ADDRESS, PORT = "127.0.0.1", 2630
"""Where bgpd listens, in its own network namespace."""
_TARGETS = "bmp targets millrace"
MONITORING_OPENER = rf"router bgp \d+ / {_TARGETS}"

MONITORING = Kind(
    "bgp_monitoring",
    title=lambda _: "BGP routes for the index",
    path=lambda _: "/routing/bgp",
    # bgpd 8.4 to 10.3 frees a listener that goes with its instance and still takes connections for it, of
    # which the next one ends bgpd: it is closed before.
    leaves_first=True,
)
MONITORING_LINES = (*in_order(Form("bmp monitor"), Form("bmp listener")), ANY)


def monitoring_lines(asn: int) -> Iterator[Line]:
    """A listener of the router's own instance that sends what is accepted of both families."""
    context = (f"router bgp {asn}", _TARGETS)
    for family in ("ipv4", "ipv6"):
        yield Line(context, f"bmp monitor {family} unicast post-policy")
    yield Line(context, f"bmp listener {ADDRESS} port {PORT}")

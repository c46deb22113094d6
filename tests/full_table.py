"""A full table for a lab: BIRD next to lan0, and the document's settings to take its routes.

::

    BIRD, AS 65010, on the far end of lan0 ── lan0 [router] wan0, core0 ── the lab's neighbors
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab import addressing as at
from tests.live_lab import LiveLab
from tests.route_feed import BIRD, prefix

_PEER, _PEER_AS = str(at.LAN.far_v4.ip), 65010
ROUTING: dict[str, Any] = {
    "bgp": {
        "ebgp_requires_policy": False,
        "neighbors": {_PEER: {"remote_asn": _PEER_AS, "connect_retry_s": 1, "ipv4_unicast": {}}},
    }
}
"""Additions to the section of routing."""


@contextmanager
def neighbor(live: LiveLab, count: int) -> Iterator[None]:
    """BIRD runs, with the first ``count`` prefixes of :func:`tests.route_feed.prefix`."""
    routes = "\n".join(f"route {prefix(number)} blackhole;" for number in range(count))
    config = live.directory / "full-table.conf"
    config.write_text(
        f"""log stderr all;
router id 10.255.0.9;
protocol device {{ }}
protocol static full_table {{ ipv4; {routes} }}
protocol bgp to_router {{
  local {_PEER} as {_PEER_AS}; neighbor {at.LAN.near_v4.ip} as {at.ROUTER_AS}; connect delay time 1;
  ipv4 {{ import none; export all; next hop self; }};
}}
"""
    )
    namespace, control = live.topology.namespaces.lan, live.directory / "full-table.ctl"
    argv = ["ip", "netns", "exec", namespace, BIRD, "-f", "-c", str(config), "-s", str(control)]
    with (live.directory / "full-table.log").open("wb") as log:
        bird = subprocess.Popen(argv, stdout=log, stderr=log)
    try:
        yield
    finally:
        bird.terminate()
        bird.wait(30)

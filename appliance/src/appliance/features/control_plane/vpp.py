"""What VPP punts to the router itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import vpp_config as vpp
from appliance.dataplane.wanted import Wanted

_PUNT_PPS, _PUNT_BURST_MS = 50_000, 100
"""The most packets punted to Linux, per family: well above the need of a BGP session with a full table."""


def objects(_wanted: Wanted) -> Iterator[vpp.VppObject]:
    """A limit for each family."""
    yield vpp.PuntPolicer("ipv4", _PUNT_PPS, _PUNT_BURST_MS)
    yield vpp.PuntPolicer("ipv6", _PUNT_PPS, _PUNT_BURST_MS)

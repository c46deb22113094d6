"""Loopbacks in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.vpp.numbers import stable_numbers
from appliance.dataplane.wanted import Wanted
from appliance.features.loopback.model import Loopback

PATHS = {vpp.Loopback.kind: lambda name: join(["interfaces", name])}
_MAX_LOOPBACKS = 16384
"""Instances VPP numbers its loopbacks with."""


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The loopback under a number of its own."""
    loopbacks = dict(wanted.config.interfaces_of(Loopback))
    numbers = stable_numbers(loopbacks, _MAX_LOOPBACKS)
    for name, interface in loopbacks.items():
        yield vpp.Loopback(name, numbers[name], mtu=interface.mtu, enabled=interface.enabled)

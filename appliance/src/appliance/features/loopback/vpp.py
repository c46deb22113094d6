"""Loopbacks in VPP. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.loopback.model import Loopback

PATHS = {vpp.Loopback.kind: lambda name: join(["interfaces", name])}
_MAX_LOOPBACKS = 16384
"""Instances VPP numbers its loopbacks with."""


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The loopback under a number of its own."""
    loopbacks = dict(wanted.config.interfaces_of(Loopback))
    numbers = _instances(loopbacks)
    for name, interface in loopbacks.items():
        yield vpp.Loopback(name, numbers[name], mtu=interface.mtu, enabled=interface.enabled)


def _instances(names: Iterable[str]) -> dict[str, int]:
    """A number for each loopback that stays when others come and go, unless two names fall on one."""
    taken: dict[int, str] = {}
    for name in sorted(names):
        instance = zlib.crc32(name.encode()) % _MAX_LOOPBACKS
        while instance in taken:
            instance = (instance + 1) % _MAX_LOOPBACKS
        taken[instance] = name
    return {name: instance for instance, name in taken.items()}

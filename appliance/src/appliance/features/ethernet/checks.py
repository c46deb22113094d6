"""NICs."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import Context
from appliance.errors import Problem
from appliance.features.ethernet.model import Ethernet


def check(context: Context) -> Iterator[Problem]:
    """No NIC is used by two interfaces, and the data plane can drive it as asked."""
    can = context.capabilities
    nics: dict[tuple[str, str], str] = {}
    for name, interface in sorted(context.config.interfaces_of(Ethernet)):
        path = f"/interfaces/{name}"
        for kind in ("mac", "pci", "device"):
            value = getattr(interface.match, kind)
            if value is None:
                continue
            if (other := nics.setdefault((kind, value), name)) != name:
                yield Problem(f"{path}/match/{kind}", f"{value} is already the NIC of {other}")
            if kind == "mac" and int(value[:2], 16) & 1:
                yield Problem(f"{path}/match/mac", f"{value} is a multicast address; no NIC has it")
        if interface.driver not in can.nic_drivers:
            able = ", ".join(can.nic_drivers)
            message = f"the {can.driver} data plane of this router drives NICs only by {able}"
            yield Problem(f"{path}/driver", message)

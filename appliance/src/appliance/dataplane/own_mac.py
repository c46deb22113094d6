"""The own MAC address of a virtual NIC, kept in its alias while VPP gives the NIC another.

A real NIC reports its permanent address; a veth has none, and VPP's af_packet overwrites its address with
VPP's.
"""

from __future__ import annotations

import re

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.namespace import Namespace, attributes
from appliance.dataplane.rtnetlink import NetlinkError

_MARK = " millrace-mac:"
_MARKED = re.compile(r"^(?P<rest>.*) millrace-mac:(?P<mac>[0-9a-f]{2}(:[0-9a-f]{2}){5})$", re.DOTALL)


def of_alias(alias: str) -> str | None:
    """The address that ``keep`` noted, or None."""
    marked = _MARKED.match(alias)
    return marked["mac"] if marked else None


def keep(space: Namespace, device: str, wanted: str) -> None:
    """Note the NIC's own address before it gets ``wanted``. Does nothing for a NIC that is gone, has a
    permanent address or is noted already. Runs in ``space``; raises DataPlaneError.
    """
    index, address, alias = _seen(space, device)
    if index and address != wanted and of_alias(alias) is None:
        _rename(space, index, f"{alias}{_MARK}{address}")


def forget(space: Namespace, device: str) -> None:
    """Remove the note when the NIC has its own address again. Runs in ``space``; raises DataPlaneError."""
    index, address, alias = _seen(space, device)
    marked = _MARKED.match(alias)
    if index and marked and marked["mac"] == address:
        _rename(space, index, marked["rest"])


def _seen(space: Namespace, device: str) -> tuple[int, str, str]:
    """Index, address and alias; index 0 if there is nothing to note."""
    route = space.route()
    for index in route.link_lookup(ifname=device):
        for message in route.get_links(index):
            known = attributes(message)
            if not known.get("IFLA_PERM_ADDRESS"):
                address = str(known.get("IFLA_ADDRESS") or "").lower()
                return (index if address else 0), address, str(known.get("IFLA_IFALIAS") or "")
    return 0, "", ""


def _rename(space: Namespace, index: int, alias: str) -> None:
    try:
        space.route().link("set", index=index, ifalias=alias)
    except NetlinkError as error:
        raise DataPlaneError(f"cannot note the MAC address of NIC {index} in its alias: {error}") from error

"""Finding the machine's NICs through rtnetlink."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.link_list import links
from appliance.dataplane.namespace import Namespace, attributes
from appliance.dataplane.nic import Nic
from appliance.dataplane.nic_inventory import merge, read
from appliance.dataplane.own_mac import of_alias
from appliance.dataplane.rtnetlink import NetlinkError

ALIAS = "millrace:"
"""Our mark in the alias of a renamed NIC: ``millrace:<its own name>``."""

_VIRTUAL = frozenset(
    [
        "bridge",
        "dummy",
        "vlan",
        "vxlan",
        "tun",
        "ifb",
        "gretap",
        "ip6gretap",
        "erspan",
        "ipip",
        "sit",
        "macvlan",
    ]
)
_MASTER = 0x400
"""Of a link that is made of others."""


def discover(
    namespaces: Iterable[Namespace], exclude: frozenset[str] = frozenset(), inventory: Path | None = None
) -> list[Nic]:
    """NICs in these namespaces and in the boot's ``inventory``, except those named in ``exclude``.

    Raises DataPlaneError.
    """
    found: dict[str, Nic] = {}
    for namespace in namespaces:
        for message in namespace.run(links):
            nic = of_link(message)
            if nic is not None and nic.device not in exclude:
                found.setdefault(nic.device, nic)
    if inventory is not None:
        return merge(found.values(), read(inventory))
    return sorted(found.values(), key=lambda nic: nic.device)


def of_link(message: Any) -> Nic | None:
    """The NIC a link message describes, or None when the link is not one."""
    known = attributes(message)
    information = known.get("IFLA_LINKINFO")
    kind = attributes(information).get("IFLA_INFO_KIND") if information else None
    alias = str(known.get("IFLA_IFALIAS") or "")
    own = known.get("IFLA_PERM_ADDRESS") or _held_mac(information) or of_alias(alias)
    mac = own or known.get("IFLA_ADDRESS")
    if kind in _VIRTUAL or message["flags"] & _MASTER or mac is None or message["ifi_type"] != 1:
        return None
    pci = known.get("IFLA_PARENT_DEV_NAME") if known.get("IFLA_PARENT_DEV_BUS_NAME") == "pci" else None
    return Nic(own_name(known), str(mac).lower(), pci, kind)


def _held_mac(information: Any) -> str | None:
    """The MAC address that a link regains when it leaves its master, such as a bond."""
    held = attributes(information).get("IFLA_INFO_SLAVE_DATA") if information else None
    return attributes(held).get("IFLA_BOND_SLAVE_PERM_HWADDR") if isinstance(held, Mapping) else None


def own_name(known: Mapping[str, Any]) -> str:
    """A NIC's own name, from before this router renamed it."""
    alias = str(known.get("IFLA_IFALIAS") or "")
    return alias.removeprefix(ALIAS) if alias.startswith(ALIAS) else str(known["IFLA_IFNAME"])


def move(source: Namespace, device: str, target: str | None) -> None:
    """Move the NIC with this own name to namespace ``target`` (None: this process's own).

    Does nothing when ``source`` has no such NIC. It arrives down, under its own name, without addresses.
    """

    def _move() -> None:
        route = source.route()
        found = route.link_lookup(ifname=device)
        if not found:
            return
        if target is not None:
            route.link("set", index=found[0], net_ns_fd=target)
            return
        with Path("/proc/self/ns/net").open() as own:
            route.link("set", index=found[0], net_ns_fd=own.fileno())

    try:
        source.run(_move)
    except NetlinkError as error:
        raise DataPlaneError(f"cannot move {device} to namespace {target or 'default'}: {error}") from error

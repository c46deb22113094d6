"""Names of the kernel's network devices, and the namespace of the router."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

from appliance.dataplane.base import NamespaceMissing
from appliance.errors import MillraceError
from appliance.programs import Programs, must

log = logging.getLogger(__name__)

NAMESPACES = Path("/run/netns")
_OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "lro", "rxvlan", "txvlan", "rx-vlan-filter")


class RenameFailed(MillraceError):
    """A network device could not be renamed."""


def require_namespace(name: str, namespaces: Path = NAMESPACES) -> None:
    """Raise NamespaceMissing unless the named namespace is there; millrace-netns.service makes it."""
    path = namespaces / name
    # Until the namespace is mounted on it, the name is an empty file in its directory's own file system.
    if not path.exists() or path.stat().st_dev == namespaces.stat().st_dev:
        raise NamespaceMissing(f"there is no network namespace {name}")


def rename_order(wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """Renames that bring each device (key) to its name (value), whoever has that name now. Pure.

    A device in the way is one of the keys itself; all that change place step aside first.
    """
    changing = {old: new for old, new in wanted.items() if old != new}
    aside = {old: f"mr-aside{number}" for number, old in enumerate(sorted(changing))}
    return [*aside.items(), *((aside[old], new) for old, new in sorted(changing.items()))]


def clear_of(wanted: Mapping[str, str], others: Iterable[str]) -> dict[str, str]:
    """The renames, without names that NICs of others (management) have now. Pure.

    A data NIC may be recorded by the name the kernel has given to the management NIC this time.
    """
    taken = set(others)
    used = taken | set(wanted) | set(wanted.values())
    clear = {}
    for old, new in sorted(wanted.items()):
        name = new
        if new in taken:
            free = (f"eth{number}" for number in count())
            name = old if old not in wanted.values() else next(one for one in free if one not in used)
            used.add(name)
        clear[old] = name
    return clear


def rename(wanted: Mapping[str, str]) -> None:
    """Rename devices, which are down meanwhile. Raises RenameFailed."""
    order = rename_order(wanted)
    if not order:
        return
    # Half a second to import, and mostly not needed.
    from pyroute2.iproute import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    with IPRoute() as route:
        for old, new in order:
            found = route.link_lookup(ifname=old)
            try:
                if not found:
                    raise RenameFailed(f"there is no network device {old}")
                route.link("set", index=found[0], state="down")
                route.link("set", index=found[0], ifname=new)
            except NetlinkError as error:
                raise RenameFailed(f"{old} cannot be renamed to {new}: {error}") from error
            log.info("network device %s is now %s", old, new)


def quieten(device: str, proc: Path = Path("/proc/sys")) -> None:
    """Keep the host from having an address on the device, or speaking through it. Raises OSError."""
    setting = proc / "net/ipv6/conf" / device / "disable_ipv6"
    if setting.exists():
        setting.write_text("1")


def pass_through(device: str, programs: Programs) -> bool:
    """Have the device pass each frame as it was on the wire: for VPP it is a cable, not a host's NIC.

    Its filters know the groups and VLANs of the host's own stack, which has none here: neighbor discovery,
    OSPF and tagged frames would be lost. Frames that it merges, or leaves without a checksum for a local
    reader, cannot be forwarded. A device that cannot disable an offload keeps it; returns false when that is
    checksum verification, so that frames may lack checksums. Raises ProgramFailed.
    """
    must(programs, ["ip", "link", "set", "dev", device, "promisc", "on", "allmulticast", "on"])
    done = programs.run(["ethtool", "-K", device, *(word for name in _OFFLOADS for word in (name, "off"))])
    if done.code != 0:
        log.info("%s keeps its offloads: %s", device, (done.error or done.output).strip())
    offloads = programs.run(["ethtool", "-k", device]).output
    return not any(line.startswith("rx-checksumming: on") for line in offloads.splitlines())

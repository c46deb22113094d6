"""Links and addresses through rtnetlink, inside the router's namespace."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_interface
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.state import (
    EthernetLink,
    Link,
    LinkAddress,
    LoopbackLink,
    VlanLink,
)
from appliance.dataplane.namespace import Namespace, attributes, read_sysctl, write_sysctl
from appliance.dataplane.nics import ALIAS, own_name

LOOPBACK_ALIAS = "millrace loopback"
VLAN_ALIAS = "millrace sub-interface"
_UP = 1
_NODAD = 0x02
"""IFA_F_NODAD: an address of a router works at once, as in VPP."""
_LINK_SCOPE = 253
_LOOSE = 0x4
"""VLAN_FLAG_LOOSE_BINDING."""

Take = Callable[[str], None]
"""Moves the NIC with this name of its own into the namespace, if it is not there yet."""


@contextmanager
def saying(what: str) -> Iterator[None]:
    """Translate the kernel's refusal into an error that says what was tried."""
    try:
        yield
    except NetlinkError as error:
        reason = errno.errorcode.get(error.code, str(error.code))
        raise DataPlaneError(f"cannot {what}: {error.args[-1] or reason}") from error


class Links:
    """The links of one namespace; all methods have to be called inside it."""

    def __init__(self, namespace: Namespace, take: Take, give_back: Take) -> None:
        self._namespace = namespace
        self._take = take
        self._give_back = give_back

    def observe(self) -> list[Link | LinkAddress]:
        """Links that this program made or renamed, and the addresses on them but link-local ones."""
        route = self._route
        found: list[Link | LinkAddress] = []
        names: dict[int, str] = {}
        messages = list(route.get_links())
        all_names = {message["index"]: attributes(message)["IFLA_IFNAME"] for message in messages}
        for message in messages:
            link = _link(message, all_names)
            if link is not None:
                names[message["index"]] = link.name
                found.append(link)
        for message in route.get_addr():
            name = names.get(message["index"])
            known = attributes(message)
            text = known.get("IFA_LOCAL") or known.get("IFA_ADDRESS")
            if name is None or text is None or (message["family"] == 10 and message["scope"] == _LINK_SCOPE):
                continue
            found.append(LinkAddress(name, str(ip_interface(f"{text}/{message['prefixlen']}"))))
        return found

    def messages(self) -> dict[str, Any]:
        """Link messages of our links by name, with state and statistics."""
        messages = list(self._route.get_links())
        names = {message["index"]: attributes(message)["IFLA_IFNAME"] for message in messages}
        return {link.name: message for message in messages if (link := _link(message, names)) is not None}

    def loopback_is_up(self) -> bool:
        """Whether the namespace's own ``lo`` is up."""
        return bool(next(iter(self._route.get_links(1)))["flags"] & _UP)

    def set_loopback_up(self, up: bool) -> None:
        """Set the namespace's own ``lo``."""
        with saying("set lo up"):
            self._route.link("set", index=1, state="up" if up else "down")

    def change(self, before: Link | None, after: Link | None) -> None:
        """Bring one link from ``before`` to ``after``; what is already so stays untouched."""
        if after is None:
            if before is not None:
                self._remove(before)
            return
        index = self._index(after.name)
        if index is None:
            index = self._create(after)
        with saying(f"set the MTU of {after.name} to {after.mtu}"):
            self._route.link("set", index=index, mtu=after.mtu)
        with saying(f"set {after.name} {'up' if after.enabled else 'down'}"):
            self._route.link("set", index=index, state="up" if after.enabled else "down")

    def add_address(self, address: LinkAddress) -> None:
        """Add it; one that is there is fine."""
        parsed = ip_interface(address.address)
        arguments: dict[str, Any] = {"address": str(parsed.ip), "prefixlen": parsed.network.prefixlen}
        if parsed.version == 6:
            arguments["flags"] = _NODAD
        elif parsed.network.prefixlen < 31:
            arguments["broadcast"] = str(parsed.network.broadcast_address)
        self._change_address("add", address, arguments, errno.EEXIST)

    def delete_address(self, address: LinkAddress) -> None:
        """Delete it; one that is gone is fine."""
        if self._index(address.interface) is None:
            return
        parsed = ip_interface(address.address)
        arguments = {"address": str(parsed.ip), "prefixlen": parsed.network.prefixlen}
        self._change_address("del", address, arguments, errno.EADDRNOTAVAIL)

    def _change_address(self, verb: str, address: LinkAddress, arguments: dict[str, Any], fine: int) -> None:
        what = f"{'add' if verb == 'add' else 'delete'} {address.address} on {address.interface}"
        index = self._index(address.interface)
        if index is None:
            raise DataPlaneError(f"cannot {what}: there is no link of that name")
        with saying(what):
            try:
                self._route.addr(verb, index=index, **arguments)
            except NetlinkError as error:
                if error.code != fine:
                    raise

    @property
    def _route(self) -> IPRoute:
        return self._namespace.route()

    def _index(self, name: str) -> int | None:
        found = self._route.link_lookup(ifname=name)
        return int(found[0]) if found else None

    def _create(self, link: Link) -> int:
        with saying(f"make {link.name}"):
            if isinstance(link, EthernetLink):
                return self._claim(link)
            if isinstance(link, VlanLink):
                parent = self._index(link.parent)
                if parent is None:
                    raise DataPlaneError(f"cannot make {link.name}: there is no link {link.parent}")
                # Loosely bound its state is its own, as in VPP: else it could not be up on a parent that is
                # down, and a parent that comes up would take it along.
                self._route.link(
                    "add",
                    ifname=link.name,
                    kind="vlan",
                    link=parent,
                    vlan_id=link.vlan_id,
                    vlan_flags={"flags": _LOOSE, "mask": _LOOSE},
                )
                return self._mark(link.name, VLAN_ALIAS)
            try:
                self._route.link("add", ifname=link.name, kind="dummy")
            except NetlinkError as error:
                if error.code != errno.EOPNOTSUPP:
                    raise
                self._route.link("add", ifname=link.name, kind="bridge")
            return self._mark(link.name, LOOPBACK_ALIAS)

    def _mark(self, name: str, alias: str) -> int:
        index = self._index(name)
        if index is None:
            raise DataPlaneError(f"{name} was made and is not there")
        self._route.link("set", index=index, ifalias=alias)
        return index

    def _claim(self, link: EthernetLink) -> int:
        self._take(link.device)
        index = self._index(link.device)
        if index is None:
            raise DataPlaneError(f"cannot make {link.name}: there is no NIC {link.device}")
        self._route.link("set", index=index, state="down")
        self._route.link("set", index=index, ifalias=f"{ALIAS}{link.device}")
        if link.device != link.name:
            self._route.link("set", index=index, ifname=link.name)
        self._route.flush_addr(index=index)
        # What the namespace's defaults are does not reach a NIC that was there before them.
        for setting in (f"net/ipv4/conf/{link.name}/rp_filter", f"net/ipv6/conf/{link.name}/accept_dad"):
            if read_sysctl(setting) is not None:
                write_sysctl(setting, "0")
        return index

    def _remove(self, link: Link) -> None:
        index = self._index(link.name)
        if index is None:
            return
        with saying(f"remove {link.name}"):
            if not isinstance(link, EthernetLink):
                self._route.link("del", index=index)
                return
            self._route.flush_addr(index=index)
            self._route.link("set", index=index, state="down")
            if link.device != link.name:
                self._route.link("set", index=index, ifname=link.device)
            self._route.link("set", index=index, ifalias="")
        self._give_back(link.device)


def _link(message: Any, names: dict[int, str]) -> Link | None:
    known = attributes(message)
    name, mtu, enabled = known["IFLA_IFNAME"], known["IFLA_MTU"], bool(message["flags"] & _UP)
    alias = str(known.get("IFLA_IFALIAS") or "")
    if alias.startswith(ALIAS):
        return EthernetLink(name, own_name(known), mtu, enabled)
    if alias == LOOPBACK_ALIAS:
        return LoopbackLink(name, mtu, enabled)
    if alias == VLAN_ALIAS:
        data = attributes(attributes(known["IFLA_LINKINFO"])["IFLA_INFO_DATA"])
        parent = names.get(known.get("IFLA_LINK", 0), "?")
        return VlanLink(name, parent, data["IFLA_VLAN_ID"], mtu, enabled)
    return None

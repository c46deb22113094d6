"""What each kind of interface of the document is in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from appliance.config.interfaces import Ethernet, Interface, Loopback, SubInterface
from appliance.dataplane.linux.objects import EthernetLink, Link, LoopbackLink, VlanLink
from appliance.dataplane.nic import Nic

Nics = Mapping[str, Nic]
"""The NIC of each ethernet interface."""


def _ethernet(name: str, interface: Ethernet, nics: Nics) -> Link:
    return EthernetLink(name, nics[name].device, interface.mtu, interface.enabled)


def _sub_interface(name: str, interface: SubInterface, _nics: Nics) -> Link:
    return VlanLink(name, interface.parent, interface.vlan_id, interface.mtu, interface.enabled)


def _loopback(name: str, interface: Loopback, _nics: Nics) -> Link:
    return LoopbackLink(name, interface.mtu, interface.enabled)


_LINKS: Mapping[str, Callable[[str, Any, Nics], Link]] = {
    "ethernet": _ethernet,
    "sub_interface": _sub_interface,
    "loopback": _loopback,
}
"""By ``type``, one line a kind."""


def link(name: str, interface: Interface, nics: Nics) -> Link:
    """The link that the interface is."""
    return _LINKS[interface.type](name, interface, nics)

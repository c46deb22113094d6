"""What each kind of interface of the document is in VPP. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import vpp_config as vpp
from appliance.config.document import RouterConfig
from appliance.config.interfaces import Ethernet, Interface, Loopback, SubInterface
from appliance.dataplane.nic import Nic
from appliance.errors import Problem, ValidationFailed

_MAX_LOOPBACKS = 16384
"""Instances VPP numbers its loopbacks with."""
_VIRTIO_TRANSITIONAL = "1af4:1000"
"""The only device that VPP's own virtio driver can drive without crashing."""


class Interfaces:
    """The document's interfaces on their way into VPP. ``nics`` has the NIC of each ethernet interface."""

    def __init__(self, config: RouterConfig, nics: Mapping[str, Nic]) -> None:
        self.config = config
        self.nics = nics

    def compiled(self, name: str, interface: Interface) -> vpp.Interface:
        """The interface in VPP. Raises ValidationFailed when a NIC cannot be driven as asked."""
        return _COMPILED[interface.type](name, interface, self)

    @cached_property
    def loopback_instances(self) -> dict[str, int]:
        """A number for each loopback that stays when others come and go, unless two names fall on one."""
        taken: dict[int, str] = {}
        for name in sorted(self.config.interfaces):
            if self.config.interfaces[name].type == "loopback":
                instance = zlib.crc32(name.encode()) % _MAX_LOOPBACKS
                while instance in taken:
                    instance = (instance + 1) % _MAX_LOOPBACKS
                taken[instance] = name
        return {name: instance for instance, name in taken.items()}


def _ethernet(name: str, interface: Ethernet, all_of_them: Interfaces) -> vpp.Interface:
    nic = all_of_them.nics[name]
    attachment = _attachment(name, interface, nic)
    return vpp.Ethernet(name, attachment, mac=nic.mac, mtu=interface.mtu, enabled=interface.enabled)


def _sub_interface(name: str, interface: SubInterface, _all: Interfaces) -> vpp.Interface:
    return vpp.SubInterface(
        name, interface.parent, interface.vlan_id, mtu=interface.mtu, enabled=interface.enabled
    )


def _loopback(name: str, interface: Loopback, all_of_them: Interfaces) -> vpp.Interface:
    instance = all_of_them.loopback_instances[name]
    return vpp.Loopback(name, instance, mtu=interface.mtu, enabled=interface.enabled)


_COMPILED: Mapping[str, Callable[[str, Any, Interfaces], vpp.Interface]] = {
    "ethernet": _ethernet,
    "sub_interface": _sub_interface,
    "loopback": _loopback,
}
"""By ``type``, one line a kind."""


def _attachment(name: str, interface: Ethernet, nic: Nic) -> vpp.Attachment:
    """How VPP gets at the NIC: as it was settled at boot, where the document's wish was heard.

    A wish that came later is heard at the next boot, if it can be met: NICs are bound before VPP starts.
    """
    wished = interface.driver
    path = f"/interfaces/{name}/driver"
    if wished in ("native", "dpdk") and nic.pci is None:
        raise ValidationFailed([Problem(path, f"{nic.device} is not a PCI device; only af_packet drives it")])
    if wished == "native" and nic.driver != "native" and nic.pci_id != _VIRTIO_TRANSITIONAL:
        message = f"VPP's own drivers cannot drive {nic.device} (PCI id {nic.pci_id}); dpdk or af_packet can"
        raise ValidationFailed([Problem(path, message)])
    driver = _settled(nic) or (wished if wished != "auto" else _by_id(nic))
    if driver == "af_packet":
        if not nic.attached:
            raise ValidationFailed(
                [Problem(path, f"{nic.device} has no driver of the kernel's to go through")]
            )
        return vpp.AfPacket(nic.device)
    assert nic.pci is not None
    return vpp.Dpdk(nic.pci) if driver == "dpdk" else vpp.VirtioPci(nic.pci)


def _settled(nic: Nic) -> str | None:
    return nic.driver if nic.driver in ("native", "dpdk", "af_packet") else None


def _by_id(nic: Nic) -> str:
    """Where nothing was settled: through the kernel's driver while it has the NIC, else by PCI id."""
    if nic.attached:
        return "af_packet"
    return "native" if nic.pci_id == _VIRTIO_TRANSITIONAL else "dpdk"

"""NICs in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import vpp_config as vpp
from appliance.config.pointer import join
from appliance.dataplane.nic import Nic
from appliance.dataplane.wanted import Wanted
from appliance.errors import Problem, ValidationFailed
from appliance.features.ethernet.model import Ethernet

PATHS = {vpp.Ethernet.kind: lambda name: join(["interfaces", name])}
_VIRTIO_TRANSITIONAL = "1af4:1000"
"""The only device that VPP's own virtio driver can drive without crashing."""


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The interface on its NIC. Raises ValidationFailed when a NIC cannot be driven as asked."""
    for name, interface in wanted.config.interfaces_of(Ethernet):
        attachment = _attachment(name, interface, wanted.nics[name])
        yield vpp.Ethernet(
            name, attachment, mac=wanted.mac(name), mtu=wanted.mtu(name), enabled=interface.enabled
        )


def _shown(item: vpp.Ethernet) -> dict[str, Any]:
    attachment = item.attachment
    device = getattr(attachment, "host_if_name", None) or getattr(attachment, "pci_address", None)
    return {"driver": attachment.driver, "device": device}


SHOWN = {vpp.Ethernet.kind: _shown}


def _attachment(name: str, interface: Ethernet, nic: Nic) -> vpp.Attachment:
    """How VPP drives the NIC: as decided at boot, which took the document's request into account.

    A later request takes effect at the next boot, if it can be met: NICs are bound before VPP starts.
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
            raise ValidationFailed([Problem(path, f"{nic.device} has no kernel driver to go through")])
        return vpp.AfPacket(nic.device)
    assert nic.pci is not None
    return vpp.Dpdk(nic.pci) if driver == "dpdk" else vpp.VirtioPci(nic.pci)


def _settled(nic: Nic) -> str | None:
    return nic.driver if nic.driver in ("native", "dpdk", "af_packet") else None


def _by_id(nic: Nic) -> str:
    """If nothing was decided: through the kernel's driver while it has the NIC, else by PCI id."""
    if nic.attached:
        return "af_packet"
    return "native" if nic.pci_id == _VIRTIO_TRANSITIONAL else "dpdk"

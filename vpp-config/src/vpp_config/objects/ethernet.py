"""An Ethernet interface and the ways in which VPP can attach one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from vpp_config.access import Access
from vpp_config.client import Reply, Request, request
from vpp_config.dumps import Dumps, InterfaceRow
from vpp_config.errors import ObjectMissing
from vpp_config.leftover import Leftover
from vpp_config.objects.base import Interface, check_mac, check_name
from vpp_config.objects.link import bring, set_l3_mtu, set_link_mtu, tag

_PCI = re.compile(r"^([0-9a-f]{4}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$")
_ETHERNET_MODE = 1
_JUMBO_ABOVE = 1800
_INCONSISTENT_MTU = 0
_DPDK_PREFIX = "dpdk-"
_PACKET = request("af_packet_dump")
_VIRTIO = request("sw_interface_virtio_pci_dump")


@dataclass(frozen=True)
class AfPacket:
    """A Linux interface of VPP's own network namespace, read and written through a packet socket."""

    host_if_name: str
    driver: Literal["af_packet"] = "af_packet"

    def __post_init__(self) -> None:
        if not 1 <= len(self.host_if_name.encode()) <= 15:
            raise ValueError("host_if_name is not 1 to 15 bytes long")


@dataclass(frozen=True)
class VirtioPci:
    """A virtio NIC driven by VPP itself. It must be bound to uio or vfio, and be transitional."""

    pci_address: str
    driver: Literal["virtio_pci"] = "virtio_pci"

    def __post_init__(self) -> None:
        check_pci(self.pci_address)


@dataclass(frozen=True)
class Dpdk:
    """A NIC of VPP's DPDK plugin. It exists from VPP's start on: ``StartupConf.dpdk_devices`` names it."""

    pci_address: str
    driver: Literal["dpdk"] = "dpdk"

    def __post_init__(self) -> None:
        check_pci(self.pci_address)

    @property
    def vpp_name(self) -> str:
        """The interface's name in VPP, the same in startup.conf and here."""
        return f"{_DPDK_PREFIX}{self.pci_address}"


Attachment = AfPacket | VirtioPci | Dpdk


def check_pci(address: str) -> None:
    """Raise ``ValueError`` unless the address is written ``0000:03:00.0``."""
    if not _PCI.match(address):
        raise ValueError(f"{address!r} is not a PCI address such as 0000:03:00.0")


_TPACKET_V2 = 8
"""AF_PACKET_API_FLAG_VERSION_2. VPP's rings of version 3 have 160 blocks, and the kernel ends a block
every millisecond, however little it holds: anything that keeps VPP off the processor for 0.16 s loses
packets.
"""
_RX_FRAMES = 4096


def _frame_bytes(mtu: int) -> int:
    """Size of a packet socket's frames, including the kernel's packet headers. Fixed when the socket is
    made.
    """
    return 10240 if mtu > _JUMBO_ABOVE else 2048


def _pci_fields(address: str) -> dict[str, int]:
    match = _PCI.match(address)
    assert match is not None
    domain, bus, slot, function = (int(part, 16) for part in match.groups())
    return {"domain": domain, "bus": bus, "slot": slot, "function": function}


@dataclass(frozen=True)
class Ethernet(Interface):
    """A NIC. ``mac`` is pinned, because a random one at each start would leave neighbors with stale
    entries; only ``Dpdk`` may omit it, and then has the device's own. ``mtu`` is that of layer 3, in
    bytes.
    """

    kind = "ethernet"
    tables: ClassVar[tuple[Request, ...]] = (_PACKET, _VIRTIO)
    clears = ("af_packet", "virtio_pci")
    gone: ClassVar = {"af_packet_delete": frozenset({-11})}
    takes_vlans = True

    name: str
    attachment: Attachment
    mac: str | None = None
    mtu: int = 1500
    enabled: bool = True

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.mac is not None:
            object.__setattr__(self, "mac", check_mac(self.mac))
        elif not isinstance(self.attachment, Dpdk):
            raise ValueError("mac is needed: without one VPP takes a random MAC at each start")

    def adopt(self, observed: Ethernet) -> Ethernet:
        """Take over the values that are left to the device."""
        if self.mac is None and observed.attachment == self.attachment:
            return replace(self, mac=observed.mac)
        return self

    def needs_recreate(self, before: Ethernet) -> bool:
        """Another device; another MAC, which the mirror takes over only when it is made; larger socket
        frames.
        """
        if (before.attachment, before.mac) != (self.attachment, self.mac):
            return True
        return isinstance(self.attachment, AfPacket) and _frame_bytes(before.mtu) != _frame_bytes(self.mtu)

    def create(self, vpp: Access) -> None:
        """Create, tag, set the MTU. The tag comes right after creation: until then observe sees a
        leftover.
        """
        index = self._attach(vpp)
        tag(vpp, self.name, index)
        if isinstance(self.attachment, AfPacket):
            # The device itself may have another MAC, by which a real NIC drops packets for this one.
            vpp.call("sw_interface_set_mac_address", sw_if_index=index, mac_address=self.mac)
        self._set_mtu(vpp, index)
        if self.enabled:
            bring(vpp, index, up=True)

    def _set_mtu(self, vpp: Access, index: int) -> None:
        if not isinstance(self.attachment, VirtioPci):  # its frame size is fixed, and VPP refuses (-126)
            # Sent even when VPP says it has that MTU: af_packet sets the host device's only when told.
            set_link_mtu(vpp, index, self.mtu)
        set_l3_mtu(vpp, index, self.mtu)

    def _attach(self, vpp: Access) -> int:
        if isinstance(self.attachment, AfPacket):
            reply = vpp.call(
                "af_packet_create_v3",
                mode=_ETHERNET_MODE,
                hw_addr=self.mac,
                use_random_hw_addr=False,
                host_if_name=self.attachment.host_if_name,
                rx_frame_size=_frame_bytes(self.mtu),
                tx_frame_size=_frame_bytes(self.mtu),
                rx_frames_per_block=_RX_FRAMES,
                # Excluded are the flags that bypass the queueing discipline and offload checksums: with them
                # nothing arrives on a veth.
                flags=_TPACKET_V2,
                num_rx_queues=1,
                num_tx_queues=1,
            )
            return int(reply.sw_if_index)
        if isinstance(self.attachment, VirtioPci):
            reply = vpp.call(
                "virtio_pci_create_v2",
                pci_addr=_pci_fields(self.attachment.pci_address),
                use_random_mac=False,
                mac_address=self.mac,
            )
            return int(reply.sw_if_index)
        index = vpp.index_by_vpp_name(self.attachment.vpp_name)
        if index is None:
            raise ObjectMissing(
                f"VPP has no device {self.attachment.vpp_name}: startup.conf must name it, and VPP restart"
            )
        if self.mac is not None:
            vpp.call("sw_interface_set_mac_address", sw_if_index=index, mac_address=self.mac)
        return index

    def update(self, before: Ethernet, vpp: Access) -> None:
        """MTU and state in place."""
        index = vpp.index_of(self.name)
        if self.mtu != before.mtu:
            self._set_mtu(vpp, index)
        if self.enabled != before.enabled:
            bring(vpp, index, up=self.enabled)

    def delete(self, vpp: Access) -> None:
        """Release the device. A DPDK device stays in VPP, down and untagged."""
        index = vpp.index_of(self.name)
        if isinstance(self.attachment, AfPacket):
            vpp.call("af_packet_delete", host_if_name=self.attachment.host_if_name)
        elif isinstance(self.attachment, VirtioPci):
            vpp.call("virtio_pci_delete", sw_if_index=index)
        else:
            bring(vpp, index, up=False)
            vpp.call("sw_interface_tag_add_del", is_add=False, sw_if_index=index, tag="")
        vpp.forget(self.provides)

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[Ethernet]:
        """Our tagged interfaces that are a NIC."""
        attachments = dumps.derived(_attachments)
        for row in dumps.tagged_interfaces():
            attachment = _attachment(row, attachments)
            if attachment is not None:
                mtu = row.l3_mtu if isinstance(attachment, VirtioPci) else _hardware_mtu(row)
                yield cls(row.name, attachment, row.mac, mtu, row.up)

    def host_mac(self) -> tuple[str, str] | None:
        """VPP writes the MAC address into a device that it reads through a packet socket."""
        if isinstance(self.attachment, AfPacket) and self.mac is not None:
            return self.attachment.host_if_name, self.mac
        return None

    def occupies(self) -> str | None:
        """The device, except one that VPP itself owns."""
        return _device_token(self.attachment)

    @classmethod
    def occupied_by(cls, row: InterfaceRow, dumps: Dumps) -> str | None:
        """The device of a NIC."""
        attachment = _attachment(row, dumps.derived(_attachments))
        return None if attachment is None else _device_token(attachment)

    @classmethod
    def clear(cls, leftover: Leftover, vpp: Access) -> None:
        """Release the device."""
        if leftover.sort == "virtio_pci":
            vpp.call("virtio_pci_delete", sw_if_index=leftover.index)
        else:
            vpp.call("af_packet_delete", host_if_name=leftover.blocks.partition("/")[2])


def _device_token(attachment: Attachment) -> str | None:
    if isinstance(attachment, AfPacket):
        return f"af_packet/{attachment.host_if_name}"
    return f"virtio_pci/{attachment.pci_address}" if isinstance(attachment, VirtioPci) else None


def _attachments(dumps: Dumps) -> Mapping[int, Attachment]:
    """By VPP's index, for the devices that VPP lists."""
    found: dict[int, Attachment] = {r.sw_if_index: AfPacket(r.host_if_name) for r in dumps.table(_PACKET)}
    return found | {r.sw_if_index: VirtioPci(_pci(r.pci_addr)) for r in dumps.table(_VIRTIO)}


def _attachment(row: InterfaceRow, listed: Mapping[int, Attachment]) -> Attachment | None:
    if row.vpp_name.startswith(_DPDK_PREFIX) and row.parent_index == row.index:
        return Dpdk(row.vpp_name.removeprefix(_DPDK_PREFIX))
    return listed.get(row.index)


def _hardware_mtu(row: InterfaceRow) -> int:
    """The MTU of a NIC; 0, which no desired state has, while the MTUs of link and layer 3 differ."""
    return row.l3_mtu if row.l3_mtu == row.link_mtu else _INCONSISTENT_MTU


def _pci(address: Reply) -> str:
    return f"{address.domain:04x}:{address.bus:02x}:{address.slot:02x}.{address.function:x}"

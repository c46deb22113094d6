"""The fake's interface calls: create, delete, tag, MTU, state, mirrors."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import FakeInterface, Pair, RefusedError, Tables

_MIN_AF_PACKET_MTU = 68
_DEFAULT_NETNS = "dataplane"
_TAP, _TUN = "tap", 1


class InterfaceCalls:
    """Handlers of the messages about interfaces, by message name."""

    def __init__(self, held: Tables, host_devices: set[str] | None) -> None:
        self._held = held
        self._host_devices = host_devices

    # -- make and remove

    def af_packet_create_v3(self, **fields: Any) -> Mapping[str, Any]:
        """A packet socket on a host device that exists and is not in use."""
        device = fields["host_if_name"]
        if any(row.host_device == device for row in self._held.interfaces.values()):
            raise RefusedError(t.IF_ALREADY_EXISTS)
        if self._host_devices is not None and device not in self._host_devices:
            raise RefusedError(t.INVALID_INTERFACE)
        row = self._held.add_interface(f"host-{device}", "af_packet", str(fields["hw_addr"]))
        row.host_device = device
        return {"sw_if_index": row.index}

    def af_packet_delete(self, host_if_name: str) -> None:
        """By the host device's name."""
        for row in list(self._held.interfaces.values()):
            if row.host_device == host_if_name:
                self._held.remove_interface(row.index)
                return
        raise RefusedError(t.SYSCALL_ERROR_1)

    def virtio_pci_create_v2(self, **fields: Any) -> Mapping[str, Any]:
        """Every PCI address has a device."""
        pci = fields["pci_addr"]
        address = (pci["domain"], pci["bus"], pci["slot"], pci["function"])
        if any(row.pci_address == address for row in self._held.interfaces.values()):
            raise RefusedError(t.IF_ALREADY_EXISTS)
        name = "virtio-{:x}/{:x}/{:x}/{:x}".format(*address)
        row = self._held.add_interface(name, "virtio", str(fields["mac_address"]))
        row.pci_address = address
        return {"sw_if_index": row.index}

    def virtio_pci_delete(self, sw_if_index: int) -> None:
        """By index."""
        if self._held.interface(sw_if_index).kind != "virtio":
            raise RefusedError(t.INVALID_INTERFACE)
        self._held.remove_interface(sw_if_index)

    def create_loopback_instance(self, **fields: Any) -> Mapping[str, Any]:
        """``loop<instance>``; its MAC is derived from the instance."""
        instance = fields["user_instance"]
        if any(row.vpp_name == f"loop{instance}" for row in self._held.interfaces.values()):
            raise RefusedError(t.INVALID_REGISTRATION)
        mac = str(fields["mac_address"])
        if mac == "00:00:00:00:00:00":
            mac = ":".join(f"{byte:02x}" for byte in b"\xde\xad" + instance.to_bytes(4, "big"))
        return {"sw_if_index": self._held.add_interface(f"loop{instance}", "loopback", mac).index}

    def delete_loopback(self, sw_if_index: int) -> None:
        """By index."""
        if sw_if_index not in self._held.interfaces or self._held.interface(sw_if_index).kind != "loopback":
            raise RefusedError(t.INVALID_SW_IF_INDEX)
        self._held.remove_interface(sw_if_index)

    def create_vlan_subif(self, sw_if_index: int, vlan_id: int) -> Mapping[str, Any]:
        """One VLAN of an interface."""
        parent = self._held.interface(sw_if_index)
        siblings = [row for row in self._held.interfaces.values() if row.parent == sw_if_index]
        if any(row.vlan_id == vlan_id for row in siblings):
            raise RefusedError(t.VLAN_ALREADY_EXISTS)
        row = self._held.add_interface(f"{parent.vpp_name}.{vlan_id}", "sub", parent.mac)
        row.parent, row.vlan_id, row.l3_mtu = sw_if_index, vlan_id, 0
        return {"sw_if_index": row.index}

    def delete_subif(self, sw_if_index: int) -> None:
        """By index."""
        if self._held.interface(sw_if_index).parent is None:
            raise RefusedError(t.INVALID_SUB_SW_IF_INDEX)
        self._held.remove_interface(sw_if_index)

    # -- properties

    def sw_interface_tag_add_del(self, is_add: bool, sw_if_index: int, tag: str) -> None:
        """Set or clear the tag."""
        self._held.interface(sw_if_index).tag = tag if is_add else ""

    def hw_interface_set_mtu(self, sw_if_index: int, mtu: int) -> None:
        """For devices that have a link MTU; layer 3 and all sub-interfaces follow."""
        row = self._held.interface(sw_if_index)
        if row.parent is not None:
            raise RefusedError(t.INVALID_VALUE)
        if row.kind in ("loopback", "virtio"):
            raise RefusedError(t.UNSUPPORTED)
        if not row.any_link_mtu and mtu < _MIN_AF_PACKET_MTU:
            raise RefusedError(t.SYSCALL_ERROR_1)
        self._set_link_mtu(row, mtu)

    def _set_link_mtu(self, row: FakeInterface, mtu: int) -> None:
        if row.link_mtu != mtu:
            row.link_mtu = mtu
            for other in self._held.interfaces.values():
                if row.index in (other.index, other.parent):
                    other.l3_mtu = mtu

    def sw_interface_set_mtu(self, sw_if_index: int, mtu: list[int]) -> None:
        """The MTU of layer 3; with a mirror, a sub-interface's is clamped to its parent's."""
        row = self._held.interface(sw_if_index)
        row.l3_mtu = mtu[0]
        self._sync(row)
        for other in self._held.interfaces.values():
            if other.parent == sw_if_index:
                self._sync(other)

    def sw_interface_set_flags(self, sw_if_index: int, flags: int) -> None:
        """A sub-interface can come up only under a parent that is up."""
        row = self._held.interface(sw_if_index)
        up = bool(flags & 1)
        if up and row.parent is not None and not self._held.interfaces[row.parent].up:
            raise RefusedError(t.UNSPECIFIED)
        row.up = up
        self._sync(row)

    def sw_interface_set_mac_address(self, sw_if_index: int, mac_address: str) -> None:
        """Any interface."""
        self._held.interface(sw_if_index).mac = mac_address

    def _sync(self, row: FakeInterface) -> None:
        """The effect of lcp-sync at each change of state or MTU."""
        if row.pair is None:
            return
        row.pair.addresses = set(row.addresses)
        if row.parent is not None:
            parent_mtu = self._held.interfaces[row.parent].l3_mtu
            row.l3_mtu = min(row.l3_mtu, parent_mtu)

    # -- mirrors

    def lcp_itf_pair_add_del_v3(self, **fields: Any) -> Mapping[str, Any] | None:
        """A sub-interface's mirror depends on its parent's."""
        index = fields["sw_if_index"]
        row = self._held.interface(index)
        if not fields["is_add"]:
            if row.pair is None:
                raise RefusedError(t.INVALID_SW_IF_INDEX)
            self._held.interfaces.pop(row.pair.host_sw_if_index, None)
            row.pair = None
            return None
        if row.pair is not None:
            raise RefusedError(t.VALUE_EXIST)
        if row.mac == t.NO_MAC and fields["host_if_type"] != _TUN:
            raise RefusedError(t.INVALID_ARGUMENT)
        if row.parent is not None and self._held.interfaces[row.parent].pair is None:
            raise RefusedError(t.INVALID_SW_IF_INDEX)
        self._held.vif_indexes += 1
        tap = self._held.add_interface(f"tap{4094 + self._held.vif_indexes}", _TAP, row.mac)
        tap.up = True
        row.pair = Pair(
            fields["host_if_name"],
            fields["host_if_type"],
            fields["netns"] or _DEFAULT_NETNS,
            tap.index,
            self._held.vif_indexes,
        )
        if row.any_link_mtu:
            # linux_nl learns of the mirror.
            self._set_link_mtu(row, row.l3_mtu)
        return {"vif_index": row.pair.vif_index, "host_sw_if_index": tap.index}

    # -- dumps

    def sw_interface_dump(self, **_: Any) -> list[SimpleNamespace]:
        """All interfaces."""
        return [
            SimpleNamespace(
                sw_if_index=row.index,
                sup_sw_if_index=row.index if row.parent is None else row.parent,
                l2_address=row.mac,
                flags=3 if row.up else 0,
                link_mtu=row.link_mtu,
                mtu=[row.l3_mtu, 0, 0, 0],
                sub_number_of_tags=1 if row.parent is not None else 0,
                sub_outer_vlan_id=row.vlan_id,
                interface_name=row.vpp_name,
                tag=row.tag,
            )
            for row in self._held.interfaces.values()
        ]

    def af_packet_dump(self) -> list[SimpleNamespace]:
        """Packet sockets."""
        rows = self._held.interfaces.values()
        return [
            SimpleNamespace(sw_if_index=row.index, host_if_name=row.host_device)
            for row in rows
            if row.host_device
        ]

    def sw_interface_virtio_pci_dump(self) -> list[SimpleNamespace]:
        """Virtio devices."""
        names = ("domain", "bus", "slot", "function")
        return [
            SimpleNamespace(
                sw_if_index=row.index,
                pci_addr=SimpleNamespace(**dict(zip(names, row.pci_address, strict=True))),
            )
            for row in self._held.interfaces.values()
            if row.pci_address is not None
        ]

    def lcp_itf_pair_get(self) -> list[SimpleNamespace]:
        """Mirrors."""
        return [
            SimpleNamespace(
                phy_sw_if_index=row.index,
                host_sw_if_index=row.pair.host_sw_if_index,
                vif_index=row.pair.vif_index,
                host_if_name=row.pair.host_if_name,
                host_if_type=row.pair.host_if_type,
                netns=row.pair.netns,
            )
            for row in self._held.interfaces.values()
            if row.pair is not None
        ]

    def lcp_itf_pair_get_v2(self, sw_if_index: int) -> list[SimpleNamespace]:
        """The mirror of one interface."""
        return [pair for pair in self.lcp_itf_pair_get() if pair.phy_sw_if_index == sw_if_index]

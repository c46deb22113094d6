"""What an interrupted apply leaves in VPP: things made but not yet, or no longer, known by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import ConfigDict

from vpp_config.objects.ethernet import AfPacket, Attachment, VirtioPci
from vpp_config.objects.loopback import instance_of

if TYPE_CHECKING:
    from vpp_config.access import Access

Reason = Literal["untagged", "duplicate"]


@dataclass(frozen=True)
class Leftover:
    """An interface, or access list, that stands in the way.

    ``untagged``: an interface without our tag, between its creation and its tagging, or somebody else's.
    Only a plan that needs its device, instance or VLAN removes it. ``duplicate``: a second thing under a tag
    of ours; any plan removes it. ``blocks`` is what it occupies: ``af_packet/<host interface>``,
    ``virtio_pci/<address>``, ``loopback/<instance>``, ``vlan/<our parent's name>/<id>``, ``acl/<name>``,
    ``tag/<name>``. ``index`` is VPP's index of it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    reason: Reason
    blocks: str
    index: int
    vpp_name: str = ""

    @property
    def key(self) -> str:
        """``leftover/<what it occupies>/<index>``."""
        return f"leftover/{self.blocks}/{self.index}"

    def label(self) -> str:
        """``half-made interface host-eth0``."""
        return f"half-made {'access list' if self.blocks.startswith('acl/') else 'interface'} {self.vpp_name}"

    def delete(self, vpp: Access) -> None:
        """Remove it by VPP's index, by whatever kind of thing it is."""
        kind, _, rest = self.blocks.partition("/")
        if kind == "acl":
            vpp.call("acl_del", acl_index=self.index)
        elif kind == "af_packet":
            vpp.call("af_packet_delete", host_if_name=rest)
        elif kind == "virtio_pci":
            vpp.call("virtio_pci_delete", sw_if_index=self.index)
        elif kind == "loopback" or instance_of(self.vpp_name) is not None:
            vpp.call("delete_loopback", sw_if_index=self.index)
        elif kind == "vlan":
            vpp.call("delete_subif", sw_if_index=self.index)
        else:
            vpp.call("sw_interface_tag_add_del", is_add=False, sw_if_index=self.index, tag="")


def device_token(attachment: Attachment) -> str | None:
    """What an Ethernet interface occupies; None where VPP itself owns the device."""
    if isinstance(attachment, AfPacket):
        return f"af_packet/{attachment.host_if_name}"
    if isinstance(attachment, VirtioPci):
        return f"virtio_pci/{attachment.pci_address}"
    return None

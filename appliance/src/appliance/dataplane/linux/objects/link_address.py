"""An IP address of a link."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_interface
from typing import Any, ClassVar, Self

from appliance.config.pointer import escape
from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump
from appliance.dataplane.linux.objects.base import LinuxObject, link_token
from appliance.dataplane.linux.objects.vrf_member import member_token
from appliance.dataplane.namespace import attributes
from appliance.dataplane.rtnetlink import NetlinkError
from planner import Declared, Phase

_NODAD = 0x02
"""IFA_F_NODAD: a router's address works at once, as in VPP."""
_LINK_SCOPE = 253
_INET6 = 10


@dataclass(frozen=True)
class LinkAddress(LinuxObject):
    """An address with prefix length, in canonical text. IPv6 link-local addresses are left to the kernel."""

    up_phase: ClassVar[Phase] = "attach"
    down_phase: ClassVar[Phase] = "detach"

    interface: str
    address: str

    @property
    def key(self) -> str:
        """``address/<interface>/<address>``."""
        return f"address/{self.interface}/{self.address}"

    @property
    def path(self) -> str:
        """The interface's addresses."""
        return f"/interfaces/{escape(self.interface)}/addresses"

    def label(self) -> str:
        """``address 192.0.2.2/30 on wan0``."""
        return f"address {self.address} on {self.interface}"

    def requires(self) -> tuple[str, ...]:
        """The link."""
        return (link_token(self.interface),)

    def follows(self, beside: Mapping[str, Declared]) -> tuple[str, ...]:
        """Its VRF: an address added before the VRF would have its routes in another table."""
        return (member_token(self.interface),)

    def removal_impact(self) -> str:
        """Packets sent to or through it are lost."""
        return f"loses packets on {self.interface}"

    @classmethod
    def observe(cls, dump: Dump) -> Iterator[Self]:
        """The addresses on our links."""
        for message in dump.addresses:
            row = dump.ours.get(message["index"])
            known = attributes(message)
            text = known.get("IFA_LOCAL") or known.get("IFA_ADDRESS")
            link_local = message["family"] == _INET6 and message["scope"] == _LINK_SCOPE
            if row is not None and text is not None and not link_local:
                yield cls(row.name, str(ip_interface(f"{text}/{message['prefixlen']}")))

    def create(self, kernel: Access) -> None:
        """Add it; no error if it exists."""
        parsed = ip_interface(self.address)
        arguments: dict[str, Any] = {}
        if parsed.version == 6:
            arguments["flags"] = _NODAD
        elif parsed.network.prefixlen < 31:
            arguments["broadcast"] = str(parsed.network.broadcast_address)
        self._change("add", kernel, errno.EEXIST, arguments)

    def update(self, before: Self, kernel: Access) -> None:
        """Nothing can change in place: the key holds everything."""

    def delete(self, kernel: Access) -> None:
        """Remove it; no error if it is gone."""
        if kernel.index(self.interface) is not None:
            self._change("del", kernel, errno.EADDRNOTAVAIL, {})

    def _change(self, verb: str, kernel: Access, fine: int, arguments: dict[str, Any]) -> None:
        what = f"{'add' if verb == 'add' else 'delete'} {self.address} on {self.interface}"
        index = kernel.index(self.interface)
        if index is None:
            raise DataPlaneError(f"cannot {what}: there is no link of that name")
        parsed = ip_interface(self.address)
        with saying(what):
            try:
                kernel.route.addr(
                    verb, index=index, address=str(parsed.ip), prefixlen=parsed.network.prefixlen, **arguments
                )
            except NetlinkError as error:
                if error.code != fine:
                    raise

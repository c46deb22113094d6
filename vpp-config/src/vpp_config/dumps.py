"""Everything observation needs of VPP, read in two round trips.

The first asks for all tables that stand alone; the second for what is asked interface by interface.
A VPP without one of the plugins simply has none of its objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Interface, IPv6Interface

from vpp_config.client import Reply, Request, VppClient, request
from vpp_config.errors import VppError
from vpp_config.leftover import Leftover, device_token
from vpp_config.objects.base import Family
from vpp_config.objects.ethernet import AfPacket, Attachment, Dpdk, VirtioPci
from vpp_config.objects.loopback import instance_of

_ALL = 0xFFFFFFFF
_ADMIN_UP = 1
_INCONSISTENT_MTU = 0
_DPDK_PREFIX = "dpdk-"

_TABLES = (
    request("sw_interface_dump", sw_if_index=_ALL),
    request("af_packet_dump"),
    request("sw_interface_virtio_pci_dump"),
    request("lcp_itf_pair_get"),
    request("ip_table_dump"),
    request("acl_dump", acl_index=_ALL),
    request("acl_interface_list_dump", sw_if_index=_ALL),
    request("policer_dump_v2", policer_index=_ALL),
)


@dataclass(frozen=True)
class InterfaceRow:
    """One interface as VPP tells of it; ``name`` is ours, empty where it has no tag of ours."""

    index: int
    name: str
    vpp_name: str
    parent_index: int
    vlan_id: int
    mac: str
    up: bool
    link_mtu: int
    l3_mtu: int

    @property
    def hardware_mtu(self) -> int:
        """The MTU of a NIC; 0, which no desired state has, while link and layer 3 disagree."""
        return self.l3_mtu if self.l3_mtu == self.link_mtu else _INCONSISTENT_MTU


@dataclass
class Dumps:
    """What VPP told. Indexes are VPP's; names are ours, without the prefix."""

    prefix: str
    rows: list[InterfaceRow]
    attachments: dict[int, Attachment]
    pairs: Sequence[Reply]
    tables: Sequence[Reply]
    acl_details: Sequence[Reply]
    acl_bindings: Sequence[Reply]
    policers: Sequence[Reply] = ()
    interface_tables: dict[int, dict[Family, int]] = field(default_factory=dict)
    addresses: dict[int, list[IPv4Interface | IPv6Interface]] = field(default_factory=dict)

    @classmethod
    def read(cls, client: VppClient, prefix: str, generation: int) -> Dumps:
        """Ask VPP. Raises ``VppUnavailable``, ``VppApiError``."""
        interfaces, packet, virtio, pairs, tables, acls, bindings, policers = _ask(
            client, _TABLES, generation
        )
        rows = [_row(reply, prefix) for reply in interfaces]
        attachments: dict[int, Attachment] = {r.sw_if_index: AfPacket(r.host_if_name) for r in packet}
        attachments |= {r.sw_if_index: VirtioPci(_pci(r.pci_addr)) for r in virtio}
        for row in rows:
            if row.vpp_name.startswith(_DPDK_PREFIX) and row.parent_index == row.index:
                attachments[row.index] = Dpdk(row.vpp_name.removeprefix(_DPDK_PREFIX))
        dumps = cls(prefix, rows, attachments, pairs, [r.table for r in tables], acls, bindings, policers)
        dumps._read_interfaces(client, generation)
        return dumps

    def _read_interfaces(self, client: VppClient, generation: int) -> None:
        ours = self.tagged_interfaces()
        requests: list[Request] = []
        for row in ours:
            for is_ipv6 in (False, True):
                requests.append(request("ip_address_dump", sw_if_index=row.index, is_ipv6=is_ipv6))
                requests.append(request("sw_interface_get_table", sw_if_index=row.index, is_ipv6=is_ipv6))
        answers = _checked(client.pipeline(requests, generation=generation))
        for position, row in enumerate(ours):
            four, table4, six, table6 = answers[4 * position : 4 * position + 4]
            self.addresses[row.index] = [reply.prefix for reply in (*four, *six)]
            self.interface_tables[row.index] = {"ipv4": table4.vrf_id, "ipv6": table6.vrf_id}

    def our_name(self, tag: str) -> str | None:
        """The name in a tag of ours; None for any other tag."""
        return tag.removeprefix(self.prefix) if tag.startswith(self.prefix) and tag != self.prefix else None

    @cached_property
    def _by_name(self) -> dict[str, InterfaceRow]:
        by_name: dict[str, InterfaceRow] = {}
        for row in self.rows:
            if row.name:
                by_name.setdefault(row.name, row)
        return by_name

    def tagged_interfaces(self) -> list[InterfaceRow]:
        """Our interfaces; of several under one tag, the first."""
        return list(self._by_name.values())

    @cached_property
    def names(self) -> dict[int, str]:
        """VPP's index -> our name, of our interfaces."""
        return {row.index: name for name, row in self._by_name.items()}

    @cached_property
    def acls(self) -> dict[str, Reply]:
        """Our name -> ``acl_details``; of several under one tag, the first."""
        acls: dict[str, Reply] = {}
        for details in self.acl_details:
            name = self.our_name(details.tag)
            if name is not None:
                acls.setdefault(name, details)
        return acls

    @cached_property
    def _acl_names(self) -> dict[int, str]:
        return {details.acl_index: name for name, details in self.acls.items()}

    def acl_name(self, index: int) -> str:
        """Our name of an access list, ``#<index>`` for one that is not ours."""
        return self._acl_names.get(index, f"#{index}")

    def leftovers(self) -> tuple[Leftover, ...]:
        """Whatever may stand in the way of a plan."""
        found = []
        for row in self.rows:
            if row.name and self._by_name[row.name] is not row:
                occupied = self._occupies(row) or f"tag/{row.name}"
                found.append(Leftover("duplicate", occupied, row.index, row.vpp_name))
            elif not row.name and (token := self._occupies(row)) is not None:
                found.append(Leftover("untagged", token, row.index, row.vpp_name))
        for details in self.acl_details:
            name = self.our_name(details.tag)
            if name is not None and self.acls[name] is not details:
                found.append(Leftover("duplicate", f"acl/{name}", details.acl_index, details.tag))
        return tuple(found)

    def _occupies(self, row: InterfaceRow) -> str | None:
        """What no second interface could have."""
        if row.index in self.attachments:
            return device_token(self.attachments[row.index])
        if (instance := instance_of(row.vpp_name)) is not None:
            return f"loopback/{instance}"
        parent = self.names.get(row.parent_index)
        if row.parent_index != row.index and parent is not None:
            return f"vlan/{parent}/{row.vlan_id}"
        return None


def _ask(client: VppClient, requests: Iterable[Request], generation: int) -> list[Sequence[Reply]]:
    """Answers to the requests that this VPP knows; nothing for the others."""
    requests = list(requests)
    known = [position for position, item in enumerate(requests) if client.supports(item.name)]
    answers: list[Sequence[Reply]] = [()] * len(requests)
    got = _checked(client.pipeline([requests[position] for position in known], generation=generation))
    for position, answer in zip(known, got, strict=True):
        answers[position] = answer
    return answers


def _checked(answers: list[Reply | list[Reply] | VppError]) -> list[Reply]:
    for answer in answers:
        if isinstance(answer, VppError):
            raise answer
    return answers


def _row(reply: Reply, prefix: str) -> InterfaceRow:
    tag = reply.tag
    return InterfaceRow(
        index=reply.sw_if_index,
        name=tag.removeprefix(prefix) if tag.startswith(prefix) else "",
        vpp_name=reply.interface_name,
        parent_index=reply.sup_sw_if_index,
        vlan_id=reply.sub_outer_vlan_id if reply.sub_number_of_tags == 1 else 0,
        mac=str(reply.l2_address),
        up=bool(reply.flags & _ADMIN_UP),
        link_mtu=reply.link_mtu,
        l3_mtu=reply.mtu[0],
    )


def _pci(address: Reply) -> str:
    return f"{address.domain:04x}:{address.bus:02x}:{address.slot:02x}.{address.function:x}"

"""The fake's NAT44 calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from vpp_config.fake import tables as t
from vpp_config.fake.tables import RefusedError, Tables

if TYPE_CHECKING:
    from vpp_config.fake.vpp import FakeVpp

_STATIC, _ADDRESS_ONLY, _INSIDE, _HAS_REMOTE = 0x40, 0x08, 0x20, 0x80
_DEFAULTS = {"udp": 300, "tcp_established": 7440, "tcp_transitory": 240, "icmp": 60}


@dataclass
class _Held:
    """The state that disabling discards."""

    sessions: int = 0
    timeouts: dict[str, int] = field(default_factory=lambda: dict(_DEFAULTS))
    addresses: list[IPv4Address] = field(default_factory=list)
    interfaces: dict[int, int] = field(default_factory=dict)
    mappings: dict[tuple[IPv4Address, int, int], dict[str, Any]] = field(default_factory=dict)
    translated: list[SimpleNamespace] = field(default_factory=list)
    """Rows of ``nat44_user_session_v3_details``."""


def translate(fake: FakeVpp, *sessions: Mapping[str, Any]) -> None:
    """Simulates traffic: NAT has these sessions, with the fields of ``nat44_user_session_v3_details``."""
    fake.part(NatCalls)._held.translated.extend(SimpleNamespace(**session) for session in sessions)


class NatCalls:
    """Handlers of the messages about NAT44, by message name."""

    def __init__(self, held: Tables) -> None:
        self._tables = held
        self._held = _Held()

    def nat44_ed_plugin_enable_disable(self, enable: bool, sessions: int = 0) -> None:
        """Can be enabled only once."""
        if enable == bool(self._held.sessions):
            raise RefusedError(t.ALREADY_ENABLED if enable else t.ALREADY_DISABLED)
        self._held = _Held(sessions if enable else 0)

    def nat_set_timeouts(self, **timeouts: int) -> None:
        """All four timeouts."""
        assert timeouts.keys() == _DEFAULTS.keys()
        self._held.timeouts = timeouts

    def nat44_show_running_config(self) -> Mapping[str, Any]:
        """Room for no sessions means disabled."""
        return {"sessions": self._held.sessions, "timeouts": SimpleNamespace(**self._held.timeouts)}

    def nat44_add_del_address_range(
        self, is_add: bool, first_ip_address: IPv4Address, last_ip_address: IPv4Address, **_vrf: int
    ) -> None:
        """Callers only ask for one address at a time."""
        assert first_ip_address == last_ip_address
        known = first_ip_address in self._held.addresses
        if is_add:
            self._enabled()
            if known:
                raise RefusedError(t.VALUE_EXIST)
            self._held.addresses.append(first_ip_address)
        elif not known:
            raise RefusedError(t.NO_SUCH_ENTRY)
        else:
            self._held.addresses.remove(first_ip_address)

    def nat44_address_dump(self) -> list[SimpleNamespace]:
        """The pool."""
        return [SimpleNamespace(ip_address=one, flags=0, vrf_id=0xFFFFFFFF) for one in self._held.addresses]

    def nat44_interface_add_del_feature(self, is_add: bool, flags: int, sw_if_index: int) -> None:
        """Can be repeated, but can be turned off only where it is on."""
        self._tables.interface(sw_if_index)
        self._enabled()
        if is_add:
            self._held.interfaces[sw_if_index] = self._held.interfaces.get(sw_if_index, 0) | flags
        elif sw_if_index not in self._held.interfaces:
            raise RefusedError(t.NO_SUCH_ENTRY)
        else:
            left = self._held.interfaces.pop(sw_if_index) & ~flags
            if left:
                self._held.interfaces[sw_if_index] = left

    def nat44_interface_dump(self) -> list[SimpleNamespace]:
        """Those whose interface still exists: an interface that is removed leaves NAT."""
        here = self._tables.interfaces
        self._held.interfaces = {key: flags for key, flags in self._held.interfaces.items() if key in here}
        return [SimpleNamespace(sw_if_index=key, flags=flags) for key, flags in self._held.interfaces.items()]

    def nat44_add_del_static_mapping_v2(
        self, is_add: bool, external_ip_address: IPv4Address, external_port: int, protocol: int, **rest: Any
    ) -> None:
        """Outside address, port and protocol identify it; for a 1:1 mapping the inside address as well."""
        key = (external_ip_address, protocol, external_port)
        if is_add:
            inside = [
                one["local_ip_address"]
                for one in self._held.mappings.values()
                if one["flags"] == rest["flags"] == _ADDRESS_ONLY and not one["identity"]
            ]
            if rest["local_ip_address"] in inside:
                raise RefusedError(t.VALUE_EXIST)
        self._map(key, is_add=is_add, row={"identity": False, **rest})

    def nat44_static_mapping_dump(self) -> list[SimpleNamespace]:
        """All mappings except identity mappings."""
        return [
            SimpleNamespace(external_ip_address=key[0], protocol=key[1], external_port=key[2], **row)
            for key, row in self._held.mappings.items()
            if not row["identity"]
        ]

    def nat44_add_del_identity_mapping(
        self, is_add: bool, ip_address: IPv4Address, flags: int, **_rest: Any
    ) -> None:
        """Identity of a whole address."""
        assert flags == _ADDRESS_ONLY
        row = {"identity": True, "flags": flags, "local_ip_address": ip_address}
        self._map((ip_address, 0, 0), is_add=is_add, row=row)

    def nat44_identity_mapping_dump(self) -> list[SimpleNamespace]:
        """Identities of whole addresses."""
        return [
            SimpleNamespace(ip_address=key[0], flags=row["flags"])
            for key, row in self._held.mappings.items()
            if row["identity"]
        ]

    def nat44_user_dump(self) -> list[SimpleNamespace]:
        """Includes timed-out sessions."""
        rows = self._held.translated
        return [
            SimpleNamespace(
                ip_address=address,
                nsessions=sum(row.inside_ip_address == address and not row.flags & _STATIC for row in rows),
                nstaticsessions=sum(
                    row.inside_ip_address == address and bool(row.flags & _STATIC) for row in rows
                ),
            )
            for address in {row.inside_ip_address: None for row in rows}
        ]

    def nat44_user_session_v3_dump(self, ip_address: IPv4Address, vrf_id: int) -> list[SimpleNamespace]:
        """All sessions of one inside address, at once."""
        assert vrf_id == 0
        return [row for row in self._held.translated if row.inside_ip_address == ip_address]

    def nat44_del_session(self, flags: int, vrf_id: int, **named: Any) -> None:
        """By the inside endpoint and the external endpoint."""
        self._enabled()
        assert (flags, vrf_id) == (_INSIDE | _HAS_REMOTE, 0)
        for row in self._held.translated:
            ends = {
                "address": row.inside_ip_address,
                "port": row.inside_port,
                "protocol": row.protocol,
                "ext_host_address": row.ext_host_address,
                "ext_host_port": row.ext_host_port,
            }
            if ends == named:
                self._held.translated.remove(row)
                return
        raise RefusedError(t.NO_SUCH_ENTRY)

    def cli_show_nat44_summary(self) -> str:
        """Includes timed-out sessions."""
        rows = self._held.translated
        timed_out = sum(row.is_timed_out for row in rows)
        return f"max translations per thread: {self._held.sessions} fib 0\n" + (
            f"total sessions: {len(rows)} (timed out: {timed_out})\ntcp sessions:\n"
        )

    def _map(self, key: tuple[IPv4Address, int, int], *, is_add: bool, row: dict[str, Any]) -> None:
        self._enabled()
        if is_add:
            if key in self._held.mappings:
                raise RefusedError(t.VALUE_EXIST)
            self._held.mappings[key] = row
        elif key not in self._held.mappings:
            raise RefusedError(t.NO_SUCH_ENTRY)
        else:
            del self._held.mappings[key]

    def _enabled(self) -> None:
        if not self._held.sessions:
            raise RefusedError(t.UNSUPPORTED)

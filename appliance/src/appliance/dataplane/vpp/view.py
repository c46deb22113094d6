"""Looking at a VPP: counters, interfaces, FIB, neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from ipaddress import ip_address
from typing import Any, TypeVar

from appliance.dataplane.base import Counters, InterfaceCounters, RuleCounters, Traffic, WorkerLoad
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer
from appliance.features.registry import merged
from appliance.state.acls import AclBindingState, AclRuleState, AclState
from appliance.state.control_plane import PuntPolicer as PolicerState
from appliance.state.hardware import Hardware, MemoryState, NicState, WorkerState
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState
from vpp_config import AclBinding, Address, Interface, PuntPolicer, Session, VppClient
from vpp_config.counters import Counters as Stats
from vpp_config.errors import VppApiError, VppError
from vpp_config.fib import FibPath, FibRoute, fib_lookups
from vpp_config.hit_totals import RuleHits
from vpp_config.stats import StatsSegment

T = TypeVar("T")
Sequences = Mapping[str, tuple[int, ...]]
_LINK_UP = 2
_NO_MAC = "00:00:00:00:00:00"
_UP = 3
"""Administratively, and with a link."""
_ALL = 0xFFFFFFFF
_STATIC = 1
_GONE = (-6,)
"""No such entry."""
_KINDS = {"normal": "unicast", "drop": "blackhole"}
_WITHOUT_HOP = frozenset(["drop", "local", "unreachable", "prohibit"])


class VppView:
    """Reads one VPP. Every method may raise VppError.

    ``client`` is a connection of its own: a commit waits neither for it nor for what is observed over it.
    ``session`` is that of the commits, which knows the names of interfaces.
    """

    def __init__(self, client: VppClient, session: Session, stats: Stats) -> None:
        self.client = client
        self._session = session
        self._observing = Session(client)
        self._stats = stats

    def answers(self) -> bool:
        """Whether VPP answers now."""
        try:
            self.version()
        except VppError:
            return False
        return True

    def version(self) -> str:
        """VPP's version."""
        return str(self.client.call("show_version").version)

    def counters(self) -> dict[str, Any]:
        """The agent's sample, except for its time."""
        sample = self._stats.sample()
        return Counters(
            {name: InterfaceCounters(**_fields(counters)) for name, counters in sample.interfaces.items()},
            tuple(WorkerLoad(worker.name, worker.vectors_per_call, worker.load) for worker in sample.workers),
            dict(sample.drops),
            {name: f"{sample.started_s} {index}" for name, index in sample.indexes.items()},
        ).to_json()

    def traffic(self) -> Traffic:
        """Packets by family. VPP does not count forwarded packets: they are the received ones not dropped."""
        seen = self._stats.families()
        forwarded = {name: max(count - seen.dropped[name], 0) for name, count in seen.received.items()}
        interfaces = {name: InterfaceCounters(**vars(one)) for name, one in seen.interfaces.items()}
        return Traffic(dict(seen.received), forwarded, dict(seen.drops), interfaces)

    def hits(self, sequences: Sequences) -> dict[str, dict[int, RuleCounters]]:
        """Hits of the rules of the document's access lists, by sequence."""
        return _hits(self._stats.hits(), sequences)

    def names(self) -> Mapping[int, str]:
        """Name of each interface of ours by VPP's index."""
        return self._session.interface_names()

    def read_stats(self, reader: Callable[[StatsSegment], T]) -> T:
        """The result of ``reader`` on VPP's counters in shared memory."""
        return self._stats.read(reader)

    def interfaces(self) -> list[InterfaceState]:
        """State of each interface of the document that VPP has."""
        observed = self._observing.observe()
        names = self._observing.interface_names()
        rows = {
            names[row.sw_if_index]: row
            for row in self.client.dump("sw_interface_dump")
            if row.sw_if_index in names
        }
        addresses: dict[str, list[str]] = {}
        for item in observed.values():
            if isinstance(item, Address):
                addresses.setdefault(item.interface, []).append(str(item.address))
        states = []
        for item in observed.values():
            if isinstance(item, Interface) and item.name in rows:
                states.append(_state(item, rows[item.name], tuple(addresses.get(item.name, ()))))
        return states

    def links(self) -> dict[str, bool]:
        """Interfaces of ours, and whether they are up and have a link."""
        names = self._session.interface_names()
        return {
            names[row.sw_if_index]: int(row.flags) & _UP == _UP
            for row in self.client.dump("sw_interface_dump")
            if row.sw_if_index in names
        }

    def fib(self, destinations: Sequence[str], table: int = 0) -> list[RouteAnswer]:
        """The entry of each prefix in a table of the FIB, and for each address that of the longest match."""
        names = self._session.interface_names()
        return [
            None if route is None else _entry(route, names)
            for route in fib_lookups(self.client, destinations, table)
        ]

    def acls(self, sequences: Sequences) -> list[AclState]:
        """Access lists with hits and bindings."""
        hits = self.hits(sequences)
        bound: dict[str, list[AclBindingState]] = {}
        for item in self._observing.observe().values():
            if isinstance(item, AclBinding):
                for name in item.inbound:
                    bound.setdefault(name, []).append(
                        AclBindingState(interface=item.interface, direction="in")
                    )
                for name in item.outbound:
                    bound.setdefault(name, []).append(
                        AclBindingState(interface=item.interface, direction="out")
                    )
        return [
            AclState(
                name=name,
                rules=tuple(
                    AclRuleState(sequence=sequence, **vars(hits.get(name, {}).get(sequence, RuleCounters())))
                    for sequence in known
                ),
                bindings=tuple(bound.get(name, ())),
            )
            for name, known in sorted(sequences.items())
        ]

    def policers(self) -> tuple[PolicerState, ...]:
        """The limits on packets that VPP punts to Linux, with the packets they passed and dropped."""
        limits = {
            item.family: item for item in self._session.observe().values() if isinstance(item, PuntPolicer)
        }
        return tuple(
            PolicerState(rate_pps=limits[counts.family].rate_pps, **asdict(counts))
            for counts in self._stats.punted()
            if counts.family in limits
        )

    def neighbors(self) -> list[NeighborState]:
        """ARP and ND entries."""
        names = self._session.interface_names()
        found = []
        for family in (0, 1):
            for row in self.client.dump("ip_neighbor_dump", sw_if_index=_ALL, af=family):
                entry = row.neighbor
                if entry.sw_if_index in names:
                    found.append(
                        NeighborState(
                            interface=names[entry.sw_if_index],
                            address=str(ip_address(str(entry.ip_address))),
                            mac=str(entry.mac_address),
                            state="permanent" if int(entry.flags) & _STATIC else "reachable",
                        )
                    )
        return found

    def forget_neighbors(self, interface: str | None, address: str | None) -> None:
        """Forget ARP and ND entries that were learned."""
        names = self._session.interface_names()
        for family in (0, 1):
            for row in self.client.dump("ip_neighbor_dump", sw_if_index=_ALL, af=family):
                entry = row.neighbor
                name, known = names.get(entry.sw_if_index), str(ip_address(str(entry.ip_address)))
                if name is None or int(entry.flags) & _STATIC:
                    continue
                if interface not in (None, name) or address not in (None, known):
                    continue
                gone = {
                    "sw_if_index": entry.sw_if_index,
                    "flags": 0,
                    "mac_address": str(entry.mac_address),
                    "ip_address": known,
                }
                try:
                    self.client.call("ip_neighbor_add_del", is_add=False, neighbor=gone)
                except VppApiError as error:
                    if error.retval not in _GONE:
                        raise

    def hardware(self, nics: Sequence[NicState]) -> Hardware:
        """These NICs, with VPP's version, threads and memory."""
        sample = self._stats.sample()
        return Hardware(
            driver="vpp",
            version=self.version(),
            nics=tuple(nics),
            workers=tuple(WorkerState(**_fields(worker)) for worker in sample.workers),
            memory={name: MemoryState(**_fields(use)) for name, use in sample.memory.items()},
        )


def _fields(item: Any) -> dict[str, Any]:
    return asdict(item)


def _hits(
    counted: Mapping[str, tuple[RuleHits, ...]], sequences: Sequences
) -> dict[str, dict[int, RuleCounters]]:
    hits = {}
    for name, rules in counted.items():
        known = sequences.get(name)
        if known is not None and len(known) == len(rules):
            hits[name] = {
                sequence: RuleCounters(rule.packets, rule.bytes)
                for sequence, rule in zip(known, rules, strict=True)
            }
    return hits


def _state(item: Interface, row: Any, addresses: tuple[str, ...]) -> InterfaceState:
    flags = int(row.flags)
    speed = int(getattr(row, "link_speed", 0))
    shown = merged("vpp", "SHOWN").get(item.kind)
    return InterfaceState(
        name=item.name,
        type=item.kind,
        enabled=item.enabled,
        link="up" if flags & _LINK_UP and item.enabled else "down",
        mac=None if str(row.l2_address) == _NO_MAC else str(row.l2_address),
        mtu=item.mtu,
        addresses=addresses,
        speed_bps=speed * 1000 if 0 < speed < _ALL else None,
        **(shown(item) if shown is not None else {}),
    )


def _looked_up_in(path: FibPath) -> str | None:
    """A packet without a next hop is looked up again, in another VRF's table."""
    return f"table {path.table_id}" if path.next_hop is None and path.kind == "normal" else None


def _entry(route: FibRoute, names: Mapping[int, str]) -> Entry:
    hops = tuple(
        NextHop(
            str(path.next_hop) if path.next_hop is not None else None,
            names.get(path.sw_if_index) if path.sw_if_index is not None else _looked_up_in(path),
            path.weight,
        )
        for path in route.paths
        if path.kind not in _WITHOUT_HOP
    )
    kinds = {_KINDS.get(path.kind, path.kind) for path in route.paths}
    return Entry(str(route.prefix), kinds.pop() if len(kinds) == 1 else "unicast", hops)

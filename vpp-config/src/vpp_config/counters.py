"""Live counters by our names: a sample of interfaces, workers, drops and memory, and the hits of rules.

Hits are separate from the sample, because there may be a hundred thousand rules and few readers.

Interface counters are VPP's own and start at zero when VPP or the interface starts. Hit counters continue
across resets (:mod:`vpp_config.hit_totals`): the session reads them right before a list's rules are replaced,
so that only the hits between that reading and VPP's reset are lost. A restart of VPP resets the counters too,
and the totals continue from the last reading before it; for this a sample also reads the hits once every
HITS_EVERY_S.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from vpp_config.errors import VppError
from vpp_config.hit_totals import HitTotals, RuleHits
from vpp_config.objects import KINDS, Acl
from vpp_config.punt_counts import PuntCounts, punt_counts
from vpp_config.session import Session
from vpp_config.stats import STATS_SOCKET, StatsSegment

_T = TypeVar("_T")
_FULL_VECTOR = 256
HITS_EVERY_S = 10.0
"""Hits newer than the last reading, which is at most this old, are lost when VPP restarts."""

_NODE = re.compile(r"(?:[^/]*/){0,3}?[^/]*-(?:output|tx)(?=/)|[^/]*")
"""A node of VPP before a slash and its reason. Those that send on an interface have its name, and with it the
slashes of names such as ``memif1/0``; reasons may have slashes, too."""
# Counted under /err by VPP's nodes, and no packet was lost; kinds of objects say the same of theirs.
_OF_ALL = (
    "no error", "total received block", "timed out block", "replies_sent", "echo_replies_sent", "packets",
    "copies", "replies_received", "request_received", "neighbor_solicitations_tx",
    "neighbor_advertisements_tx",
)  # fmt: skip
_NOT_DROPS = frozenset(_OF_ALL).union(*(kind.no_drops for kind in KINDS))


@dataclass(frozen=True)
class InterfaceCounters:
    """Totals since the interface was created."""

    rx_packets: int
    rx_bytes: int
    tx_packets: int
    tx_bytes: int
    rx_drops: int
    """Everything dropped on the interface's account, anywhere in the graph; VPP does not say in which
    direction.
    """
    tx_drops: int
    """Frames that the device did not accept."""
    rx_errors: int
    tx_errors: int


@dataclass(frozen=True)
class Worker:
    """A VPP thread that moves packets."""

    name: str
    vectors_per_call: int
    """Packets for each call of a graph node in the last seconds: VPP's measure of its load, at most 256."""
    load: float
    """The same as a share of 256. It stays near 0 for a long time, because VPP becomes more efficient
    under load.
    """


@dataclass(frozen=True)
class MemoryUse:
    """A heap."""

    total_bytes: int
    used_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class Sample:
    """All counters except hits at one time (``time.time()``)."""

    time_s: float
    interfaces: Mapping[str, InterfaceCounters]
    workers: tuple[Worker, ...]
    drops: Mapping[str, int]
    """``<graph node>: <reason>`` -> packets; zero values are omitted."""
    memory: Mapping[str, MemoryUse]
    indexes: Mapping[str, int]
    """VPP's index of each interface."""
    started_s: int
    """The time at which VPP started, by VPP's clock."""


@dataclass(frozen=True)
class FamilyCounts:
    """Packets of ``ipv4`` and ``ipv6``."""

    received: Mapping[str, int]
    dropped: Mapping[str, int]
    """Drops by the graph nodes of the family."""
    drops: Mapping[str, int]
    """As in a sample."""
    interfaces: Mapping[str, InterfaceCounters]


_FAMILIES = {"ipv4": "ip4", "ipv6": "ip6"}
"""Named as VPP names them."""


class Counters:
    """Samples of one VPP. Thread-safe.

    It registers with the session to be called before access lists change, and asks VPP to count their hits.
    """

    def __init__(self, session: Session, stats_socket: str | Path = STATS_SOCKET) -> None:
        self._session = session
        self._segment = StatsSegment(stats_socket)
        self._lock = threading.RLock()
        self._counting = -1
        self._hits = HitTotals()
        self._hits_read_s = -HITS_EVERY_S
        session.before_acl_change = self._before_acl_change

    def close(self) -> None:
        """Detach from the segment."""
        with self._lock:
            self._segment.close()

    def sample(self) -> Sample:
        """Read everything now. Raises ``StatsUnavailable``, ``VppUnavailable``, ``VppApiError``."""
        # Always take the session's lock before ours: the session calls us while it holds its own.
        with self._session.lock, self._lock:
            names = self._session.interface_names()
            self._count_hits()
            if time.monotonic() - self._hits_read_s >= HITS_EVERY_S:
                self.hits()
            return self._segment.read(lambda segment: _read(segment, names))

    def hits(self) -> Mapping[str, tuple[RuleHits, ...]]:
        """Totals of each access list, in the order of its rules. Raises as ``sample`` does."""
        with self._session.lock, self._lock:
            lists = {item.name: (index, item.rules) for index, item in self._session.held(Acl)}
            self._count_hits()
            raw = self._segment.read(
                lambda segment: {
                    name: _read_acl(segment, index, len(rules)) for name, (index, rules) in lists.items()
                }
            )
            self._hits_read_s = time.monotonic()
            return self._hits.carry(self._session.client.generation, lists, raw)

    def read(self, reader: Callable[[StatsSegment], _T]) -> _T:
        """The result of ``reader`` on the segment. Raises ``StatsUnavailable``."""
        with self._lock:
            return self._segment.read(reader)

    def families(self) -> FamilyCounts:
        """Packets by family, on all interfaces, and the interfaces' own counters.

        Raises what :meth:`sample` does.
        """
        with self._session.lock, self._lock:
            names = self._session.interface_names()
            return self._segment.read(lambda segment: _read_families(segment, names))

    def punted(self) -> tuple[PuntCounts, ...]:
        """Policed packets to Linux. Raises what :meth:`sample` does."""
        with self._session.lock, self._lock:
            return punt_counts(self._session.client, self._session.prefix, self._segment)

    def _count_hits(self) -> None:
        """VPP counts hits only when told to, and has to be told again after a restart."""
        client = self._session.client
        generation = client.connect()
        if generation != self._counting and client.supports("acl_stats_intf_counters_enable"):
            client.call("acl_stats_intf_counters_enable", enable=True)
            self._counting = generation

    def _before_acl_change(self) -> None:
        try:
            self.hits()
        except VppError:
            # A commit must not fail because of a counter.
            return


def _read(segment: StatsSegment, names: Mapping[int, str]) -> Sample:
    return Sample(
        time.time(),
        _read_interfaces(segment, names),
        _read_workers(segment),
        read_drops(segment),
        _read_memory(segment),
        {name: index for index, name in names.items()},
        segment.scalar("/sys/boottime"),
    )


def _read_interfaces(segment: StatsSegment, names: Mapping[int, str]) -> dict[str, InterfaceCounters]:
    rx, tx = segment.combined("/if/rx"), segment.combined("/if/tx")
    drops, no_buffer, missed = (segment.simple(f"/if/{name}") for name in ("drops", "rx-no-buf", "rx-miss"))
    rx_errors, tx_errors = segment.simple("/if/rx-error"), segment.simple("/if/tx-error")
    return {
        name: InterfaceCounters(
            _total(rx, 2 * index),
            _total(rx, 2 * index + 1),
            _total(tx, 2 * index),
            _total(tx, 2 * index + 1),
            _total(drops, index) + _total(no_buffer, index) + _total(missed, index),
            _total(tx_errors, index),
            _total(rx_errors, index),
            _total(tx_errors, index),
        )
        for index, name in names.items()
    }


def _read_acl(segment: StatsSegment, index: int, count: int) -> tuple[RuleHits, ...]:
    threads = segment.combined(f"/acl/{index}/matches")
    packets, octets = [0] * count, [0] * count
    for values in threads:
        packets = [a + b for a, b in zip(packets, values[0 : 2 * count : 2], strict=False)]
        octets = [a + b for a, b in zip(octets, values[1 : 2 * count : 2], strict=False)]
    # It is shorter than the list only before the first packet.
    packets += [0] * (count - len(packets))
    octets += [0] * (count - len(octets))
    return tuple(map(RuleHits, packets, octets))


def _read_workers(segment: StatsSegment) -> tuple[Worker, ...]:
    rates = [rate for vector in segment.simple("/sys/vector_rate_per_worker") for rate in vector]
    count = segment.scalar("/sys/num_worker_threads")
    # Without workers the main thread moves the packets itself.
    named = [("main", rates[0] if rates else 0)] if not count else [
        (f"worker {number}", rate) for number, rate in enumerate(rates[1 : count + 1])
    ]  # fmt: skip
    return tuple(Worker(name, rate, min(rate / _FULL_VECTOR, 1.0)) for name, rate in named)


def node_of(counted: str) -> str:
    """The node of ``<node>/<reason>``, as VPP counts errors."""
    found = _NODE.match(counted)
    return found[0] if found else counted


def read_drops(segment: StatsSegment) -> dict[str, int]:
    drops = {}
    for entry, packets in segment.counted("/err/").items():
        counted = entry.removeprefix("/err/")
        node = node_of(counted)
        reason = counted[len(node) + 1 :]
        if reason not in _NOT_DROPS:
            drops[f"{node}: {reason}"] = packets
    return drops


def _read_families(segment: StatsSegment, names: Mapping[int, str]) -> FamilyCounts:
    drops = read_drops(segment)
    return FamilyCounts(
        {name: sum(map(sum, segment.simple(f"/if/{short}"))) for name, short in _FAMILIES.items()},
        {
            name: sum(packets for reason, packets in drops.items() if short in reason.partition(":")[0])
            for name, short in _FAMILIES.items()
        },
        drops,
        _read_interfaces(segment, names),
    )


def _read_memory(segment: StatsSegment) -> dict[str, MemoryUse]:
    memory = {}
    for entry in segment.names("/mem/"):
        heap = entry.removeprefix("/mem/")
        if "/" not in heap and (vectors := segment.simple(entry)) and len(vectors[0]) >= 3:
            memory[heap] = MemoryUse(*vectors[0][:3])
    return memory


def _total(threads: Sequence[Sequence[int]], index: int) -> int:
    return sum(values[index] for values in threads if index < len(values))

"""VPP's NAT sessions: count them, attribute them to hosts, list them and forget them.

VPP keeps a timed-out session until a new one takes its place; only :func:`timed_out_sessions` tells how many
of the sessions in the table have timed out. VPP cannot be asked for a part of the table. Every function here
but :func:`nat_table` walks the whole table, and nothing is forwarded in that time: some 3 ms for 100,000
sessions, and 2 µs more for each session or host in the answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from vpp_config.client import VppClient, request
from vpp_config.errors import VppApiError, VppError
from vpp_config.objects.nat import CONFIG, NO_SUCH_ENTRY
from vpp_config.stats import StatsSegment

_STATIC, _INSIDE, _HAS_REMOTE = 0x40, 0x20, 0x80
_REFUSED = "/maximum sessions exceeded"
_TOTALS = re.compile(r"^total sessions: (\d+) \(timed out: (\d+)\)", re.MULTILINE)
_ICMP, _UDP = 1, 17
_BATCH = 32
"""The number of sessions forgotten before others get a turn."""


@dataclass(frozen=True)
class NatTable:
    """How full the tables are. Each worker has one; hosts are spread over the workers by their address."""

    held: tuple[int, ...]
    """Sessions by worker, including those that timed out."""
    limit: int
    """The capacity of each worker, in sessions."""
    refused: int
    """Packets dropped since VPP started because they would have begun a session."""


@dataclass(frozen=True)
class NatSession:
    """A session. For ICMP the ports are the ICMP identifier."""

    protocol: int
    inside_address: IPv4Address
    inside_port: int
    outside_address: IPv4Address
    outside_port: int
    remote_address: IPv4Address
    remote_port: int
    static: bool
    """It belongs to a mapping."""
    idle_s: int
    """Time since the last packet."""
    timed_out: bool
    packets: int


def nat_table(segment: StatsSegment) -> NatTable:
    """Read from shared memory, at no cost to VPP; called by :meth:`StatsSegment.read`."""
    workers = segment.scalar("/sys/num_worker_threads")
    held = [vector[0] if vector else 0 for vector in segment.simple("/nat44-ed/total-sessions")]
    errors = segment.counted("/err/nat44-ed-")
    return NatTable(
        # The main thread translates only where there is no worker.
        tuple(held[1 : workers + 1] if workers else held[:1]) or (0,),
        segment.scalar("/nat44-ed/max-cfg-sessions"),
        sum(packets for name, packets in errors.items() if name.endswith(_REFUSED)),
    )


def timed_out_sessions(client: VppClient) -> int:
    """The sum over all workers. VPP has no call for it; this is ``show nat44 summary`` through the API."""
    found = _TOTALS.search(str(client.call("cli_inband", cmd="show nat44 summary").reply))
    return int(found[2]) if found is not None else 0


def nat_users(client: VppClient) -> dict[IPv4Address, int]:
    """Inside address -> sessions, including those that timed out."""
    found: Counter[IPv4Address] = Counter()
    for row in client.dump("nat44_user_dump"):
        found[row.ip_address] += row.nsessions + row.nstaticsessions
    return dict(found)


def nat_user_sessions(client: VppClient, inside_address: IPv4Address) -> list[NatSession]:
    """The sessions of one inside address, which arrive all at once."""
    return [
        NatSession(
            row.protocol,
            row.inside_ip_address,
            row.inside_port,
            row.outside_ip_address,
            row.outside_port,
            row.ext_host_address,
            row.ext_host_port,
            bool(int(row.flags) & _STATIC),
            row.time_since_last_heard,
            row.is_timed_out,
            row.total_pkts,
        )
        for row in client.dump("nat44_user_session_v3_dump", ip_address=inside_address, vrf_id=0)
    ]


def idle_timeouts(client: VppClient) -> dict[int, int]:
    """Seconds without a packet after which a session times out, by protocol. The timeout of TCP depends
    on a state that VPP does not tell.
    """
    times = client.call(CONFIG.name).timeouts
    return {_ICMP: times.icmp, _UDP: times.udp}


def end_nat_sessions(client: VppClient, sessions: Sequence[NatSession]) -> int:
    """Forget the sessions; returns how many still existed. Raises ``VppApiError``, ``VppUnavailable``.

    They are forgotten one by one, even when all are to be forgotten, because ``clear nat44 ed sessions`` of
    26.06 also empties the table that holds the mappings.
    """
    ended = 0
    for start in range(0, len(sessions), _BATCH):
        requests = [
            request(
                "nat44_del_session",
                address=one.inside_address,
                protocol=one.protocol,
                port=one.inside_port,
                vrf_id=0,
                flags=_INSIDE | _HAS_REMOTE,
                ext_host_address=one.remote_address,
                ext_host_port=one.remote_port,
            )
            for one in sessions[start : start + _BATCH]
        ]
        for answer in client.pipeline(requests):
            if isinstance(answer, VppApiError) and answer.retval == NO_SUCH_ENTRY:
                continue
            if isinstance(answer, VppError):
                raise answer
            ended += 1
    return ended

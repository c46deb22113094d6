"""Sessions of NAT in VPP, read without holding up its forwarding.

VPP stops for each query, which walks the whole table (``vpp_config.nat_sessions``). So a named host is
queried alone, others only if they do not have very many sessions, the walks of a reading are limited, and
between two queries VPP has time for other work. The answer says what is left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Address
from typing import TypeVar

from appliance.dataplane.looking import VppLooking
from appliance.state.nat import (
    FILLING,
    Ended,
    NatSession,
    NatSessions,
    NatSessionsFilter,
    NatSessionsQuery,
    NatState,
)
from vpp_config import nat_sessions as vpp_nat

T = TypeVar("T")
MOST_OF_HOST = 10_000
"""The most sessions of one host that are read: VPP stops for some 20 ms."""
MOST_WALKED = 15_000_000
"""The most sessions that VPP walks past in one reading, returned or not: it stops for some 450 ms in all, a
few at a time. That is enough for a page of a hundred hosts that have one each.
"""
MOST_WALKED_TO_CLEAR = 5 * MOST_WALKED
_ENDED_AT_ONCE = 256
_REST = 2.0
"""Pause after a query, as a multiple of its duration."""
_REST_OF_ENDING = 0.25
"""VPP forwards in between ending any two."""
_LONGEST_REST_S = 0.1
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}


def table(vpp: VppLooking, *, closely: bool) -> NatState:
    """How full it is: the fullest worker decides, since a host cannot use the space of another worker.

    Without ``closely`` sessions that timed out are counted only if the table seems to fill up.
    """
    read = vpp.read_stats(vpp_nat.nat_table)
    held, fullest = sum(read.held), max(read.held)
    timed_out = 0
    if held and (closely or fullest >= FILLING * read.limit):
        timed_out = min(vpp_nat.timed_out_sessions(vpp.client), held)
    return NatState(
        in_use=held - timed_out,
        limit=read.limit * len(read.held),
        fullness=fullest / read.limit * (held - timed_out) / held if held and read.limit else 0.0,
        timed_out=timed_out,
        refused=read.refused,
    )


def users(vpp: VppLooking) -> Counter[str]:
    """Sessions by inside address, with those that timed out."""
    return Counter({str(address): count for address, count in vpp_nat.nat_users(vpp.client).items()})


def find(vpp: VppLooking, asked: NatSessionsQuery) -> NatSessions:
    """A page of those that match, by host. If all sessions of a host match, only the page is read."""
    looking = _Looking(vpp, asked)
    page: list[NatSession] = []
    total, end = 0, asked.offset + asked.limit
    for address, count in looking.hosts:
        if _all_match(asked) and (total >= end or total + count <= asked.offset):
            total += count
            continue
        found = looking.sessions_of(address, count)
        if found is None:
            total += count if _all_match(asked) else 0
            continue
        for one in filter(asked.matches, map(looking.shown, found)):
            if asked.offset <= total < end:
                page.append(one)
            total += 1
    return NatSessions(
        sessions=tuple(page),
        total=total,
        offset=asked.offset,
        limit=asked.limit,
        left_out=looking.left_out(),
    )


def end_sessions(vpp: VppLooking, asked: NatSessionsFilter) -> Ended:
    """Forget those that match. As an operator requested it, it may walk farther, and query any host."""
    looking = _Looking(vpp, asked, to_clear=True)
    ended = 0
    for address, count in looking.hosts:
        found = looking.sessions_of(address, count) or ()
        ended += looking.end([one for one in found if asked.matches(looking.shown(one))])
    return Ended(ended, looking.left_out())


def counted(vpp: VppLooking, most: int) -> tuple[NatSession, ...] | None:
    """All sessions; None if they are more than ``most``, or cannot all be read."""
    if sum(vpp.read_stats(vpp_nat.nat_table).held) > most:
        return None
    looking = _Looking(vpp, NatSessionsFilter())
    found = tuple(looking.shown(one) for host in looking.hosts for one in looking.sessions_of(*host) or ())
    return None if looking.left_out() else found


def _all_match(asked: NatSessionsQuery) -> bool:
    fields = (asked.inside, asked.outside, asked.remote, asked.port, asked.protocol)
    return all(one is None for one in fields)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


class _Looking:
    """One reading of the table, with a limited number of walks."""

    def __init__(self, vpp: VppLooking, asked: NatSessionsFilter, *, to_clear: bool = False) -> None:
        self._client = vpp.client
        self._most_walked = MOST_WALKED_TO_CLEAR if to_clear else MOST_WALKED
        self._most_of_host = None if to_clear else MOST_OF_HOST
        self._held = sum(vpp.read_stats(vpp_nat.nat_table).held)
        self._walked = 0
        self._timeouts = vpp_nat.idle_timeouts(vpp.client)
        self._large: list[tuple[IPv4Address, int]] = []
        self._not_read: list[tuple[IPv4Address, int]] = []
        self.hosts = self._hosts(asked)
        """The hosts to be read, by address, with the sessions of each."""

    def _hosts(self, asked: NatSessionsFilter) -> list[tuple[IPv4Address, int]]:
        if asked.inside is not None:
            # One query; counting them by host would cost as much.
            return [(IPv4Address(asked.inside), 0)]
        hosts = sorted(self._rested(lambda: vpp_nat.nat_users(self._client)).items())
        most = self._most_of_host
        self._large = [host for host in hosts if most is not None and host[1] > most]
        return [host for host in hosts if most is None or host[1] <= most]

    def sessions_of(self, address: IPv4Address, count: int) -> list[vpp_nat.NatSession] | None:
        """The sessions of a host; None once the reading has walked as far as it may."""
        if self._walked + self._held > self._most_walked:
            self._not_read.append((address, count))
            return None
        self._walked += self._held
        return self._rested(lambda: vpp_nat.nat_user_sessions(self._client, address))

    def end(self, sessions: list[vpp_nat.NatSession]) -> int:
        """Forget them; returns how many still existed."""
        ended = 0
        for start in range(0, len(sessions), _ENDED_AT_ONCE):
            some = sessions[start : start + _ENDED_AT_ONCE]
            ended += self._rested(partial(vpp_nat.end_nat_sessions, self._client, some), _REST_OF_ENDING)
        self._held -= ended
        return ended

    def _rested(self, ask: Callable[[], T], rest: float = _REST) -> T:
        """The answer; afterwards VPP has time for other work."""
        began_s = time.monotonic()
        answer = ask()
        time.sleep(min(rest * (time.monotonic() - began_s), _LONGEST_REST_S))
        return answer

    def left_out(self) -> str:
        """Which sessions were not read, and why; empty if all were."""
        said = []
        if self._large:
            address, count = max(self._large, key=lambda host: host[1])
            more = len(self._large) - 1
            others = f" and of {_number(more, 'other host')}" if more else ""
            said.append(
                f"The {count:,} sessions of {address}{others} were not read: VPP reports those of a"
                " host all at once and forwards nothing while it does. A host with more than"
                f" {MOST_OF_HOST:,} is read only by its inside address."
            )
        if self._not_read:
            first = self._not_read[0][0]
            number = sum(count for _, count in self._not_read)
            said.append(
                f"{_number(number, 'session')}, of hosts from {first} on, were not read: VPP forwards"
                " nothing while it searches. Give an inside address."
            )
        return " ".join(said)

    def shown(self, one: vpp_nat.NatSession) -> NatSession:
        """In the form of the live state."""
        timeout_s = self._timeouts.get(one.protocol)
        expires_s = None if timeout_s is None else max(timeout_s - one.idle_s, 0)
        return NatSession(
            protocol=_PROTOCOLS.get(one.protocol, str(one.protocol)),
            inside_address=str(one.inside_address),
            inside_port=one.inside_port,
            outside_address=str(one.outside_address),
            outside_port=one.outside_port,
            remote_address=str(one.remote_address),
            remote_port=one.remote_port,
            direction=None if one.static else "out",
            state="timed_out" if one.timed_out else "",
            expires_s=0 if one.timed_out else expires_s,
            packets=one.packets,
        )

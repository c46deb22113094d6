"""Sessions that are translated, and how full their table is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from appliance.state.object_state import ObjectState, words
from appliance.state.object_state import counted as counted_states
from appliance.state.part import Answer, Everything, Gauge, Part, Question, Table

if TYPE_CHECKING:
    import socket

    from appliance.agent.router import Router
    from appliance.dataplane.base import DataPlane
    from appliance.dataplane.linux.conntrack import Tracked
    from appliance.dataplane.looking import KernelLooking, VppLooking

MOST_USERS = 50
"""Inside addresses that are listed by the sessions they have."""
FILLING = 0.8
"""Fullness from which on there is an alarm."""
_PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}


def _host(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise PydanticCustomError("address", "must be an IPv4 address") from None


Host = Annotated[str, StringConstraints(max_length=15), AfterValidator(_host)]
"""An IPv4 address."""


class NatSessionsFilter(Question):
    """Which sessions: those that match all that is given."""

    inside: Host | None = Field(None, description="Only those of this inside address.")
    outside: Host | None = Field(None, description="Only those that have this outside address.")
    remote: Host | None = Field(None, description="Only those with this address as the other end.")
    port: int | None = Field(None, ge=1, le=65535, description="Only those with this port at any end.")
    protocol: Literal["tcp", "udp", "icmp"] | None = Field(None, description="Only those of this protocol.")

    def matches(self, one: NatSession) -> bool:
        """Whether the session is asked for."""
        return (
            (self.protocol is None or self.protocol == one.protocol)
            and (self.inside is None or self.inside == one.inside_address)
            and (self.outside is None or self.outside == one.outside_address)
            and (self.remote is None or self.remote == one.remote_address)
            and (self.port is None or self.port in (one.inside_port, one.outside_port, one.remote_port))
        )


class NatSessionsQuery(NatSessionsFilter):
    """A page of the sessions that match."""

    offset: int = Field(0, ge=0, le=10_000_000, description="Number to skip from the start.")
    limit: int = Field(100, ge=1, le=1000, description="Sessions in one page.")


class NatSession(Answer):
    """A translated session. For ICMP the ports are its identifier (RFC 5508)."""

    protocol: str
    inside_address: str = Field(description="Address of the inside host.")
    inside_port: int
    outside_address: str = Field(description="Address that it is seen by outside.")
    outside_port: int
    remote_address: str = Field(description="The other end.")
    remote_port: int
    direction: Literal["out", "in", "hairpin"] | None = Field(
        description="out: begun inside. in: begun outside, by a mapping. hairpin: inside to inside by an"
        " outside address. VPP reports hairpin as out, and nothing for sessions of a mapping: null."
    )
    state: str = Field("", description="Of TCP, such as established. On VPP timed_out, or nothing.")
    expires_s: int | None = Field(
        description="Seconds until it is forgotten, if no packet comes. VPP does not report it for TCP: null."
    )
    packets: int | None = Field(None, description="Of both directions; null where they are not counted.")


class NatSessions(Answer):
    """A page of the table of sessions: in the kernel's own order, or by inside address on VPP."""

    sessions: tuple[NatSession, ...]
    total: int = Field(description="Sessions that match, of those that were read.")
    offset: int
    limit: int
    left_out: str = Field("", description="Which sessions were not read, and why. Empty where all were.")


class NatUser(Answer):
    """An inside address and the sessions it has."""

    address: str
    sessions: int


class NatUsers(Answer):
    """Who has how many sessions; on VPP those that timed out are counted, too."""

    sessions: int = Field(description="Translated sessions.")
    users: tuple[NatUser, ...] = Field(description="Inside addresses with the most sessions.")


class NatState(Answer):
    """How full the table of sessions is."""

    in_use: int = Field(
        description="Entries of the table: on linux also connections that are not translated, on VPP"
        " without sessions that timed out."
    )
    limit: int = Field(description="Entries that the table takes; 0 where NAT is not configured.")
    fullness: float = Field(
        description="Share of the entries in use, from 0 to 1. On VPP that of the fullest worker: a host has"
        " its place in the table of one."
    )
    timed_out: int = Field(
        0, description="On VPP: sessions that timed out, whose places new ones take when they come."
    )
    refused: int = Field(
        description="Packets that were dropped since the data plane started because the table had no place"
        " for their session; on linux also those that the kernel failed to track for another reason."
    )
    evicted: int = Field(0, description="On linux: sessions ended early to make room for new ones.")


@dataclass(frozen=True)
class Ended:
    """How many sessions were ended, and which were not looked at."""

    sessions: int
    left_out: str = ""


def find(dataplane: DataPlane, asked: NatSessionsQuery) -> NatSessions:
    """A page of those that match, read in the thread that asks. Raises BackendUnavailable, DataPlaneError."""

    def of_vpp(vpp: VppLooking) -> NatSessions | socket.socket:
        from appliance.features.nat import vpp_sessions

        return vpp_sessions.find(vpp, asked)

    found = dataplane.look(vpp=of_vpp, linux=_opened)
    if isinstance(found, NatSessions):
        return found
    page: list[NatSession] = []
    total = 0
    for one in filter(asked.matches, _in_the_kernel(found)):
        if asked.offset <= total < asked.offset + asked.limit:
            page.append(one)
        total += 1
    return NatSessions(sessions=tuple(page), total=total, offset=asked.offset, limit=asked.limit)


def end_sessions(dataplane: DataPlane, asked: NatSessionsFilter) -> Ended:
    """Forget those that match. Reads and ends them in the thread that asks, so that no view waits. Raises
    BackendUnavailable, DataPlaneError.
    """

    def of_vpp(vpp: VppLooking) -> Ended:
        from appliance.features.nat import vpp_sessions

        return vpp_sessions.end_sessions(vpp, asked)

    ended = dataplane.look(vpp=of_vpp, linux=lambda _: None)
    if ended is not None:
        return ended
    from appliance.dataplane.linux.conntrack import end

    def no_vpp(_: VppLooking) -> socket.socket:
        raise AssertionError("the data plane is linux")

    return Ended(
        end(lambda one: asked.matches(of_the_kernel(one)), lambda: dataplane.look(vpp=no_vpp, linux=_opened))
    )


def users(dataplane: DataPlane) -> NatUsers:
    """Who has the most. Raises BackendUnavailable, DataPlaneError."""

    def of_vpp(vpp: VppLooking) -> Counter[str] | socket.socket:
        from appliance.features.nat import vpp_sessions

        return vpp_sessions.users(vpp)

    found = dataplane.look(vpp=of_vpp, linux=_opened)
    by_host = (
        found if isinstance(found, Counter) else Counter(one.inside_address for one in _in_the_kernel(found))
    )
    listed = tuple(NatUser(address=name, sessions=count) for name, count in by_host.most_common(MOST_USERS))
    return NatUsers(sessions=by_host.total(), users=listed)


def counted(dataplane: DataPlane, most: int) -> tuple[NatSession, ...] | None:
    """Every session; None where they are more than ``most``, or cannot all be read."""

    def of_vpp(vpp: VppLooking) -> tuple[NatSession, ...] | socket.socket | None:
        from appliance.features.nat import vpp_sessions

        return vpp_sessions.counted(vpp, most)

    if table(dataplane, closely=False).in_use > most:
        return None
    found = dataplane.look(vpp=of_vpp, linux=_opened)
    return found if found is None or isinstance(found, tuple) else tuple(_in_the_kernel(found))


def table(dataplane: DataPlane, *, closely: bool) -> NatState:
    """How full it is: short readings, whatever its size. Without ``closely`` sessions that timed out are told
    apart only where VPP's table seems to fill up.
    """

    def of_vpp(vpp: VppLooking) -> NatState:
        from appliance.features.nat import vpp_sessions

        return vpp_sessions.table(vpp, closely=closely)

    return dataplane.look(vpp=of_vpp, linux=_table_of_the_kernel)


def _opened(_kernel: KernelLooking) -> socket.socket:
    from appliance.dataplane.linux.conntrack import opened

    return opened()


def _in_the_kernel(opened: socket.socket) -> Iterator[NatSession]:
    from appliance.dataplane.linux.conntrack import translated

    with opened as link:
        yield from map(of_the_kernel, translated(link))


def _table_of_the_kernel(_kernel: KernelLooking) -> NatState:
    from appliance.dataplane.linux.conntrack import count, dropped, limit

    in_use, most = count(), limit()
    refused, evicted = dropped()
    return NatState(
        in_use=in_use,
        limit=most,
        fullness=in_use / most if most else 0.0,
        refused=refused,
        evicted=evicted,
    )


def of_the_kernel(one: Tracked) -> NatSession:
    """As the kernel has it: what an inside host sends from, and is seen by, depends on who began."""
    begun, answers = one.original, one.reply
    if one.source_translated:
        inside, seen = (begun.source, begun.source_port), (answers.destination, answers.destination_port)
        remote = (begun.destination, begun.destination_port)
    else:
        inside, seen = (answers.source, answers.source_port), (begun.destination, begun.destination_port)
        remote = (begun.source, begun.source_port)
    hairpin = one.source_translated and one.destination_translated
    return NatSession(
        protocol=_PROTOCOLS.get(one.protocol, str(one.protocol)),
        inside_address=str(IPv4Address(inside[0])),
        inside_port=inside[1],
        outside_address=str(IPv4Address(seen[0])),
        outside_port=seen[1],
        remote_address=str(IPv4Address(remote[0])),
        remote_port=remote[1],
        direction="hairpin" if hairpin else "out" if one.source_translated else "in",
        state=one.tcp_state,
        expires_s=one.expires_s,
        packets=one.packets or None,
    )


def _read_table(router: Router, _: Everything) -> NatState:
    if router.engine.running_config.nat is None:
        return NatState(in_use=0, limit=0, fullness=0.0, refused=0)
    return table(router.dataplane, closely=True)


def _gauges(state: NatState) -> Iterator[Gauge]:
    if not state.limit:
        return
    yield Gauge("nat_entries", "Entries of NAT's table in use.", state.in_use)
    yield Gauge("nat_entries_limit", "Entries that NAT's table takes.", state.limit)
    yield Gauge("nat_table_fullness", "Share of NAT's table in use, from 0 to 1.", state.fullness)
    yield Gauge(
        "nat_refused_packets", "Packets dropped because NAT's table was full.", state.refused, counts=True
    )


NAT = Part(
    "nat",
    "How full the table of NAT's sessions is.",
    Everything,
    NatState,
    _read_table,
    gauges=_gauges,
)
NAT_USERS = Part(
    "nat-users",
    "Which inside addresses have the most sessions of NAT.",
    Everything,
    NatUsers,
    lambda router, _: users(router.dataplane),
    path="nat/users",
    lane=lambda _: "nat-sessions",
    table=Table(("address", "sessions"), lambda answer: answer.users),
)
NAT_SESSIONS = Part(
    "nat-sessions",
    "Sessions that NAT translates; a page of those that match.",
    NatSessionsQuery,
    NatSessions,
    lambda router, asked: find(router.dataplane, asked),
    path="nat/sessions",
    lane=lambda _: "nat-sessions",
    table=Table(
        (
            *("protocol", "inside_address", "inside_port", "outside_address", "outside_port"),
            *("remote_address", "remote_port", "direction", "state", "expires_s"),
        ),
        lambda answer: answer.sessions,
        lambda answer: answer.left_out,
    ),
)


class NatMappings(Answer):
    """All of them."""

    mappings: tuple[ObjectState, ...]
    counts: dict[str, int] = Field({}, description="How many are in each state.")

    @property
    def about(self) -> str:
        """The counts in a sentence."""
        return f"{words(self.counts)}." if self.mappings else ""

    def under(self, pointer: str) -> Mapping[str, ObjectState]:
        """Those of one mapping of the document, by name."""
        return {one.name: one for one in self.mappings if one.pointer.startswith(f"{pointer}/")}


def _read_mappings(router: Router, _: Everything) -> NatMappings:
    found = router.liveness.of("nat_mapping")
    return NatMappings(mappings=found, counts=dict(counted_states(found)))


NAT_MAPPINGS = Part(
    "nat-mappings",
    "Pools, 1:1 mappings and port forwards of NAT: whether a route leads to their inside hosts, and"
    " whether their outside addresses are on a network of this router.",
    Everything,
    NatMappings,
    _read_mappings,
    path="nat/mappings",
    table=Table(
        ("noun", "name", "state", "why"), lambda answer: answer.mappings, lambda answer: answer.about
    ),
)

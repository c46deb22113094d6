"""Sessions that are translated, and how full their table is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from appliance.state.part import Answer, Everything, Part, Question, Table

if TYPE_CHECKING:
    import socket

    from appliance.agent.router import Router
    from appliance.dataplane.base import DataPlane
    from appliance.dataplane.linux.conntrack import Tracked
    from appliance.dataplane.looking import KernelLooking, VppLooking

MOST_USERS = 50
"""Inside addresses that are listed by the sessions they have."""
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

    offset: int = Field(0, ge=0, le=10_000_000, description="Skip so many first.")
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
    direction: Literal["out", "in", "hairpin"] = Field(
        description="out: begun inside. in: begun outside, by a mapping. hairpin: inside to inside by an"
        " outside address."
    )
    state: str = Field("", description="Of TCP, such as established.")
    expires_s: int = Field(description="Seconds until it is forgotten, if no packet comes.")
    packets: int | None = Field(None, description="Of both directions; null where they are not counted.")


class NatSessions(Answer):
    """A page of the table of sessions, in the table's own order."""

    sessions: tuple[NatSession, ...]
    total: int = Field(description="Sessions that match.")
    offset: int
    limit: int


class NatUser(Answer):
    """An inside address and the sessions it has."""

    address: str
    sessions: int


class NatState(Answer):
    """How full the table of sessions is."""

    sessions: int = Field(description="Translated sessions.")
    in_use: int = Field(
        description="Entries of the table: on linux also connections that are not translated."
    )
    limit: int = Field(description="Entries that the table takes.")
    users: tuple[NatUser, ...] = Field(description="Inside addresses with the most sessions.")


def sessions(dataplane: DataPlane) -> Iterator[NatSession]:
    """Every translated session, in the thread that asks. Raises BackendUnavailable, DataPlaneError."""
    with dataplane.look(vpp=_no_vpp, linux=_opened) as link:
        from appliance.dataplane.linux.conntrack import translated

        for one in translated(link):
            yield of_the_kernel(one)


def end_sessions(dataplane: DataPlane, asked: NatSessionsFilter) -> int:
    """Forget those that match; how many there were. Reads and ends them in the thread that asks, so that no
    view waits. Raises NotFound, BackendUnavailable, DataPlaneError.
    """
    dataplane.look(vpp=_no_vpp, linux=lambda _: None)
    from appliance.dataplane.linux.conntrack import end

    return end(
        lambda one: asked.matches(of_the_kernel(one)),
        lambda: dataplane.look(vpp=_no_vpp, linux=_opened),
    )


def fill(dataplane: DataPlane) -> tuple[int, int] | None:
    """Entries of the table, and how many it takes: two short readings, whatever its size. None on vpp, whose
    sessions are not read.
    """
    return dataplane.look(vpp=_no_fill, linux=_fill)


def _no_vpp(_vpp: VppLooking) -> Any:
    from appliance.errors import NotFound

    raise NotFound("sessions of NAT are not told on the vpp data plane")


def _no_fill(_vpp: VppLooking) -> None:
    return None


def _opened(_kernel: KernelLooking) -> socket.socket:
    from appliance.dataplane.linux.conntrack import opened

    return opened()


def _fill(_kernel: KernelLooking) -> tuple[int, int]:
    from appliance.dataplane.linux.conntrack import count, limit

    return count(), limit()


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


def _read_sessions(router: Router, asked: NatSessionsQuery) -> NatSessions:
    page: list[NatSession] = []
    total = 0
    for one in sessions(router.dataplane):
        if asked.matches(one):
            if asked.offset <= total < asked.offset + asked.limit:
                page.append(one)
            total += 1
    return NatSessions(sessions=tuple(page), total=total, offset=asked.offset, limit=asked.limit)


def _read(router: Router, _: Everything) -> NatState:
    users = Counter(one.inside_address for one in sessions(router.dataplane))
    in_use, most = fill(router.dataplane) or (0, 0)
    listed = tuple(NatUser(address=name, sessions=count) for name, count in users.most_common(MOST_USERS))
    return NatState(sessions=users.total(), in_use=in_use, limit=most, users=listed)


NAT_SESSIONS = Part(
    "nat-sessions",
    "Sessions that NAT translates; a page of those that match.",
    NatSessionsQuery,
    NatSessions,
    _read_sessions,
    path="nat/sessions",
    lane=lambda _: "nat",
    table=Table(
        (
            *("protocol", "inside_address", "inside_port", "outside_address", "outside_port"),
            *("remote_address", "remote_port", "direction", "state", "expires_s"),
        ),
        lambda answer: answer.sessions,
    ),
)
NAT = Part(
    "nat",
    "How full the table of NAT's sessions is, and which inside addresses have the most.",
    Everything,
    NatState,
    _read,
    lane=lambda _: "nat",
)

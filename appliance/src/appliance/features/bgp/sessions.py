"""Which BGP sessions a change closes, resets or keeps from coming up. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from appliance.config.pointer import join
from appliance.features.bgp.effective import FAMILIES, TITLES, Family, Peer, peers
from appliance.impact.change import Change, is_up
from appliance.impact.facts import Fact
from appliance.impact.result import Finding
from appliance.state.bgp import BgpNeighborState, BgpState

SESSIONS: Fact[BgpState] = Fact("the state of BGP sessions", lambda live: live.routing.bgp_state())


@dataclass(frozen=True)
class _Reason:
    """Why a session does not stay as it is."""

    text: str
    field: str = ""
    """The field, relative to the neighbor."""
    depends_on: str = ""
    """What else has to hold; empty: nothing."""


def is_established(session: BgpNeighborState) -> bool:
    """Whether routes are exchanged."""
    return session.state.lower() == "established"


def alive(change: Change, address: str) -> bool | None:
    """Whether the session is up now; None when the router does not answer."""
    known = change.facts.of(SESSIONS)
    if known is None:
        return None
    session = known.neighbors.get(address)
    return session is not None and is_established(session)


def evidence(change: Change, address: str) -> str:
    """The session as the router shows it."""
    known = change.facts.of(SESSIONS)
    session = None if known is None else known.neighbors.get(address)
    if session is None:
        return ""
    counts = [
        f"{session.families[family].prefixes_received:,} {TITLES[family]} prefixes received"
        for family in FAMILIES
        if family in session.families and session.families[family].prefixes_received is not None
    ]
    return ", ".join([f"the session is {session.state}", *counts])


def sessions(change: Change) -> Iterator[Finding]:
    """A finding for each session that is up, or may be, and is closed or reset."""
    before, after = peers(change.before), peers(change.after)
    for address, was in before.items():
        change.in_time()
        reasons = list(_reasons(change, was, after.get(address)))
        is_alive = alive(change, address) if reasons else False
        if is_alive is not False:
            # One certain reason suffices.
            depends = [] if any(not one.depends_on for one in reasons) else [reasons[0].depends_on]
            if not is_alive:
                depends.append("the session is up now, which the router does not report")
            yield Finding(
                grade="possible" if depends else "certain",
                kind="session",
                path=_path(address, reasons[0].field),
                text=f"The BGP session with {address} closes: {'; '.join(one.text for one in reasons)}.",
                depends_on="; ".join(depends),
                evidence=evidence(change, address),
            )
    for address, peer in after.items():
        change.in_time()
        yield from _limits(change, before.get(address), peer)


def _path(address: str, field: str = "") -> str:
    return join(["routing", "bgp", "neighbors", address, *(field.split("/") if field else ())])


def _reasons(change: Change, was: Peer, now: Peer | None) -> Iterator[_Reason]:
    if now is None:
        yield _removed(change, was.address)
        return
    if was.bgp.asn != now.bgp.asn:
        yield _Reason(f"this router's AS becomes {now.bgp.asn}, which the neighbor has to be configured with")
    elif was.bgp.router_id != now.bgp.router_id:
        yield _Reason("the router ID changes; it comes up again")
    yield from _remote_as(change, was, now)
    if was.secret != now.secret:
        yield _Reason("the password changes; it comes up again once the neighbor has the same", "password")
    if was.distance != now.distance:
        yield _Reason(
            f"it {_distance(now)}; {_again(change, now)}",
            "ttl_security_hops" if now.distance[1] else "ebgp_multihop",
        )
    if was.update_source != now.update_source:
        source = f"is set up from {now.update_source}" if now.update_source else "has no update source"
        yield _Reason(f"it {source}; it comes up again if the neighbor expects that address", "update_source")
    elif (lost := _lost_way(change, now)) is not None:
        yield lost
    for family in FAMILIES:
        if was.exchanges(family) != now.exchanges(family):
            done = "is exchanged from now on" if now.exchanges(family) else "is no longer exchanged"
            yield _Reason(f"{TITLES[family]} {done}; it comes up again", family)
    if was.own.passive != now.own.passive:
        yield _Reason("it changes who connects; it comes up again", "passive")
    if was.own.peer_group != now.own.peer_group:
        yield _Reason("it changes its peer group; it comes up again", "peer_group")


def _removed(change: Change, address: str) -> _Reason:
    bgp = change.after.routing.bgp
    if bgp is None:
        return _Reason("BGP is removed")
    return (
        _Reason("the neighbor is shut down", "enabled")
        if address in bgp.neighbors
        else _Reason("it is removed")
    )


def _remote_as(change: Change, was: Peer, now: Peer) -> Iterator[_Reason]:
    if was.remote_asn == now.remote_asn:
        return
    known = change.facts.of(SESSIONS)
    session = None if known is None else known.neighbors.get(now.address)
    seen = None if session is None else session.remote_asn
    fits = {"internal": seen == now.bgp.asn, "external": seen != now.bgp.asn}.get(
        str(now.remote_asn), seen == now.remote_asn
    )
    if seen is None:
        then = f"it comes up again only if the neighbor is in AS {now.remote_asn}"
    elif fits:
        then = "it comes up again"
    else:
        then = f"it cannot come up again, for the neighbor is in AS {seen}"
    yield _Reason(f"its remote AS becomes {now.remote_asn}; {then}", "remote_asn")


def _distance(peer: Peer) -> str:
    multihop, security = peer.distance
    if security is not None:
        return f"takes packets from at most {security} hop{'s' if security != 1 else ''} away"
    return (
        f"may be up to {multihop} hops away" if multihop is not None else "has to be on a connected network"
    )


def _again(change: Change, peer: Peer) -> str:
    """It comes up again only if the ends agree on the TTL, which no neighbor tells."""
    security = peer.distance[1]
    if isinstance(security, int):
        return f"it comes up again if the neighbor sends with a TTL of at least {256 - security}"
    if change.connected_after.of(ip_address(peer.address)) is not None:
        return "it comes up again unless the neighbor requires another TTL"
    return "it comes up again if the neighbor is that near, and requires no other TTL"


def _lost_way(change: Change, peer: Peer) -> _Reason | None:
    """The router's own end of the session, or the network the neighbor is on, is no longer there."""
    source = peer.update_source
    if source is not None and source in change.before.interfaces:
        return _lost_interface(change, peer, source) or _remade(change, peer)
    address = ip_address(peer.address)
    was, now = change.connected_before.of(address), change.connected_after.of(address)
    own = None if source is None else change.connected_before.of(ip_address(source))
    if own is not None and change.connected_after.of(own.own) is None:
        return _Reason(f"{own.interface}, which has its address {source}, is down", "update_source")
    if was is None:
        return None
    if now is None:
        return _Reason(f"{was.network} on {was.interface}, which the neighbor is on, is no longer connected")
    if was.interface != now.interface:
        return _Reason(f"the neighbor's network moves from {was.interface} to {now.interface}")
    kept = {one.partition("/")[0] for one in change.after.interfaces[now.interface].addresses}
    if source is None and str(was.own) not in kept:
        return _Reason(f"{was.interface} loses {was.own}, the router's end of it")
    return _remade(change, peer)


def _remade(change: Change, peer: Peer) -> _Reason | None:
    was = change.connected_before.of(ip_address(peer.address))
    if was is None or not change.is_remade(was.interface):
        return None
    # bgpd closes a one-hop session to another AS when the link goes down; others may outlast it.
    outlasts = peer.is_internal or peer.distance[0] not in (None, 1)
    return _Reason(
        f"{was.interface}, which the neighbor is on, is recreated; it comes up again",
        depends_on="it does not outlast the moment in which the interface is gone" if outlasts else "",
    )


def _lost_interface(change: Change, peer: Peer, source: str) -> _Reason | None:
    if is_up(change.before, source) and not is_up(change.after, source):
        return _Reason(f"{source}, which it is set up from, is down", "update_source")
    had = _first(change.before.interfaces[source].addresses, peer.address)
    now = change.after.interfaces.get(source)
    # A different order leaves the addresses the same.
    if had is not None and (now is None or had not in {one.partition("/")[0] for one in now.addresses}):
        return _Reason(f"{source}, which it is set up from, loses the address {had}", "update_source")
    return None


def _first(addresses: tuple[str, ...], neighbor: str) -> str | None:
    """The first address of the neighbor's family."""
    return next((one.partition("/")[0] for one in addresses if (":" in one) == (":" in neighbor)), None)


def _limits(change: Change, was: Peer | None, now: Peer) -> Iterator[Finding]:
    """Limits below the number of prefixes already received: the daemon closes the session at once."""
    for family in FAMILIES:
        limit = now.limit(family)
        if limit is None or (was is not None and was.limit(family) == limit):
            continue
        if was is None or (is_alive := alive(change, now.address)) is False:
            continue
        received = _received(change, now.address, family)
        field = f"{family}/maximum_prefix"
        if received is not None and received > limit:
            yield Finding(
                grade="certain",
                kind="session",
                path=_path(now.address, field),
                text=(
                    f"The BGP session with {now.address} closes, and stays closed: it may send {limit:,} "
                    f"{TITLES[family]} prefixes, and has sent {received:,}."
                ),
                evidence=evidence(change, now.address),
            )
        elif received is None and _is_lower(limit, was.limit(family)):
            unknown = (
                "the router does not report how many it has sent"
                if is_alive is None
                else "how many is not known"
            )
            yield Finding(
                grade="possible",
                kind="session",
                path=_path(now.address, field),
                text=f"The BGP session with {now.address} closes above {limit:,} {TITLES[family]} prefixes.",
                depends_on=f"the neighbor has sent more: {unknown}",
            )


def _is_lower(limit: int, was: int | None) -> bool:
    return was is None or limit < was


def _received(change: Change, address: str, family: Family) -> int | None:
    known = change.facts.of(SESSIONS)
    session = None if known is None else known.neighbors.get(address)
    if session is None or family not in session.families:
        return None
    return session.families[family].prefixes_received

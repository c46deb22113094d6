"""Sessions that a change of NAT ends. Pure but for the sessions it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Address

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.nat.addresses import forward_address, overload, pool_addresses
from appliance.features.nat.model import Nat, NatPortForward
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change
from appliance.impact.facts import Fact, Live
from appliance.impact.result import Finding
from appliance.state.nat import NatSession, fill, sessions

_MOST = 20_000
"""Sessions that are read to be counted; more take too long for a preview."""


def _read(live: Live) -> tuple[NatSession, ...] | None:
    filled = fill(live.dataplane)
    if filled is None or filled[0] > _MOST:
        return None
    return tuple(sessions(live.dataplane))


SESSIONS = Fact("the sessions of NAT", _read)


class _Sessions:
    """How many there are now, by what they are translated to; None where they were not counted."""

    def __init__(self, known: tuple[NatSession, ...] | None) -> None:
        self.known = known is not None
        self.by_address = Counter(one.outside_address for one in known or ())
        self.of_pools = Counter(one.outside_address for one in known or () if one.direction != "in")
        self.by_port = Counter(
            (one.protocol, one.outside_address, one.outside_port)
            for one in known or ()
            if one.direction == "in"
        )

    def finding(self, path: str, text: str, count: int) -> Iterator[Finding]:
        """None where there is no such session."""
        if not self.known:
            depends = "whether it has any now: they were not counted"
            yield Finding(grade="possible", kind="traffic", path=path, text=text, depends_on=depends)
        elif count:
            evidence = f"{count} {'session' if count == 1 else 'sessions'} now"
            yield Finding(grade="certain", kind="traffic", path=path, text=text, evidence=evidence)


def ended(change: Change) -> Iterator[Finding]:
    """What is removed or leads elsewhere ends its sessions."""
    before, after = change.before.nat, change.after.nat
    if before is None or before == after:
        return
    now = _Sessions(change.facts.of(SESSIONS))
    if after is None:
        yield from now.finding("/nat", "every translated session ends", now.by_address.total())
        return
    yield from _mappings(change, now, before, after)
    if gone := _addresses(change.before, before) - _addresses(change.after, after):
        first = min(gone)
        others = f" and {len(gone) - 1} other addresses" if len(gone) > 1 else ""
        yield from now.finding(
            "/nat/pools" if before.pools else "/nat/masquerade",
            f"sessions that are translated to {first}{others} end",
            sum(now.of_pools[str(address)] for address in gone),
        )


def _addresses(config: RouterConfig, nat: Nat) -> set[IPv4Address]:
    return {*pool_addresses(nat), *overload(config, nat).values()}


def _mappings(change: Change, now: _Sessions, before: Nat, after: Nat) -> Iterator[Finding]:
    static = {(one.outside_address, one.inside_address) for one in after.static.values()}
    for name, one in before.static.items():
        change.in_time()
        if (one.outside_address, one.inside_address) not in static:
            text = f"sessions of the 1:1 mapping {name} ({one.outside_address}) end"
            yield from now.finding(join(["nat", "static", name]), text, now.by_address[one.outside_address])
    stays = {_words(change.after, forward) for forward in after.port_forwards.values()}
    for name, forward in before.port_forwards.items():
        change.in_time()
        if (words := _words(change.before, forward)) not in stays:
            protocol, outside, port = asked = words[:3]
            text = f"sessions of the port forward {name} ({protocol} {outside}:{port}) end"
            yield from now.finding(join(["nat", "port_forwards", name]), text, now.by_port[asked])


def _words(config: RouterConfig, forward: NatPortForward) -> tuple[str, str, int, str, int]:
    return (
        forward.protocol,
        str(forward_address(config, forward)),
        forward.outside_port,
        forward.inside_address,
        forward.inside_port or forward.outside_port,
    )


ANALYSES = (Analysis("sessions of NAT", ended),)

"""The effect of a change to NAT on sessions and on new connections. Pure except for counting sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from ipaddress import IPv4Address

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.nat.addresses import forward_address, overload, pool_addresses
from appliance.features.nat.model import Nat, NatPortForward, NatTimeouts
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change, is_up
from appliance.impact.facts import Fact, Facts
from appliance.impact.result import Finding
from appliance.state.nat import NatSession, counted

_MOST = 20_000
"""The most sessions that are read to be counted; more take too long for a preview."""
_SHOWN = 5


SESSIONS: Fact[tuple[NatSession, ...] | None] = Fact(
    "the sessions of NAT", lambda live: counted(live.dataplane, _MOST)
)


class _Sessions:
    """The present number of sessions, by translation. Read when first needed."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def _known(self) -> tuple[NatSession, ...] | None:
        return self._facts.of(SESSIONS)

    @cached_property
    def _by_address(self) -> Counter[str]:
        return Counter(address for one in self._known or () for address in _outside_addresses(one))

    @cached_property
    def _of_pools(self) -> Counter[str]:
        return Counter(
            one.outside_address for one in self._known or () if one.direction in ("out", "hairpin")
        )

    @cached_property
    def _by_port(self) -> Counter[tuple[str, str, int]]:
        return Counter((one.protocol, *_asked(one)) for one in self._known or () if one.direction != "out")

    @cached_property
    def by_host(self) -> Counter[str] | None:
        """Sessions opened by inside hosts, by host; None if they were not counted."""
        if self._known is None:
            return None
        return Counter(one.inside_address for one in self._known if one.direction == "out")

    def all(self, path: str, text: str) -> Iterator[Finding]:
        """Every session ends."""
        return self._finding(path, text, lambda: len(self._known or ()))

    def of_address(self, path: str, text: str, address: str) -> Iterator[Finding]:
        """The sessions of a 1:1 mapping."""
        return self._finding(path, text, lambda: self._by_address[address])

    def of_port(self, path: str, text: str, asked: tuple[str, str, int]) -> Iterator[Finding]:
        """The sessions of a port forward."""
        return self._finding(path, text, lambda: self._by_port[asked])

    def of_pools(self, path: str, addresses: Collection[IPv4Address]) -> Iterator[Finding]:
        """Sessions opened from inside that use one of the addresses; nothing if there is no address."""
        if not addresses:
            return
        others = f" and {len(addresses) - 1} other addresses" if len(addresses) > 1 else ""
        text = f"Sessions that are translated to {min(addresses)}{others} end."
        yield from self._finding(
            path, text, lambda: sum(self._of_pools[str(address)] for address in addresses)
        )

    def _finding(self, path: str, text: str, count: Callable[[], int]) -> Iterator[Finding]:
        """Nothing if there is no such session."""
        if self._known is None:
            depends = "there are such sessions now: they were not counted"
            yield Finding(grade="possible", kind="traffic", path=path, text=text, depends_on=depends)
        elif number := count():
            evidence = f"{number} {'session' if number == 1 else 'sessions'} now"
            yield Finding(grade="certain", kind="traffic", path=path, text=text, evidence=evidence)


def _outside_addresses(one: NatSession) -> set[str]:
    """Two for an inside host that connects to an outside address: its own translated one, and that one."""
    return {one.outside_address, one.remote_address if one.direction == "hairpin" else one.outside_address}


def _asked(one: NatSession) -> tuple[str, int]:
    """The outside address and port that a session was opened to."""
    if one.direction == "hairpin":
        return one.remote_address, one.remote_port
    return one.outside_address, one.outside_port


def ended(change: Change) -> Iterator[Finding]:
    """A mapping that is removed, leads elsewhere or gets another address ends its sessions."""
    before, after = change.before.nat, change.after.nat
    if before is None:
        return
    now = _Sessions(change.facts)
    if after is None:
        yield from now.all("/nat", "Every translated session ends.")
        return
    if before.sessions_per_worker != after.sessions_per_worker:
        text = "Every translated session ends: VPP recreates its table."
        yield from now.all("/nat/sessions_per_worker", text)
        return
    yield from _mappings(change, now, before, after)
    stays = {*pool_addresses(after), *overload(change.after, after).values()}
    yield from now.of_pools("/nat/pools", set(pool_addresses(before)) - stays)
    for name, address in overload(change.before, before).items():
        if address not in stays:
            kept = name in after.masquerade
            path = join(["interfaces", name, "addresses"]) if kept else "/nat/masquerade"
            yield from now.of_pools(path, {address})


def _mappings(change: Change, now: _Sessions, before: Nat, after: Nat) -> Iterator[Finding]:
    static = {(one.outside_address, one.inside_address) for one in after.static.values()}
    for name, one in before.static.items():
        change.in_time()
        if (one.outside_address, one.inside_address) not in static:
            text = f"Sessions of the 1:1 mapping {name} ({one.outside_address}) end."
            path = join(["nat", "static", name])
            yield from now.of_address(path, text, one.outside_address)
    stays = {_words(change.after, forward) for forward in after.port_forwards.values()}
    for name, forward in before.port_forwards.items():
        change.in_time()
        if (words := _words(change.before, forward)) not in stays:
            protocol, outside, port = asked = words[:3]
            text = f"Sessions of the port forward {name} ({protocol} {outside}:{port}) end."
            yield from now.of_port(join(["nat", "port_forwards", name]), text, asked)


def begun(change: Change) -> Iterator[Finding]:
    """Traffic that is now translated, or that now has to belong to a session, and was not before."""
    after = change.after.nat
    if after is None:
        return
    before = change.before.nat
    inside = _new(after.inside, () if before is None else before.inside)
    outside = _new(after.outside, () if before is None else before.outside)
    if inside or outside:
        sides = f"from {_listed(after.inside)} to {_listed(after.outside)}"
        yield Finding(
            grade="possible",
            kind="traffic",
            path="/nat",
            text=f"Existing IPv4 connections {sides} break: their packets get another source address.",
            depends_on="there are such connections",
        )
    elif before is not None and before.ordered() != after.ordered():
        yield Finding(
            grade="possible",
            kind="traffic",
            path="/nat/no_nat",
            text=("Existing IPv4 connections break where another rule decides whether they are translated."),
            depends_on="one of the changed rules matches such a connection",
        )
    driver = change.after.dataplane.driver
    if outside and driver != "linux":
        yield Finding(
            grade="possible",
            kind="traffic",
            path="/nat/outside",
            text=(
                f"IPv4 packets received on {_listed(outside)} that belong to no session from inside and to "
                "no mapping are dropped, unless they are for the router itself."
            ),
            depends_on="hosts behind it open connections, or send unsolicited packets"
            + ("; this router forwards with VPP" if driver is None else ""),
        )


def left(change: Change) -> Iterator[Finding]:
    """Traffic that is no longer translated."""
    before, after = change.before.nat, change.after.nat
    if before is None:
        return
    for side in ("inside", "outside"):
        was: tuple[str, ...] = getattr(before, side)
        now: tuple[str, ...] = () if after is None else getattr(after, side)
        gone = [name for name in _new(was, now) if is_up(change.after, name)]
        # Without NAT one sentence covers both sides.
        if not gone or (after is None and side == "outside"):
            continue
        inside = gone if side == "inside" else before.inside if after is None else after.inside
        outside = gone if side == "outside" else before.outside if after is None else after.outside
        yield Finding(
            grade="possible",
            kind="traffic",
            path="/nat" if after is None else join(["nat", side]),
            text=(
                f"New IPv4 connections from {_listed(inside)} to {_listed(outside)} are no longer "
                "translated: their packets keep their source address, and answers go to it."
            ),
            depends_on="nothing outside routes packets back to these addresses",
        )


def limited(change: Change) -> Iterator[Finding]:
    """Sessions that are refused, or forgotten sooner."""
    before, after = change.before.nat, change.after.nat
    if before is None or after is None:
        return
    most = after.sessions_per_user
    if most is not None and (before.sessions_per_user is None or most < before.sessions_per_user):
        yield _refused(_Sessions(change.facts).by_host, most)
    shorter = [
        f"{field.title} {getattr(after.timeouts, name)} s instead of {getattr(before.timeouts, name)} s"
        for name, field in NatTimeouts.model_fields.items()
        if getattr(after.timeouts, name) < getattr(before.timeouts, name)
    ]
    if shorter:
        yield Finding(
            grade="possible",
            kind="traffic",
            path="/nat/timeouts",
            text=f"NAT sessions are forgotten after a shorter idle time: {', '.join(shorter)}.",
            depends_on="connections are idle for that long, and go on afterwards",
        )


def _refused(by_host: Counter[str] | None, most: int) -> Finding:
    at_limit = [] if by_host is None else [host for host, count in by_host.most_common() if count >= most]
    if at_limit:
        hosts = f"Inside host{'s' if len(at_limit) > 1 else ''} {_listed(at_limit)}"
        text = f"{hosts} cannot open another session: each may have {most:,} at a time."
    else:
        text = f"An inside host cannot open another session while it has {most:,}."
    return Finding(
        grade="certain" if at_limit else "possible",
        kind="traffic",
        path="/nat/sessions_per_user",
        text=text,
        depends_on=""
        if at_limit
        else "a host has that many" + (": they were not counted" if by_host is None else ""),
        evidence=f"{at_limit[0]} has {by_host[at_limit[0]]:,} sessions now" if at_limit and by_host else "",
    )


def _new(now: Collection[str], was: Collection[str]) -> list[str]:
    return [name for name in map(str, now) if name not in set(map(str, was))]


def _listed(names: Collection[str]) -> str:
    shown = [str(name) for name in names][:_SHOWN]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _words(config: RouterConfig, forward: NatPortForward) -> tuple[str, str, int, str, int]:
    return (
        forward.protocol,
        str(forward_address(config, forward)),
        forward.outside_port,
        forward.inside_address,
        forward.inside_port or forward.outside_port,
    )


ANALYSES = (
    Analysis("NAT sessions", ended),
    Analysis("traffic that NAT begins to translate", begun),
    Analysis("traffic that NAT no longer translates", left),
    Analysis("NAT limits", limited),
)

"""How a feature declares objects of the document that can be there and do nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from appliance.config.document import RouterConfig
from appliance.dataplane.route_answer import Entry, RouteAnswer, Untold
from appliance.features.registry import declared
from appliance.liveness.rota import Rota
from appliance.state.object_state import ObjectPart, ObjectState, worst

if TYPE_CHECKING:
    from appliance.agent.router import Router

R = TypeVar("R")
DROPS = frozenset({"blackhole", "unreachable", "prohibit", "drop"})
"""What routes that drop are called in a table."""
Reached = Mapping[tuple[str, str], RouteAnswer]
"""By VRF and address, what the data plane forwards by; those not looked up yet are missing."""


@dataclass(frozen=True)
class Need:
    """An address that packets of an object have to reach."""

    name: str
    """``server 192.0.2.67``."""
    address: str
    vrf: str = ""
    not_by: str = ""
    """An interface through which the way leads nowhere, such as the tunnel whose end it is."""
    only_by: tuple[str, ...] = ()
    """Interfaces through which alone it serves; empty: all. What they are is said by ``side``."""
    side: str = ""


@dataclass(frozen=True)
class Thing:
    """An object that does nothing unless its needs are met."""

    pointer: str
    noun: str
    name: str
    needs: tuple[Need, ...] = ()
    known: tuple[ObjectPart, ...] = ()
    """Parts that the document itself decides, such as an interface that is disabled."""
    is_any: bool = False
    """One part is enough for it to do something, as with the ranges of a pool."""

    @property
    def title(self) -> str:
        """As in a sentence: ``DHCP relay campus``."""
        return f"{self.noun} {self.name}"


@dataclass(frozen=True)
class Liveness(Generic[R]):
    """A kind of objects that can do nothing. A feature lists its own in ``LIVENESS`` of ``liveness.py``."""

    kind: str
    """Its name in the state and in alarms: ``static_route``."""
    plural: str
    advice: str
    """What to do when one does nothing, in sentences."""
    reads: Callable[[Router, Rota[Any, Any], RouterConfig], R]
    """Short whatever the document's size: the rota bounds what is asked. Raises MillraceError."""
    judges: Callable[[RouterConfig, R], Iterable[ObjectState]]
    """Pure."""
    concerns: Callable[[RouterConfig], bool]
    things: Callable[[RouterConfig], Iterable[Thing]] | None = None
    """For objects that need a route: what a change means to them, and what is watched after it, follows."""


AnyLiveness = Liveness[Any]


def every_liveness() -> tuple[AnyLiveness, ...]:
    """Those of all features."""
    return tuple(one for listed in declared("liveness", "LIVENESS") for one in listed)


def of_things(
    kind: str, plural: str, advice: str, things: Callable[[RouterConfig], Iterable[Thing]]
) -> Liveness[Reached]:
    """Of objects that work while the data plane has a route to what they need."""
    return Liveness(
        kind,
        plural,
        advice,
        lambda router, rota, config: _reached(router, rota, things(config)),
        lambda config, reached: judged(things(config), reached),
        lambda config: next(iter(things(config)), None) is not None,
        things,
    )


def _reached(router: Router, rota: Rota[tuple[str, str], RouteAnswer], things: Iterable[Thing]) -> Reached:
    wanted = {(need.vrf, need.address): (need.vrf, need.address) for one in things for need in one.needs}

    def ask(keys: Iterable[tuple[str, str]]) -> Iterator[RouteAnswer]:
        of_vrf: dict[str, list[str]] = {}
        for vrf, address in keys:
            of_vrf.setdefault(vrf, []).append(address)
        found = {
            (vrf, address): answer
            for vrf, addresses in of_vrf.items()
            for address, answer in zip(
                addresses, router.dataplane.fib(addresses, router.vrf_table(vrf or None)), strict=True
            )
        }
        return (found[key] for key in keys)

    return dict(rota.look(wanted, ask))


def judged(things: Iterable[Thing], reached: Reached) -> Iterator[ObjectState]:
    """The state of each: that of its worst part."""
    for one in things:
        parts = (*one.known, *(_part(need, reached) for need in one.needs))
        state, why = worst(parts)
        if one.is_any and state == "inactive" and any(part.state != "inactive" for part in parts):
            state = "partly"
        yield ObjectState(
            pointer=one.pointer, noun=one.noun, name=one.name, state=state, why=why, parts=parts
        )


def _part(need: Need, reached: Reached) -> ObjectPart:
    if (need.vrf, need.address) not in reached:
        return ObjectPart(name=need.name, state="unknown", why=f"{need.address} was not looked up yet")
    answer = reached[need.vrf, need.address]
    where = f" in VRF {need.vrf}" if need.vrf else ""
    if answer is None:
        return ObjectPart(name=need.name, state="inactive", why=f"no route leads to {need.address}{where}")
    if isinstance(answer, Untold):
        return ObjectPart(name=need.name, state="unknown", why=answer.reason)
    if answer.kind in DROPS:
        why = f"packets to {need.address}{where} are dropped by a route"
        return ObjectPart(name=need.name, state="inactive", why=why)
    return _by_interface(need, answer)


def _by_interface(need: Need, answer: Entry) -> ObjectPart:
    by = {hop.interface for hop in answer.next_hops if hop.interface}
    if need.not_by and by == {need.not_by}:
        why = f"the route to {need.address} leads into {need.not_by} itself"
        return ObjectPart(name=need.name, state="inactive", why=why)
    if need.only_by and by and not by & set(need.only_by):
        why = f"its route leads out on {', '.join(sorted(map(str, by)))}, which is not {need.side}"
        return ObjectPart(name=need.name, state="unknown", why=f"{need.address}: {why}")
    return ObjectPart(name=need.name, state="working")

"""Alarms of objects that do nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from appliance.health.check import Check, Finding, Look
from appliance.liveness.declaration import AnyLiveness, every_liveness
from appliance.state.object_state import ObjectState

if TYPE_CHECKING:
    from appliance.agent.router import Router

_PATIENCE_S = 10.0
"""Routes and links come back for longer than this only if something is wrong."""
_SHOWN = 5
States = tuple[ObjectState, ...]


def checks() -> tuple[Check[States], ...]:
    """One for each kind of objects."""
    return tuple(
        Check(one.plural, _reading(one.kind), partial(inactive, one), one.concerns)
        for one in every_liveness()
    )


def _reading(kind: str) -> Callable[[Router], States]:
    return lambda router: router.liveness.of(kind)


def inactive(liveness: AnyLiveness, look: Look[States]) -> Iterator[Finding]:
    """One finding for each cause: thousands of routes may share a next hop."""
    grouped: dict[tuple[bool, str], list[ObjectState]] = {}
    for one in look.now:
        if one.state in ("inactive", "partly"):
            grouped.setdefault((one.state == "inactive", _cause(one)), []).append(one)
    for (whole, cause), objects in grouped.items():
        first = objects[0]
        more = f" and {len(objects) - 1:,} more" if len(objects) > 1 else ""
        where = f" in VRF {first.vrf}" if first.vrf else ""
        verb = ("do", "work") if more else ("does", "works")
        does = f"{verb[0]} nothing" if whole else f"{verb[1]} only in part"
        evidence = {one.name: one.why for one in objects[:_SHOWN]}
        if len(objects) > _SHOWN:
            evidence["more"] = f"{len(objects) - _SHOWN:,}"
        yield Finding(
            f"{liveness.kind}_{'inactive' if whole else 'partly'}",
            cause,
            "major" if whole else "warning",
            f"{first.noun[0].upper()}{first.noun[1:]} {first.name}{more}{where} {does}: {first.why}",
            liveness.advice,
            evidence,
            first.pointer,
            patience_s=_PATIENCE_S,
        )


def _cause(one: ObjectState) -> str:
    """The part that fails, with the VRF: it stays the same while objects that share it come and go."""
    failing = next((part.name for part in one.parts if part.state in ("inactive", "partly")), one.name)
    return f"{failing} in VRF {one.vrf}" if one.vrf else failing

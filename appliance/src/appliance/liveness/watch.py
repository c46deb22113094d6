"""Objects that did what they say before a commit, and do nothing after it. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from appliance.liveness.declaration import AnyLiveness, every_liveness
from appliance.state.object_state import STANDINGS
from appliance.watching.measure import DATA_PLANE, LASTS_S, Asked, Comparison, Measure, Reading, Worse

MOST = 64
"""How many objects of a kind are compared."""
_WORKS = ("working", "partly", "standby")


def measures() -> tuple[Measure[Reading], ...]:
    """One for each kind of objects that need a route."""
    return tuple(
        Measure(
            one.plural,
            f"for {LASTS_S:.0f} s one that worked does nothing; at most {MOST} are compared",
            _reading(one.kind),
            partial(_compare, one),
            _shows,
            one.concerns,
            asks=DATA_PLANE,
        )
        for one in every_liveness()
        if one.things is not None
    )


def _reading(kind: str) -> Callable[[Asked], Reading]:
    def read(asked: Asked) -> Reading:
        objects = sorted(asked.router.liveness.of(kind), key=lambda one: -STANDINGS.index(one.state))
        wanted = None if asked.first is None else asked.first.keys()
        chosen = [one for one in objects if wanted is None or one.pointer in wanted]
        return {
            one.pointer: {"what": f"{one.noun} {one.name}", "state": one.state, "why": one.why}
            for one in chosen[:MOST]
        }

    return read


def _compare(liveness: AnyLiveness, seen: Comparison[Reading]) -> Iterator[Worse]:
    assert liveness.things is not None
    wanted = {one.pointer for one in liveness.things(seen.after)}
    for pointer, was in seen.before.items():
        now = seen.now.get(pointer)
        if now is None or was["state"] not in _WORKS or now["state"] != "inactive":
            continue
        yield Worse(
            was["what"],
            f"{was['what'][0].upper()}{was['what'][1:]} does nothing: {now['why']}.",
            was["state"],
            now["state"],
            pointer,
            asked_for=pointer not in wanted,
            kinds=("traffic",),
        )


def _shows(reading: Reading) -> str:
    return f"{sum(one['state'] in _WORKS for one in reading.values())} of {len(reading)} working"

"""Where packets to static prefixes go, before and after a commit. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.dataplane.route_answer import Entry, RouteAnswer, Untold
from appliance.watching.measure import DATA_PLANE, LASTS_S, Asked, Comparison, Measure, Probe, Reading, Worse
from frr_config.types import DEFAULT_VRF

MOST = 64
"""How many destinations are looked up: those that the commit changes first."""
_DROPS = {"blackhole", "unreachable", "prohibit", "drop"}


def _read(asked: Asked) -> Reading:
    """One lookup for each destination, whose cost does not depend on the size of the table."""
    if asked.first is not None:
        wanted = {prefix: known["asked"] for prefix, known in asked.first.items()}
    else:
        wanted = {prefix: _destination(prefix) for prefix in _chosen(asked)}
    answers = asked.fib(tuple(wanted.values()))
    return {
        prefix: {"asked": destination, "goes": _goes(answer)}
        for (prefix, destination), answer in zip(wanted.items(), answers, strict=True)
    }


def _chosen(asked: Asked) -> list[str]:
    """Routes that the commit adds, changes or removes, and others up to the limit."""
    after = asked.after.routing.static
    before = after if asked.before is None else asked.before.routing.static
    # Unchanged parts are shared, and comparing them takes far longer than testing for the same object.
    changed = [
        prefix
        for prefix in ({**before, **after} if before is not after else ())
        if (was := before.get(prefix)) is not (now := after.get(prefix)) and was != now
    ]
    return list(dict.fromkeys([*changed[:MOST], *list(before)[:MOST]]))[:MOST]


def _destination(prefix: str) -> str:
    """An address of the prefix, whose longest match is looked up; for a default route, the route itself."""
    network = ip_network(prefix)
    if network.prefixlen == 0:
        return prefix
    return str(network[1] if network.num_addresses > 2 else network[0])


def _goes(answer: RouteAnswer) -> str:
    """``on``, ``dropped``, ``nowhere``, or ``unknown``."""
    if isinstance(answer, Untold):
        return "unknown"
    if not isinstance(answer, Entry):
        return "nowhere"
    return "dropped" if answer.kind in _DROPS else "on"


_TEXTS = {"dropped": "Packets to {0} are dropped by a route.", "nowhere": "There is no route to {0}."}
_WORDS = {"on": "forwarded", "dropped": "dropped", "nowhere": "no route"}


def _compare(seen: Comparison[Reading]) -> Iterator[Worse]:
    for prefix, was in seen.before.items():
        now = seen.now.get(prefix)
        if was["goes"] != "on" or now is None or now["goes"] in ("on", "unknown"):
            continue
        destination = was["asked"] if was["asked"] == prefix else f"{was['asked']} ({prefix})"
        yield Worse(
            prefix,
            _TEXTS[now["goes"]].format(destination),
            _WORDS["on"],
            _WORDS[now["goes"]],
            join(["routing", "static", prefix]),
            asked_for=prefix not in seen.after.routing.static,
            kinds=("routes", "traffic"),
        )


def _shows(reading: Reading) -> str:
    return f"{sum(one['goes'] == 'on' for one in reading.values())} of {len(reading)} forwarded"


def _concerns(config: RouterConfig) -> bool:
    return bool(config.routing.static)


def probes(config: RouterConfig) -> Iterator[Probe]:
    """The next hops, each once."""
    seen: set[tuple[str, str | None]] = set()
    for prefix, route in config.routing.static.items():
        for hop in route.next_hops:
            if (
                hop.address is not None
                and (hop.address, hop.vrf) not in seen
                and not ip_address(hop.address).is_link_local
            ):
                seen.add((hop.address, hop.vrf))
                where = "" if hop.vrf == DEFAULT_VRF else hop.vrf
                yield Probe(
                    hop.address, f"next hop {hop.address}", join(["routing", "static", prefix]), where
                )


MEASURES = (
    Measure(
        "destinations of static routes",
        f"for {LASTS_S:.0f} s packets to a destination that were forwarded are dropped by a route, or have "
        f"no route. The destinations are the first address of each static prefix, at most {MOST}, beginning "
        "with those that the commit touches",
        _read,
        _compare,
        _shows,
        _concerns,
        asks=DATA_PLANE,
    ),
)

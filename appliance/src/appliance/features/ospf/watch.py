"""Full adjacencies before and after a commit. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.routing.rows import ospf_neighbors
from appliance.watching.measure import Asked, Comparison, Measure, Reading, Worse


def _read(asked: Asked) -> Reading:
    rows = asked.routing.ask(lambda frr: tuple(ospf_neighbors(frr.ospf_neighbors())))
    return {
        f"{row.router_id} on {row.interface}": {
            "interface": row.interface,
            "state": row.state,
            "full": row.full,
        }
        for row in rows
    }


def _compare(seen: Comparison[Reading]) -> Iterator[Worse]:
    for name, was in seen.before.items():
        now = seen.now.get(name)
        if not was["full"] or (now is not None and now["full"]):
            continue
        interface = was["interface"]
        yield Worse(
            name,
            f"The OSPF adjacency with {name} is not full.",
            was["state"],
            "gone" if now is None else now["state"],
            join(["routing", "ospf", "interfaces", interface]),
            asked_for=not _runs_on(seen.after, interface),
            lasts_s=None,
            kinds=("session",),
            words=(interface,),
        )


def _runs_on(config: RouterConfig, interface: str) -> bool:
    ospf = config.routing.ospf
    settings = None if ospf is None else ospf.interfaces.get(interface)
    link = config.interfaces.get(interface)
    return settings is not None and not settings.passive and link is not None and link.enabled


def _shows(reading: Reading) -> str:
    return f"{sum(one['full'] for one in reading.values())} of {len(reading)} full"


def _concerns(config: RouterConfig) -> bool:
    return config.routing.ospf is not None and bool(config.routing.ospf.interfaces)


MEASURES = (
    Measure(
        "OSPF adjacencies",
        "an adjacency that was full is not at the end of the watch",
        _read,
        _compare,
        _shows,
        _concerns,
        ahead=True,
    ),
)

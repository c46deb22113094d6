"""Costs and metrics by which OSPF prefers one path to another. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.pointer import join
from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.impact.change import Change, is_up
from appliance.impact.result import Finding
from frr_config.protocols.ospf.model import Ospf, OspfDefaultInformation, OspfRedistribute

_SHOWN = 5
_Told = OspfRedistribute | OspfDefaultInformation


def preferred(change: Change) -> Iterator[Finding]:
    """One finding for everything that may send packets another way, here or at other routers."""
    was, now = change.before.routing.ospf, change.after.routing.ospf
    if was is None or now is None:
        return
    said = [*_costs(change, was, now), *_metrics(was, now)]
    known = change.facts.of(ADJACENCIES) if said else None
    if not said or (known is not None and not any(one.full for one in known.neighbors)):
        return
    more = f"; and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
    yield Finding(
        grade="possible",
        kind="routes",
        path=join(["routing", "ospf"]),
        text=f"OSPF sends packets by another path, here or at other routers: "
        f"{'; '.join(said[:_SHOWN])}{more}.",
        depends_on="there is another path, which then becomes the shorter one or no longer is",
    )


def _costs(change: Change, was: Ospf, now: Ospf) -> Iterator[str]:
    derived = []
    for name, before in was.interfaces.items():
        change.in_time()
        after = now.interfaces.get(name)
        if after is None or not (is_up(change.before, name) and is_up(change.after, name)):
            continue
        if before.cost != after.cost:
            yield f"the cost of {name} becomes {after.cost or 'that of its bandwidth'}"
        elif after.cost is None:
            derived.append(name)
    if derived and was.reference_bandwidth_mbps != now.reference_bandwidth_mbps:
        yield f"the reference bandwidth becomes {now.reference_bandwidth_mbps:,} Mbit/s"


def _metrics(was: Ospf, now: Ospf) -> Iterator[str]:
    for protocol in type(was.redistribute).model_fields:
        before, after = getattr(was.redistribute, protocol), getattr(now.redistribute, protocol)
        if change := _metric(before, after):
            yield f"{protocol} routes are announced with {change}"
    if change := _metric(was.default_information, now.default_information):
        yield f"the default route is announced with {change}"


def _metric(before: _Told | None, after: _Told | None) -> str:
    if before is None or after is None:
        return ""
    if (before.metric, before.metric_type) == (after.metric, after.metric_type):
        return ""
    metric = "FRR's own metric" if after.metric is None else f"metric {after.metric}"
    return f"{metric}, type {after.metric_type}"

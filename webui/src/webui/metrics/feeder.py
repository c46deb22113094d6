"""The FIB feeder in the metrics of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from appliance.state.feeder import ComparedRoutes, FeederState

_ROUTES = {
    "wanted": "Routes that FRR wants in the FIB.",
    "in_vpp": "Routes that VPP has.",
    "stale": "Routes that FRR has not sent since it came back.",
    "refused": "Routes that VPP refused as they are now.",
    "waiting": "Routes of which no next hop leads over an interface of VPP's.",
    "held_back": "Routes that VPP has no room for.",
}


def of_feeder(feeder: FeederState | None) -> Iterator[Metric]:
    """Only where a feeder carries the routes; ``None`` is a feeder that does not answer."""
    if feeder is not None and feeder.carrier != "feeder":
        return
    up = GaugeMetricFamily(
        "millrace_feeder_up", "Whether the FIB feeder answers, and is connected.", labels=["to"]
    )
    up.add_metric(["agent"], int(feeder is not None))
    if feeder is None:
        yield up
        return
    up.add_metric(["frr"], int(feeder.frr_connected))
    up.add_metric(["vpp"], int(feeder.vpp_connected))
    yield up
    for field, text in _ROUTES.items():
        family = GaugeMetricFamily(f"millrace_feeder_routes_{field}", text, labels=["family"])
        for name, routes in (("ipv4", feeder.ipv4), ("ipv6", feeder.ipv6)):
            family.add_metric([name], getattr(routes, field))
        yield family
    if feeder.most_routes is not None:
        yield GaugeMetricFamily(
            "millrace_feeder_routes_most", "Routes that VPP has room for.", value=feeder.most_routes
        )
    yield GaugeMetricFamily(
        "millrace_feeder_pending", "Changes of routes that VPP does not have yet.", value=feeder.pending
    )
    yield GaugeMetricFamily(
        "millrace_feeder_behind_seconds", "Age of the oldest of them.", value=feeder.behind_ms / 1000
    )
    yield CounterMetricFamily("millrace_feeder_given", "Routes that VPP took.", value=feeder.given)
    yield CounterMetricFamily("millrace_feeder_withdrawn", "Routes taken out of VPP.", value=feeder.withdrawn)
    refusals = CounterMetricFamily(
        "millrace_feeder_refusals", "Messages about routes that VPP refused.", labels=["reason"]
    )
    for reason, count in feeder.refusals.items():
        refusals.add_metric([reason], count)
    yield refusals
    unsupported = CounterMetricFamily(
        "millrace_feeder_unsupported", "What FRR sent and the feeder cannot give VPP.", labels=["kind"]
    )
    for kind, count in feeder.unsupported.items():
        unsupported.add_metric([kind], count)
    yield unsupported
    yield from _compared(feeder.compared)
    yield _lag(feeder)
    yield GaugeMetricFamily(
        "millrace_feeder_memory_bytes", "Resident memory of the feeder.", value=feeder.memory_bytes
    )


def _compared(compared: ComparedRoutes) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "millrace_feeder_routes_differing",
        "Routes that VPP does not have as they were given, although they were given again.",
        value=compared.differing,
    )
    yield CounterMetricFamily(
        "millrace_feeder_routes_told_again",
        "Times that VPP did not have a route as it was given, and it was given again.",
        value=compared.told_again,
    )
    if compared.routes is not None:
        yield GaugeMetricFamily(
            "millrace_feeder_compared_age_seconds",
            "How long ago the last comparison of all routes ended.",
            value=float(compared.ended_s or 0),
        )


def _lag(feeder: FeederState) -> Metric:
    bounds = [*(str(bound / 1000) for bound in feeder.lag.bounds_ms), "+Inf"]
    sums = accumulate(feeder.lag.counts)
    return HistogramMetricFamily(
        "millrace_feeder_lag_seconds",
        "How long changes of routes took from FRR to VPP.",
        buckets=list(zip(bounds, sums, strict=False)),
        sum_value=feeder.lag.sum_ms / 1000,
    )

"""The counters and the router's state in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from appliance.errors import MillraceError
from appliance.state import PARTS
from appliance.state.alarms import SEVERITIES
from appliance.state.feeder import FEEDER, FeederState
from appliance.state.system import SYSTEM, SystemState
from webui.agent import agent
from webui.alarms import with_own
from webui.metrics.feeder import of_feeder

_INTERFACE = {
    "rx_packets": "Packets received.",
    "rx_bytes": "Bytes received.",
    "tx_packets": "Packets sent.",
    "tx_bytes": "Bytes sent.",
    "rx_drops": "Received packets dropped.",
    "tx_drops": "Packets dropped instead of sent.",
    "rx_errors": "Received packets with errors.",
    "tx_errors": "Packets that could not be sent.",
}


MAX_RULES = 2000
"""The most rules that a scrape shows one by one; of further lists it shows the sums."""


class RouterCollector(Collector):
    """Asks the agent at each scrape; without the agent only ``millrace_up 0`` is left."""

    def collect(self) -> Iterator[Metric]:
        """The metrics."""
        up = GaugeMetricFamily("millrace_up", "Whether the router's agent answers.")
        try:
            status = with_own(agent().status())
        except MillraceError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from _of_status(status)
        for family in (_sample, _acls, _system):
            # A part that cannot be read now, because the data plane does not answer, is omitted.
            with suppress(MillraceError):
                yield from family()
        yield from _of_parts()
        yield from of_feeder(_feeder())


def _of_parts() -> Iterator[Metric]:
    """The metrics of each part of the state that declares some; none for a missing part."""
    for part in PARTS:
        if part.gauges is None:
            continue
        try:
            answer = agent().state(part)
        except MillraceError:
            continue
        for one in part.gauges(answer):
            family = CounterMetricFamily if one.counts else GaugeMetricFamily
            yield family(f"millrace_{one.name}", one.text, value=one.value)


def _feeder() -> FeederState | None:
    """None where it does not answer; the rest of the router is still reported."""
    try:
        return agent().state(FEEDER)
    except MillraceError:
        return None


def _sample() -> list[Metric]:
    return list(_of_sample(agent().counters()))


def _acls() -> list[Metric]:
    totals = agent().acl_totals()["acls"]
    return list(_of_acls(totals, _hits(totals)))


def _system() -> list[Metric]:
    return list(_of_system(agent().state(SYSTEM)))


def _of_status(status: dict[str, Any]) -> Iterator[Metric]:
    yield GaugeMetricFamily("millrace_revision", "Running revision.", value=status["revision"])
    yield GaugeMetricFamily(
        "millrace_drift_steps",
        "Steps by which the router differs from its document.",
        value=len(status["drift"]),
    )
    pending = status.get("pending_confirm")
    yield GaugeMetricFamily(
        "millrace_confirm_pending", "Whether a commit waits for its confirmation.", value=int(bool(pending))
    )
    watch = status.get("watch") or {}
    yield GaugeMetricFamily(
        "millrace_watch_armed",
        "Whether a watched commit rolls back automatically if sessions or traffic get worse.",
        value=int(bool(watch.get("rolls_back"))),
    )
    found = status.get("alarms") or {}
    alarms = GaugeMetricFamily("millrace_alarms", "Active alarms.", labels=["severity"])
    for severity in SEVERITIES:
        alarms.add_metric([severity], found.get("counts", {}).get(severity, 0))
    yield alarms
    yield GaugeMetricFamily(
        "millrace_health_unchecked",
        "Checks of health that cannot be made now.",
        value=len(found.get("unchecked", ())),
    )
    if (ago_s := found.get("looked_s_ago")) is not None:
        yield GaugeMetricFamily(
            "millrace_health_age_seconds", "Seconds since the router's health was checked.", value=ago_s
        )
    health = GaugeMetricFamily("millrace_part_up", "Whether a part of the router is well.", labels=["part"])
    for part, state in status["health"].items():
        word = state.get("state") if isinstance(state, dict) else state
        health.add_metric([part], int(word in ("up", "ok", True)))
    yield health


def _of_sample(sample: dict[str, Any]) -> Iterator[Metric]:
    for field, text in _INTERFACE.items():
        family = CounterMetricFamily(f"millrace_interface_{field}", text, labels=["interface"])
        for name, counters in sample["interfaces"].items():
            family.add_metric([name], counters.get(field, 0))
        yield family
    drops = CounterMetricFamily("millrace_drops", "Dropped packets by reason.", labels=["reason"])
    for reason, count in sample.get("drops", {}).items():
        drops.add_metric([reason], count)
    yield drops
    for field, text in (
        ("load", "Share of time a worker is busy."),
        ("vectors_per_call", "Packets in one call of a worker."),
    ):
        gauge = GaugeMetricFamily(f"millrace_worker_{field}", text, labels=["worker"])
        for worker in sample.get("workers", ()):
            if worker.get(field) is not None:
                gauge.add_metric([str(worker["name"])], worker[field])
        yield gauge


def _of_system(system: SystemState) -> Iterator[Metric]:
    """The machine, with the names of Prometheus' own node exporter where it has them."""
    yield GaugeMetricFamily("millrace_uptime_seconds", "Since the machine started.", value=system.uptime_s)
    for name, value in (
        ("load1", system.processor.load_1m),
        ("load5", system.processor.load_5m),
        ("load15", system.processor.load_15m),
    ):
        yield GaugeMetricFamily(f"millrace_{name}", "Mean of processes that run or wait.", value=value)
    cpus = CounterMetricFamily(
        "millrace_cpu_seconds", "Seconds of a processor by what they were spent on.", labels=["cpu", "mode"]
    )
    for cpu in system.processor.cpus:
        for mode, seconds in cpu.seconds.items():
            cpus.add_metric([str(cpu.cpu), mode], seconds)
    yield cpus
    memory = system.memory
    for name, text, number in (
        ("total", "Memory of the machine.", memory.total_bytes),
        ("available", "Memory that programs can still get.", memory.available_bytes),
        ("swap_total", "Swap space.", memory.swap_total_bytes),
        ("swap_used", "Swap space in use.", memory.swap_used_bytes),
    ):
        yield GaugeMetricFamily(f"millrace_memory_{name}_bytes", text, value=number)
    for field, text in (
        ("total_bytes", "Size of a file system."),
        ("available_bytes", "What programs can still write to a file system."),
        ("inodes_free", "Files that can still be made in a file system."),
    ):
        family = GaugeMetricFamily(f"millrace_file_system_{field}", text, labels=["mount"])
        for disk in system.file_systems:
            family.add_metric([disk.mount], getattr(disk, field))
        yield family


def _hits(totals: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Rules by access list: whole lists, smallest first, as long as the total stays within MAX_RULES."""
    found: dict[str, dict[str, Any]] = {}
    left = MAX_RULES
    for name, total in sorted(totals.items(), key=lambda one: int(one[1]["rules"])):
        left -= int(total["rules"])
        if left < 0:
            break
        found[name] = agent().acl_hits(name)["rules"]
    return found


def _of_acls(totals: dict[str, Any], hits: dict[str, dict[str, Any]]) -> Iterator[Metric]:
    for field in ("packets", "bytes"):
        family = CounterMetricFamily(
            f"millrace_acl_{field}", f"{field.title()} the rules of an access list decided.", labels=["acl"]
        )
        for name, total in totals.items():
            family.add_metric([name], total[field])
        yield family
        family = CounterMetricFamily(
            f"millrace_acl_rule_{field}", f"{field.title()} a rule decided.", labels=["acl", "sequence"]
        )
        for name, rules in hits.items():
            for sequence, counters in rules.items():
                family.add_metric([name, str(sequence)], counters[field])
        yield family
    yield GaugeMetricFamily(
        "millrace_acls_without_rules",
        f"Access lists whose single rules are left out here, beyond {MAX_RULES} rules in all.",
        value=len(totals) - len(hits),
    )


def exposition() -> bytes:
    """The response to a scrape."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(RouterCollector())
    return generate_latest(registry)

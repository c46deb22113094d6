"""The page docs/performance.md, made of the JSON that the bench wrote::

python -m tests.bench.throughput.report FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.throughput.plot import NAMES, line_chart

DOCS = Path(__file__).resolve().parents[3] / "docs"
DATA = DOCS / "performance.json"
PAGE = DOCS / "performance.md"
Json = Mapping[str, Any]

_GROUPS = {
    "fwd": "Forwarding",
    "imix": "A mix of sizes",
    "fib v4": "Routes, IPv4",
    "fib v6": "Routes, IPv6",
    "acl": "Access lists",
    "nat": "NAT44",
}
_PLOTS = {"fib v4": "routes", "acl": "rules on each interface", "nat": "flows"}
_MIX = 3
_LOGGED = ("seconds", "offered", "refused", "received", "longest_stall_s")


def page(results: Json) -> str:
    """Markdown. Charts are files of :func:`charts`."""
    return "\n".join(_lines(results)) + "\n"


def charts(results: Json) -> dict[str, str]:
    """SVG by file name."""
    made = {}
    for group, axis in _PLOTS.items():
        shown = [one for one in results["scenarios"] if one["group"] == group]
        lines: dict[str, list[tuple[float, float]]] = {}
        for scenario in shown:
            for name, router in scenario["routers"].items():
                lines.setdefault(name, []).append((scenario["size"], router["mrr_pps"] / 1e6))
        if len(shown) > 1:
            made[_file(group)] = line_chart(f"{_GROUPS[group]}, Mpps, 64-byte frames", axis, lines)
    return made


def _file(group: str) -> str:
    return f"performance-{group.replace(' ', '-')}.svg"


def _lines(results: Json) -> Iterator[str]:
    machine, method = results["machine"], results["method"]
    yield "# Performance"
    yield ""
    yield "<!-- Made by `python -m tests.bench.throughput.report`; do not edit. -->"
    yield ""
    yield (
        "Numbers of one machine say nothing about another: what counts are the ratios, which were measured in"
        " one run, with the routers taking turns. `make bench` measures them on yours;"
        " [benches](benches.md) names the others."
    )
    yield ""
    yield "| | |\n|---|---|"
    virtual = ", virtual" if machine["virtual"] else ""
    yield f"| machine | {machine['processor']}, {machine['cpus']} CPUs{virtual}, {machine['memory_gb']} GB |"
    yield f"| kernel | Linux {machine['kernel']} |"
    yield f"| when | {results['when']} |"
    loads = f"{machine['load_1_minute']:.1f} before, {results['machine_after']['load_1_minute']:.1f} after"
    if results.get("runs", 1) > 1:
        yield f"| runs | {results['runs']}, one after the other; each ratio is of scenarios of one run |"
    yield f"| load of the machine | {loads}: it was shared with other work |"
    yield ""
    yield from _ratios(results)
    for remark in results.get("remarks", ()):
        yield f"- {remark}"
    yield ""
    yield from _method(method)
    for group, title in _GROUPS.items():
        shown = [one for one in results["scenarios"] if one["group"] == group]
        if shown:
            yield from _table(results, group, title, shown)
    yield from _churn(results)
    yield from _nodes(results)
    yield "## Not measured"
    yield ""
    yield (
        "A chain of routers, for which two CPUs are too few; latency; more than one worker; NICs. Bridging is"
        " not a feature of Millrace."
    )
    yield ""
    yield "Every trial is in [performance.json](performance.json): its rate, what was sent, lost and refused."


def _by_id(results: Json) -> dict[str, Json]:
    return {one["id"]: one for one in results["scenarios"]}


def _pairs(scenario: Json, above: str, below: str) -> list[float]:
    """Of each round."""
    routers = scenario["routers"]
    rates = zip(routers[above]["received_pps"], routers[below]["received_pps"], strict=True)
    return [one / other for one, other in rates if other]


def _spread(scenario: Json, above: str, below: str) -> str:
    pairs = sorted(_pairs(scenario, above, below))
    middle = f"{pairs[len(pairs) // 4]:.2f} to {pairs[-1 - len(pairs) // 4]:.2f}"
    best = [_upper(scenario["routers"][name]["received_pps"]) for name in (above, below)]
    return f"**{median(pairs):.2f}** | {middle} | {best[0] / best[1]:.2f}"


def _upper(values: Sequence[float]) -> float:
    """The upper quartile: what a router does while the rest of the machine lets it."""
    return sorted(values)[-1 - len(values) // 4]


def _ratios(results: Json) -> Iterator[str]:
    known = _by_id(results)
    rows = []
    for name in ("fwd-v4", "fwd-v6"):
        if name in known:
            rows.append((f"{name}: Millrace with its agent ÷ VPP by hand", "≥ 0.97",
                         _spread(known[name], "millrace", "bare")))  # fmt: skip
            rows.append((f"{name}: Millrace ÷ Linux kernel", "≥ 5",
                         _spread(known[name], "millrace", "kernel")))  # fmt: skip
    for above, below, goal in (("acl-1024", "acl-0", "≥ 0.5"), ("acl-10000", "acl-1024", "≥ 0.8")):
        if above in known and below in known:
            for name in ("millrace", "bare"):
                rates = [known[one]["routers"][name]["received_pps"] for one in (above, below)]
                share, best = (of(rates[0]) / of(rates[1]) for of in (median, _upper))
                words = f"{above.removeprefix('acl-')} rules ÷ {below.removeprefix('acl-')}, {NAMES[name]}"
                rows.append((words, goal, f"**{share:.2f}** | | {best:.2f}"))
    yield "| received packets at overload | goal | median | half of the rounds | upper quartiles |"
    yield "|---|---|---|---|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
    yield (
        "Each round is a pair of trials one right after the other; the medians are of their ratios, or of two"
        " scenarios. Whatever else the machine does can only take packets away, so the upper quartiles tell"
        " more of the routers and less of the machine."
    )
    yield ""
    yield (
        "Where a goal is missed: both VPPs run the same nodes at about the same clocks (see the end of the"
        " page). What Millrace's has besides are the mirrors, which its worker polls, and with access lists"
        " the hit counters of each rule; which of them, or the machine, makes the difference is not known. A"
        " first rule costs VPP about as much as forwarding does over memif, where receiving and sending are"
        " cheaper than with a NIC. The plan foretells it ([impact](impact.md#what-a-packet-costs)); a test"
        " holds what it foretells to within 15 % of what the tables below say."
    )
    yield ""


def _method(method: Json) -> Iterator[str]:
    yield "## Method"
    yield ""
    yield (
        "The generator ([lab/memif_traffic.c](../lab/memif_traffic.c)) is at both ends of the router, on CPU"
        " 0; the router forwards on CPU 1. To both VPPs it speaks memif and can offer some 100 Mpps; to the"
        " kernel it sends by packet sockets into veths, whose far ends hand over to the kernel's softirq on"
        " CPU 1 (RPS). So the kernel's number has the cost of veths in it and no NIC driver's, and is bounded"
        " by what the sender manages, as VPP's has that of memif and no NIC's. Millrace is its agent with FRR"
        " and the feeder: the agent commits a document and counts once a second. By hand means VPP's command"
        " line and API, with no mirrors and no other process. While one is measured the others are stopped"
        " ([ADR 39](adr/0039-costs-come-from-nodes-and-the-generator-speaks-memif.md))."
    )
    yield ""
    yield (
        f"- **MRR**: far more is offered than any takes; {method['rounds']} rounds of {method['round_s']} s"
        f" ({method['long_rounds']} of {method['long_round_s']} s for forwarding), in turn; the median.\n"
        f"- **PDR**: the highest rate with at most {method['pdr_loss']:.1%} lost, **NDR**: with nothing lost;"
        f" searched by halving with trials of {method['trial_s']} s, of which one in three has to pass.\n"
        "- **Clocks a packet** are the processor's clock by the upper quartile of the rounds.\n"
        "- Lost is what was due and did not arrive, whatever the reason; a packet that finds the router's"
        " ring full is lost. Each rate is that of both directions together. Sizes are of Ethernet frames"
        " with check sequence; 64 bytes where nothing else is said.\n"
        "- Trials are short and take precedence over everything else on the machine, since it has two CPUs"
        " that others use. On a virtual machine the hypervisor takes CPUs away all the same, which is why"
        " NDR can lie far below MRR: one such moment in a trial is a loss."
    )
    yield ""


def _table(results: Json, group: str, title: str, shown: list[Json]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    if group in _PLOTS and len(shown) > 1:
        yield f"![{title}](images/{_file(group)})"
        yield ""
    yield "| scenario | frames | router | MRR, Mpps | least to most | PDR | NDR | clocks a packet |"
    yield "|---|---|---|---|---|---|---|---|"
    for scenario in shown:
        sizes = scenario["sizes_bytes"]
        frames = "IMIX" if len(sizes) >= _MIX else f"{sizes[0]} B"
        for name, router in scenario["routers"].items():
            rates = [rate / 1e6 for rate in router["received_pps"]]
            yield (
                f"| {scenario['title']} | {frames} | {NAMES[name]} | {median(rates):.2f}"
                f" | {min(rates):.2f} to {max(rates):.2f} | {_mpps(router['pdr_pps'])}"
                f" | {_mpps(router['ndr_pps'])} | {clocks_a_packet(results, router):,.0f} |"
            )
    yield ""


def _mpps(rate: float | None) -> str:
    return "" if rate is None else f"{rate / 1e6:.2f}"


def clocks_a_packet(results: Json, router: Json) -> float:
    """Of a worker that does nothing else, by what it takes while the machine lets it."""
    return float(results["machine"]["clock_hz"] / _upper(router["received_pps"]))


def _churn(results: Json) -> Iterator[str]:
    told = results.get("churn")
    if told is None:
        return
    yield "## Changes under load"
    yield ""
    changes = f"{told['route_changes']:,} route changes in {told['seconds']:.0f} s"
    lost = f"**{max(told['lost'], 0):,} of {told['offered']:,} lost**"
    yield (
        f"{told['commits']} commits (an access list bound, changed and unbound) and {changes}, while"
        f" {told['pps']:,.0f} packets a second passed: {lost} ({told['lost'] / told['pps'] * 1000:.1f} ms of"
        f" traffic); {told['lost_without_changes']} were lost in 5 s without changes. The rate is low because"
        " the machine is shared: the ring has to hold what comes while another process has the worker's CPU."
    )
    yield ""


def _nodes(results: Json) -> Iterator[str]:
    known = _by_id(results)
    if "fwd-v4" not in known:
        return
    yield "## Where the clocks go"
    yield ""
    yield (
        "IPv4 forwarding, overloaded: clocks a packet by node of VPP's graph (nodes with a clock or more)."
        " What is missing of the clocks above is receiving, `memif-input`, whose count has the polls between"
        " trials in it."
    )
    yield ""
    yield "| node | Millrace | VPP by hand |\n|---|---|---|"
    routers = known["fwd-v4"]["routers"]
    columns = [_per_packet(routers[name]["nodes"]) for name in ("millrace", "bare")]
    for name in sorted(columns[0] | columns[1]):
        values = [column.get(name, 0.0) for column in columns]
        if max(values) >= 1:
            yield f"| {name} | {values[0]:.1f} | {values[1]:.1f} |"
    yield ""


def _per_packet(nodes: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """By node, with both interfaces' nodes as one."""
    packets = nodes["memif-input"]["packets"]
    found: dict[str, float] = {}
    for name, node in nodes.items():
        if not name.startswith(("tap", "virtio", "memif-input")):
            short = "memif-output" if name.endswith("-output") and name.startswith("memif") else name
            short = "memif-tx" if name.endswith("-tx") and name.startswith("memif") else short
            found[short] = found.get(short, 0.0) + node["clocks"] * node["packets"] / packets
    return found


def _short(results: Json) -> Json:
    """With what a trial log needs, rounded."""
    for scenario in results["scenarios"]:
        for router in scenario["routers"].values():
            router["trials"] = [
                [one["what"], round(one["wanted_pps"]), *(one[name] for name in _LOGGED)]
                for one in router["trials"]
            ]
            router["received_pps"] = [round(rate) for rate in router["received_pps"]]
    return {**results, "trial_log": ["what", "wanted_pps", *_LOGGED]}


def main() -> None:
    """Put the file's results into the documentation."""
    results = _short(json.loads(Path(sys.argv[1]).read_text()))
    DATA.write_text(json.dumps(results, separators=(",", ":")) + "\n")
    PAGE.write_text(page(results))
    for name, text in charts(results).items():
        (DOCS / "images" / name).write_text(text)


if __name__ == "__main__":
    main()

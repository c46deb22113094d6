"""Where VPP's clocks go: by node of its graph, and in words."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pydantic import Field

from appliance.config.counted import counted
from appliance.state.part import Answer, Everything, Number, Part, PartlyRead, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router
    from appliance.dataplane.base import DataPlane, Traffic
    from appliance.dataplane.looking import VppLooking
    from vpp_config.node_counts import NodeCount, NodeCounts

APART_S = 10.0
"""VPP writes its counters this often: readings closer together may be the same."""
_KEPT = 30
_FULL_VECTOR = 256
_CROWDED = 128
_FEW = 4.0
_MOST_NODES = 40
_LEAST_SHARE = 0.001
_KERNEL = "the kernel forwards here, and keeps no clocks by function"
_NOTHING = "VPP's counters by node are off: its startup file has no per-node-counters on"

WORK: tuple[tuple[str, str], ...] = (
    ("linux-cp", "packets to and from the mirrors"),
    ("lcp-", "packets to and from the mirrors"),
    ("tap-input", "packets to and from the mirrors"),
    ("virtio-input", "packets to and from the mirrors"),
    ("ip4-punt", "packets for the router itself"),
    ("ip6-punt", "packets for the router itself"),
    ("ip4-receive", "packets for the router itself"),
    ("ip6-receive", "packets for the router itself"),
    ("ip4-local", "packets for the router itself"),
    ("ip6-local", "packets for the router itself"),
    ("error-drop", "drops"),
    ("drop", "drops"),
    ("ip4-drop", "drops"),
    ("ip6-drop", "drops"),
    ("ip4-lookup", "route lookup"),
    ("ip6-lookup", "route lookup"),
    ("ip4-load-balance", "route lookup"),
    ("ip6-load-balance", "route lookup"),
    ("ip4-rewrite", "rewriting headers"),
    ("ip6-rewrite", "rewriting headers"),
    ("ip4-arp", "asking for a neighbor's MAC address"),
    ("ip6-discover", "asking for a neighbor's MAC address"),
    ("ip4-glean", "asking for a neighbor's MAC address"),
    ("ip4-input", "checking IP headers"),
    ("ip6-input", "checking IP headers"),
    ("ethernet-input", "Ethernet"),
)
"""Prefix of a node's name -> its function; the first that fits. Features declare their own."""
_FAMILIES = {"ipv4": "IPv4", "ipv6": "IPv6"}
_POLLS = ("-input",)
_NOT_POLLED = ("ip4-input", "ip6-input", "ethernet-input", "arp-input", "icmp-input", "mpls-input")


class NodeCost(Answer):
    """A node of VPP's graph on one thread."""

    thread: str
    node: str = Field(description="As VPP calls it.")
    work: str = Field(description="What it does, in a few words.")
    packets: int
    packets_per_call: Number = Field(description="256 at most; the more, the cheaper is each.")
    clocks_per_packet: Number = Field(
        description="Of those that passed this node. Empty polls are not counted."
    )
    share: Number = Field(description="Of all clocks that the thread spent on packets.")


class ThreadCost(Answer):
    """A thread that forwards."""

    thread: str
    packets: int = Field(description="That came in.")
    clocks_per_packet: Number = Field(description="From its arrival to its departure, all nodes together.")
    busy: Number = Field(description="Share of its clocks not spent on empty polls, 0 to 1. An estimate.")
    packets_per_call: Number = Field(description="Average over the nodes that packets pass, 256 at most.")


class Forwarding(PartlyRead):
    """Where the clocks of forwarding go. Where the kernel forwards, only drops are known."""

    seconds: Number | None = Field(None, description="Seconds the counts cover; null: since VPP's start.")
    words: tuple[str, ...] = Field((), description="What the counts show, in sentences; the worst first.")
    threads: tuple[ThreadCost, ...] = ()
    nodes: tuple[NodeCost, ...] = Field((), description="The costliest, by thread.")
    drops: dict[str, int] = Field(
        {},
        description="Packets dropped by reason: since VPP's start, or where the kernel forwards since the "
        "router's namespace was made.",
    )


def work_of(node: str, features: Mapping[str, str]) -> str:
    """What a node does."""
    for beginning, work in (*features.items(), *WORK):
        if node.startswith(beginning):
            return work
    if node.endswith(("-tx", "-output")):
        return "sending"
    return "receiving" if _is_polled(node) else "other work"


def _is_polled(node: str) -> bool:
    return node.endswith(_POLLS) and node not in _NOT_POLLED


def explain(
    counts: NodeCounts, seconds: float | None, drops: Mapping[str, int], features: Mapping[str, str]
) -> Forwarding:
    """The answer for the work of the nodes; ``features`` describes the nodes of features. Pure."""
    threads: list[ThreadCost] = []
    nodes: list[NodeCost] = []
    for thread, known in counts.items():
        passed = {name: one for name, one in known.items() if one.packets}
        came_in = sum(one.packets for name, one in passed.items() if _is_polled(name))
        if not came_in:
            continue
        polls = {name: one for name, one in known.items() if _is_polled(name)}
        work = {name: one for name, one in passed.items() if name not in polls}
        calls = sum(one.calls for one in work.values())
        per_call = sum(one.packets for one in work.values()) / calls if calls else 0.0
        whole = sum(one.clocks for one in known.values())
        used = {
            name: one.clocks * (_useful(one, per_call) if name in polls else 1)
            for name, one in passed.items()
        }
        spent = max(sum(used.values()), 1.0)
        threads.append(
            ThreadCost(
                thread=thread,
                packets=came_in,
                clocks_per_packet=round(spent / came_in, 1),
                busy=round(min(1.0, spent / whole), 3),
                packets_per_call=round(per_call, 1),
            )
        )
        ranked = sorted(passed.items(), key=lambda item: -used[item[0]])
        nodes += [
            NodeCost(
                thread=thread,
                node=name,
                work=work_of(name, features),
                packets=one.packets,
                packets_per_call=round(one.packets / one.calls, 1),
                clocks_per_packet=round(used[name] / one.packets, 1),
                share=round(used[name] / spent, 3),
            )
            for name, one in ranked[:_MOST_NODES]
            if used[name] >= _LEAST_SHARE * spent
        ]
    words = tuple(_words(threads, nodes, drops))
    return Forwarding(
        seconds=None if seconds is None else round(seconds, 1),
        words=words,
        threads=tuple(threads),
        nodes=tuple(nodes),
        drops=dict(drops),
    )


def _useful(one: NodeCount, per_call: float) -> float:
    """Share of a polling node's clocks spent on packets: the counts include its empty polls."""
    return min(1.0, one.packets / per_call / one.calls) if per_call else 0.0


def _words(threads: list[ThreadCost], nodes: list[NodeCost], drops: Mapping[str, int]) -> Iterator[str]:
    if not threads:
        yield "No packet came in."
    for thread in sorted(threads, key=lambda one: -one.packets_per_call):
        load = (
            "it is nearly full: packets that come faster than it takes them are lost"
            if thread.packets_per_call >= _CROWDED
            else "it has little to do, and each packet costs more than it would under load"
            if thread.packets_per_call <= _FEW
            else f"it is at work, and a call has room for {_FULL_VECTOR}"
        )
        yield (
            f"{thread.thread} takes {thread.clocks_per_packet:,.0f} clocks for a packet and"
            f" {thread.packets_per_call:.0f} packets in a call on average: {load}."
        )
        by_work: dict[str, float] = {}
        for node in nodes:
            if node.thread == thread.thread:
                by_work[node.work] = by_work.get(node.work, 0.0) + node.share
        ranked = sorted(by_work.items(), key=lambda item: -item[1])[:3]
        told = ", ".join(f"{work} {share:.0%}" for work, share in ranked)
        if told:
            yield f"Most of that goes to {told}."
    total = sum(drops.values())
    if total:
        reason, count = max(drops.items(), key=lambda item: item[1])
        yield f"{counted(total, 'packet')} dropped since VPP's start, {count:,} of them for: {reason}."


_readings: WeakKeyDictionary[DataPlane, deque[tuple[float, NodeCounts]]] = WeakKeyDictionary()
"""Some readings of each data plane, at least ``APART_S`` apart. Only this part's one thread uses them."""


def _read(router: Router, _: Everything) -> Forwarding:
    plane = router.dataplane
    found = plane.look(vpp=lambda vpp: _on_vpp(plane, vpp), linux=lambda _kernel: None)
    return of_the_kernel(plane.traffic()) if found is None else found


def of_the_kernel(traffic: Traffic) -> Forwarding:
    """What the kernel tells: how many packets it forwarded, and those it dropped. Pure."""
    packets = " and ".join(f"{count:,} {_FAMILIES[family]}" for family, count in traffic.forwarded.items())
    return Forwarding(
        words=(
            f"The kernel forwards here: {packets} packets so far.",
            "Packets that an interface drops are counted at the interface, and those that the router itself "
            "refuses at the control plane.",
        ),
        drops=dict(traffic.dropped),
        untold={"threads": _KERNEL, "nodes": _KERNEL},
    )


def _on_vpp(plane: DataPlane, vpp: VppLooking) -> Forwarding:
    from appliance.features.registry import merged
    from vpp_config.counters import read_drops
    from vpp_config.node_counts import added, node_counts

    counts, drops = vpp.read_stats(lambda segment: (node_counts(segment), read_drops(segment)))
    if not counts:
        return Forwarding(drops=drops, untold={"threads": _NOTHING, "nodes": _NOTHING})
    features = merged("costs", "NODES")
    now = time.monotonic()
    kept = _readings.setdefault(plane, deque(maxlen=_KEPT))
    before = next((one for one in reversed(kept) if now - one[0] >= APART_S), None)
    if not kept or now - kept[-1][0] >= APART_S:
        kept.append((now, counts))
    if before is None:
        return explain(counts, None, drops, features)
    return explain(added(counts, before[1]), now - before[0], drops, features)


FORWARDING = Part(
    "forwarding",
    "Where the clocks of forwarding go: by node of VPP's graph, packets in a call, drops by reason.",
    Everything,
    Forwarding,
    _read,
    table=Table(
        ("thread", "node", "work", "packets", "packets_per_call", "clocks_per_packet", "share"),
        lambda answer: answer.nodes,
        note=lambda answer: "\n".join(answer.words),
        field="nodes",
    ),
)

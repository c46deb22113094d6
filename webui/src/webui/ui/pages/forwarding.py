"""Why forwarding is slow: its clocks, in words and by function, and the drops."""

from collections.abc import Mapping
from dataclasses import dataclass

from appliance.state.forwarding import FORWARDING, Forwarding, NodeCost, ThreadCost
from webui.ui.tables.declaration import Column, Live, Look, Page, Table
from webui.ui.tables.row import Row


@dataclass(frozen=True)
class _Drop:
    packets: int


def _threads(answer: Forwarding) -> Mapping[str, ThreadCost]:
    return {one.thread: one for one in answer.threads}


def _nodes(answer: Forwarding) -> Mapping[str, NodeCost]:
    return {f"{one.thread} {one.node}": one for one in answer.nodes}


def _drops(answer: Forwarding) -> Mapping[str, _Drop]:
    return {reason: _Drop(packets) for reason, packets in answer.drops.items()}


def _about(answer: Forwarding) -> str:
    """The period and content of the figures."""
    words = " ".join(answer.words)
    if answer.why_not("threads"):
        return words
    since = "since VPP's start" if answer.seconds is None else f"of the last {answer.seconds:.0f} seconds"
    return f"{words} Counted {since}."


def _share(row: Row) -> str:
    return f"{row.live('share'):.0%}"


def _busy(row: Row) -> str:
    return f"{row.live('busy'):.0%}"


PAGE = Page(
    name="forwarding",
    path="forwarding",
    title="Why is it slow",
    icon="activity",
    group="Operate",
    order=27,
    tables=(
        Table(
            name="threads",
            noun="worker",
            plural="Workers",
            key_title="Thread",
            mono=True,
            live=Live(FORWARDING, _threads, about=_about, field="threads"),
            columns=(
                Column("packets", "Packets in", look=Look.NUMBER, live=True),
                Column(title="Busy", value=_busy),
                Column("packets_per_call", "Packets in a call", look=Look.NUMBER, live=True),
                Column("clocks_per_packet", "Clocks for a packet", look=Look.NUMBER, live=True),
            ),
            empty="No packet came in.",
        ),
        Table(
            name="nodes",
            noun="function",
            plural="Where the clocks go",
            key_title="Function of VPP",
            mono=True,
            called=lambda row: row.live("node"),
            live=Live(FORWARDING, _nodes, field="nodes"),
            columns=(
                Column("work", "What it does", live=True),
                Column(title="Share", value=_share),
                Column("clocks_per_packet", "Clocks for a packet", look=Look.NUMBER, live=True),
                Column("packets_per_call", "Packets in a call", look=Look.NUMBER, live=True),
                Column("packets", "Packets", look=Look.NUMBER, live=True),
                Column("thread", "Thread", live=True),
            ),
            empty="No packet came in.",
        ),
        Table(
            name="drops",
            noun="reason",
            plural="Dropped packets",
            key_title="Function and reason",
            sentence=True,
            live=Live(FORWARDING, _drops, field="drops"),
            columns=(Column("packets", "Packets", look=Look.NUMBER, live=True),),
            empty="No drop was counted.",
        ),
    ),
)
